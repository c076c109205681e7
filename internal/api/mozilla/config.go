package mozilla

import (
	"errors"
	"fmt"
)

// The profiles of v4.
const (
	profileDefault = "default"
	profileTecken  = "tecken"
)

// Config of the door. The zero value is the default.
type Config struct {
	V4Profile  string `yaml:"v4_profile" help:"Whose v4 is served: default (Eliot's) or tecken (the older service's: nearest symbol below, its error texts, POST /)."`
	Strict     bool   `yaml:"strict" help:"Refuse what Eliot refuses, in its words: more than 10 jobs a request, code ids of modules, and other characters in their names and ids than it allows."`
	Extensions bool   `yaml:"extensions" help:"Give function_size and module_errors in every v5 answer, not only where the request has \"extensions\": true."`
	MaxJobs    int    `yaml:"max_jobs" help:"Jobs a request may have, where strict is off. -1: no bound."`
	MaxFrames  int    `yaml:"max_frames" help:"Frames a request may have, and stacks. -1: no bound."`
	MaxModules int    `yaml:"max_modules" help:"Distinct modules a request may have. -1: no bound."`
}

// Defaults returns c with its zero fields filled in.
func (c Config) Defaults() Config {
	if c.V4Profile == "" {
		c.V4Profile = profileDefault
	}
	if c.MaxJobs == 0 {
		c.MaxJobs = 1000
	}
	if c.MaxFrames == 0 {
		c.MaxFrames = 2_000_000
	}
	if c.MaxModules == 0 {
		c.MaxModules = 100_000
	}
	return c
}

// Validate says what is wrong with c.
func (c Config) Validate() error {
	c = c.Defaults()
	var errs []error
	if c.V4Profile != profileDefault && c.V4Profile != profileTecken {
		errs = append(errs, fmt.Errorf("v4_profile is %q: must be %s or %s", c.V4Profile, profileDefault, profileTecken))
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"max_jobs", c.MaxJobs}, {"max_frames", c.MaxFrames}, {"max_modules", c.MaxModules}} {
		if n.value < -1 {
			errs = append(errs, fmt.Errorf("%s is %d: must be a positive number, or -1", n.name, n.value))
		}
	}
	return errors.Join(errs...)
}
