package table

import (
	"symbolon/internal/cache"
	"symbolon/internal/cache/mem"
)

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
