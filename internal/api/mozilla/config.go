package mozilla

import "cmp"

// profileTecken is the profile of v4 other than the default.
const profileTecken = "tecken"

// Config of the door. The zero value is the default.
type Config struct {
	V4Profile  string `yaml:"v4_profile" oneof:"default tecken" help:"Version of v4: default (that of Eliot) or tecken (that of its predecessor: nearest symbol below the address, its error texts, POST /)."`
	Strict     bool   `yaml:"strict" help:"Refuse the same requests as Eliot, with the same texts: more than 10 jobs in a request, code ids of modules, and characters in their names and ids that it does not allow."`
	Extensions bool   `yaml:"extensions" help:"Add function_size and module_errors to every v5 answer, not only if the request has \"extensions\": true."`
	MaxJobs    int    `yaml:"max_jobs" least:"-1" help:"Jobs that a request may have, if strict is off. -1: no limit."`
	MaxFrames  int    `yaml:"max_frames" least:"-1" help:"Frames that a request may have, and stacks. -1: no limit."`
	MaxModules int    `yaml:"max_modules" least:"-1" help:"Distinct modules that a request may have. -1: no limit."`
}

// Defaults returns c with default values for its zero fields.
func (c Config) Defaults() Config {
	c.V4Profile = cmp.Or(c.V4Profile, "default")
	c.MaxJobs = cmp.Or(c.MaxJobs, 1000)
	c.MaxFrames = cmp.Or(c.MaxFrames, 2_000_000)
	c.MaxModules = cmp.Or(c.MaxModules, 100_000)
	return c
}
