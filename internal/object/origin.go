package object

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// Origin returns where the file of a path is kept, if the debug information has a
// source link or was indexed for a source server.
func (o *Object) Origin(path string) Origin {
	v, ok := o.view.(Sourcer)
	if !ok {
		return Origin{}
	}
	return guard(Origin{}, func() Origin { return v.Origin(path) })
}

// Origins finds source files by the links of a file, which are read on first use.
type Origins struct {
	once   sync.Once
	links  []sourceLink // the longest first
	Server func(path string) Origin
}

// sourceLink is where files are whose paths begin in a way, or which have a path.
type sourceLink struct {
	prefix, url string // without the star, if there is one
	star        bool
}

// Read reads the text of a source link.
func (l *Origins) Read(text []byte) {
	var list struct {
		Documents map[string]string `json:"documents"`
	}
	if json.Unmarshal(text, &list) != nil {
		return
	}
	l.Take(list.Documents)
}

// Take takes links by path.
func (l *Origins) Take(links map[string]string) {
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

// HasLinks reports whether the text of a source link has any: compilers write an
// empty list if they have none.
func HasLinks(text []byte) bool {
	var l Origins
	l.Read(text)
	return len(l.links) > 0
}

// Of returns the origin of a path. The first call reads the links.
func (l *Origins) Of(path string, read func(*Origins)) (o Origin) {
	l.once.Do(func() { read(l) })
	if l.Server != nil {
		o = l.Server(path)
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
