package source_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/source"
	"symbolon/internal/source/sourcetest"
	"symbolon/internal/waittest"
)

// sink takes so many bytes, and then does as told.
type sink struct {
	bytes.Buffer
	room int
	then func() error
}

func (s *sink) Write(p []byte) (int, error) {
	if s.room -= len(p); s.room < 0 {
		return 0, s.then()
	}
	return s.Buffer.Write(p)
}

// TestWhoTakesTheBytesMayFail lets the taker fail at each chunk of a packed
// file, and throw.
func TestWhoTakesTheBytesMayFail(t *testing.T) {
	var text []byte
	for i := range 400_000 {
		text = fmt.Appendf(text, "%x 4 1 1\n", i)
	}
	packed := sourcetest.Gzip(text)
	full := errors.New("no room")
	before := runtime.NumGoroutine()
	d := source.NewDecoder(bin.Limit{}, nil)
	for room := 0; room < len(text)+1<<20; room += 1 << 19 {
		for name, then := range map[string]func() error{"fails": func() error { return full }, "throws": func() error { panic("a mistake") }} {
			out := &sink{room: room, then: then}
			got, err := d.Decode(t.Context(), out, bytes.NewReader(packed), "gzip")
			switch {
			case room >= len(text):
				if err != nil || got.Bytes != int64(len(text)) || !bytes.Equal(out.Bytes(), text) {
					t.Errorf("with room for all: %d bytes, %v", got.Bytes, err)
				}
			case fault.KindOf(err) != fault.Internal, name == "fails" && !errors.Is(err, full), !bytes.HasPrefix(text, out.Bytes()):
				t.Errorf("room for %d, %s: %v", room, name, err)
			}
		}
	}
	waittest.Until(t, fmt.Sprintf("no more than %d goroutines remain", before), func() bool { return runtime.NumGoroutine() <= before })
}
