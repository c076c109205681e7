package disk

import (
	"errors"
	"fmt"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
)

// Config of the disk cache. The zero value is the default.
type Config struct {
	MaxBytes     bin.Size      `yaml:"max_bytes" help:"Bytes on disk of all entries, of downloads under way and of what open files unpack to; what was not used for longest is removed beyond that. -1: no bound."`
	MaxFiles     int64         `yaml:"max_files" help:"Number of entries on disk; each also costs about 200 bytes of memory. -1: no bound."`
	SpareMemory  bin.Size      `yaml:"spare_memory" help:"Memory that stands in for a disk that takes nothing more. None: a quarter of the memory for all."`
	ObjectsIdle  time.Duration `yaml:"objects_idle" help:"How long a fetched file that nobody uses is kept. -1: until its space is needed."`
	MetaIdle     time.Duration `yaml:"meta_idle" help:"How long the description of a file is kept when nobody uses it. -1: until its space is needed."`
	SymcacheIdle time.Duration `yaml:"symcache_idle" help:"How long a lookup table that nobody uses is kept. -1: until its space is needed."`
	CficacheIdle time.Duration `yaml:"cficache_idle" help:"How long an unwind table that nobody uses is kept. -1: until its space is needed."`
}

const day = 24 * time.Hour

// Defaults returns c with its zero fields filled in.
func (c Config) Defaults() Config {
	if c.MaxBytes == 0 {
		c.MaxBytes = 20 << 30
	}
	if c.MaxFiles == 0 {
		c.MaxFiles = 250_000
	}
	for _, d := range []struct {
		field *time.Duration
		life  time.Duration
	}{
		{&c.ObjectsIdle, day}, {&c.MetaIdle, 7 * day}, {&c.SymcacheIdle, 7 * day}, {&c.CficacheIdle, 7 * day},
	} {
		if *d.field == 0 {
			*d.field = d.life
		}
	}
	return c
}

// Validate says what is wrong with c.
func (c Config) Validate() error {
	var errs []error
	if c.MaxBytes < -1 {
		errs = append(errs, fmt.Errorf("max_bytes is %d: must be a size, or -1 for no bound", int64(c.MaxBytes)))
	}
	if c.MaxFiles < -1 {
		errs = append(errs, fmt.Errorf("max_files is %d: must be a number, or -1 for no bound", c.MaxFiles))
	}
	return errors.Join(errs...)
}

// idle is how long an entry of a kind is kept without being used; negative: for
// ever.
func (c Config) idle(k cache.Kind) time.Duration {
	switch k {
	case cache.Objects:
		return c.ObjectsIdle
	case cache.Meta:
		return c.MetaIdle
	case cache.Symcache:
		return c.SymcacheIdle
	default:
		return c.CficacheIdle
	}
}
