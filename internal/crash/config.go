package crash

import (
	"cmp"

	"symbolon/internal/bin"
)

// Config configures the work on crashes. The zero value is the default.
type Config struct {
	MaxDump bin.Size `yaml:"max_dump" least:"0" help:"Largest crash file that a request may send. It is kept on the disk of the cache while its stacks are walked."`
}

// Defaults returns c with default values for its zero fields.
func (c Config) Defaults() Config {
	c.MaxDump = cmp.Or(c.MaxDump, 1<<30)
	return c
}
