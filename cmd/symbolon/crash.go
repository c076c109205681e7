package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"symbolon/internal/crash"
	"symbolon/internal/crash/text"
	"symbolon/internal/scratch"
	"symbolon/internal/source"
)

type crashFlags struct {
	conf    configFlags
	symbols []string
	threads string
	extra   string
	json    bool
	human   bool
	brief   bool
}

func crashCommand(e *env) *cobra.Command {
	f := crashFlags{threads: "all"}
	c := &cobra.Command{
		Use: "crash DUMP...", Short: "Turn a crash into the stacks of its threads",
		Long: `DUMP is a minidump, a core file of Linux, or a crash report of an Apple system, as
text or .ips; - is standard input. The text for people is that of rust-minidump. The
JSON is one document for each DUMP, for minidumps and cores in the schema of
rust-minidump; a report of Apple's systems has no other form. A file that cannot be
read ends with status 1, after the others.

For core files, programs and libraries are also looked for where they were loaded
from, and debug files in /usr/lib/debug, if they are the same builds.

Without --symbols and --source the symbols come from the sources and the cache of
the configuration.`,
		RunE: func(c *cobra.Command, args []string) error {
			if f.json && (f.human || f.brief) {
				return &usageError{"--json cannot be used with --human or --brief"}
			}
			return processCrashes(c.Context(), e, &f, args)
		},
	}
	fs := c.Flags()
	f.conf.add(fs)
	fs.BoolVar(&f.human, "human", false, "print text for people (the default)")
	fs.BoolVar(&f.json, "json", false, "print JSON")
	fs.StringArrayVar(&f.symbols, "symbols", nil, "use the symbols in the folder or file `DIR`; may be repeated, and replaces the sources of the configuration")
	fs.BoolVar(&f.brief, "brief", false, "print text with the crash and its thread only")
	fs.Var(choice{&f.threads, []string{"all", "crashing"}}, "threads", "walk the stacks of these `THREADS`: all or crashing")
	fs.StringVar(&f.extra, "evil-json", "", "add certificates and the CPU's microcode from `FILE`, the extra data of a crash reporter")
	return c
}

// processCrashes prints the report on each dump.
func processCrashes(ctx context.Context, e *env, f *crashFlags, names []string) error {
	var extra []byte
	var err error
	if f.extra != "" {
		if extra, err = os.ReadFile(f.extra); err != nil {
			return err
		}
	}
	var files scratch.Links
	defer files.Remove()
	for _, name := range f.symbols {
		info, err := os.Stat(name)
		if err == nil && info.IsDir() {
			f.conf.folders = append(f.conf.folders, folder(name, false)...)
			continue
		}
		if err == nil {
			err = files.Add(name)
		}
		if err != nil {
			return &usageError{fmt.Sprintf("invalid --symbols %q: must be a folder or a symbol file", name)}
		}
	}
	f.conf.folders = append(f.conf.folders, folder(files.Dir, true)...)
	n, err := f.conf.local(ctx, e)
	if err != nil {
		return err
	}
	defer n.Close()
	for _, name := range names {
		oneErr := f.process(ctx, e, n.Crashes(), name, extra)
		if oneErr != nil && (ctx.Err() != nil || len(names) == 1) {
			return oneErr
		} else if oneErr != nil {
			say(e.stderr, "symbolon: %s\n", printable(oneErr.Error()))
			err = errReported
		}
	}
	return err
}

// process prints the report on a dump.
func (f *crashFlags) process(ctx context.Context, e *env, p *crash.Processor, name string, extra []byte) error {
	src, err := openFile(e, name)
	if err != nil {
		return err
	}
	defer src.Close()
	d, apple, err := crash.Open(src)
	if err == nil && extra != nil && d != nil {
		err = d.AddExtra(extra)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if apple != nil {
		if err := p.SymbolicateApple(ctx, apple, crash.Options{}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return crash.WriteJSON(e.stdout, apple)
	}
	if files := d.LocalFiles(); len(files) > 0 {
		here, done, err := f.here(ctx, e, files)
		defer done()
		if err != nil {
			return err
		}
		p = here
	}
	r, err := p.Process(ctx, d, crash.Options{OnlyRequesting: f.threads == "crashing"})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer r.Release()
	if f.json {
		return crash.WriteJSON(e.stdout, r)
	}
	return text.WriteHuman(e.stdout, r, text.Options{Brief: f.brief})
}

// here returns a processor that also uses files of this machine: those of the modules
// of a core file, and their debug files. Their ids are compared, as those of all files.
func (f *crashFlags) here(ctx context.Context, e *env, modules []string) (p *crash.Processor, done func(), err error) {
	var files scratch.Links
	if err := files.Add(modules...); err != nil {
		return nil, files.Remove, err
	}
	more := folder(files.Dir, true)
	if debug := "/usr/lib/debug/.build-id"; exists(debug) {
		more = append(more, folder(debug, false)...)
		more[len(more)-1].Layout.Type = source.Native
	}
	n, err := f.conf.local(ctx, e, more...)
	if err != nil {
		return nil, files.Remove, err
	}
	return n.Crashes(), func() { n.Close(); files.Remove() }, nil
}

// folder returns a folder as a source, or nothing for the name "".
func folder(name string, links bool) []source.Config {
	if name == "" {
		return nil
	}
	c := source.Config{ID: filepath.Clean(name), Type: source.Filesystem, Path: name, FollowSymlinks: links}
	return []source.Config{c.Defaults()}
}
