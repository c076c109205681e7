// Package stackwalk answers for minidumps in the place of other programs: For returns
// a tool that takes the command line of Breakpad's minidump_stackwalk, and has its
// output and its exit status.
//
// The symbols of a command line are sources like others: debug files of all kinds are
// used, and Env.Open opens them. Folders that do not exist are skipped, as
// the originals do. The stacks are those of package crash, so they may differ from the
// originals', which the guide on these tools describes.
//
// A Tool uses a Processor for one dump. It keeps no state.
package stackwalk

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"symbolon/internal/companion"
	"symbolon/internal/crash"
	"symbolon/internal/format/minidump"
	"symbolon/internal/standin"
)

// An Env is the environment of a tool.
type Env struct {
	standin.Env
	// Open returns a processor with symbols, and a function that closes it.
	Open func(ctx context.Context, s Symbols) (p *crash.Processor, done func(), err error)
}

// Symbols are the sources of symbols of a command line.
type Symbols struct {
	Paths []string // folders and files that exist
}

// A Tool runs a command line, the name of the program first, and returns the exit
// status.
type Tool func(ctx context.Context, e *Env, args []string) int

// For returns the tool that a program of this name replaces, or nil. The name may have
// a folder and ".exe".
func For(program string) Tool {
	name := program[strings.LastIndexAny(program, `/\`)+1:]
	if strings.TrimSuffix(strings.ToLower(name), ".exe") == "minidump_stackwalk" {
		return breakpad
	}
	return nil
}

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1
)

// open opens a minidump, which needs the source until its report is written.
func open(e *Env, name string) (*crash.Dump, io.Closer, error) {
	src, err := companion.OpenSource(name, e.Stdin)
	if err != nil {
		return nil, nil, err
	}
	d, _, err := crash.Open(src)
	if err == nil && (d == nil || d.Minidump == nil) {
		err = minidump.ErrHeaderMismatch
	}
	if err != nil {
		return nil, nil, errors.Join(err, src.Close())
	}
	return d, src, nil
}

// report calls write with the report on a dump.
func report(ctx context.Context, e *Env, d *crash.Dump, s Symbols, write func(*crash.Report) error) error {
	s.Paths = existing(s.Paths)
	p, done, err := e.Open(ctx, s)
	if err != nil {
		return err
	}
	defer done()
	r, err := p.Process(ctx, d, crash.Options{})
	if err != nil {
		return err
	}
	defer r.Release()
	return write(r)
}

// existing returns the files and folders that exist.
func existing(names []string) (list []string) {
	for _, name := range names {
		if _, err := os.Stat(name); err == nil {
			list = append(list, name)
		}
	}
	return list
}
