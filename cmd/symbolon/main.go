// Symbolon turns addresses into names. It is one binary: dispatch.go has the list of
// commands, each command has a file, and packages below do the work.
package main

import (
	"cmp"
	"context"
	"errors"
	"log"
	"os"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"symbolon/internal/bin"
	"symbolon/internal/cli"
	"symbolon/internal/standin"
	"symbolon/internal/standin/stackwalk"
)

func main() {
	log.SetOutput(unquoted{os.Stderr})
	cobra.MousetrapHelpText = "" // a shortcut on a desktop of Windows may start a server
	e := &env{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		environ: os.Environ(),
		tty:     term.IsTerminal(int(os.Stderr.Fd())),
		outTTY:  term.IsTerminal(int(os.Stdout.Fd())),
	}
	ctx := e.signals.watch()
	code, ok := standIn(ctx, e, os.Args)
	if !ok && len(os.Args) > 1 { // links are rare on Windows
		code, ok = standIn(ctx, e, os.Args[1:])
	}
	if !ok {
		code = run(ctx, os.Args[1:], e)
	}
	if cause, ok := errors.AsType[stopped](context.Cause(ctx)); ok && code != exitDone {
		code = cause.status()
	}
	os.Exit(code)
}

// standIn runs the stand-in for the program that args[0] names, if there is one.
func standIn(ctx context.Context, e *env, args []string) (code int, ok bool) {
	if tool := standin.For(args[0]); tool != nil {
		return tool(ctx, e.tool(), args), true
	}
	if tool := stackwalk.For(args[0]); tool != nil {
		return tool(ctx, e.stackwalk(configFlags{sets: []string{"log.level=error"}}), args), true
	}
	return 0, false
}

// output is standard output. Its first error, such as a full disk, cancels the
// command and is reported at the end.
type output struct {
	bin.ErrWriter
	cancel context.CancelFunc
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.ErrWriter.Write(p)
	if err != nil {
		o.cancel()
	}
	return n, err
}

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, e *env) int {
	inner, end := context.WithCancel(ctx)
	defer end()
	out := &output{bin.ErrWriter{W: e.stdout}, end}
	e.stdout = out
	c, err := cli.Run(inner, commands(e), args, completeValues)
	err = cmp.Or(out.Err, err) // the cause of the other errors
	var usage *cli.UsageError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		say(e.stderr, "%s: %s\nRun \"%[1]s --help\" for usage.\n", c.CommandPath(), usage.Error())
		return exitUsage
	case errors.Is(err, syscall.EPIPE) && ctx.Err() == nil:
		return exitDone // the reader closed the pipe
	case errors.Is(err, errReported):
		return exitFailed
	case (errors.Is(err, context.Canceled) || errors.Is(err, syscall.EPIPE)) && ctx.Err() != nil:
		say(e.stderr, "symbolon: interrupted\n")
		return exitFailed
	}
	say(e.stderr, "symbolon: %s\n", printable(err.Error()))
	if status, ok := errors.AsType[*statusError](err); ok {
		return status.code
	}
	return exitFailed
}
