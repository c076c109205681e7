package object

import (
	"hash/maphash"
	"sync"

	"symbolon/internal/format/bundle"
	"symbolon/internal/sym"
)

const (
	// MaxSource is how large one source file may be.
	MaxSource = 64 << 20
	// maxPathWork limits the bytes of paths that are composed to find sources by them,
	// and maxPaths the number of paths.
	maxPathWork = 256 << 20
	maxPaths    = 1 << 18
)

// SourceByPath returns the content of the source file of a path, if the object has
// it, or else a link to it, if the object has one. Paths are compared without "."
// and "..", and both slashes are equal.
func (o *Object) SourceByPath(path string) (text []byte, link string, ok bool) {
	if v, is := o.view.(Sourcer); is {
		text = guard(nil, func() []byte { return v.SourceByPath(path) })
	}
	if text == nil {
		link = o.Origin(path).URL
	}
	return text, link, text != nil || link != ""
}

// Paths finds the source files that an object has, by their paths. They are read on first
// use.
type Paths struct {
	once sync.Once
	seed maphash.Seed
	at   map[uint64]sym.Text // by the hash of the path: the first one
}

// Find returns the file of a path, zero if there is not one. Each calls yield with
// all files and their paths, until that returns false.
func (p *Paths) Find(path string, each func(yield func(t sym.Text, path []byte) bool), appendText func([]byte, sym.Text) []byte) sym.Text {
	p.once.Do(func() {
		p.seed, p.at = maphash.MakeSeed(), map[uint64]sym.Text{}
		work := 0
		each(func(t sym.Text, path []byte) bool {
			work += len(path)
			sum := maphash.String(p.seed, bundle.Normal(string(path)))
			if _, known := p.at[sum]; !known {
				p.at[sum] = t
			}
			return work < maxPathWork && len(p.at) < maxPaths
		})
	})
	path = bundle.Normal(path)
	t := p.at[maphash.String(p.seed, path)]
	if t == 0 || bundle.Normal(string(appendText(nil, t))) != path {
		return 0
	}
	return t
}
