package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"symbolon/internal/cli"
	"symbolon/internal/crash"
	"symbolon/internal/standin/stackwalk"
)

func crashCommand(e *env) *cobra.Command {
	var conf configFlags
	var opt stackwalk.Options
	threads, human := "all", false
	c := &cobra.Command{
		Use: "crash DUMP...", Short: "Print the stack traces of a crash",
		Long: `DUMP is a minidump, a core file of Linux, or a crash report of an Apple system (text
or .ips). It may be compressed with gzip, xz or zstd; - is standard input.

The output is text in the format of rust-minidump's minidump-stackwalk, or with --json
one JSON document for each DUMP. The JSON for minidumps and core files has the schema
of minidump-stackwalk. An Apple report is always printed as JSON, with its own fields.

If a DUMP cannot be read, the others are still printed, and the exit status is 1.

For a core file, programs and libraries are also read from the paths that it records,
and debug files from /usr/lib/debug. Files of other builds are not used.

Without --symbols and --source, symbols come from the sources of the configuration.`,
		RunE: func(c *cobra.Command, args []string) error {
			if opt.JSON && (human || opt.Brief || opt.Cyborg != "" || opt.Crash.Explain) {
				return cli.Usage("--json cannot be used with --human, --brief, --cyborg or --explain")
			}
			if opt.Cyborg != "" && len(args) > 1 {
				return cli.Usage("--cyborg takes one DUMP")
			}
			opt.Crash.OnlyRequesting = threads == "crashing"
			return processCrashes(c.Context(), e, conf, opt, args)
		},
	}
	fs := c.Flags()
	conf.add(fs)
	fs.BoolVar(&human, "human", false, "print text (the default)")
	fs.BoolVar(&opt.JSON, "json", false, "print JSON")
	fs.StringArrayVar(&opt.Symbols, "symbols", nil, "read symbols from the folder or file `DIR` instead of the configured sources; may be repeated")
	fs.BoolVar(&opt.Brief, "brief", false, "print only the crash and the thread that crashed")
	fs.StringVar(&opt.Cyborg, "cyborg", "", "print text, and write the JSON to `FILE`")
	fs.BoolVar(&opt.Crash.Explain, "explain", false, "add to the text how each frame was found, and where missing symbols were searched")
	fs.Var(cli.NewChoice(&threads, []string{"all", "crashing"}), "threads", "print the stacks of `THREADS`: all or crashing")
	fs.StringVar(&opt.Extra, "evil-json", "", "add certificates and the microcode version from `FILE`, the .extra file of Firefox's crash reporter")
	return c
}

// processCrashes prints the report on each dump.
func processCrashes(ctx context.Context, e *env, conf configFlags, opt stackwalk.Options, names []string) error {
	s, err := stackwalk.Open(ctx, e.stackwalk(conf), opt)
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	for _, name := range names {
		oneErr := s.Print(ctx, e.stdout, name)
		if oneErr != nil && (ctx.Err() != nil || len(names) == 1) {
			return oneErr
		} else if oneErr != nil {
			say(e.stderr, "symbolon: %s\n", printable(oneErr.Error()))
			err = errReported
		}
	}
	return err
}

// stackwalk returns the environment of a command for package stackwalk.
func (e *env) stackwalk(conf configFlags) *stackwalk.Env {
	return &stackwalk.Env{
		Env: *e.tool(), IsTerminal: e.tty, Look: e.look(),
		Open: func(_ context.Context, s stackwalk.Sources) (*crash.Processor, func(), error) {
			f := conf
			f.folders, f.data = s.Replace, cmp.Or(s.Data, f.data)
			n, err := f.local(e, s.More...)
			if err != nil {
				return nil, nil, err
			}
			return n.Crashes(), n.Close, nil
		},
	}
}
