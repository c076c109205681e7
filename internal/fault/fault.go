// Package fault defines the closed set of failures. The same set is returned,
// stored by the caches, counted by the metrics and shown to people; only the
// api packages translate it into status codes and texts of their protocols. Its
// values are immutable and safe for concurrent use.
package fault

import (
	"context"
	"errors"
	"fmt"
)

// Kind is the kind of a failure. The numbers are stored by the disk cache and
// never change their meaning.
type Kind uint8

const (
	Internal    Kind = iota // a defect of Symbolon, or one of its resources is exhausted; never cached
	NotFound                // no source has it
	Denied                  // access was refused
	Timeout                 // a deadline passed
	Transport               // the connection or the server failed: network, TLS, 5xx, 429
	Malformed               // the data is damaged, or not the requested data
	Unsupported             // the data is valid, in a format or variant that is not supported
)

var kindNames = [...]string{"internal", "not found", "denied", "timeout", "transport", "malformed", "unsupported"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Kinds returns all kinds in the order of their numbers.
func Kinds() []Kind {
	return []Kind{Internal, NotFound, Denied, Timeout, Transport, Malformed, Unsupported}
}

// Error is a failure with its kind, place and reason.
type Error struct {
	Kind   Kind
	Place  string // a URL without secrets, or "file kind, section, offset"
	Detail string // the reason, in a few words
	Status int    // HTTP status of the response that reports a Timeout, otherwise 0
	Cause  error  // may be nil; not stored when the error is cached
}

// New returns an Error whose detail is formatted by fmt.Errorf. If %w wraps an
// error, that is its cause.
func New(k Kind, place, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: k, Place: place, Detail: err.Error(), Cause: errors.Unwrap(err)}
}

func (e *Error) Error() string {
	if e.Place == "" {
		return e.Kind.String() + ": " + e.Detail
	}
	return e.Place + ": " + e.Kind.String() + ": " + e.Detail
}

func (e *Error) Unwrap() error { return e.Cause }

// Mismatch is the detail of a Malformed file that is not the requested one.
const Mismatch = "identity mismatch"

// KindOf returns the kind of the outermost Error in the chain of err, Timeout
// for a deadline, or Internal.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Kind
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	}
	return Internal
}

// Of returns err as an *Error: the outermost one in its chain, or else err
// wrapped with its KindOf. Of(nil) is nil.
func Of(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Kind: KindOf(err), Detail: err.Error(), Cause: err}
}
