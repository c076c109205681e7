//go:build linux

// Package mozilla repeats a recorded workload against the server and prints each
// figure beside its target: cold and warm answers, their latency under load,
// start-up, memory, the size of tables, building and looking up.
//
//	go run ./bench mozilla --symbols DIR [--only cold,warm] [--runs 3] [--json OUT]
//
// The server, the symbol source and everything that is measured inside of a
// process run as processes of their own. README.md describes each row.
package mozilla

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"symbolon/bench/process"
)

// Run runs the benchmark with the arguments of its command line.
func Run(ctx context.Context, args []string) error {
	if len(args) > 0 && children[args[0]] != nil {
		return children[args[0]](args[1:])
	}
	var o options
	fs := flag.NewFlagSet("mozilla", flag.ExitOnError)
	fs.StringVar(&o.symbols, "symbols", "", "the `DIR` with the .sym files that symbols.sh makes")
	fs.StringVar(&o.only, "only", "", "measure only these `GROUPS`: "+strings.Join(groupNames(), ","))
	fs.IntVar(&o.runs, "runs", 3, "measure everything so many `TIMES`")
	fs.StringVar(&o.json, "json", "", "write all figures to the file `OUT`")
	fs.StringVar(&o.binary, "binary", "", "measure the binary `PATH` instead of building one")
	fs.DurationVar(&o.load, "load", 2*time.Second, "processor time of the server that a figure of warm answers is taken from")
	fs.StringVar(&o.peer, "peer", "", "also measure another server, started by the shell `COMMAND`, in which {port}, {source} and {data} are replaced")
	_ = fs.Parse(args) // it exits
	if o.symbols == "" || fs.NArg() > 0 || o.runs < 1 {
		fs.Usage()
		os.Exit(2)
	}
	return run(ctx, o)
}

type options struct {
	symbols, only, json, binary, peer string
	runs                              int
	load                              time.Duration
}

// bench is what all groups work with.
type bench struct {
	ctx     context.Context
	opt     options
	tmp     string
	binary  string
	modules []module // the largest first
	work    workload
	origin  string // URL of the symbol source: plain/, gzip/ below it
	report  *report

	warm string // a data directory with all tables; made by the first who needs it
}

// groups are measured in this order.
func groups() []group {
	return []group{
		{"cold", "First answers: fresh server, empty data directory, plain HTTP source", (*bench).cold},
		{"gzip", "First answer, gzip on the wire", (*bench).gzipped},
		{"warm", "All tables open, keep-alive", (*bench).warmAnswers},
		{"latency", "Requests of 30 frames at half of what server and client manage, open loop", (*bench).latency},
		{"start", "Restart with all tables on disk", (*bench).startUp},
		{"size", "Bytes of tables per byte of .sym, all files", (*bench).sizes},
		{"build", "Building the largest file's table, in process", (*bench).builds},
		{"lookup", "Looking up in the largest file's table, in process", (*bench).lookups},
		{"memory", "A table budget of 64 MiB, everything served", (*bench).memory},
		{"peer", "The other server", (*bench).peer},
	}
}

type group struct {
	name, title string
	measure     func(*bench) error
}

func groupNames() (names []string) {
	for _, g := range groups() {
		names = append(names, g.name)
	}
	return names
}

func run(ctx context.Context, o options) error {
	want := strings.FieldsFunc(o.only, func(r rune) bool { return r == ',' })
	for _, name := range want {
		if !slices.Contains(groupNames(), name) {
			return fmt.Errorf("no group %q; there are %s", name, strings.Join(groupNames(), ", "))
		}
	}
	if slices.Contains(want, "peer") && o.peer == "" {
		return errors.New("the group peer needs --peer, the command that starts the other server")
	}
	runtime.LockOSThread() // for launch
	// The work of this process must not show in the figures.
	debug.SetGCPercent(400)
	b := &bench{ctx: ctx, opt: o, report: newReport(os.Stdout)}
	var err error
	if b.tmp, err = os.MkdirTemp("", "symbolon-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.tmp)
	if err := b.prepare(); err != nil {
		return err
	}
	for _, g := range groups() {
		if len(want) > 0 && !slices.Contains(want, g.name) || g.name == "peer" && o.peer == "" {
			continue
		}
		for i := range o.runs {
			fmt.Fprintf(os.Stderr, "%s, run %d of %d\n", g.name, i+1, o.runs)
			if err := errors.Join(b.report.calibrate(ctx, g.name, b.modules[0].path), g.measure(b), ctx.Err()); err != nil {
				return fmt.Errorf("%s: %w", g.name, err)
			}
		}
		b.report.print(g)
	}
	return b.report.finish(o.json)
}

// prepare reads the files, makes the requests, and has the binary and the
// symbol source ready.
func (b *bench) prepare() (err error) {
	if b.opt.symbols, err = filepath.Abs(b.opt.symbols); err != nil {
		return err
	}
	if b.modules, err = findModules(b.opt.symbols); err != nil {
		return err
	}
	b.work = newWorkload(b.modules)
	b.report.machine(b.modules)
	if b.binary, err = process.Build(b.ctx, b.opt.binary, b.tmp); err != nil {
		return err
	}
	b.origin, err = b.startOrigin()
	return err
}

// fresh is a new folder.
func (b *bench) fresh() (string, error) { return os.MkdirTemp(b.tmp, "data-") }
