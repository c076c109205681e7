package locate

import (
	"context"
	"crypto/sha256"
	"hash"
	"runtime/debug"
	"slices"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/format/il2cpp"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/source"
)

// A mapping tells the lines of C# that those of a found file come from. It is
// fetched, remembered and renewed like any other file. But it belongs to who
// looks for the file, not to the file: others may ask other sources for it.
type mapping struct {
	*il2cpp.Map
	hash [32]byte // SHA-256 of its text
	size int64
}

// maxMapping is the size of the largest mapping, and readMost about how much memory
// the reading of one takes, beside the text.
const (
	maxMapping = 64 << 20
	readMost   = 64 << 20
)

// findMapping looks for the mapping of a file that was found for its lines, in all
// sources that answer. That is one question more to a source whose layout has a
// place for it, or none if the source lists its files. The error is only that of
// a caller who left.
func (l *Locator) findMapping(ctx context.Context, f *Found, m *wish, trail []Tried) error {
	if f.Features&object.HasDebug == 0 || f.Kind == source.PortablePDB {
		return nil
	}
	rest := *l
	rest.sources = nil
	for _, s := range l.sources {
		if !down(trail, s.ID()) {
			rest.sources = append(rest.sources, elsewhere{s, trail})
		}
	}
	lines, asked, err := rest.choose(ctx, m, []string{source.IL2CPP}, func(meta *Meta) (int, bool) { return 0, meta.Kind == source.IL2CPP })
	if err != nil {
		return err
	}
	f.lines = lines
	f.asked = slices.DeleteFunc(asked, func(t Tried) bool { return t.Location == "" })
	if lines != nil {
		f.again = lines.until()
		return nil
	}
	for _, t := range f.asked {
		if end := later(t.Expires, l.now().Add(time.Minute)); f.again.IsZero() || end.Before(f.again) {
			f.again = end
		}
	}
	return nil
}

// elsewhere is a source without the places that were asked for the file: some
// layouts have one place for a binary, whatever is wanted of it.
type elsewhere struct {
	source.Source
	asked []Tried
}

func (s elsewhere) Candidates(ctx context.Context, m ident.Module, kinds []string) ([]source.Candidate, error) {
	all, err := s.Source.Candidates(ctx, m, kinds)
	return slices.DeleteFunc(slices.Clone(all), func(c source.Candidate) bool {
		return slices.ContainsFunc(s.asked, func(t Tried) bool { return t.Source == c.Source && t.Location == c.Location })
	}), err
}

// Mapping is every place that was asked for the mapping of the file's lines; the
// one that is used is chosen.
func (f *Found) Mapping() []Tried { return f.asked }

// text takes a mapping on its way into a spool.
type text struct {
	sum  hash.Hash
	left int64
}

func newText() *text { return &text{sha256.New(), maxMapping} }

func (t *text) Write(p []byte) (int, error) {
	if t.left -= int64(len(p)); t.left < 0 {
		return 0, fault.New(fault.Malformed, "", "more than %d bytes", maxMapping)
	}
	return t.sum.Write(p)
}

// finish reads the mapping that went by, when there is memory for it. Its text is
// not needed afterwards.
func (t *text) finish(ctx context.Context, l *desk, f *fetched, spool cache.Spool) error {
	size := spool.Size()
	release, err := l.memory.Acquire(ctx, size+min(6*size, readMost))
	if err != nil {
		return err
	}
	defer release()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // of a disk: the flight recovers
	src, _ := bin.InPlace(spool)
	whole, err := bin.Read(src, 0, int(size))
	if err != nil {
		return err
	}
	defer relax(spool)
	read, err := il2cpp.Read(whole, f.space)
	if err != nil {
		return err
	}
	f.mapping = &mapping{read, [32]byte(t.sum.Sum(nil)), size}
	return nil
}

// meta is what a mapping says of itself, to who asks for m.
func (p *mapping) meta(m ident.Module) *Meta {
	meta := &Meta{Kind: source.IL2CPP, Size: p.size, Hash: p.hash}
	for _, text := range p.IDs() {
		id, err := ident.ParseDebugID(text)
		if err != nil {
			meta.Damage = fault.Mismatch + ": the file says " + text
			continue
		}
		if meta.Module.DebugID = id; same(meta.Module, meta.Kind, m) {
			break
		}
	}
	if !meta.Module.DebugID.IsZero() { // else it names none that is one
		meta.Damage = ""
	}
	return meta
}
