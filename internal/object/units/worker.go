package units

import (
	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/gopcln"
)

// Worker is the memory of one goroutine that makes digests.
type Worker struct {
	walker  dwarf.Walker
	program dwarf.Program
	lines   dwarf.Lines
	merger  merger
	body    gopcln.Body
	own     []dwarf.Range // of the functions of the unit
}
