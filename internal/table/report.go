package table

import (
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/locate"
)

// Report is the trail of one module: what was asked, what it cost, and why
// there is nothing, if there is nothing.
type Report struct {
	Fault    *fault.Error   // why there is no table; nil when there is one
	Tried    []locate.Tried // empty when the open table was already in memory
	Hit      bool           // a table, in memory or on disk, answered
	Late     bool           // the deadline of the module passed; the work goes on
	Lookup   time.Duration  // asking the caches
	Parse    time.Duration  // reading the fetched file
	ParseBad time.Duration  // reading a file that turned out to be no use
}
