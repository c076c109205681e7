package symbfile

import (
	"errors"
	"fmt"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/ingest"
)

// Config limits uploads. The zero value has the defaults.
type Config struct {
	MaxPart bin.Size      `yaml:"max_part" help:"Decoded bytes of one part of an upload, at most."`
	MaxFile bin.Size      `yaml:"max_file" help:"Decoded bytes of all parts of a file together, at most."`
	Expiry  time.Duration `yaml:"expiry" help:"How long parts wait for the others of their file."`
	Mixed   bool          `yaml:"mixed" help:"Take parts that also have records of the other kind: return pads among ranges, ranges among return pads."`
}

// Defaults returns c with its zero fields filled in.
func (c Config) Defaults() Config {
	if c.MaxPart == 0 {
		c.MaxPart = 256 << 20
	}
	if c.MaxFile == 0 {
		c.MaxFile = 8 << 30
	}
	if c.Expiry == 0 {
		c.Expiry = 24 * time.Hour
	}
	return c
}

// Validate returns an error for each invalid field.
func (c Config) Validate() error {
	c = c.Defaults()
	var errs []error
	if c.MaxPart < 0 {
		errs = append(errs, fmt.Errorf("max_part is %v: must be a size", c.MaxPart))
	}
	if c.MaxFile < c.MaxPart {
		errs = append(errs, fmt.Errorf("max_file is %v: must be at least max_part, %v", c.MaxFile, c.MaxPart))
	}
	if c.Expiry < 2*ingest.Patience {
		errs = append(errs, fmt.Errorf("expiry is %v: must be at least %v", c.Expiry, 2*ingest.Patience))
	}
	return errors.Join(errs...)
}
