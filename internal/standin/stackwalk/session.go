package stackwalk

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/companion"
	"symbolon/internal/console"
	"symbolon/internal/crash"
	"symbolon/internal/crash/text"
	"symbolon/internal/fault"
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
	Cyborg  string // file for JSON in addition to the text
	Brief   bool   // text with the requesting thread only
}

// A Session prints dumps. It must be closed.
type Session struct {
	env     *Env
	opt     Options
	folders []source.Config
	extra   []byte // of Options.Extra
	files   scratch.Links
	p       *crash.Processor
	done    func()
}

// Open opens the symbols.
func Open(ctx context.Context, e *Env, opt Options) (*Session, error) {
	s := &Session{env: e, opt: opt}
	if opt.Extra != "" {
		var err error
		if s.extra, err = os.ReadFile(opt.Extra); err != nil {
			return nil, err
		}
		if err := new(crash.Dump).AddExtra(s.extra); err != nil {
			return nil, fmt.Errorf("%s: %w", opt.Extra, err)
		}
	}
	for _, name := range opt.Symbols {
		info, err := os.Stat(name)
		switch {
		case err == nil && info.IsDir():
			s.folders = append(s.folders, folder(name)...)
			continue
		case err == nil:
			err = s.files.Add(name)
		}
		if err != nil {
			s.files.Remove()
			return nil, fmt.Errorf("invalid --symbols %q: must be a folder or a symbol file", name)
		}
	}
	s.folders = append(append(s.folders, folder(s.files.Dir)...), opt.Sources...)
	var err error
	if s.p, s.done, err = e.Open(ctx, Sources{Replace: s.folders, Data: opt.Data}); err != nil {
		s.files.Remove()
		return nil, err
	}
	return s, nil
}

// Close closes the symbols. Those of servers are complete in Options.Data then.
func (s *Session) Close(ctx context.Context) {
	if s.opt.Data != "" {
		s.p.Tables.Wait(ctx)
	}
	s.done()
	s.files.Remove()
}

// Print writes the report on a dump. A report of Apple's systems is always JSON.
func (s *Session) Print(ctx context.Context, w io.Writer, name string) error {
	src, done, err := companion.OpenUnpacked(ctx, name, s.env.Stdin)
	if err != nil {
		return err
	}
	defer done()
	d, apple, err := crash.Open(src)
	if apple != nil && err == nil {
		err = s.p.SymbolicateApple(ctx, apple, crash.Options{})
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case apple != nil:
		return s.write(w, apple)
	}
	for _, p := range d.Problems {
		console.Printf(s.env.Stderr, "symbolon: %s: not read in full: %s\n", console.Printable(name), console.Printable(p.String()))
	}
	r, release, err := s.report(ctx, d)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer release()
	return s.write(w, r)
}

// report returns the report on a dump, which may be used until release is called.
func (s *Session) report(ctx context.Context, d *crash.Dump) (r *crash.Report, release func(), err error) {
	if s.extra != nil {
		if err := d.AddExtra(s.extra); err != nil {
			return nil, nil, err
		}
	}
	s.identify(d)
	p, links, end := s.p, scratch.Links{}, func() {}
	if d.Minidump == nil { // memory that a core file lacks is in these
		if files := d.LocalFiles(); len(files) > 0 {
			if err = links.Add(files...); err == nil {
				p, end, err = s.here(ctx, d, files, links.Dir)
			}
		}
	}
	if err == nil {
		if r, err = s.process(ctx, p, d); err != nil {
			end()
		}
	}
	if err != nil {
		links.Remove()
		return nil, nil, err
	}
	hideFolders(r, s.files.Dir, links.Dir)
	return r, func() { r.Release(); end(); links.Remove() }, nil
}

// hideFolders removes the folders of links from the trails of a report, in which files
// are found by their ids only.
func hideFolders(r *crash.Report, names ...string) {
	for i := range r.Symbols {
		for _, l := range []*crash.Lookup{&r.Symbols[i].Debug, &r.Symbols[i].Unwind} {
			kept := l.Trail[:0:0]
			for _, t := range l.Trail {
				if !slices.Contains(names, t.Source) || t.Fault == nil || t.Fault.Kind != fault.NotFound {
					kept = append(kept, t)
				}
			}
			l.Trail = kept
		}
	}
}

// identify finds the files of the modules of a core file that have no build id: at their
// paths, among the files of Options.Symbols, or by their names in its folders.
func (s *Session) identify(d *crash.Dump) {
	for _, i := range d.Unidentified() {
		path := d.Modules[i].CodeFile
		if !filepath.IsAbs(path) {
			continue // memory without a file
		}
		for _, name := range append([]string{path}, s.opt.Symbols...) {
			if info, err := os.Stat(name); err == nil && info.IsDir() {
				name = filepath.Join(name, filepath.Base(path))
			}
			src, err := companion.OpenSource(name, nil)
			if err != nil {
				continue
			}
			isFound := d.Identify(i, name, src)
			_ = src.Close()
			if isFound {
				break
			}
		}
	}
}

// process makes the report on a dump.
func (s *Session) process(ctx context.Context, p *crash.Processor, d *crash.Dump) (*crash.Report, error) {
	var w io.Writer
	if s.env.IsTerminal {
		w = s.env.Stderr
	}
	bar := console.NewProgress(w, "looking up the symbols of "+console.Count(len(d.Modules), "module"), "",
		time.Now(), time.Tick(console.ProgressEvery))
	defer bar.Close()
	return p.Process(ctx, d, s.opt.Crash)
}

// write writes a report in the forms of the options. Those of Apple's systems have no
// text.
func (s *Session) write(w io.Writer, report any) error {
	if s.opt.Cyborg != "" {
		if err := scratch.WriteFile(s.opt.Cyborg, func(w io.Writer) error { return crash.WriteJSON(w, report, s.opt.Compact) }); err != nil {
			return err
		}
	}
	r, hasText := report.(*crash.Report)
	if s.opt.JSON || !hasText {
		return crash.WriteJSON(w, report, s.opt.Compact)
	}
	return text.WriteHuman(w, r, text.Options{Brief: s.opt.Brief, Explain: s.opt.Crash.Explain, Now: time.Now(), Look: s.env.Look})
}

// here returns a processor that also uses files of this machine: the modules of a core
// file, through a folder of links, and their debug files. Their ids are compared, like
// those of all files. It adds memory of the modules to d, which is usable until end is
// called.
func (s *Session) here(ctx context.Context, d *crash.Dump, modules []string, links string) (p *crash.Processor, end func(), err error) {
	more := folder(links)
	if debug := "/usr/lib/debug/.build-id"; len(existing([]string{debug})) > 0 {
		more = append(more, folder(debug)...)
		more[len(more)-1].Layout.Type = source.Native
	}
	p, closeSources, err := s.env.Open(ctx, Sources{Replace: s.folders, More: more})
	if err != nil {
		return nil, nil, err
	}
	open := map[string]bin.Source{}
	for _, name := range modules {
		if open[name] == nil {
			if src, err := companion.OpenSource(name, nil); err == nil {
				open[name] = src
			}
		}
	}
	d.MapFiles(open)
	return p, func() {
		closeSources()
		for _, src := range open {
			_ = src.(io.Closer).Close()
		}
	}, nil
}

// folder returns a folder of the user as a source, or nothing for the name "". Links
// may lead out of it, as in folders for the originals.
func folder(name string) []source.Config {
	if name == "" {
		return nil
	}
	c := source.Config{ID: filepath.Clean(name), Type: source.Filesystem, Path: name, FollowSymlinks: true}
	return []source.Config{c.Defaults()}
}
