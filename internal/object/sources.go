package object

import (
	"hash/maphash"
	"sync"

	"symbolon/internal/format/bundle"
	"symbolon/internal/sym"
)

const (
	// maxSource is how large one source file may be.
	maxSource = 64 << 20
	// maxPathWork is how many bytes of paths are put together to find sources by
	// them, and maxPaths how many paths are known.
	maxPathWork = 256 << 20
	maxPaths    = 1 << 18
)

// SourceByPath is the content of the source file of a path, where the object has
// it, or else a link to where it is in the web, if the object tells one. Paths
// are compared without "." and "..", and either slash is one.
func (o *Object) SourceByPath(path string) (text []byte, link string, ok bool) {
	defer unfault(new(error))()
	switch v := o.view.(type) {
	case *sources:
		text = v.text(path)
	case *image:
		text = v.sourceAt(v.paths.find(path, v.eachSource, v.appendText))
	case *portable:
		text = v.source(v.paths.find(path, v.eachSource, v.appendText))
	}
	if text == nil {
		link = o.Origin(path).URL
	}
	return text, link, text != nil || link != ""
}

// paths are the source files that an object has, by their paths. They are read
// when the first one is asked for.
type paths struct {
	once sync.Once
	seed maphash.Seed
	at   map[uint64]sym.Text // by the hash of the path: the first one
}

// find is the file of a path, zero if there is none. Each gives all files that
// there are with their paths, until it is told to stop.
func (p *paths) find(path string, each func(yield func(t sym.Text, path []byte) bool), appendText func([]byte, sym.Text) []byte) sym.Text {
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

// eachSource gives the files whose content the line programs have. Each program
// is read once: a file in which many units name the same one would take forever.
func (g *image) eachSource(yield func(t sym.Text, path []byte) bool) {
	if g.dwarf == nil || !g.lineSections.HasSources() {
		return
	}
	g.readUnits()
	read := map[uint64]bool{}
	f := filers.Get().(*filer)
	defer filers.Put(f)
	var room []byte
	for u := range g.ownUnits() {
		unit := g.dwarf.Unit(u)
		if !unit.HasLines || read[unit.LineOff] || !f.read(g, u) {
			continue
		}
		read[unit.LineOff] = true
		for i := range f.program.NumFiles() {
			if f.program.Source(uint32(i)) == nil {
				continue
			}
			room = f.appendPath(room[:0], uint32(i))
			if !yield(fileText(u, uint32(i)+1), room) {
				return
			}
		}
	}
}

// sourceAt is the content of a file, if it is not too large.
func (g *image) sourceAt(t sym.Text) []byte {
	text := g.source(t)
	if len(text) > maxSource {
		return nil
	}
	return text
}

// eachSource gives the documents whose content is embedded.
func (p *portable) eachSource(yield func(t sym.Text, path []byte) bool) {
	var room []byte
	for d := range p.file.Documents() {
		text := sym.Text(d+1)<<documentShift | textDocument
		if packed, _, err := p.file.Source(uint32(d) + 1); err != nil || packed == nil {
			continue
		}
		if room = p.appendText(room[:0], text); !yield(text, room) {
			return
		}
	}
}

// text is the content of a file of a bundle.
func (s *sources) text(path string) []byte {
	f, ok := s.bundle.ByPath(path)
	if !ok {
		return nil
	}
	text, err := s.bundle.Text(f, maxSource)
	if err != nil {
		s.problems.add("damaged sources", err.Error())
		return nil
	}
	return text
}
