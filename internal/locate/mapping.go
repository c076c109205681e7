package locate

import (
	"context"
	"crypto/sha256"
	"hash"
	"runtime/debug"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/format/il2cpp"
	"symbolon/internal/ident"
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
		if meta.Module.DebugID = id; source.IsSame(meta.Module, meta.Kind, m) {
			break
		}
	}
	if !meta.Module.DebugID.IsZero() { // at least one id is valid
		meta.Damage = ""
	}
	return meta
}

// relax releases the memory of the parts that are mapped.
func relax(parts ...any) {
	for _, part := range parts {
		if r, ok := part.(interface{ Relax() }); ok {
			r.Relax()
		}
	}
}
