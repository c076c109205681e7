package main

import (
	"io"
	"os"

	"github.com/spf13/pflag"

	"symbolon/internal/companion"
	"symbolon/internal/object"
	"symbolon/internal/standin"
)

// openDebug opens a debug file with the separate files that it needs.
func openDebug(e *env, name string, opt companion.Options) (*companion.File, error) {
	opt.Stdin = e.stdin
	return companion.Open(name, opt)
}

// openAlone opens a debug file without others.
func openAlone(e *env, name string, opt companion.Options) (*companion.File, error) {
	opt.Stdin = e.stdin
	return companion.OpenAlone(name, opt)
}

// openObject opens the only object of a debug file.
func openObject(e *env, name string) (*object.Object, *companion.File, error) {
	d, err := openDebug(e, name, companion.Options{})
	if err != nil {
		return nil, nil, err
	}
	return d.Object(), d, nil
}

// openFile opens a file for random access; "-" is standard input.
func openFile(e *env, name string) (*companion.Source, error) {
	return companion.OpenSource(name, e.stdin)
}

// withInput calls use with the contents of a file; "-" is standard input.
func withInput(e *env, name string, use func(io.Reader) error) error {
	if name == "-" {
		return use(e.stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return use(f)
}

// objectFlags adds the flags that select an object of a file.
func objectFlags(fs *pflag.FlagSet, opt *companion.Options) {
	archFlag(fs, opt)
	fs.IntVar(&opt.Object, "object", 0, "select the `N`th of these objects, counted from 0")
}

// archFlag adds the flag that selects an object by its architecture.
func archFlag(fs *pflag.FlagSet, opt *companion.Options) {
	fs.StringVar(&opt.Arch, "arch", "", "select the object for `ARCH` in a file with several; empty is any")
}

// tool returns the environment of a command for package standin.
func (e *env) tool() *standin.Env {
	return &standin.Env{
		Stdin: e.stdin, Stdout: e.stdout, Stderr: e.stderr, Version: version(),
		Getenv:    func(name string) string { return environment(e, name) },
		HasColors: e.outTTY && environment(e, "TERM") != "dumb", Look: e.look(),
	}
}
