package stackwalk

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"symbolon/internal/companion"
	"symbolon/internal/console"
	"symbolon/internal/crash"
	"symbolon/internal/crash/text"
	"symbolon/internal/scratch"
	"symbolon/internal/source"
)

// Options select the symbols for dumps, and the output.
type Options struct {
	Symbols []string        // folders and files that are used instead of the sources of the configuration
	Sources []source.Config // further ones
	Data    string          // data directory; empty: see Sources
	Extra   string          // file for crash.Dump.AddExtra; empty: none
	Crash   crash.Options

	JSON    bool
	Compact bool   // JSON in one line
	Cyborg  string // file for JSON beside the text
	Brief   bool   // text with the requesting thread only
}

// A Session prints dumps. It must be closed.
type Session struct {
	env     *Env
	opt     Options
	folders []source.Config
	files   scratch.Links
	p       *crash.Processor
	done    func()
}

// Open opens the symbols.
func Open(ctx context.Context, e *Env, opt Options) (*Session, error) {
	s := &Session{env: e, opt: opt}
	for _, name := range opt.Symbols {
		info, err := os.Stat(name)
		switch {
		case err == nil && info.IsDir():
			s.folders = append(s.folders, folder(name, false)...)
			continue
		case err == nil:
			err = s.files.Add(name)
		}
		if err != nil {
			s.files.Remove()
			return nil, fmt.Errorf("invalid --symbols %q: must be a folder or a symbol file", name)
		}
	}
	s.folders = append(append(s.folders, folder(s.files.Dir, true)...), opt.Sources...)
	var err error
	if s.p, s.done, err = e.Open(ctx, Sources{Replace: s.folders, Data: opt.Data}); err != nil {
		s.files.Remove()
		return nil, err
	}
	return s, nil
}

// Close closes the symbols.
func (s *Session) Close() {
	s.done()
	s.files.Remove()
}

// Print writes the report on a dump. A report of Apple's systems is always JSON.
func (s *Session) Print(ctx context.Context, w io.Writer, name string) error {
	src, err := companion.OpenSource(name, s.env.Stdin)
	if err != nil {
		return err
	}
	defer src.Close()
	file, done, err := crash.Decompress(ctx, src)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer done()
	d, apple, err := crash.Open(file)
	switch {
	case err != nil:
	case apple != nil:
		if err = s.p.SymbolicateApple(ctx, apple, crash.Options{}); err == nil {
			return crash.WriteJSON(w, apple)
		}
	default:
		var failed error // to write
		err = s.report(ctx, d, func(r *crash.Report) error {
			failed = s.write(w, r)
			return nil
		})
		if failed != nil {
			return failed
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// report calls write with the report on a dump.
func (s *Session) report(ctx context.Context, d *crash.Dump, write func(*crash.Report) error) error {
	if s.opt.Extra != "" {
		data, err := os.ReadFile(s.opt.Extra)
		if err == nil {
			err = d.AddExtra(data)
		}
		if err != nil {
			return err
		}
	}
	p := s.p
	if files := d.LocalFiles(); len(files) > 0 {
		here, done, err := s.here(ctx, files)
		defer done()
		if err != nil {
			return err
		}
		p = here
	}
	r, err := s.process(ctx, p, d)
	if err != nil {
		return err
	}
	defer r.Release()
	return write(r)
}

// process makes the report on a dump. On a terminal the time it takes is shown, as
// long as that is more than a second.
func (s *Session) process(ctx context.Context, p *crash.Processor, d *crash.Dump) (*crash.Report, error) {
	bar := console.Progress{W: s.env.Stderr}
	if !s.env.IsTerminal {
		bar.W = io.Discard
	}
	ended, shown := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(shown)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-ended:
				bar.Clear()
				return
			case <-tick.C:
				bar.Show("looking up the symbols of %s, %d s", console.Count(len(d.Modules), "module"), n)
			}
		}
	}()
	r, err := p.Process(ctx, d, s.opt.Crash)
	close(ended)
	<-shown
	return r, err
}

// write writes a report in the forms of the options.
func (s *Session) write(w io.Writer, r *crash.Report) error {
	if s.opt.JSON {
		return s.writeJSON(w, r)
	}
	if s.opt.Cyborg != "" {
		if err := scratch.WriteFile(s.opt.Cyborg, func(w io.Writer) error { return s.writeJSON(w, r) }); err != nil {
			return err
		}
	}
	return text.WriteHuman(w, r, text.Options{Brief: s.opt.Brief, Explain: s.opt.Crash.Explain, Now: time.Now()})
}

func (s *Session) writeJSON(w io.Writer, r *crash.Report) error {
	if !s.opt.Compact {
		return crash.WriteJSON(w, r)
	}
	var wide, narrow bytes.Buffer
	if err := crash.WriteJSON(&wide, r); err != nil {
		return err
	}
	if err := json.Compact(&narrow, wide.Bytes()); err != nil {
		return err
	}
	_, err := narrow.WriteTo(w)
	return err
}

// here returns a processor that also uses files of this machine: those of the modules
// of a core file, and their debug files. Their ids are compared, as those of all files.
func (s *Session) here(ctx context.Context, modules []string) (p *crash.Processor, done func(), err error) {
	var files scratch.Links
	if err := files.Add(modules...); err != nil {
		return nil, files.Remove, err
	}
	more := folder(files.Dir, true)
	if debug := "/usr/lib/debug/.build-id"; len(existing([]string{debug})) > 0 {
		more = append(more, folder(debug, false)...)
		more[len(more)-1].Layout.Type = source.Native
	}
	p, end, err := s.env.Open(ctx, Sources{Replace: s.folders, More: more})
	if err != nil {
		return nil, files.Remove, err
	}
	return p, func() { end(); files.Remove() }, nil
}

// folder returns a folder as a source, or nothing for the name "".
func folder(name string, links bool) []source.Config {
	if name == "" {
		return nil
	}
	c := source.Config{ID: filepath.Clean(name), Type: source.Filesystem, Path: name, FollowSymlinks: links}
	return []source.Config{c.Defaults()}
}
