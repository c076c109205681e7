package main

import (
	"context"
	"time"

	"symbolon/internal/bin"
)

// space is memory for what files unpack to: in files of a folder, where the system
// can map them.
type space struct {
	dir    string
	hold   hold // nil: nothing is counted, and the heap serves where the disk does not
	pieces [][]byte
	leave  []func()
	err    error // of hold, which is not asked again
}

// hold counts n bytes that do takes, until release is called.
type hold func(n int64, do func() error) (release func(), err error)

func (s *space) Take(n int) (b []byte, err error) {
	if s.hold == nil {
		if b, err = s.piece(n); err != nil {
			return make([]byte, n), nil // a command has the memory of its user
		}
		return b, nil
	}
	if s.err != nil {
		return nil, s.err
	}
	release, err := s.hold(int64(n), func() (err error) {
		b, err = s.piece(n)
		return err
	})
	if s.err = err; err != nil {
		return nil, err
	}
	s.leave = append(s.leave, release)
	return b, nil
}

func (s *space) Close() error {
	err := s.unmap()
	for _, release := range s.leave {
		release()
	}
	s.leave = nil
	return err
}

// holdWait is how long a file waits for others to let go of what they unpacked. A
// request may hold one file while it waits for another one.
const holdWait = 30 * time.Second

// space makes space in a folder of the data directory, within the bounds of the
// disk cache.
func (n *node) space(dir string) func(context.Context) bin.Space {
	return func(ctx context.Context) bin.Space {
		return &space{dir: dir, hold: func(size int64, do func() error) (func(), error) {
			ctx, cancel := context.WithTimeout(ctx, holdWait)
			defer cancel()
			return n.hold(ctx, size, do)
		}}
	}
}
