package cache

import (
	"time"

	"symbolon/internal/fault"
)

// Config is how long faults are remembered, and files taken as they were found. The zero value is the default;
// a negative time means that faults of that kind are not remembered at all.
type Config struct {
	Found          time.Duration `yaml:"found" help:"How long a file is taken as it was found, before its source is asked whether it is still the same, if the source can tell; -1: for ever."`
	NotFound       time.Duration `yaml:"not_found" help:"How long a file that a source does not have is not asked for again; -1: not remembered."`
	NotFoundPublic time.Duration `yaml:"not_found_public" help:"The same for public sources, whose contents change rarely; -1: not remembered."`
	Denied         time.Duration `yaml:"denied" help:"How long a source that refused us a file is not asked for it again; -1: not remembered."`
	Timeout        time.Duration `yaml:"timeout" help:"How long a file that took too long is not asked for again; -1: not remembered."`
	Transport      time.Duration `yaml:"transport" help:"How long a file is not asked for again after a broken connection or an error of the server; -1: not remembered."`
	Malformed      time.Duration `yaml:"malformed" help:"How long a file that is damaged, or not the one that was asked for, is not fetched again; -1: not remembered."`
	Unsupported    time.Duration `yaml:"unsupported" help:"How long a file of a format that is not read here is not fetched again; -1: not remembered."`
}

// Defaults returns c with its zero fields filled in.
func (c Config) Defaults() Config {
	for _, d := range []struct {
		field *time.Duration
		life  time.Duration
	}{
		{&c.Found, 24 * time.Hour},
		{&c.NotFound, time.Hour},
		{&c.NotFoundPublic, 24 * time.Hour},
		{&c.Denied, 10 * time.Minute},
		{&c.Timeout, time.Minute},
		{&c.Transport, time.Minute},
		{&c.Malformed, 24 * time.Hour},
		{&c.Unsupported, 24 * time.Hour},
	} {
		if *d.field == 0 {
			*d.field = d.life
		}
	}
	return c
}

// For is how long f is remembered, zero when not at all. Our own failures
// never are: they say nothing about the file. public tells that the source of
// the file is a public one.
func (c Config) For(f *fault.Error, public bool) time.Duration {
	if f == nil {
		return 0
	}
	c = c.Defaults()
	var life time.Duration
	switch f.Kind {
	case fault.NotFound:
		life = c.NotFound
		if public {
			life = c.NotFoundPublic
		}
	case fault.Denied:
		life = c.Denied
	case fault.Timeout:
		life = c.Timeout
	case fault.Transport:
		life = c.Transport
	case fault.Malformed:
		life = c.Malformed
	case fault.Unsupported:
		life = c.Unsupported
	}
	return max(life, 0)
}
