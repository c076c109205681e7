package node

import (
	"context"
	"slices"
	"strings"

	"symbolon/internal/api/tecken"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
)

// operator returns the grant of the commands of this machine.
func operator() *token.Grant {
	all := []string{token.Any}
	return &token.Grant{Rights: []token.Right{token.Admin}, Projects: all, Scopes: all, Sources: all, RequestSources: true}
}

// readable returns a locator over the files that a client may read.
func (n *Node) readable(ctx context.Context, g *token.Grant) *locate.Locator {
	return n.locatorOver(ctx, g, "", regular(g.Visible))
}

// answering returns a locator over the files that may answer a client, in a scope.
func (n *Node) answering(ctx context.Context, g *token.Grant, scope string) *locate.Locator {
	return n.locatorOver(ctx, g, scope, regular(g.Answering))
}

// regular returns a function that chooses among the projects without those of try builds.
func regular(choose func(map[string]bool) []string) func(map[string]bool) []string {
	return func(all map[string]bool) []string { return choose(tecken.Regular(all)) }
}

// locatorOver returns a locator over the configured sources that a client may use, and
// the uploads of the chosen projects. Those that are private are a part of its scope,
// so that nothing learned from their files is used without them.
func (n *Node) locatorOver(ctx context.Context, g *token.Grant, scope string, choose func(map[string]bool) []string) *locate.Locator {
	all, err := n.uploads.files.Projects(ctx)
	if err != nil { // the uploads cannot be read, and the configured sources still answer
		return n.locator.With(scope, append(n.sourcesOf(g, nil), unread{n.uploads.files.Source(nil), err}))
	}
	names := choose(all)
	private := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return all[name] })
	if len(private) > 0 {
		scope += "\nprojects " + strings.Join(private, " ")
	}
	return n.locator.With(scope, n.sourcesOf(g, names))
}

// unread is the source of uploads while their projects cannot be read.
type unread struct {
	source.Source
	err error
}

// Candidates returns the failure: the uploads may have the file.
func (u unread) Candidates(context.Context, ident.Module, []string) ([]source.Candidate, error) {
	return nil, u.err
}

// projects returns the projects of the store, and whether they are public. While they
// cannot be read, which the store logs, there are none.
func (n *Node) projects(ctx context.Context) map[string]bool {
	all, _ := n.uploads.files.Projects(ctx)
	return all
}

// sourcesOf returns the uploads of projects, the configured sources that a client may
// use, and the symbfiles if they are in one of the projects.
func (n *Node) sourcesOf(g *token.Grant, projects []string) []source.Source {
	hasSymbfiles := slices.Contains(projects, ident.DefaultProject)
	configured := n.sources.all
	if len(g.Sources) == 0 {
		configured = n.sources.public
	}
	var list []source.Source
	if len(projects) > 0 {
		list = append(list, n.uploads.files.Source(projects))
	}
	for _, s := range configured {
		isAllowed := len(g.Sources) == 0 || slices.Contains(g.Sources, token.Any) || slices.Contains(g.Sources, s.ID())
		switch {
		case n.uploads.source == nil && s.ID() == n.uploads.id:
			if hasSymbfiles && !n.uploads.files.IsAway() { // the uploads report the failure
				list = append(list, s)
			}
		case isAllowed:
			list = append(list, s)
		}
	}
	if n.uploads.source != nil && hasSymbfiles {
		list = append(list, n.uploads.source)
	}
	return list
}

// hasFiles reports whether a client may read the files of any project or source. It
// does while the projects cannot be read.
func (n *Node) hasFiles(ctx context.Context, g *token.Grant) bool {
	all, err := n.uploads.files.Projects(ctx)
	return err != nil || len(n.sourcesOf(g, g.Visible(tecken.Regular(all)))) > 0
}

// engineOver returns an engine over a locator.
func (n *Node) engineOver(l *locate.Locator) *symbolicate.Engine {
	return n.engine.With(n.tables.With(l))
}
