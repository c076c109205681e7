// Package push is the client of a server of Elastic's profiler: it finds files,
// extracts their symbols and sends them.
package push

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/ident"
	"symbolon/internal/object"
)

// Config is what is sent, and where to.
type Config struct {
	Debug      string // the debug file of the only file; empty: what is found
	URL, Key   string // without URL nothing is sent
	Debuginfod []string
	PartSize   bin.Size
	Parallel   int
	DryRun     bool
	Force      bool
	Keep       string // the folder that keeps the parts; empty: none does

	RetryWait time.Duration // before what failed is tried again
}

// Events is told what happens.
type Events struct {
	Result   func(*Result)
	Damage   func(name string, info object.Info)
	Warn     func(text string)
	Progress func(name string, done, total int64) // of a file; a total of zero: it is read
}

// Client sends files, one after the other.
type Client struct {
	cfg      Config
	events   Events
	progress progress
	fetch    *debuginfods
	done     map[ident.FileID]string // where each of them was found first
	failed   int
	packages []string // that would have the debug information of files that were left out

	client  *http.Client
	url     string // without a slash at its end; empty: there is no server
	key     string // as it is sent
	secrets []string
	journal string // folder
}

// Result is what became of a file.
type Result struct {
	File    string `json:"file"`
	Status  string `json:"status"` // sent, dry-run, known, same, skipped or failed
	FileID  string `json:"fileid,omitempty"`
	BuildID string `json:"build_id,omitempty"`
	Ranges  *Set   `json:"ranges,omitempty"`
	Pads    *Set   `json:"returnpads,omitempty"`
	Bytes   int64  `json:"bytes"` // that were sent, or would have been
	Detail  string `json:"detail,omitempty"`
}

// Set is what became of the ranges or the pads of a file.
type Set struct {
	Content string `json:"content"`
	Records int64  `json:"records"`
	Parts   int    `json:"parts"`
	Size    int64  `json:"size"`
	Known   bool   `json:"known"` // the server had it
}

// New makes a client. It fails if the configuration is wrong.
func New(cfg Config, events Events) (*Client, error) {
	c := &Client{cfg: cfg, events: events, key: cfg.Key, secrets: []string{cfg.Key}, done: map[ident.FileID]string{}, progress: progress{show: events.Progress}}
	c.fetch = newDebuginfods(cfg.Debuginfod, events.Warn)
	if strings.Contains(c.key, ":") { // an id and a secret as they are
		c.key = base64.StdEncoding.EncodeToString([]byte(c.key))
	}
	c.secrets = append(c.secrets, c.key, url.QueryEscape(c.key))
	if pair, err := base64.StdEncoding.DecodeString(c.key); err == nil {
		if _, secret, ok := strings.Cut(string(pair), ":"); ok && len(secret) > 3 {
			c.secrets = append(c.secrets, string(pair), secret)
		}
	}
	if cfg.URL == "" {
		return c, nil
	}
	u, err := url.Parse(cfg.URL)
	switch {
	case !strings.Contains(cfg.URL, "://") && !strings.Contains(cfg.URL, "@"): // behind a password
		return nil, errors.New(c.redact(fmt.Sprintf("--url %s has no scheme; did you mean https://%s?", cfg.URL, cfg.URL)))
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("--url is none of http or https")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("--url is of a server, perhaps with a path: a password is named with --api-key, and there is nothing behind the path")
	}
	c.url = strings.TrimRight(cfg.URL, "/")
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = cfg.Parallel
	c.client = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the key is for this server
	}
	if !cfg.DryRun {
		c.journal = journalDir(time.Now())
	}
	return c, nil
}

// ErrOneDebug is that there is a debug file, and not one file that it is of.
var ErrOneDebug = errors.New("a debug file, -d, is of one FILE")

// Summary is what became of all files.
type Summary struct {
	Sent, Failed int
	Packages     []string // that would have the debug information of files that were left out
}

// Push sends files, and those of folders, patterns and packages. An error of one of them
// is a Result.
func (c *Client) Push(ctx context.Context, names, packages []string) (Summary, error) {
	targets := targets{ctx: ctx, fail: c.fail}
	for _, name := range names {
		targets.add(name)
	}
	for _, name := range packages {
		targets.pack(name)
	}
	if c.cfg.Debug != "" && (len(targets.list) > 1 || len(targets.list) == 1 && !targets.list[0].named) {
		return Summary{}, ErrOneDebug
	}
	for _, t := range targets.list {
		t.debug = c.cfg.Debug
		if err := c.file(ctx, t); err != nil {
			if ctx.Err() != nil {
				return Summary{}, context.Cause(ctx)
			}
			c.fail(t.name, err)
			if errors.Is(err, errKey) { // with which no other file is taken either
				break
			}
		}
	}
	if ctx.Err() != nil {
		return Summary{}, context.Cause(ctx)
	}
	return Summary{Sent: len(c.done), Failed: c.failed, Packages: c.packages}, nil
}

// fail tells that a file failed. What servers say may repeat the key.
func (c *Client) fail(name string, err error) {
	c.failed++
	var place *fs.PathError
	if errors.As(err, &place) && place.Path == name {
		err = place.Err
	}
	text := c.redact(err.Error())
	if !strings.HasPrefix(text, name+":") {
		text = name + ": " + text
	}
	c.events.Result(&Result{File: name, Status: "failed", Detail: text})
}

// skip tells that a file is left out, which is no failure.
func (c *Client) skip(name, why string) {
	c.events.Result(&Result{File: name, Status: "skipped", Detail: why})
}
