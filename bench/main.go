//go:build linux

// Command bench repeats the recorded workload against the server and prints
// each figure beside its target: cold and warm answers, their latency under
// load, start-up, memory, the size of tables, building and looking up.
//
//	go run ./bench --symbols DIR [--only cold,warm] [--runs 3] [--json OUT]
//
// The server, the symbol source and everything that is measured inside of a
// process run as processes of their own. README.md says what each row is.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 && children[os.Args[1]] != nil {
		end(children[os.Args[1]](os.Args[2:]))
	}
	var o options
	flag.StringVar(&o.symbols, "symbols", "", "the `DIR` with the .sym files that symbols.sh makes")
	flag.StringVar(&o.only, "only", "", "measure only these `GROUPS`: "+strings.Join(groupNames(), ","))
	flag.IntVar(&o.runs, "runs", 3, "measure everything so many `TIMES`")
	flag.StringVar(&o.json, "json", "", "write all figures to the file `OUT`")
	flag.StringVar(&o.binary, "binary", "", "measure the binary `PATH` instead of building one")
	flag.DurationVar(&o.load, "load", 2*time.Second, "how much processor time of the server a figure of warm answers is taken from")
	flag.StringVar(&o.peer, "peer", "", "also measure another server, started by the shell `COMMAND`, in which {port}, {source} and {data} are replaced")
	flag.Parse()
	if o.symbols == "" || flag.NArg() > 0 || o.runs < 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	end(run(ctx, o))
}

func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
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
		return errors.New("the group peer needs --peer, which says how the other server is started")
	}
	runtime.LockOSThread() // for launch
	// What this process does must not show in what it measures.
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
	if b.binary = b.opt.binary; b.binary == "" {
		b.binary = filepath.Join(b.tmp, "symbolon")
		build := exec.CommandContext(b.ctx, "go", "build", "-trimpath", "-o", b.binary, "symbolon/cmd/symbolon")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("build the server: %w", err)
		}
	}
	b.origin, err = b.startOrigin()
	return err
}

// fresh is a new folder.
func (b *bench) fresh() (string, error) { return os.MkdirTemp(b.tmp, "data-") }
