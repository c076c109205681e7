package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"symbolon/internal/cli"
	"symbolon/internal/console"
	"symbolon/internal/filter"
	"symbolon/internal/filter/auto"
	"symbolon/internal/source"
)

// tokenName is the variable with the token for a server.
const tokenName = "SYMBOLON_TOKEN"

// filterFlags are the values of the flags.
type filterFlags struct {
	conf          configFlags
	format        auto.Options
	modules       []string
	idsFrom       string
	isLocal       bool
	isForced      bool
	server, token string
	out           string
}

func filterCommand(e *env) *cobra.Command {
	f := filterFlags{format: auto.Options{Format: "auto", Copy: true}, out: "-"}
	c := &cobra.Command{
		Use: "filter [IN]", Short: "Replace the addresses in a log, trace or profile with names",
		Long: `IN is a file with addresses; standard input if it is missing or -. Everything else is
copied unchanged, including addresses without a name and files that have all names
already. The output is compressed like the input (gzip or zstd). Text is copied line
by line, as it arrives.

Modules are looked up by the identifiers in the file, in the sources of the
configuration or those of --source. For files without identifiers, such as logs of
glibc and perf, --local reads the files at the paths in IN, and --module names others.
Modules without symbols are listed on standard error, with the reason.`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Unexpected(args[1])
			}
			return f.run(c.Context(), e, cmp.Or(strings.Join(args, ""), "-"))
		},
	}
	fs := c.Flags()
	f.conf.add(fs)
	fs.Var(cli.NewChoice(&f.format.Format, auto.Names()), "format", "the `FORMAT` of IN: "+strings.Join(auto.Names(), ", "))
	fs.StringArrayVar(&f.modules, "module", nil,
		"`NAME=ID` or NAME=FILE: the debug id, build id, file or list of symbols (such as /proc/kallsyms) of the module that IN calls NAME; may be repeated")
	fs.StringVar(&f.idsFrom, "ids-from", "", "read the build ids of the modules from `FILE`, the perf.data that IN was made from")
	fs.BoolVar(&f.isLocal, "local", false, "use the files of this machine at the paths in IN, and their debug files in /usr/lib/debug")
	fs.BoolVar(&f.isForced, "force", false, "also look up frames that have names in IN")
	fs.StringVar(&f.server, "server", "", "send lookups to the server at `URL`")
	fs.StringVar(&f.token, "token", "", "`TOKEN` for the server (default: the variable "+tokenName+")")
	fs.StringVar(&f.format.Rows.Field, "field", "", "in rows of JSON, rewrite the member at `PATH`, with dots: payload.stackTraces")
	fs.BoolVar(&f.format.Rows.Replace, "replace", false, "in rows of JSON, replace the addresses with the answer")
	fs.BoolVar(&f.format.Rows.Chunks, "chunk-header", false, "expect the number of rows before them, as ClickHouse sends it, and write one row for each")
	fs.StringVarP(&f.out, "output", "o", f.out, "write to `FILE`, which may be IN, instead of standard output")
	return c
}

func (f *filterFlags) run(ctx context.Context, e *env, name string) error {
	limitHeap(commandMemory)
	files := &auto.Files{}
	defer files.Links.Remove()
	known, err := files.Known(f.modules)
	if err != nil {
		return fmt.Errorf("--module: %w", err)
	}
	run := &filter.Run{Force: f.isForced, Known: known, Has: files.Has,
		Advice: "filter has --module NAME=FILE, and --local for files at their paths"}
	if err := auto.AddIDs(known, f.idsFrom); err != nil {
		return err
	}
	if f.isLocal {
		run.Local = files.Local
	}
	closeNames, err := f.open(e, run, files)
	if err != nil {
		return err
	}
	defer closeNames()
	err = writeFile(e, f.out, func(w io.Writer) error { return f.filter(ctx, e, run, name, w) })
	run.Report(e.stderr)
	if err == nil && run.HasFailed() {
		return errReported
	}
	if err == nil && !f.format.Rows.Chunks && run.IsEmpty() {
		console.Printf(e.stderr, "symbolon: found no addresses to name; addresses of a running process need its /proc/PID/maps before them in the same input\n")
	}
	return err
}

// open sets the names of a run.
func (f *filterFlags) open(e *env, run *filter.Run, files *auto.Files) (closeNames func(), err error) {
	if f.server != "" {
		if f.isLocal || len(f.conf.sources) > 0 || files.Links.Dir != "" {
			return nil, cli.Usage("--server cannot be used with --source, --local and files of --module")
		}
		r, err := filter.NewRemote(f.server, cmp.Or(f.token, environment(e, tokenName)))
		if err != nil {
			return nil, cli.Usage("--server: " + err.Error())
		}
		if f.out == "-" { // its reader gets the text in any case
			r.Log = e.stderr
		}
		run.Names, run.Answer = r, r.Answer
		return func() {}, nil
	}
	n, err := f.conf.over(e, files, f.isLocal)
	if err != nil {
		return nil, err
	}
	run.Names, run.Answer = files.Names(n.Names()), n.Answers()
	return n.Close, nil
}

// over returns a node that also has files of this machine, and files that are added
// later if isLocal is set, with the debug files of the system.
func (f *configFlags) over(e *env, files *auto.Files, isLocal bool) (*temporary, error) {
	if isLocal {
		if err := files.Links.Add(); err != nil {
			return nil, err
		}
	}
	var more []source.Config
	if files.Links.Dir != "" {
		for _, dir := range []string{files.Links.Dir, "/usr/lib/debug"} {
			c := source.Config{ID: dir, Type: source.Filesystem, Path: dir, FollowSymlinks: true}
			more = append(more, c.Defaults())
		}
	}
	return f.local(e, more...)
}

// filter filters one input, with progress on a terminal.
func (f *filterFlags) filter(ctx context.Context, e *env, run *filter.Run, name string, out io.Writer) error {
	in := auto.Input{Name: name, Stdin: e.stdin}
	if st, err := os.Stat(name); err == nil && st.Mode().IsRegular() && !e.isShown(f.out) {
		bar := e.progress("reading "+filepath.Base(name), "")
		defer bar.Close()
		done := int64(0)
		in.Count = func(n int) {
			done += int64(n)
			bar.Set(done, st.Size())
		}
	}
	return auto.Filter(ctx, run, f.format, in, out)
}
