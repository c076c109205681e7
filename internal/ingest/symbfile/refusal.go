package symbfile

import (
	"fmt"

	"symbolon/internal/fault"
)

// Reason is why a part is not taken.
type Reason uint8

const (
	Malformed Reason = iota // it is no part of a symbfile, or the parts together are none
	WrongKind               // it has records of the other kind
	Conflict                // another upload of this file is under way
	TooLarge
	Truncated // the body ended too early
)

var reasons = [...]string{"malformed", "wrong kind", "conflict", "too large", "truncated"}

func (r Reason) String() string {
	if int(r) < len(reasons) {
		return reasons[r]
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// Refusal is the error for a part that is not taken; its sender is to be told. Err
// is a *fault.Error.
type Refusal struct {
	Why Reason
	Err error
}

func (r *Refusal) Error() string { return r.Err.Error() }

func (r *Refusal) Unwrap() error { return r.Err }

// refuse is a Refusal with a text of its own.
func refuse(why Reason, place, format string, args ...any) error {
	kind := fault.Malformed
	switch why {
	case Conflict:
		kind = fault.Denied
	case TooLarge:
		kind = fault.Unsupported
	}
	return &Refusal{why, fault.New(kind, place, format, args...)}
}
