package fault

import "runtime/debug"

// Recover turns a panic of the function that defers it into the error of that
// function: files of others must not end the process. It must be deferred itself,
// not called by a deferred function.
func Recover(place string, err *error) {
	if p := recover(); p != nil {
		*err = Panicked(place, p)
	}
}

// Panicked returns the fault for a recovered panic, with the stack of the
// goroutine.
func Panicked(place string, value any) *Error {
	return New(Internal, place, "panic: %v\n%s", value, debug.Stack())
}
