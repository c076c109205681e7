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

// mapping maps the lines of a file to lines of C#. It is fetched, remembered and
// renewed like other files. It belongs to the lookup of the file, as lookups in other
// scopes may find another mapping.
type mapping struct {
	*il2cpp.Map
	hash [32]byte // SHA-256 of its text
	size int64
}

// maxMapping is the largest size of a mapping, and readMost about the most memory
// for reading one, besides the text.
const (
	maxMapping = 64 << 20
	readMost   = 64 << 20
)

// findMapping looks for the mapping of a found file in all sources that respond. That
// costs one request to each source with a place for it, unless the source has a
// list. The error is that of ctx.
func (l *Locator) findMapping(ctx context.Context, f *Found, m *lookup, trail []Tried) error {
	if f.Features&object.HasDebug == 0 || f.Kind == source.PortablePDB {
		return nil
	}
	rest := *l
	rest.sources = nil
	for _, s := range l.sources {
		if !isDown(trail, s.ID()) {
			rest.sources = append(rest.sources, otherPlaces{s, trail})
		}
	}
	lines, asked, err := rest.choose(ctx, m, []string{source.IL2CPP}, func(meta *Meta) (int, bool) { return 0, meta.Kind == source.IL2CPP })
	if err != nil {
		return err
	}
	f.mapping = lines
	f.mappingTrail = slices.DeleteFunc(asked, func(t Tried) bool { return t.Location == "" })
	if lines != nil {
		f.mappingUntil = lines.until()
		return nil
	}
	for _, t := range f.mappingTrail {
		if end := later(t.Expires, l.now().Add(time.Minute)); f.mappingUntil.IsZero() || end.Before(f.mappingUntil) {
			f.mappingUntil = end
		}
	}
	return nil
}

// otherPlaces is a source without the candidates that were asked for the file: some
// layouts have one place for all files of a binary.
type otherPlaces struct {
	source.Source
	asked []Tried
}

func (s otherPlaces) Candidates(ctx context.Context, m ident.Module, kinds []string) ([]source.Candidate, error) {
	all, err := s.Source.Candidates(ctx, m, kinds)
	return slices.DeleteFunc(slices.Clone(all), func(c source.Candidate) bool {
		return slices.ContainsFunc(s.asked, func(t Tried) bool { return t.Source == c.Source && t.Location == c.Location })
	}), err
}

// Mapping returns the trail of the lookup of the mapping.
func (f *Found) Mapping() []Tried { return f.mappingTrail }

// mappingStream receives a mapping while it is written to a spool.
type mappingStream struct {
	sum  hash.Hash
	left int64
}

func newMappingStream() *mappingStream { return &mappingStream{sha256.New(), maxMapping} }

func (t *mappingStream) Write(p []byte) (int, error) {
	if t.left -= int64(len(p)); t.left < 0 {
		return 0, fault.New(fault.Malformed, "", "more than %d bytes", maxMapping)
	}
	return t.sum.Write(p)
}

// finish reads the mapping as soon as there is memory for it.
func (t *mappingStream) finish(ctx context.Context, l *shared, f *fetched, spool cache.Spool) error {
	size := spool.Size()
	release, err := l.memory.Acquire(ctx, size+min(6*size, readMost))
	if err != nil {
		return err
	}
	defer release()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // if the disk fails; the flight recovers
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

// meta returns the meta of a mapping, with the id of m if it has that.
func (p *mapping) meta(m ident.Module) *Meta {
	meta := &Meta{Kind: source.IL2CPP, Size: p.size, Hash: p.hash}
	for _, text := range p.IDs() {
		id, err := ident.ParseDebugID(text)
		if err != nil {
			meta.Damage = fault.Mismatch + ": the file says " + text
			continue
		}
		if meta.Module.DebugID = id; isSame(meta.Module, meta.Kind, m) {
			break
		}
	}
	if !meta.Module.DebugID.IsZero() { // at least one id is valid
		meta.Damage = ""
	}
	return meta
}
