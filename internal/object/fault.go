package object

import (
	"runtime/debug"

	"symbolon/internal/fault"
)

// unfault makes a fault of mapped memory, which a failing disk causes, an error
// of the function that defers what it returns. Other panics go on.
func unfault(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		p := recover()
		if p == nil {
			return
		}
		if _, ok := p.(interface{ Addr() uintptr }); !ok {
			panic(p)
		}
		*err = fault.New(fault.Internal, "debug file", "its disk does not give it back: %v", p)
	}
}
