// Package stackwalk prints crashes for command lines: for the command crash, which opens
// a Session, and as a stand-in for other programs. For returns a tool that takes the
// command line of rust-minidump's minidump-stackwalk or of Breakpad's minidump_stackwalk,
// and has its output and its exit status.
//
// Symbols on the command line are sources like others: debug files of all kinds are used,
// and Env.Open opens them. Folders that do not exist are skipped by tools, as the
// originals do. The stacks are those of package crash, so they may differ from the
// originals', which the guide on these tools describes.
//
// A Session belongs to one goroutine.
package stackwalk

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"symbolon/internal/companion"
	"symbolon/internal/console"
	"symbolon/internal/crash"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/standin"
)

// An Env is the environment of a tool.
type Env struct {
	standin.Env
	IsTerminal bool         // Stderr is a terminal
	Look       console.Look // of Stdout
	// Open returns a processor, and a function that closes it.
	Open func(ctx context.Context, s Sources) (p *crash.Processor, done func(), err error)
}

// Sources are the places of symbols.
type Sources struct {
	Replace []source.Config // instead of those of the configuration; nil: those
	More    []source.Config // before the others
	Data    string          // data directory; empty: that of the configuration, or a temporary one if its sources are replaced
}

// A Tool runs a command line, the name of the program first, and returns the exit
// status.
type Tool func(ctx context.Context, e *Env, args []string) int

// For returns the tool that a program of this name replaces, or nil. The name may have
// a folder and ".exe".
func For(program string) Tool {
	switch strings.TrimSuffix(strings.ToLower(ident.FileName(program)), ".exe") {
	case "minidump-stackwalk":
		return rustMinidump
	case "minidump_stackwalk":
		return breakpad
	}
	return nil
}

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2 // of minidump-stackwalk
)

// open opens a minidump, which needs the source until its report is written. The
// originals read no other files.
func (e *Env) open(name string) (*crash.Dump, io.Closer, error) {
	src, err := companion.OpenSource(name, e.Stdin)
	if err != nil {
		return nil, nil, err
	}
	d, err := crash.OpenMinidump(src)
	if err != nil {
		return nil, nil, errors.Join(err, src.Close())
	}
	return d, src, nil
}

// walk calls write with the report on a dump. Without symbols in opt none are used: the
// originals have no configuration, whose place an empty folder takes.
func (e *Env) walk(ctx context.Context, d *crash.Dump, opt Options, write func(*Session, *crash.Report) error) error {
	empty, err := os.MkdirTemp("", "symbolon-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(empty)
	opt.Symbols = append(existing(opt.Symbols), empty)
	s, err := Open(ctx, e, opt)
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	r, release, err := s.report(ctx, d)
	if err != nil {
		return err
	}
	defer release()
	return write(s, r)
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
