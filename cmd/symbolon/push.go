package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/object"
	"symbolon/internal/push"
	"symbolon/internal/standin"
)

// pushFlags are the values of the flags.
type pushFlags struct {
	binaries   list
	packages   list
	debug      string
	url, key   string
	debuginfod list
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

func pushCommand() *command { return newPushFlags().command() }

func (f *pushFlags) command() *command {
	return &command{
		name:  "push",
		args:  "[FILE...]",
		short: "Send the symbols of programs to a server of Elastic's profiler",
		long: pushLong + `

FILE is a program, a shared object, a folder in which all of them are sent, or a
pattern of such. Links in folders are not followed.`,
		flags: func(fs *flag.FlagSet) { f.binary(fs); f.pack(fs); f.common(fs) },
		run:   f.run,
	}
}

// pushSymbolsCommand returns push with the command line of Elastic's own client.
func pushSymbolsCommand() *command {
	exe, pkg := newPushFlags(), newPushFlags()
	return &command{
		name:  "push-symbols",
		short: "Send symbols, with the command line of Elastic's own client",
		subs: []*command{
			{
				name: "executable", args: "[FILE...]", short: "Send the symbols of programs: push -e", long: pushLong,
				flags: func(fs *flag.FlagSet) { exe.binary(fs); exe.common(fs) },
				run:   exe.run,
			},
			{
				name: "package", short: "Send the symbols of installed packages: push -p", long: pushLong,
				flags: func(fs *flag.FlagSet) { pkg.pack(fs); pkg.common(fs) },
				run:   pkg.run,
			},
		},
	}
}

func (f *pushFlags) binary(fs *flag.FlagSet) {
	fs.Var(&f.binaries, "executable", "the `FILE` that runs; may be repeated")
	fs.Var(&f.binaries, "e", "short for --executable `FILE`")
	fs.StringVar(&f.debug, "debug-file", "", "its debug file, `DEBUGFILE` (default: the file itself, or the one that is found for it)")
	fs.StringVar(&f.debug, "d", "", "short for --debug-file `DEBUGFILE`")
}

func (f *pushFlags) pack(fs *flag.FlagSet) {
	fs.Var(&f.packages, "package",
		"all files of the installed package `NAME`, of dpkg, rpm or apk, that have debug information; may be repeated")
	fs.Var(&f.packages, "p", "short for --package `NAME`")
}

func (f *pushFlags) common(fs *flag.FlagSet) {
	fs.StringVar(&f.url, "url", "", "`URL` of the server (default: the variable "+pushURLName+")")
	fs.StringVar(&f.url, "u", "", "short for --url `URL`")
	fs.StringVar(&f.key, "api-key", "",
		"`KEY` for it, or ID:KEY (default: the variable "+pushKeyName+", which other users of the machine cannot see)")
	fs.StringVar(&f.key, "t", "", "short for --api-key `KEY`")
	fs.Var(&f.debuginfod, "debuginfod", "`URL` of a server of debug files, before those of the variable DEBUGINFOD_URLS; may be repeated")
	fs.Func("part-size", "the approximate `SIZE` of a part, such as 8MiB, which is the default", func(text string) error {
		return f.partSize.UnmarshalText([]byte(text))
	})
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
		return &usageError{text: "FILE, or an installed package with -p, is required"}
	case f.debug != "" && (files != 1 || len(f.packages) > 0):
		return &usageError{text: push.ErrDebugFile.Error()}
	case f.partSize < 1 || f.parallel < 1:
		return &usageError{text: "--part-size and --parallel must be 1 or more"}
	case f.url == "" && !f.dryRun:
		return &usageError{text: "--url is required"}
	case f.key == "" && !f.dryRun:
		return &usageError{text: "--api-key, or the variable " + pushKeyName + ", is required"}
	case strings.ContainsFunc(f.key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return &usageError{text: "invalid --api-key: must be printable ASCII without blanks"}
	}
	return nil
}

func (f *pushFlags) run(ctx context.Context, e *env, args []string) error {
	if err := f.check(e, args); err != nil {
		return err
	}
	limitHeap(commandMemory)
	out := &pushOutput{env: e, asJSON: f.asJSON, bar: progress{w: io.Discard}}
	if e.tty {
		out.bar.w = e.stderr
	}
	debuginfod := append(slices.Clone([]string(f.debuginfod)), strings.Fields(environment(e, "DEBUGINFOD_URLS"))...)
	c, err := push.New(push.Config{
		Debug: f.debug, URL: f.url, Key: f.key, Debuginfod: debuginfod,
		PartSize: f.partSize, Parallel: f.parallel, DryRun: f.dryRun, Force: f.force, Keep: f.out, RetryWait: f.pause,
	}, push.Events{Result: out.result, Damage: out.damage, Warn: out.warn, Progress: out.progress})
	if err != nil {
		return &usageError{text: err.Error()}
	}
	s, err := c.Push(ctx, append(slices.Clone([]string(f.binaries)), args...), f.packages)
	out.clear()
	switch {
	case errors.Is(err, push.ErrDebugFile):
		return &usageError{text: err.Error()}
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
	bar progress
}

func (o *pushOutput) clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bar.clear()
}

func (o *pushOutput) progress(name string, done, total int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	name = printable(filepath.Base(name))
	if total == 0 {
		o.bar.show("%s: reading", name)
		return
	}
	o.bar.show("%s: %s of %s", name, bytesText(done), bytesText(total))
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
