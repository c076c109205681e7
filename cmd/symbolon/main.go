// Symbolon turns addresses into names. It is one binary: dispatch.go has the list of
// commands, each command has a file, and packages below do the work.
package main

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"syscall"

	"golang.org/x/term"

	"symbolon/internal/standin"
)

func main() {
	log.SetOutput(unquoted{os.Stderr})
	e := &env{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		environ: os.Environ(),
		tty:     term.IsTerminal(int(os.Stderr.Fd())),
	}
	ctx := e.signals.watch()
	var code int
	if tool := standin.For(os.Args[0]); tool != nil {
		code = tool(ctx, e.tool(), os.Args)
	} else {
		code = run(ctx, os.Args[1:], e)
	}
	var cause stopped
	if code != exitDone && errors.As(context.Cause(ctx), &cause) {
		code = cause.status()
	}
	os.Exit(code)
}

// sticky is a writer that keeps its first error, such as that of a full disk, for the
// end of the command. The error cancels the command.
type sticky struct {
	w   io.Writer
	end context.CancelFunc
	err error
}

func (s *sticky) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil && s.err == nil {
		s.err = err
		s.end()
	}
	return n, err
}

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, e *env) int {
	inner, end := context.WithCancel(ctx)
	defer end()
	out := &sticky{w: e.stdout, end: end}
	e.stdout = out
	err := dispatch(inner, args, e)
	if out.err != nil { // later errors follow from it
		err = out.err
	}
	var usage *usageError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		where := "symbolon"
		if usage.cmd != nil {
			where += " " + usage.cmd.name
		}
		say(e.stderr, "%s: %s\nRun \"%s --help\" for usage.\n", where, usage.text, where)
		return exitUsage
	case errors.Is(err, syscall.EPIPE):
		return exitDone // the reader closed the pipe
	case errors.Is(err, errTold):
		return exitFailed
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		say(e.stderr, "symbolon: interrupted\n")
		return exitFailed
	}
	say(e.stderr, "symbolon: %s\n", printable(err.Error()))
	return exitFailed
}
