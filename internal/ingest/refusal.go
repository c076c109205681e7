package ingest

import (
	"fmt"

	"symbolon/internal/fault"
)

// A Reason is the reason to refuse a part.
type Reason uint8

const (
	Malformed Reason = iota // the part, or all parts together, are invalid
	WrongKind               // the part has records of another kind
	Conflict                // another upload has the same place
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

// A Refusal is the error for a part that its sender must change or send later. Err
// is a *fault.Error.
type Refusal struct {
	Why Reason
	Err error
}

func (r *Refusal) Error() string { return r.Err.Error() }

func (r *Refusal) Unwrap() error { return r.Err }

// Refuse returns a *Refusal with a text.
func Refuse(why Reason, place, format string, args ...any) error {
	kind := fault.Malformed
	switch why {
	case Conflict:
		kind = fault.Denied
	case TooLarge:
		kind = fault.Unsupported
	}
	return &Refusal{why, fault.New(kind, place, format, args...)}
}
