package locate

import (
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/source"
)

// Tried is one candidate on the trail of a lookup, in the order in which they
// were asked. The trail is an answer of its own: it says why a file was
// chosen, or why there is none.
type Tried struct {
	Source   string
	Kind     string
	Location string
	Attempt  source.Attempt // zero when nothing was asked of the source now
	Parse    time.Duration  // reading what came
	Cached   bool           // the verdict was remembered, not fetched
	Expires  time.Time      // when a remembered fault ends, zero otherwise
	Fault    *fault.Error   // nil: the file is usable
	Features []string       // what a usable file really has
	Chosen   bool
}
