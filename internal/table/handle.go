package table

import (
	"symbolon/internal/cache"
	"symbolon/internal/cache/mem"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
)

// answerer looks up addresses. A file and its table return the same frames.
// AppendText appends the text of t. It is plain if it needs no escapes in JSON:
// printable ASCII without quotes and backslashes.
type answerer interface {
	Lookup(dst []sym.Frame, addr uint64) []sym.Frame
	Nearest(addr uint64) (sym.Frame, bool)
	AppendText(dst []byte, t sym.Text) (out []byte, plain bool)
}

// direct is an open file without a table.
type direct struct{ *object.Object }

func (d direct) AppendText(dst []byte, t sym.Text) ([]byte, bool) {
	return d.Object.AppendText(dst, t), false
}

// Handle is a reference to an open table or file. The Texts in its frames belong to
// it.
type Handle struct {
	answerer
	tables *shared
	key    cache.Key
	ref    *mem.Ref[*entry]
}

func (t *shared) handle(key cache.Key, ref *mem.Ref[*entry]) *Handle {
	return &Handle{answerer: ref.Value().answerer, tables: t, key: key, ref: ref}
}

// Quick reports whether lookups are so fast that their time need not be checked.
func (h *Handle) Quick() bool { return h.ref.Value().found == nil }

// Source returns the source file of a path, or else its URL, or neither, as the file
// of the module has it.
func (h *Handle) Source(path string) (text []byte, link string) {
	if d, ok := h.answerer.(direct); ok {
		text, link, _ = d.SourceByPath(path)
	}
	return text, link
}

// Mangled reports whether names are mangled.
func (h *Handle) Mangled() bool { return h.ref.Value().mangled }

// Facts returns the facts of the module.
func (h *Handle) Facts() *Facts { return &h.ref.Value().Facts }

// Close releases the handle. It is called when the answer has been written.
func (h *Handle) Close() { h.tables.endAnswer(h.key, h.ref) }

// newEntry opens the table in blob. If that is not the table of the object m of the
// file with this hash, it closes blob and returns a fault.
func newEntry(blob cache.Blob, hash [32]byte, m ident.Module) (*entry, error) {
	tab, err := symcache.Open(blob)
	if err == nil && (tab.Info().InputHash != hash || tab.Info().Module.DebugID != m.DebugID) {
		err = fault.New(fault.Malformed, "symcache", "the table of another file")
	}
	if err != nil {
		_ = blob.Close()
		return nil, err
	}
	tab.Remember(blob.Size() / namesPart)
	return &entry{answerer: tab, mangled: tab.Info().Flags&symcache.Mangled != 0, size: cost(blob.Size()), blob: blob}, nil
}

// namesPart is the size of a table divided by that of its remembered names.
const namesPart = 2

// cost returns the memory of an open table of this size.
func cost(size int64) int64 { return size + size/namesPart }

// close closes the file or table. It runs after the last release.
func (e *entry) close() {
	if e.found != nil {
		e.found.Close()
	} else {
		_ = e.blob.Close() // it was only read
	}
}
