package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"symbolon/internal/crash"
	"symbolon/internal/standin/stackwalk"
)

func crashCommand(e *env) *cobra.Command {
	var conf configFlags
	var opt stackwalk.Options
	threads, human := "all", false
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
			if opt.JSON && (human || opt.Brief || opt.Cyborg != "" || opt.Crash.Explain) {
				return &usageError{"--json cannot be used with --human, --brief, --cyborg or --explain"}
			}
			if opt.Cyborg != "" && len(args) > 1 {
				return &usageError{"--cyborg takes one DUMP"}
			}
			opt.Crash.OnlyRequesting = threads == "crashing"
			return processCrashes(c.Context(), e, conf, opt, args)
		},
	}
	fs := c.Flags()
	conf.add(fs)
	fs.BoolVar(&human, "human", false, "print text for people (the default)")
	fs.BoolVar(&opt.JSON, "json", false, "print JSON")
	fs.StringArrayVar(&opt.Symbols, "symbols", nil, "use the symbols in the folder or file `DIR`; may be repeated, and replaces the sources of the configuration")
	fs.BoolVar(&opt.Brief, "brief", false, "print text with the crash and its thread only")
	fs.StringVar(&opt.Cyborg, "cyborg", "", "print text, and write JSON to `FILE`")
	fs.BoolVar(&opt.Crash.Explain, "explain", false, "print text with the reasons for frames, and the trails of missing symbols")
	fs.Var(choice{&threads, []string{"all", "crashing"}}, "threads", "walk the stacks of these `THREADS`: all or crashing")
	fs.StringVar(&opt.Extra, "evil-json", "", "add certificates and the CPU's microcode from `FILE`, the extra data of a crash reporter")
	return c
}

// processCrashes prints the report on each dump.
func processCrashes(ctx context.Context, e *env, conf configFlags, opt stackwalk.Options, names []string) error {
	s, err := stackwalk.Open(ctx, e.stackwalk(conf), opt)
	if err != nil {
		return err
	}
	defer s.Close()
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
		Env: *e.tool(), IsTerminal: e.tty,
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
