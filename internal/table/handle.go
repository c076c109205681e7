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

// answerer is the one way of answering. The table and the file itself give the
// same frames. AppendText appends the string behind t, which is plain if it is
// known to need no escapes in JSON: printable ASCII without quotes and
// backslashes.
type answerer interface {
	Lookup(dst []sym.Frame, addr uint64) []sym.Frame
	Nearest(addr uint64) (sym.Frame, bool)
	AppendText(dst []byte, t sym.Text) (out []byte, plain bool)
}

// direct is the file itself.
type direct struct{ *object.Object }

func (d direct) AppendText(dst []byte, t sym.Text) ([]byte, bool) {
	return d.Object.AppendText(dst, t), false
}

// Handle is what is open for a module, while somebody uses it. The handles of
// Text in its frames are its own.
type Handle struct {
	answerer
	tables *desk
	key    cache.Key
	ref    *mem.Ref[*entry]
}

func (t *desk) handle(key cache.Key, ref *mem.Ref[*entry]) *Handle {
	return &Handle{answerer: ref.Value().answerer, tables: t, key: key, ref: ref}
}

// Quick says that an answer takes no time worth a look at the clock.
func (h *Handle) Quick() bool { return h.ref.Value().found == nil }

// Source is the text of the source file of a path, or else the address where it
// is; neither if the file of the module does not tell.
func (h *Handle) Source(path string) (text []byte, link string) {
	if d, ok := h.answerer.(direct); ok {
		text, link, _ = d.SourceByPath(path)
	}
	return text, link
}

// Mangled says that names are as linkers see them.
func (h *Handle) Mangled() bool { return h.ref.Value().mangled }

// Facts are what is known of the module.
func (h *Handle) Facts() *Facts { return &h.ref.Value().Facts }

// Close releases the handle. It is called when the answer has been written.
func (h *Handle) Close() { h.tables.endAnswer(h.key, h.ref) }

// newEntry opens the table in blob, which is that of object m of the file with
// this content hash, and closes blob if it is not.
func newEntry(blob cache.Blob, hash [32]byte, m ident.Module) (*entry, error) {
	tab, err := symcache.Open(blob)
	if err == nil && (tab.Info().InputHash != hash || tab.Info().Module.DebugID != m.DebugID) {
		err = fault.New(fault.Malformed, "symcache", "it is the table of another file")
	}
	if err != nil {
		_ = blob.Close()
		return nil, err
	}
	tab.Remember(blob.Size() / namesPart)
	return &entry{answerer: tab, mangled: tab.Info().Flags&symcache.Mangled != 0, size: cost(blob.Size()), blob: blob}, nil
}

// namesPart is which part of the size of a table its names may take in memory,
// in the form in which they are shown.
const namesPart = 2

// cost is the memory of an open table.
func cost(size int64) int64 { return size + size/namesPart }

// close lets go of what answers, when nobody uses it any more.
func (e *entry) close() {
	if e.found != nil {
		e.found.Close()
	} else {
		_ = e.blob.Close() // it was only read
	}
}
