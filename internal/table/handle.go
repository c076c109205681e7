package table

import (
	"symbolon/internal/cache"
	"symbolon/internal/cache/mem"
)

// reference is a reference to an open table or file.
type reference struct {
	tables *shared
	key    cache.Key
	ref    *mem.Ref[*entry]
}

// Facts returns the facts of the module.
func (r *reference) Facts() *Facts { return &r.ref.Value().Facts }

// Close releases the table or file. It is called when the answer has been written.
func (r *reference) Close() { r.tables.endAnswer(r.key, r.ref) }

// Handle answers addresses. The Texts in its frames belong to it.
type Handle struct {
	answerer
	reference
}

// names returns a handle of an entry for names; nil without one.
func (r reference) names() *Handle {
	if r.ref == nil {
		return nil
	}
	return &Handle{r.ref.Value().names, r}
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

// A RulesHandle has the unwind information of a module.
type RulesHandle struct {
	Rules
	reference
}
