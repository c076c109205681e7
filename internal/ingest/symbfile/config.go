package symbfile

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/ingest"
)

// Config limits uploads. The zero value has the defaults.
type Config struct {
	MaxPart bin.Size      `yaml:"max_part" least:"0" help:"Decoded size of one part of an upload."`
	MaxFile bin.Size      `yaml:"max_file" help:"Decoded size of all parts of a file together."`
	Expiry  time.Duration `yaml:"expiry" help:"How long the parts of an incomplete upload are kept."`
	Mixed   bool          `yaml:"mixed" help:"Accept parts that also contain records of the other kind: return pads among ranges, ranges among return pads."`
}

// Defaults returns c with its zero fields filled in.
func (c Config) Defaults() Config {
	c.MaxPart = cmp.Or(c.MaxPart, 256<<20)
	c.MaxFile = cmp.Or(c.MaxFile, 8<<30)
	c.Expiry = cmp.Or(c.Expiry, 24*time.Hour)
	return c
}

// Validate returns an error for each invalid field.
func (c Config) Validate() error {
	c = c.Defaults()
	var errs []error
	if c.MaxFile < c.MaxPart {
		errs = append(errs, fmt.Errorf("max_file is %v: must be at least max_part, %v", c.MaxFile, c.MaxPart))
	}
	if c.Expiry < 2*ingest.ReplaceAfter {
		errs = append(errs, fmt.Errorf("expiry is %v: must be at least %v", c.Expiry, 2*ingest.ReplaceAfter))
	}
	return errors.Join(errs...)
}
