package table

import (
	"slices"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/locate"
)

// Report is the outcome of one lookup of a module: its trail, the time it took, and
// the fault of a module without a table.
type Report struct {
	Fault    *fault.Error   // nil if a table or file is open
	Tried    []locate.Tried // empty if the table was open
	Hit      bool           // a table was open or stored
	Late     bool           // the deadline passed before the end of the work
	Lookup   time.Duration  // of caches
	Parse    time.Duration  // of the fetched file
	ParseBad time.Duration  // of files that were rejected
}

// remembered returns a trail as a later answer reports it: nothing was fetched.
func remembered(trail []locate.Tried) []locate.Tried {
	trail = slices.Clone(trail)
	for i := range trail {
		trail[i].Attempt, trail[i].Parse, trail[i].Cached = locate.Tried{}.Attempt, 0, true
	}
	return trail
}
