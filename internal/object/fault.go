package object

import (
	"errors"
	"io"
	"runtime/debug"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// RecoverFault turns a fault of mapped memory, which a failing disk causes, into an
// error of the function that defers its result. Other panics continue.
func RecoverFault(err *error) func() {
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
		*err = fault.New(fault.Internal, "debug file", "read the mapped file: %v", p)
	}
}

// guard returns the result of work, or fallback if the disk under mapped memory fails.
func guard[T any](fallback T, work func() T) (out T) {
	out = fallback
	defer RecoverFault(new(error))()
	return work()
}

// ReadFault returns a failure of the source.
func ReadFault(off int64, err error) error {
	if errors.Is(err, bin.ErrShort) || errors.Is(err, io.EOF) {
		return fault.New(fault.Internal, "debug file", "read at offset %d: the file has become shorter", off)
	}
	return fault.New(fault.Internal, "debug file", "read at offset %d: %w", off, err)
}
