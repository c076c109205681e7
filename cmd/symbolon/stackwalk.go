package main

import (
	"context"
	"os"

	"symbolon/internal/crash"
	"symbolon/internal/standin/stackwalk"
)

// stackwalk returns the environment of a command for package stackwalk.
func (e *env) stackwalk() *stackwalk.Env {
	return &stackwalk.Env{Env: *e.tool(), Open: func(ctx context.Context, s stackwalk.Symbols) (*crash.Processor, func(), error) {
		empty, err := os.MkdirTemp("", "symbolon-*")
		if err != nil {
			return nil, nil, err
		}
		// An empty folder takes the place of the sources of the configuration.
		f := crashFlags{symbols: append(s.Paths, empty)}
		remove, err := f.addSymbols()
		done := func() { remove(); os.RemoveAll(empty) }
		if err != nil {
			done()
			return nil, nil, err
		}
		n, err := f.conf.local(ctx, e)
		if err != nil {
			done()
			return nil, nil, err
		}
		return n.Crashes(), func() { n.Close(); done() }, nil
	}}
}
