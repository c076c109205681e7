package sentry

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"symbolon/internal/bin"
)

// Config of the door. The zero value is the default.
type Config struct {
	AllowRequestSources   bool          `yaml:"allow_request_sources" help:"Let requests name the sources to ask. Off, a request that does so gets 403: whoever may send requests could make this server connect to places of his choice."`
	RequestFilesystemRoot string        `yaml:"request_filesystem_root" help:"Folder below which sources of type filesystem may be named in requests. None: nowhere."`
	DisableProxy          bool          `yaml:"disable_proxy" help:"Serve no files under /proxy/."`
	MaxBody               bin.Size      `yaml:"max_body" help:"Largest body of a request, as sent and after decoding."`
	MaxFrames             int           `yaml:"max_frames" help:"Frames a request may have, and stack traces. -1: no bound."`
	MaxModules            int           `yaml:"max_modules" help:"Modules a request may have. -1: no bound."`
	MaxConcurrentRequests int           `yaml:"max_concurrent_requests" help:"Requests worked on at the same time, those included whose client polls for the answer; those beyond get 503. One scope may have seven eighths of them. -1: no bound."`
	AnswersMemory         bin.Size      `yaml:"answers_memory" help:"Memory for finished answers that clients poll for. What does not fit goes, the oldest first: those that were read already or that Redis has, then others, whose clients have to ask again."`
	Retention             time.Duration `yaml:"retention" help:"How long a finished answer can be polled for."`
}

// Defaults returns c with its zero fields filled in.
func (c Config) Defaults() Config {
	if c.MaxBody == 0 {
		c.MaxBody = 55 << 20
	}
	if c.MaxFrames == 0 {
		c.MaxFrames = 2_000_000
	}
	if c.MaxModules == 0 {
		c.MaxModules = 100_000
	}
	if c.MaxConcurrentRequests == 0 {
		c.MaxConcurrentRequests = 200
	}
	if c.AnswersMemory == 0 {
		c.AnswersMemory = 64 << 20
	}
	if c.Retention == 0 {
		c.Retention = 90 * time.Second
	}
	return c
}

// maxBody keeps what is made of a body below the offsets that it is found by.
const maxBody = 512 << 20

// Validate says what is wrong with c.
func (c Config) Validate() error {
	c = c.Defaults()
	var errs []error
	for _, n := range []struct {
		name  string
		value int
	}{{"max_frames", c.MaxFrames}, {"max_modules", c.MaxModules}, {"max_concurrent_requests", c.MaxConcurrentRequests}} {
		if n.value < -1 {
			errs = append(errs, fmt.Errorf("%s is %d: must be a positive number, or -1", n.name, n.value))
		}
	}
	if c.MaxBody < 0 || c.MaxBody > maxBody {
		errs = append(errs, fmt.Errorf("max_body is %s: must be a size up to 512MiB", c.MaxBody))
	}
	if c.AnswersMemory < 0 {
		errs = append(errs, fmt.Errorf("answers_memory is %s: must be a positive size", c.AnswersMemory))
	}
	if c.Retention < 0 {
		errs = append(errs, fmt.Errorf("retention is %s: must be a positive duration", c.Retention))
	}
	if c.RequestFilesystemRoot != "" && !filepath.IsAbs(c.RequestFilesystemRoot) {
		errs = append(errs, errors.New("request_filesystem_root is not an absolute path"))
	}
	return errors.Join(errs...)
}
