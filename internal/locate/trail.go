package locate

import (
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/object"
	"symbolon/internal/source"
)

// Tried is one candidate on the trail of a lookup, in the order in which they
// were asked. The trail is an answer of its own: it says why a file was
// chosen, or why there is none.
type Tried struct {
	Source   string
	Kind     string
	Location string
	Attempt  source.Attempt  // zero when nothing was asked of the source now
	Parse    time.Duration   // reading what came
	Cached   bool            // the verdict was remembered, not fetched
	Expires  time.Time       // when a fault that is remembered ends
	Fault    *fault.Error    // nil: the file is usable
	Features object.Features // what a usable file really has
	VCS      string          // of its source server, if it names one
	Chosen   bool
}
