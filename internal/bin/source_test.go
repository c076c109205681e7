package bin_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"symbolon/internal/bin"
)

// remote is a Source whose content is not in memory, and may be shorter than
// its Size.
type remote struct {
	r    io.ReaderAt
	size int64
}

func (r remote) Size() int64                             { return r.size }
func (r remote) ReadAt(p []byte, off int64) (int, error) { return r.r.ReadAt(p, off) }

func TestBytesIsAReaderAt(t *testing.T) {
	data := []byte("the quick brown fox")
	if err := iotest.TestReader(io.NewSectionReader(bin.Bytes(data), 0, int64(len(data))), data); err != nil {
		t.Error(err)
	}
	var p [4]byte
	if n, err := bin.Bytes(data).ReadAt(p[:], -1); n != 0 || err == nil || err == io.EOF {
		t.Errorf("at -1: %d, %v", n, err)
	}
	if n, err := bin.Bytes(data).ReadAt(p[:], math.MaxInt64); n != 0 || err != io.EOF {
		t.Errorf("far beyond the end: %d, %v", n, err)
	}
}

func TestWholeDoesNotCopy(t *testing.T) {
	data := []byte("abc")
	b, ok := bin.Whole(bin.Bytes(data))
	if !ok || &b[0] != &data[0] || len(b) != 3 {
		t.Errorf("Whole = %q, %v", b, ok)
	}
	if _, ok := bin.Whole(remote{strings.NewReader("abc"), 3}); ok {
		t.Error("Whole of a source that is not in memory returned true")
	}
	if b, ok := bin.Whole(bin.Bytes(nil)); !ok || len(b) != 0 {
		t.Errorf("Whole of an empty source = %q, %v", b, ok)
	}
}

func TestReadChecksItsRange(t *testing.T) {
	data := []byte("0123456789")
	for name, src := range map[string]bin.Source{
		"memory": bin.Bytes(data),
		"remote": remote{bytes.NewReader(data), 10},
	} {
		for _, tc := range []struct {
			off  int64
			n    int
			want string
			ok   bool
		}{
			{0, 10, "0123456789", true}, {3, 4, "3456", true}, {10, 0, "", true}, {9, 1, "9", true},
			{9, 2, "", false}, {11, 0, "", false}, {-1, 1, "", false}, {0, -1, "", false},
			{math.MaxInt64, 1, "", false}, {1, math.MaxInt, "", false}, {math.MinInt64, math.MinInt, "", false},
		} {
			b, err := bin.Read(src, tc.off, tc.n)
			if (err == nil) != tc.ok || string(b) != tc.want {
				t.Errorf("%s: Read(%d, %d) = %q, %v", name, tc.off, tc.n, b, err)
			}
			if err != nil && !errors.Is(err, bin.ErrShort) {
				t.Errorf("%s: Read(%d, %d): %v is not ErrShort", name, tc.off, tc.n, err)
			}
		}
	}
}

func TestReadDoesNotCopy(t *testing.T) {
	data := []byte("0123456789")
	b, err := bin.Read(bin.Bytes(data), 2, 3)
	if err != nil || &b[0] != &data[2] || cap(b) != 3 {
		t.Errorf("Read = %q (capacity %d), %v", b, cap(b), err)
	}
}

func TestReadOfTruncatedSource(t *testing.T) {
	if _, err := bin.Read(remote{strings.NewReader("abc"), 8}, 0, 8); !errors.Is(err, bin.ErrShort) {
		t.Errorf("shorter than its size: %v", err)
	}
	broken := errors.New("disk on fire")
	if _, err := bin.Read(remote{failing{broken}, 8}, 0, 8); !errors.Is(err, broken) {
		t.Errorf("broken: %v", err)
	}
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }
