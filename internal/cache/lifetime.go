package cache

import (
	"cmp"
	"time"

	"symbolon/internal/fault"
)

// Config has the lifetimes of remembered faults and of found files. The zero
// value is the default; faults with a negative lifetime are not remembered.
type Config struct {
	Found          time.Duration `yaml:"found" help:"How long a found file is used before its source is asked whether it has changed, if the source can tell; -1: forever."`
	NotFound       time.Duration `yaml:"not_found" help:"How long to remember that a source does not have a file; -1: not at all."`
	NotFoundPublic time.Duration `yaml:"not_found_public" help:"The same for public sources, whose contents change rarely; -1: not at all."`
	Denied         time.Duration `yaml:"denied" help:"How long to remember that a source denied access to a file; -1: not at all."`
	Timeout        time.Duration `yaml:"timeout" help:"How long to remember that fetching a file timed out; -1: not at all."`
	Transport      time.Duration `yaml:"transport" help:"How long to remember that a connection broke or a server failed; -1: not at all."`
	Malformed      time.Duration `yaml:"malformed" help:"How long to remember that a file is damaged, or is not the requested one; -1: not at all."`
	Unsupported    time.Duration `yaml:"unsupported" help:"How long to remember that the format of a file is not supported; -1: not at all."`
}

// Defaults returns c with its zero fields filled in.
func (c Config) Defaults() Config {
	c.Found = cmp.Or(c.Found, 24*time.Hour)
	c.NotFound = cmp.Or(c.NotFound, time.Hour)
	c.NotFoundPublic = cmp.Or(c.NotFoundPublic, 24*time.Hour)
	c.Denied = cmp.Or(c.Denied, 10*time.Minute)
	c.Timeout = cmp.Or(c.Timeout, time.Minute)
	c.Transport = cmp.Or(c.Transport, time.Minute)
	c.Malformed = cmp.Or(c.Malformed, 24*time.Hour)
	c.Unsupported = cmp.Or(c.Unsupported, 24*time.Hour)
	return c
}

// For returns how long f is remembered; zero means not at all. Faults of kind
// Internal never are: they tell nothing about the file. public reports whether
// the source of the file is a public one.
func (c Config) For(f *fault.Error, public bool) time.Duration {
	if f == nil {
		return 0
	}
	c = c.Defaults()
	lives := [...]time.Duration{
		fault.NotFound: c.NotFound, fault.Denied: c.Denied, fault.Timeout: c.Timeout,
		fault.Transport: c.Transport, fault.Malformed: c.Malformed, fault.Unsupported: c.Unsupported,
	}
	if public {
		lives[fault.NotFound] = c.NotFoundPublic
	}
	return max(lives[f.Kind], 0)
}
