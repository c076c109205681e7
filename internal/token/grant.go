package token

import "slices"

// A Right is one of the things that a token allows.
type Right string

// The rights.
const (
	Read        Right = "read"        // to get files, records and answers
	Symbolicate Right = "symbolicate" // to get answers
	Upload      Right = "upload"      // to upload and read
	UploadTry   Right = "upload-try"  // to upload files of try builds
	Delete      Right = "delete"      // to delete uploads
	Admin       Right = "admin"       // everything, and to operate the server
)

// Rights returns all rights.
func Rights() []Right { return []Right{Read, Symbolicate, Upload, UploadTry, Delete, Admin} }

// Any in a list means every project, scope or source.
const Any = "*"

// A Grant has the rights of a client. It must not be changed.
type Grant struct {
	ID             string            `json:"id"`             // public; empty: the client has no token
	Name           string            `json:"name,omitempty"` // for people
	Rights         []Right           `json:"rights,omitempty"`
	Projects       []string          `json:"projects,omitempty"` // in which the rights are valid; Any: in all
	Labels         map[string]string `json:"labels,omitempty"`   // set on all uploads
	Scopes         []string          `json:"scopes,omitempty"`   // that requests may name; Any: all
	Sources        []string          `json:"sources,omitempty"`  // ids of configured sources; Any: all; none: the public ones
	RequestSources bool              `json:"request_sources,omitempty"`
}

// May reports whether g has a right in a project, or anywhere if project is empty.
// Admin includes all rights, and Upload includes Read.
func (g *Grant) May(r Right, project string) bool {
	has := slices.Contains(g.Rights, r) || slices.Contains(g.Rights, Admin) || r == Read && slices.Contains(g.Rights, Upload)
	return has && (project == "" || slices.Contains(g.Projects, project) || slices.Contains(g.Projects, Any))
}

// Manages reports whether g may manage tokens for these projects: it has the right admin
// in all of them.
func (g *Grant) Manages(projects []string) bool {
	return !slices.ContainsFunc(projects, func(name string) bool { return !g.May(Admin, name) })
}

// Visible returns the projects whose files g may read, sorted: the public ones, and
// those in which it has the right. all are the projects, and whether they are public.
func (g *Grant) Visible(all map[string]bool) []string { return g.projects(all, Read) }

// Answering returns the projects whose files may answer the requests of g, sorted: the
// visible ones, and those in which it may symbolicate.
func (g *Grant) Answering(all map[string]bool) []string { return g.projects(all, Read, Symbolicate) }

func (g *Grant) projects(all map[string]bool, rights ...Right) []string {
	list := []string{}
	for name, isPublic := range all {
		if isPublic || slices.ContainsFunc(rights, func(r Right) bool { return g.May(r, name) }) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// Scope returns the scope for a request that names one, or "". It returns false if
// the client may not use it.
func (g *Grant) Scope(asked string) (string, bool) {
	switch {
	case asked == "" && len(g.Scopes) > 0 && g.Scopes[0] != Any:
		return g.Scopes[0], true
	case asked == "":
		return "", slices.Contains(g.Scopes, Any)
	}
	return asked, slices.Contains(g.Scopes, asked) || slices.Contains(g.Scopes, Any)
}

// add adds the rights of another token with the same secret.
func (g *Grant) add(o *Grant) *Grant {
	sum := *g
	sum.Rights = union(g.Rights, o.Rights)
	sum.Projects, sum.Scopes, sum.Sources = union(g.Projects, o.Projects), union(g.Scopes, o.Scopes), union(g.Sources, o.Sources)
	sum.RequestSources = g.RequestSources || o.RequestSources
	return &sum
}

func union[T comparable](a, b []T) []T {
	all := slices.Clone(a)
	for _, v := range b {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}
