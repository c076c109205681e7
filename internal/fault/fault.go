// Package fault is the closed set of ways in which something can fail. The
// same set is returned, remembered by the caches, counted by the metrics and
// shown to people; only the doors turn it into status codes and wire words.
package fault

import (
	"context"
	"errors"
	"fmt"
)

// Kind says what sort of failure it is. The numbers are stored by the disk
// cache and never change their meaning.
type Kind uint8

const (
	Internal    Kind = iota // our own mistake, or a resource of ours is exhausted; never remembered
	NotFound                // nobody has it
	Denied                  // somebody may have it and does not give it to us
	Timeout                 // it took too long
	Transport               // the way there is broken: connection, TLS, 5xx, 429
	Malformed               // it came and is not what it should be
	Unsupported             // it came, is fine, and is nothing that we read
)

var kindNames = [...]string{"internal", "not found", "denied", "timeout", "transport", "malformed", "unsupported"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Kinds lists all kinds in the order of their numbers.
func Kinds() []Kind {
	return []Kind{Internal, NotFound, Denied, Timeout, Transport, Malformed, Unsupported}
}

// Error is a failure with its kind, its place and its reason.
type Error struct {
	Kind   Kind
	Place  string // where: a URL without secrets, or "file kind, section, offset"
	Detail string // why, in a few words
	Cause  error  // may be nil; not kept when the error is remembered
}

// New makes an Error. If one of the args is an error wrapped by %w, it is the
// cause.
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

// Mismatch is the detail of a Malformed file that is another file than the
// one that was asked for.
const Mismatch = "identity mismatch"

// KindOf is the kind of err: of the outermost Error in its chain, or Timeout
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

// Of is err as an *Error: itself if it is one, else wrapped with its KindOf.
// Of(nil) is nil.
func Of(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: KindOf(err), Detail: err.Error(), Cause: err}
}
