package push

import (
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/object"
)

// Config configures a Client.
type Config struct {
	URL        string   // the server; empty: nothing is sent
	Key        string   // encoded, or ID:SECRET
	Debug      string   // the debug file of the only file; empty: look for it
	Debuginfod []string // URLs of servers of debug files; other words are ignored
	PartSize   bin.Size
	Parallel   int
	DryRun     bool
	Force      bool   // send contents that the server has, too
	Keep       string // the folder that keeps the parts; empty: none

	RetryWait time.Duration // the longest wait before the first retry; doubled for each further one
}

// Events has the functions that a Client calls while it works. Warn and Progress
// may be called from several goroutines, one at a time each.
type Events struct {
	Result func(*Result)
	Damage func(name string, info object.Info)
	Warn   func(text string)
	// Progress reports the bytes sent of a file. The total is 0 while the file is
	// read.
	Progress func(name string, done, total int64)
}
