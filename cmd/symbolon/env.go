package main

import (
	"errors"
	"io"
	"strings"

	"symbolon/internal/console"
)

// env is the environment of a command.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string
	tty            bool // stderr is a terminal
	outTTY         bool // stdout is a terminal
	color          string
	signals        signals
}

// Exit codes of all commands. A command that a signal interrupts has 128 and the
// number of the signal; a server that a signal ends has exitDone.
const (
	exitDone   = 0
	exitFailed = 1  // the input or the operation failed
	exitUsage  = 2  // the command line is wrong
	exitAgain  = 75 // batch: a temporary failure; the same command goes on
)

// errReported is the error of a command that has printed the reason.
var errReported = errors.New("")

// statusError is an error with an exit code of its own.
type statusError struct {
	error
	code int
}

func (e *statusError) Unwrap() error { return e.error }

// look returns the look of stdout.
func (e *env) look() console.Look {
	return console.NewLook(e.color, e.outTTY, func(name string) string { return environment(e, name) })
}

// environment returns the value of a variable.
func environment(e *env, name string) string {
	for _, v := range e.environ {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}
