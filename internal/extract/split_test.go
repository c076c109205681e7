package extract_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"symbolon/internal/extract"
	"symbolon/internal/format/symbfile"
)

// part is a part of a split file.
type part struct {
	bytes.Buffer
	closed bool
}

func (p *part) Close() error {
	p.closed = true
	return nil
}

func split(t testing.TB, file []byte, size int) (parts []*part) {
	t.Helper()
	n, err := extract.Split(context.Background(), bytes.NewReader(file), size, func(number int) (io.WriteCloser, error) {
		if number != len(parts) {
			t.Errorf("part %d is created as number %d", len(parts), number)
		}
		parts = append(parts, &part{})
		return parts[number], nil
	})
	if err != nil || n != len(parts) {
		t.Fatalf("%d parts, %v", n, err)
	}
	for _, p := range parts {
		if !p.closed {
			t.Error("a part is open")
		}
	}
	return parts
}

func TestSplitKeepsFunctionsTogether(t *testing.T) {
	var b bytes.Buffer
	w := symbfile.NewWriter(&b)
	for i := range uint64(3000) {
		r := symbfile.Range{VA: i * 64, Length: 64, Func: fmt.Appendf(nil, "function_%d", i), File: []byte("/a/file.c"), Depth: uint32(i % 3)}
		r.Lines = []symbfile.Line{{Offset: 0, Line: 1}, {Offset: 9, Line: 300}}
		p := symbfile.Pad{VA: i, Frames: []symbfile.PadFrame{{Func: r.Func, File: r.File, Line: 70000}}}
		err := w.Range(&r)
		if i%3 == 2 {
			err = errors.Join(err, w.Pad(&p))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	const size = 10_000
	parts := split(t, b.Bytes(), size)
	if len(parts) < b.Len()/size || len(parts) > 2*b.Len()/size {
		t.Errorf("%d parts of %d bytes", len(parts), b.Len())
	}
	var all strings.Builder
	for i, p := range parts {
		text := dump(t, p.Bytes())
		all.WriteString(text)
		if p.Len() > size*5/4 || i < len(parts)-1 && p.Len() < size*3/4 {
			t.Errorf("part %d has %d bytes", i, p.Len())
		}
		if first, _, _ := strings.Cut(text, "\n"); strings.Contains(first, "+0x40  ") {
			t.Errorf("part %d begins inside a function: %s", i, first)
		}
	}
	if all.String() != dump(t, b.Bytes()) {
		t.Error("the parts have other records")
	}
	if parts := split(t, []byte("symbfile\x00\x01"), size); len(parts) != 1 || parts[0].Len() < 10 {
		t.Errorf("an empty file has %d parts", len(parts))
	}
}

func TestSplitReturnsErrors(t *testing.T) {
	bad := errors.New("bad")
	_, err := extract.Split(context.Background(), strings.NewReader("symbfile\x00\x01"), 1, func(int) (io.WriteCloser, error) { return nil, bad })
	if !errors.Is(err, bad) {
		t.Error(err)
	}
	p := &part{}
	if _, err := extract.Split(context.Background(), strings.NewReader("symbfile\x00\x01\x01"), 1, func(int) (io.WriteCloser, error) { return p, nil }); err == nil {
		t.Error("a truncated file was split")
	}
}
