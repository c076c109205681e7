package stackwalk

import (
	"context"
	"errors"
	"strings"

	"symbolon/internal/console"
	"symbolon/internal/crash"
	"symbolon/internal/crash/text"
)

const breakpadUsage = `Usage: %s [options] <minidump-file> [symbol-path ...]

Output a stack trace for the provided minidump

Options:

  -f FORMAT  Output format: human (default) or machine
  -m         Output in machine-readable format
  -c         Output thread that causes crash or dump only
  -b         Brief of the thread that causes crash or dump
`

// breakpad is Breakpad's minidump_stackwalk.
func breakpad(ctx context.Context, e *Env, args []string) int {
	program := args[0]
	opt, isMachine, files, err := breakpadArgs(args[1:])
	usage := func() string { return program[strings.LastIndexAny(program, `/\`)+1:] }
	switch {
	case errors.Is(err, errHelp):
		console.Printf(e.Stdout, breakpadUsage, usage())
		return exitDone
	case err != nil:
		console.Printf(e.Stderr, "%s: %s\n"+breakpadUsage, program, console.Printable(err.Error()), usage())
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

// breakpadArgs parses the arguments as getopt does.
func breakpadArgs(args []string) (opt text.BreakpadOptions, isMachine bool, files []string, err error) {
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		if a == "--" {
			files, args = append(files, args...), nil
			break
		}
		if len(a) < 2 || a[0] != '-' {
			files = append(files, a)
			continue
		}
		for i := 1; i < len(a); i++ {
			switch a[i] {
			case 'h':
				return opt, false, nil, errHelp
			case 'b':
				opt.Brief = true
			case 'c':
				opt.OnlyRequesting = true
			case 'm':
				isMachine = true
			case 'f':
				format := a[i+1:]
				if format == "" && len(args) > 0 {
					format, args = args[0], args[1:]
				}
				if format != "human" && format != "machine" {
					return opt, false, nil, errors.New("Unknown output format '" + format + "'")
				}
				isMachine, i = format == "machine", len(a)
			case 's':
				return opt, false, nil, errors.New("-s is not supported: stack contents are not printed")
			default:
				return opt, false, nil, errors.New("invalid option -- '" + a[i:i+1] + "'")
			}
		}
	}
	if len(files) == 0 {
		err = errors.New("Missing minidump file")
	}
	return opt, isMachine, files, err
}
