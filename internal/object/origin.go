package object

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// Origin is where a source file is kept.
type Origin struct {
	URL      string // of its content, "" if it is not told
	Path     string // in a version control system
	Revision string
}

// Origin tells where the file of a path is kept, if the debug information has a
// source link or was indexed for a source server.
func (o *Object) Origin(path string) Origin {
	defer unfault(new(error))()
	switch v := o.view.(type) {
	case *image:
		return v.origins.of(path, v.readOrigins)
	case *portable:
		return v.origins.of(path, func(l *origins) { l.read(v.file.Link) })
	case *sources:
		return v.origins.of(path, func(l *origins) { l.take(v.bundle.Links) })
	}
	return Origin{}
}

// origins are read when the first file is asked for.
type origins struct {
	once   sync.Once
	links  []sourceLink // the longest first
	server func(path string) Origin
}

// sourceLink is where files are whose paths begin in a way, or which have a path.
type sourceLink struct {
	prefix, url string // without the star, if there is one
	star        bool
}

// readOrigins reads the origins of a PDB.
func (g *image) readOrigins(l *origins) {
	if g.pdb == nil {
		return
	}
	if s := g.pdb.SourceServer(); s != nil {
		l.server = func(path string) (o Origin) {
			if target := s.Target(path); strings.HasPrefix(target, "https://") || strings.HasPrefix(target, "http://") {
				o.URL = target
			}
			o.Path, o.Revision = s.Perforce(path)
			return o
		}
	}
	l.read(g.sourceLink())
}

// sourceLink is the text of the source link of a PDB, if it has one.
func (g *image) sourceLink() []byte {
	const most = 16 << 20
	link := g.pdb.Named("sourcelink")
	text, _ := link.Bytes(0, int(min(link.Size(), most)), nil) // without it there are no links
	return text
}

// read reads the text of a source link.
func (l *origins) read(text []byte) {
	var list struct {
		Documents map[string]string `json:"documents"`
	}
	if json.Unmarshal(text, &list) != nil {
		return
	}
	l.take(list.Documents)
}

// take takes links by path.
func (l *origins) take(links map[string]string) {
	for path, url := range links {
		prefix, star := strings.CutSuffix(strings.ToLower(path), "*")
		if strings.Contains(prefix, "*") || star != strings.Contains(url, "*") {
			continue
		}
		l.links = append(l.links, sourceLink{prefix, url, star})
	}
	slices.SortFunc(l.links, func(a, b sourceLink) int {
		if c := len(b.prefix) - len(a.prefix); c != 0 {
			return c
		}
		return strings.Compare(a.prefix, b.prefix)
	})
}

// links says whether the text of a source link has any: compilers write an empty
// list where they know of none.
func links(text []byte) bool {
	var l origins
	l.read(text)
	return len(l.links) > 0
}

// of finds the origin of a path.
func (l *origins) of(path string, read func(*origins)) (o Origin) {
	l.once.Do(func() { read(l) })
	if l.server != nil {
		o = l.server(path)
	}
	if o.URL != "" || len(l.links) == 0 {
		return o
	}
	low := strings.ToLower(path)
	for _, k := range l.links {
		rest, ok := strings.CutPrefix(low, k.prefix)
		if !ok || !k.star && rest != "" {
			continue
		}
		rest = strings.ReplaceAll(path[len(path)-len(rest):], `\`, "/")
		o.URL = strings.Replace(k.url, "*", rest, 1)
		break
	}
	return o
}
