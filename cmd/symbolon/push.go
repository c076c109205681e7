package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"symbolon/internal/bin"
	"symbolon/internal/cli"
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
objects, under the file id of the file that runs: do not strip or change that file
afterwards. Missing debug information is read from the separate debug file: the one
named with -d, one next to the program or below /usr/lib/debug, or that of a
debuginfod server. Files that the server has are not sent again, nor are parts that it
received from a push that was interrupted within the last day.`

func newPushFlags() *pushFlags {
	return &pushFlags{partSize: 8 << 20, parallel: 4, pause: 2 * time.Second}
}

func pushCommand(e *env) *cobra.Command { return newPushFlags().command(e) }

func (f *pushFlags) command(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "push [FILE...]", Short: "Send the symbols of programs to a server of Elastic's profiler",
		Long: pushLong + `

FILE is a program, a shared object, a folder of them, or a pattern. Links in folders
are not followed.`,
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
	return cli.Group("push-symbols", "Send symbols, with the command line of Elastic's own client", executable, packages)
}

func (f *pushFlags) binary(fs *pflag.FlagSet) {
	fs.StringArrayVarP(&f.binaries, "executable", "e", nil, "the `FILE` that runs; may be repeated")
	fs.StringVarP(&f.debug, "debug-file", "d", "", "the debug file of FILE, `DEBUGFILE` (default: FILE, or the debug file that is found for it)")
}

func (f *pushFlags) pack(fs *pflag.FlagSet) {
	fs.StringArrayVarP(&f.packages, "package", "p", nil,
		"send all files with debug information of the installed package `NAME` (dpkg, rpm or apk); may be repeated")
}

func (f *pushFlags) common(fs *pflag.FlagSet) {
	fs.StringVarP(&f.url, "url", "u", "", "`URL` of the server (default: the variable "+pushURLName+")")
	fs.StringVarP(&f.key, "api-key", "t", "",
		"`KEY` for the server, or ID:KEY (default: the variable "+pushKeyName+", which other users of the machine cannot see)")
	fs.StringArrayVar(&f.debuginfod, "debuginfod", nil, "`URL` of a debuginfod server, asked before those of the variable DEBUGINFOD_URLS; may be repeated")
	fs.TextVar(&f.partSize, "part-size", f.partSize, "the approximate `SIZE` of a part")
	fs.IntVar(&f.parallel, "parallel", f.parallel, "send up to `N` parts at the same time")
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
		return cli.Usage("FILE, or an installed package with -p, is required")
	case f.debug != "" && (files != 1 || len(f.packages) > 0):
		return cli.Usage(push.ErrDebugFile.Error())
	case f.partSize < 1 || f.parallel < 1:
		return cli.Usage("--part-size and --parallel must be 1 or more")
	case f.url == "" && !f.dryRun:
		return cli.Usage("--url is required")
	case f.key == "" && !f.dryRun:
		return cli.Usage("--api-key, or the variable " + pushKeyName + ", is required")
	case strings.ContainsFunc(f.key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return cli.Usage("invalid --api-key: must be printable ASCII without blanks")
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
	bar := e.progress("reading", "")
	defer bar.Close()
	out := push.NewReport(e.stdout, e.stderr, bar, f.asJSON)
	damage := func(name string, info object.Info) {
		out.Clear()
		standin.ReportDamage(e.stderr, name, info)
	}
	debuginfod := append(slices.Clone(f.debuginfod), strings.Fields(environment(e, "DEBUGINFOD_URLS"))...)
	c, err := push.New(push.Config{
		Debug: f.debug, URL: f.url, Key: f.key, Debuginfod: debuginfod,
		PartSize: f.partSize, Parallel: f.parallel, DryRun: f.dryRun, Force: f.force, Keep: f.out, RetryWait: f.pause,
	}, push.Events{Result: out.Result, Damage: damage, Warn: out.Warn, Progress: out.Progress})
	if err != nil {
		return cli.Usage(err.Error())
	}
	s, err := c.Push(ctx, append(slices.Clone(f.binaries), args...), f.packages)
	if out.Clear(); err == nil {
		err = out.End(s)
	}
	switch {
	case errors.Is(err, push.ErrDebugFile):
		return cli.Usage(err.Error())
	case errors.Is(err, push.ErrFailed):
		return errReported
	}
	return err
}
