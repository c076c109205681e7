package push

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"symbolon/internal/companion"
	"symbolon/internal/extract"
	"symbolon/internal/fault"
	"symbolon/internal/format/symbfile"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/scratch"
)

// Client pushes files to one server.
type Client struct {
	cfg        Config
	events     Events
	sender     *sender
	debuginfod *debuginfod

	pushed  map[ident.FileID]string // the first file of each id
	summary Summary
}

// New creates a client. It fails if the configuration is invalid.
func New(cfg Config, events Events) (*Client, error) {
	s, err := newSender(cfg, events)
	if err != nil {
		return nil, err
	}
	d := newDebuginfod(cfg.Debuginfod, events.Warn)
	return &Client{cfg: cfg, events: events, sender: s, debuginfod: d, pushed: map[ident.FileID]string{}}, nil
}

// ErrDebugFile is the error of a push with a debug file and several files.
var ErrDebugFile = errors.New("a debug file, -d, needs exactly one FILE")

// Push pushes the named files, and those of the named folders, patterns and
// installed packages. The error of a single file is a Result and no error of Push.
func (c *Client) Push(ctx context.Context, names, packages []string) (Summary, error) {
	targets := targets{ctx: ctx, fail: c.fail}
	for _, name := range names {
		targets.add(name)
	}
	for _, name := range packages {
		targets.addPackage(name)
	}
	if c.cfg.Debug != "" && (len(targets.list) > 1 || len(targets.list) == 1 && !targets.list[0].isNamed) {
		return Summary{}, ErrDebugFile
	}
	for _, t := range targets.list {
		err := c.push(ctx, t)
		if ctx.Err() != nil {
			return Summary{}, context.Cause(ctx)
		}
		if err != nil {
			c.fail(t.name, err)
		}
		if errors.Is(err, errKey) { // other files would be refused too
			break
		}
	}
	c.summary.Sent = len(c.pushed)
	return c.summary, context.Cause(ctx)
}

// fail reports a failed file.
func (c *Client) fail(name string, err error) {
	c.summary.Failed++
	if path, ok := errors.AsType[*fs.PathError](err); ok && path.Path == name {
		err = path.Err
	}
	text := c.sender.redact(err.Error())
	if !strings.HasPrefix(text, name+":") {
		text = name + ": " + text
	}
	c.events.Result(&Result{File: name, Status: Failed, Detail: text})
}

// push pushes a file. Its temporary files are in a folder that push removes.
func (c *Client) push(ctx context.Context, t target) (err error) {
	defer object.RecoverFault(&err)()
	dir, err := os.MkdirTemp("", "symbolon-push-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	code, err := companion.OpenAlone(t.name, companion.Options{})
	if err != nil {
		return err
	}
	defer code.Close()
	info := code.Object().Info()
	if info.Type == "dbg" {
		if t.isNamed {
			err = errors.New("the file has debug information and no code: name the file that runs, and this one with -d")
		}
		return err
	}
	x := &image{name: t.name, base: info.LoadAddress}
	x.build, _ = ident.ParseBuildID(info.Module.CodeID.String()) // most formats have none
	if x.id, err = ident.NewFileID(code.Source(), code.Source().Size()); err != nil {
		return err
	}
	if first, ok := c.pushed[x.id]; ok {
		c.events.Result(&Result{File: t.name, Status: Same, FileID: x.id.Base64(), Detail: "the same as " + first})
		return nil
	}
	c.sender.progress.begin(t.name)
	defer func() { err = errors.Join(err, x.close()) }()
	if ok, err := c.cut(ctx, x, t, code, dir); !ok {
		return err
	}
	if c.cfg.Keep != "" {
		if err := x.keep(c.cfg.Keep); err != nil {
			return err
		}
	}
	r, err := c.sender.send(ctx, x)
	if err != nil {
		return err
	}
	c.pushed[x.id] = t.name
	c.events.Result(r)
	return nil
}

// cut extracts the symbols of a file and cuts them into the parts of x. It reports
// false without an error if it skipped the file.
func (c *Client) cut(ctx context.Context, x *image, t target, code *companion.File, dir string) (ok bool, err error) {
	d, err := c.openDebug(ctx, t, dir)
	if err != nil {
		return false, companion.Cause(err, code)
	}
	defer d.Close()
	info := d.Object().Info()
	if err := extract.CheckBuild(code.Object().Info().Module, info.Module); err != nil {
		return false, companion.Cause(err, code, d)
	}
	if t.debugPackage != "" && info.Features&object.HasDebug == 0 {
		if !slices.Contains(c.summary.Packages, t.debugPackage) {
			c.summary.Packages = append(c.summary.Packages, t.debugPackage)
		}
		c.skip(t.name, "no debug information found for "+t.name+", skipping")
		return false, nil
	}
	noPads := extract.HasPads(code.Object())
	if noPads != nil && fault.KindOf(noPads) != fault.Unsupported {
		return false, companion.Cause(noPads, code, d)
	}
	raw, err := extractTo(ctx, dir, extract.Input{Debug: d.Object(), Code: code.Object()}, noPads == nil)
	defer func() {
		for _, f := range raw {
			f.Close()
		}
	}()
	if err = companion.Cause(err, code, d); err != nil {
		return false, err
	}
	c.events.Damage(cmp.Or(c.cfg.Debug, t.name), d.Object().Info())
	for i, s := range []*partSet{{kind: "ranges", route: "symbols-ranges"}, {kind: "returnpads", route: "symbols-returnpads"}} {
		if err := s.fill(ctx, raw[i], filepath.Join(dir, s.kind), int(min(c.cfg.PartSize, math.MaxInt32))); err != nil {
			return false, err
		}
		x.sets[i] = s
	}
	if x.sets[0].records == 0 {
		c.skip(t.name, "no symbols found for "+t.name+", skipping")
		return false, nil
	}
	if noPads != nil {
		c.events.Warn(fmt.Sprintf("%s: ranges only: %v", t.name, noPads))
	}
	return true, nil
}

// openDebug opens the debug file of a target.
func (c *Client) openDebug(ctx context.Context, t target, dir string) (*companion.File, error) {
	d, err := companion.Open(cmp.Or(c.cfg.Debug, t.name), companion.Options{})
	if err != nil || c.cfg.Debug != "" {
		return d, err
	}
	d, err = c.debuginfod.complete(ctx, d, dir)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (c *Client) skip(name, reason string) {
	c.events.Result(&Result{File: name, Status: Skipped, Detail: reason})
}

// extractTo writes the ranges and the return pads of a file as one symbfile each.
// Without hasPads the second one has no records.
func extractTo(ctx context.Context, dir string, in extract.Input, hasPads bool) (raw [2]*os.File, err error) {
	var w [2]*symbfile.Writer
	for i := range raw {
		if raw[i], err = os.CreateTemp(dir, "raw-*"); err != nil {
			return raw, err
		}
		w[i] = symbfile.NewWriter(raw[i])
	}
	in.Ranges, in.Workers, in.Scratch = w[0], runtime.GOMAXPROCS(0), scratch.Dir(dir)
	if hasPads {
		in.Pads = w[1]
	}
	err = extract.Extract(ctx, in)
	return raw, errors.Join(err, w[0].Close(), w[1].Close())
}
