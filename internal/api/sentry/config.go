package sentry

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"symbolon/internal/api/wire"
	"symbolon/internal/bin"
)

// Config configures the door. The zero value is the default.
type Config struct {
	AllowRequestSources   bool          `yaml:"allow_request_sources" help:"Let requests name sources. If it is off, such a request gets 403: clients could make this server connect to addresses of their choice."`
	RequestFilesystemRoot string        `yaml:"request_filesystem_root" help:"Folder that contains the folders that requests may name as sources of type filesystem. None: requests must not name folders."`
	DisableProxy          bool          `yaml:"disable_proxy" help:"Do not serve files below /proxy/."`
	MaxBody               bin.Size      `yaml:"max_body" least:"0" help:"Largest body of a request, as sent and after decoding."`
	MaxFrames             int           `yaml:"max_frames" least:"-1" help:"Frames that a request may have, and stack traces. -1: no limit."`
	MaxModules            int           `yaml:"max_modules" least:"-1" help:"Modules that a request may have. -1: no limit."`
	MaxConcurrentRequests int           `yaml:"max_concurrent_requests" least:"-1" help:"Requests that are served at the same time, including those whose client polls for the answer; others get 503. One scope may have seven eighths of them. -1: no limit."`
	AnswersMemory         bin.Size      `yaml:"answers_memory" least:"0" help:"Memory for finished answers that clients poll for. Beyond it the oldest are evicted: first those that were read or that Redis has, then others, whose clients must send the request again."`
	Retention             time.Duration `yaml:"retention" least:"0" help:"How long a finished answer is kept for polls."`
}

// Defaults returns c with default values for its zero fields.
func (c Config) Defaults() Config {
	c.MaxBody = cmp.Or(c.MaxBody, 55<<20)
	c.MaxFrames = cmp.Or(c.MaxFrames, 2_000_000)
	c.MaxModules = cmp.Or(c.MaxModules, 100_000)
	c.MaxConcurrentRequests = cmp.Or(c.MaxConcurrentRequests, 200)
	c.AnswersMemory = cmp.Or(c.AnswersMemory, 64<<20)
	c.Retention = cmp.Or(c.Retention, 90*time.Second)
	return c
}

// limits returns the limits of a request.
func (c Config) limits() wire.Limits { return wire.Limits{Frames: c.MaxFrames, Modules: c.MaxModules} }

// maxBody keeps the records of a request within 32-bit offsets.
const maxBody = 512 << 20

// Validate returns an error if a field of c is invalid.
func (c Config) Validate() error {
	c = c.Defaults()
	var errs []error
	if c.MaxBody > maxBody {
		errs = append(errs, fmt.Errorf("max_body is %s: must be a size up to 512MiB", c.MaxBody))
	}
	if c.RequestFilesystemRoot != "" && !filepath.IsAbs(c.RequestFilesystemRoot) {
		errs = append(errs, errors.New("request_filesystem_root is not an absolute path"))
	}
	return errors.Join(errs...)
}
