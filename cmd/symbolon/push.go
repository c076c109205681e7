package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"symbolon/internal/bin"
	"symbolon/internal/console"
	"symbolon/internal/object"
	"symbolon/internal/push"
	"symbolon/internal/standin"
)

// pushFlags are the values of the flags.
type pushFlags struct {
	binaries   []string
	packages   []string
	debug      string
	url, key   string
	debuginfod []string
	partSize   bin.Size
	parallel   int
	dryRun     bool
	out        string
	force      bool
	asJSON     bool

	pause time.Duration // before retries
}

const pushLong = `The command sends the functions, inlined calls and lines of programs and shared
objects, under the file id of the file that runs: do not strip or change it
afterwards. Debug information that the file lacks comes from its separate debug
file: the one named with -d, the one beside it or below /usr/lib/debug, or that of
a debuginfod server. Files that the server has, and parts that it took from a
push that was interrupted within the last day, are not sent again.`

func newPushFlags() *pushFlags {
	return &pushFlags{partSize: 8 << 20, parallel: 4, pause: 2 * time.Second}
}

func pushCommand(e *env) *cobra.Command { return newPushFlags().command(e) }

func (f *pushFlags) command(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "push [FILE...]", Short: "Send the symbols of programs to a server of Elastic's profiler",
		Long: pushLong + `

FILE is a program, a shared object, a folder in which all of them are sent, or a
pattern of such. Links in folders are not followed.`,
		RunE: f.run(e),
	}
	f.binary(c.Flags())
	f.pack(c.Flags())
	f.common(c.Flags())
	return c
}

// pushSymbolsCommand returns push with the command line of Elastic's own client.
func pushSymbolsCommand(e *env) *cobra.Command {
	exe, pkg := newPushFlags(), newPushFlags()
	executable := &cobra.Command{Use: "executable [FILE...]", Short: "Send the symbols of programs: push -e", Long: pushLong, RunE: exe.run(e)}
	exe.binary(executable.Flags())
	exe.common(executable.Flags())
	packages := &cobra.Command{Use: "package", Short: "Send the symbols of installed packages: push -p", Long: pushLong, RunE: pkg.run(e)}
	pkg.pack(packages.Flags())
	pkg.common(packages.Flags())
	return group("push-symbols", "Send symbols, with the command line of Elastic's own client", executable, packages)
}

func (f *pushFlags) binary(fs *pflag.FlagSet) {
	fs.StringArrayVarP(&f.binaries, "executable", "e", nil, "the `FILE` that runs; may be repeated")
	fs.StringVarP(&f.debug, "debug-file", "d", "", "its debug file, `DEBUGFILE` (default: the file itself, or the one that is found for it)")
}

func (f *pushFlags) pack(fs *pflag.FlagSet) {
	fs.StringArrayVarP(&f.packages, "package", "p", nil,
		"all files of the installed package `NAME`, of dpkg, rpm or apk, that have debug information; may be repeated")
}

func (f *pushFlags) common(fs *pflag.FlagSet) {
	fs.StringVarP(&f.url, "url", "u", "", "`URL` of the server (default: the variable "+pushURLName+")")
	fs.StringVarP(&f.key, "api-key", "t", "",
		"`KEY` for it, or ID:KEY (default: the variable "+pushKeyName+", which other users of the machine cannot see)")
	fs.StringArrayVar(&f.debuginfod, "debuginfod", nil, "`URL` of a server of debug files, before those of the variable DEBUGINFOD_URLS; may be repeated")
	fs.TextVar(&f.partSize, "part-size", f.partSize, "the approximate `SIZE` of a part")
	fs.IntVar(&f.parallel, "parallel", f.parallel, "the number `N` of parts sent at the same time")
	fs.BoolVar(&f.dryRun, "dry-run", false, "do everything but send")
	fs.StringVar(&f.out, "out", "", "keep the parts, as `DIR`/FILEID/KIND.PARTofPARTS.symbfile")
	fs.BoolVar(&f.force, "force", false, "send files that the server has, too")
	fs.BoolVar(&f.asJSON, "json", false, "print one JSON object per file")
}

// check takes defaults from the environment and checks the flags.
func (f *pushFlags) check(e *env, args []string) error {
	if f.url == "" {
		f.url = environment(e, pushURLName)
	}
	if f.key == "" {
		f.key = environment(e, pushKeyName)
	}
	f.key = strings.TrimSpace(f.key)
	files := len(f.binaries) + len(args)
	switch {
	case files+len(f.packages) == 0:
		return &usageError{"FILE, or an installed package with -p, is required"}
	case f.debug != "" && (files != 1 || len(f.packages) > 0):
		return &usageError{push.ErrDebugFile.Error()}
	case f.partSize < 1 || f.parallel < 1:
		return &usageError{"--part-size and --parallel must be 1 or more"}
	case f.url == "" && !f.dryRun:
		return &usageError{"--url is required"}
	case f.key == "" && !f.dryRun:
		return &usageError{"--api-key, or the variable " + pushKeyName + ", is required"}
	case strings.ContainsFunc(f.key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return &usageError{"invalid --api-key: must be printable ASCII without blanks"}
	}
	return nil
}

// run returns the function of the command.
func (f *pushFlags) run(e *env) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if err := f.check(e, args); err != nil {
			return err
		}
		return f.push(c.Context(), e, args)
	}
}

func (f *pushFlags) push(ctx context.Context, e *env, args []string) error {
	limitHeap(commandMemory)
	out := &pushOutput{env: e, asJSON: f.asJSON, bar: console.Progress{W: io.Discard}}
	if e.tty {
		out.bar.W = e.stderr
	}
	debuginfod := append(slices.Clone(f.debuginfod), strings.Fields(environment(e, "DEBUGINFOD_URLS"))...)
	c, err := push.New(push.Config{
		Debug: f.debug, URL: f.url, Key: f.key, Debuginfod: debuginfod,
		PartSize: f.partSize, Parallel: f.parallel, DryRun: f.dryRun, Force: f.force, Keep: f.out, RetryWait: f.pause,
	}, push.Events{Result: out.result, Damage: out.damage, Warn: out.warn, Progress: out.progress})
	if err != nil {
		return &usageError{err.Error()}
	}
	s, err := c.Push(ctx, append(slices.Clone(f.binaries), args...), f.packages)
	out.clear()
	switch {
	case errors.Is(err, push.ErrDebugFile):
		return &usageError{err.Error()}
	case err != nil:
		return err
	}
	for _, name := range s.Packages {
		say(e.stderr,
			"for the debug information that is missing, install %s, or name a debuginfod server with --debuginfod URL\n", printable(name))
	}
	switch {
	case s.Failed > 0:
		return errReported
	case s.Sent == 0:
		return errors.New("nothing was sent: no file has symbols; " +
			"install the packages with the debug information, or name a debuginfod server with --debuginfod URL")
	}
	return nil
}

// pushOutput prints the events of a push. Several goroutines may use it.
type pushOutput struct {
	env    *env
	asJSON bool

	mu  sync.Mutex
	bar console.Progress
}

func (o *pushOutput) clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bar.Clear()
}

func (o *pushOutput) progress(name string, done, total int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	name = printable(filepath.Base(name))
	if total == 0 {
		o.bar.Show("%s: reading", name)
		return
	}
	o.bar.Show("%s: %s of %s", name, bytesText(done), bytesText(total))
}

func (o *pushOutput) warn(text string) {
	o.clear()
	say(o.env.stderr, "symbolon: %s\n", printable(text))
}

func (o *pushOutput) damage(name string, info object.Info) {
	o.clear()
	standin.ReportDamage(o.env.stderr, name, info)
}

// result prints the outcome of a file.
func (o *pushOutput) result(r *push.Result) {
	o.clear()
	switch r.Status {
	case push.Failed:
		say(o.env.stderr, "symbolon: %s\n", printable(r.Detail))
	case push.Skipped:
		say(o.env.stderr, "%s\n", printable(r.Detail))
	}
	if o.asJSON {
		enc := json.NewEncoder(o.env.stdout)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(r) // the terminal may be gone
		return
	}
	var text string
	switch r.Status {
	case push.Failed, push.Skipped:
		return
	case push.Same:
		text = r.Detail
	default:
		ends := map[push.Status]string{
			push.Sent: bytesText(r.Bytes) + " sent", push.DryRun: bytesText(r.Bytes) + " not sent", push.Known: "the server has it already",
		}
		text = setText(r.Ranges, "range") + ", " + setText(r.Pads, "pad") + ", " + ends[r.Status]
	}
	name := strings.ReplaceAll(printable(r.File), "\n", "\uFFFD") // one line for each file
	say(o.env.stdout, "%s %s: %s\n", name, r.FileID, text)
}

func setText(s *push.Set, noun string) string {
	return counted(s.Records, noun) + " in " + counted(int64(s.Parts), "part")
}

// bytesText returns a number of bytes with a unit.
func bytesText(n int64) string {
	size, units := float64(n), []string{"bytes", "KB", "MB", "GB", "TB"}
	for size >= 1000 && len(units) > 1 {
		size, units = size/1000, units[1:]
	}
	if n < 1000 {
		return counted(n, "byte")
	}
	return fmt.Sprintf("%.1f %s", size, units[0])
}
