package bin

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

const dumpWidth = 16

// A Dump writes bytes with their meaning, for golden files and for people. Its
// errors are sticky.
type Dump struct {
	w   io.Writer
	err error
}

func NewDump(w io.Writer) *Dump { return &Dump{w: w} }

// Section starts a new part under a heading.
func (d *Dump) Section(name string) { d.printf("\n== %s\n", name) }

// Line writes b, which is at off, with a note. Bytes beyond 16 go to further
// lines. Control characters of the note become spaces, so that a note taken
// from a hostile file stays on one line.
func (d *Dump) Line(off int64, b []byte, note string) {
	note = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, note)
	for {
		n := min(len(b), dumpWidth)
		text := fmt.Sprintf("%08x  %-*s  %s", off, dumpWidth*3-1, spaced(b[:n]), note)
		d.printf("%s\n", strings.TrimRight(text, " "))
		if b = b[n:]; len(b) == 0 {
			return
		}
		off += int64(n)
		note = ""
	}
}

// Err returns the first error of the writer.
func (d *Dump) Err() error { return d.err }

func (d *Dump) printf(format string, args ...any) {
	if d.err == nil {
		_, d.err = fmt.Fprintf(d.w, format, args...)
	}
}

func spaced(b []byte) string {
	var text [dumpWidth * 3]byte
	for i, x := range b {
		hex.Encode(text[i*3:], []byte{x})
		text[i*3+2] = ' '
	}
	return string(text[:max(len(b)*3-1, 0)])
}
