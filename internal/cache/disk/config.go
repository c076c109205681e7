package disk

import (
	"cmp"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
)

// Config of the disk cache. The zero value is the default.
type Config struct {
	MaxBytes     bin.Size      `yaml:"max_bytes" least:"-1" help:"Bytes on disk of all entries, of downloads in progress and of unpacked open files. Beyond that the least recently used entries are evicted. -1: no limit."`
	MaxFiles     int64         `yaml:"max_files" least:"-1" help:"Number of entries on disk; each also uses about 200 bytes of memory. -1: no limit."`
	SpareMemory  bin.Size      `yaml:"spare_memory" help:"Memory to use in place of a disk that is full or fails. 0: a quarter of memory."`
	ObjectsIdle  time.Duration `yaml:"objects_idle" help:"How long an unused fetched file is kept. -1: until its space is needed."`
	MetaIdle     time.Duration `yaml:"meta_idle" help:"How long the unused description of a file is kept. -1: until its space is needed."`
	SymcacheIdle time.Duration `yaml:"symcache_idle" help:"How long an unused table, of names or of unwind information, is kept. -1: until its space is needed."`
	Temporary    bool          `yaml:"-"` // the folder ends with the process: descriptions of files are not stored
}

const day = 24 * time.Hour

// Defaults returns c with its zero fields filled in.
func (c Config) Defaults() Config {
	c.MaxBytes = cmp.Or(c.MaxBytes, 20<<30)
	c.MaxFiles = cmp.Or(c.MaxFiles, 250_000)
	c.ObjectsIdle = cmp.Or(c.ObjectsIdle, day)
	c.MetaIdle = cmp.Or(c.MetaIdle, 7*day)
	c.SymcacheIdle = cmp.Or(c.SymcacheIdle, 7*day)
	return c
}

// idle returns how long an unused entry of a kind is kept; negative means until
// its space is needed.
func (c Config) idle(k cache.Kind) time.Duration {
	switch k {
	case cache.Objects:
		return c.ObjectsIdle
	case cache.Meta:
		return c.MetaIdle
	default:
		return c.SymcacheIdle
	}
}
