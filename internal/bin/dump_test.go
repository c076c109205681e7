package bin_test

import (
	"errors"
	"strings"
	"testing"

	"symbolon/internal/bin"
)

func TestDumpIsAnnotated(t *testing.T) {
	var out strings.Builder
	d := bin.NewDump(&out)
	d.Section("header")
	d.Line(0, []byte("SYMC\x01\x00\x00\x00"), "magic, version 1")
	d.Line(8, nil, "nothing here")
	d.Section("strings")
	d.Line(0x1234, []byte("0123456789abcdefghij"), "text \"a\nb\"")
	d.Line(0x1248, []byte{0xff}, "")
	want := `
== header
00000000  53 59 4d 43 01 00 00 00                          magic, version 1
00000008                                                   nothing here

== strings
00001234  30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66  text "a b"
00001244  67 68 69 6a
00001248  ff
`
	if out.String() != want || d.Err() != nil {
		t.Errorf("got%s\nwant%s\nerr %v", out.String(), want, d.Err())
	}
}

func TestDumpErrorsAreSticky(t *testing.T) {
	full := errors.New("full")
	w := &failingWriter{full, 0}
	d := bin.NewDump(w)
	d.Section("a")
	d.Line(0, []byte("b"), "c")
	if !errors.Is(d.Err(), full) || w.calls != 1 {
		t.Errorf("%v after %d writes", d.Err(), w.calls)
	}
}

type failingWriter struct {
	err   error
	calls int
}

func (f *failingWriter) Write([]byte) (int, error) { f.calls++; return 0, f.err }
