// Symbolon turns addresses into names. It is one binary: dispatch.go has the list of
// commands, each command has a file, and packages below do the work.
package main

import (
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
	var code int
	if tool := standin.For(os.Args[0]); tool != nil {
		code = tool(ctx, e.tool(), os.Args)
	} else if tool := stackwalk.For(os.Args[0]); tool != nil {
		code = tool(ctx, e.stackwalk(configFlags{sets: []string{"log.level=error"}}), os.Args)
	} else {
		code = run(ctx, os.Args[1:], e)
	}
	var cause stopped
	if code != exitDone && errors.As(context.Cause(ctx), &cause) {
		code = cause.status()
	}
	os.Exit(code)
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
	if out.Err != nil { // the cause of the other errors
		err = out.Err
	}
	var usage *cli.UsageError
	var status *statusError
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
	if errors.As(err, &status) {
		return status.code
	}
	return exitFailed
}
