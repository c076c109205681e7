package main

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"

	"symbolon/internal/console"
	"symbolon/internal/object"
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

// Exit codes of all commands. A command that is interrupted by a signal exits with 128
// plus the number of the signal, a server that is stopped by one with exitDone.
const (
	exitDone   = 0
	exitFailed = 1  // the input or the operation failed
	exitUsage  = 2  // the command line is wrong
	exitAgain  = 75 // batch: a temporary failure; the same command continues
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

// progress returns the progress of work that counts noun, or bytes; see
// console.NewProgress.
func (e *env) progress(label, noun string) *console.Progress {
	var w io.Writer
	if e.tty {
		w = e.stderr
	}
	return console.NewProgress(w, label, noun, time.Now(), time.Tick(console.ProgressEvery))
}

// isShown reports whether the file out of a command is the terminal, where progress
// would be in the way.
func (e *env) isShown(out string) bool { return out == "-" && e.outTTY }

// watch shows the progress of reading the objects of a file, name, until stop. The file
// out is written meanwhile.
func (e *env) watch(name, out string, objects ...*object.Object) (stop func()) {
	if e.isShown(out) {
		return func() {}
	}
	bar := e.progress("reading "+filepath.Base(name), "")
	for _, o := range objects {
		o.Watch(bar.Set)
	}
	return bar.Close
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
