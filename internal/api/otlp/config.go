package otlp

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/source"
)

// Config configures the door.
type Config struct {
	Forward source.URL            `yaml:"forward" help:"Address to which profiles are forwarded with names, such as http://collector.example:4318/v1development/profiles. None: the interface is off."`
	Headers map[string]bin.Secret `yaml:"headers" help:"Headers of every request to that address, such as Authorization."`
	Wait    time.Duration         `yaml:"wait" least:"0" help:"How long profiles wait for symbols. Modules that are not ready have no names in the forwarded profiles; the work continues for later ones."`
}

// Defaults returns c with default values for its zero fields.
func (c Config) Defaults() Config {
	c.Wait = cmp.Or(c.Wait, 300*time.Millisecond)
	return c
}

// Validate returns an error if a field of c is invalid.
func (c Config) Validate() error {
	if c.Forward.IsZero() && len(c.Headers) == 0 {
		return nil
	}
	var errs []error
	for _, err := range (source.Config{ID: "otlp", Type: source.HTTP, URL: c.Forward, Headers: c.Headers}).Mistakes() {
		errs = append(errs, fmt.Errorf("forward: %w", err))
	}
	return errors.Join(errs...)
}
