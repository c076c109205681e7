package bin_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"symbolon/internal/bin"
)

func TestErrReaderKeepsItsFirstError(t *testing.T) {
	broken := errors.New("broken")
	r := &bin.ErrReader{R: io.MultiReader(strings.NewReader("ab"), iotest.ErrReader(broken), strings.NewReader("cd"))}
	all, err := io.ReadAll(r)
	if string(all) != "ab" || err != broken {
		t.Errorf("read %q, %v", all, err)
	}
	if _, err := r.Read(make([]byte, 1)); err != broken || r.Err != broken {
		t.Errorf("then %v, kept %v", err, r.Err)
	}
}

func TestErrReaderDoesNotKeepTheEnd(t *testing.T) {
	r := &bin.ErrReader{R: strings.NewReader("ab")}
	if _, err := io.ReadAll(r); err != nil || r.Err != nil {
		t.Errorf("%v, kept %v", err, r.Err)
	}
}

func TestErrWriterKeepsItsFirstError(t *testing.T) {
	var b bytes.Buffer
	full := errors.New("full")
	isFull := true
	w := &bin.ErrWriter{W: writerFunc(func(p []byte) (int, error) {
		if isFull {
			return 0, full
		}
		return b.Write(p)
	})}
	if _, err := w.Write([]byte("ab")); err != full {
		t.Errorf("first %v", err)
	}
	isFull = false
	if _, err := w.Write([]byte("cd")); err != full || b.Len() > 0 {
		t.Errorf("then %v, %d bytes were written", err, b.Len())
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
