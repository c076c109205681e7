package main

import (
	"symbolon/internal/companion"
	"symbolon/internal/object"
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
