package cachetest

import (
	"errors"
	"os"
	"testing"

	"symbolon/internal/cache"
)

// Spool creates a spool in a folder of the test. It is removed when it is closed.
func Spool(t testing.TB) (cache.Spool, error) {
	f, err := os.CreateTemp(t.TempDir(), "")
	return spool{f}, err
}

type spool struct{ *os.File }

func (s spool) Size() int64 {
	info, err := s.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

func (s spool) Close() error { return errors.Join(s.File.Close(), os.Remove(s.Name())) }
