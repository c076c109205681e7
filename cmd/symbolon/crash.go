package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"symbolon/internal/crash"
	"symbolon/internal/crash/text"
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
		Long: `DUMP is a minidump, or a crash report of an Apple system, as text or .ips; - is
standard input. The text for people is that of rust-minidump. The JSON is one document
for each DUMP, for minidumps in the schema of rust-minidump; a report of Apple's systems
has no other form. A file that cannot be read ends with status 1, after the others.

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
	remove, err := f.addSymbols()
	defer remove()
	if err != nil {
		return err
	}
	n, err := f.conf.local(ctx, e)
	if err != nil {
		return err
	}
	defer n.Close()
	p, failed := n.Crashes(), error(nil)
	for _, name := range names {
		if err := f.process(ctx, e, p, name, extra); err != nil {
			if ctx.Err() != nil || len(names) == 1 {
				return err
			}
			say(e.stderr, "symbolon: %s\n", printable(err.Error()))
			failed = errReported
		}
	}
	return failed
}

// addSymbols makes the folders and files of --symbols sources. A file is linked into a
// folder of its own, which remove removes.
func (f *crashFlags) addSymbols() (remove func(), err error) {
	dir := ""
	remove = func() { os.RemoveAll(dir) }
	for i, name := range f.symbols {
		c := source.Config{ID: filepath.Clean(name), Type: source.Filesystem, Path: name}
		info, err := os.Stat(name)
		switch {
		case err != nil || !info.IsDir() && !info.Mode().IsRegular():
			return remove, &usageError{fmt.Sprintf("invalid --symbols %q: must be a folder or a symbol file", name)}
		case !info.IsDir():
			if dir == "" {
				if dir, err = os.MkdirTemp("", "symbolon-*"); err != nil {
					return remove, err
				}
			}
			if name, err = filepath.Abs(name); err != nil {
				return remove, err
			}
			c.Path, c.FollowSymlinks = filepath.Join(dir, strconv.Itoa(i)), true
			if err := errors.Join(os.Mkdir(c.Path, 0o700), os.Symlink(name, filepath.Join(c.Path, info.Name()))); err != nil {
				return remove, err
			}
		}
		f.conf.folders = append(f.conf.folders, c.Defaults())
	}
	return remove, nil
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
