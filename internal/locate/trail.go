package locate

import (
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/object"
	"symbolon/internal/source"
)

// Tried is one attempt of the trail of a lookup. The attempts are in the order of the
// candidates, and explain why a file was chosen or no file was found.
type Tried struct {
	Source   string
	Kind     string
	Location string
	Attempt  source.Attempt  // zero if the source was not asked
	Parse    time.Duration   // opening the file
	Cached   bool            // the outcome was remembered
	Expires  time.Time       // when the fault expires, if it is remembered
	Fault    *fault.Error    // nil: the file is usable
	Features object.Features // of a usable file
	VCS      string          // of its source server, if any
	Chosen   bool
}
