package stackwalk

import (
	"context"
	"errors"

	"symbolon/internal/console"
	"symbolon/internal/crash"
	"symbolon/internal/crash/text"
	"symbolon/internal/ident"
	"symbolon/internal/standin"
)

const breakpadUsage = `Usage: %s [options] <minidump-file> [symbol-path ...]

Output a stack trace for the provided minidump

Options:

  -f FORMAT  Output format: human (default) or machine
  -m         Output in machine-readable format
  -c         Output thread that causes crash or dump only
  -b         Brief of the thread that causes crash or dump
`

// breakpad runs as Breakpad's minidump_stackwalk.
func breakpad(ctx context.Context, e *Env, args []string) int {
	program := args[0]
	opt, isMachine, files, err := breakpadArgs(args[1:])
	switch {
	case errors.Is(err, errHelp):
		console.Printf(e.Stdout, breakpadUsage, ident.FileName(program))
		return exitDone
	case err != nil:
		console.Printf(e.Stderr, "%s: %s\n"+breakpadUsage, program, console.Printable(err.Error()), ident.FileName(program))
		return exitFailed
	}
	d, src, err := e.open(files[0])
	if err == nil {
		defer src.Close()
		err = e.walk(ctx, d, Options{Symbols: files[1:]}, func(_ *Session, r *crash.Report) error {
			if isMachine {
				return text.WriteMachine(e.Stdout, r)
			}
			return text.WriteBreakpad(e.Stdout, r, opt)
		})
	}
	if err != nil {
		console.Printf(e.Stderr, "ERROR: Minidump %s could not be read: %s\n", console.Printable(files[0]), console.Printable(err.Error()))
		return exitFailed
	}
	return exitDone
}

// errHelp is the error of a command line that asks for help.
var errHelp = errors.New("help")

var breakpadOptions = standin.OptionSet{Short: "hbcmf:s"}

func breakpadArgs(args []string) (opt text.BreakpadOptions, isMachine bool, files []string, err error) {
	files, err = breakpadOptions.Parse(args, func(key byte, value string) error {
		switch key {
		case 'h':
			return errHelp
		case 'b':
			opt.Brief = true
		case 'c':
			opt.OnlyRequesting = true
		case 'm':
			isMachine = true
		case 'f':
			if isMachine = value == "machine"; !isMachine && value != "human" {
				return errors.New("Unknown output format '" + value + "'")
			}
		case 's':
			return errors.New("-s is not supported: stack contents are not printed")
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = errors.New("Missing minidump file")
	}
	return opt, isMachine, files, err
}
