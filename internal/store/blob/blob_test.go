package blob_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/proctest"
	"symbolon/internal/store/blob"
)

// pool is shared by all tests: memory of one file must not reach another.
var pool = &blob.Pool{}

// random returns bytes that cannot be compressed.
func random(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

// text returns bytes that can be compressed.
func text(n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "FUNC %x 40 0 kettle::boil(int)\n%x 10 %d 3\n", i*64, i*64, i%1000)
	}
	return b.Bytes()[:n]
}

// pack returns the blob of a file.
func pack(t testing.TB, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := pool.NewWriter(&out)
	for part := range slices.Chunk(content, 700_001) {
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s256, s1 := w.Sums()
	if s256 != sha256.Sum256(content) || s1 != sha1.Sum(content) {
		t.Fatalf("wrong sums %v, %v", s256, s1)
	}
	return out.Bytes()
}

var contents = map[string][]byte{
	"empty": nil, "byte": {7}, "text": text(5<<20 + 12345), "random": random(4 << 20), "frame": text(2 << 20), "frame and a byte": text(2<<20 + 1),
}

func TestContentIsRead(t *testing.T) {
	for name, content := range contents {
		r, err := pool.Open(t.Context(), bin.Bytes(pack(t, content)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: read %d bytes, %v; want %d", name, len(got), err, len(content))
		}
		if n, err := r.ReadAt(make([]byte, 1), r.Size()); n != 0 || err != io.EOF {
			t.Errorf("%s: read %d bytes at the end, %v", name, n, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if _, err := r.ReadAt(make([]byte, 1), 0); err == nil {
			t.Errorf("%s: read after Close", name)
		}
	}
}

func TestBlobIsAStreamOfZstd(t *testing.T) {
	program := proctest.Program(t, "zstd")
	for name, content := range contents {
		r, err := pool.Open(t.Context(), bin.Bytes(pack(t, content)))
		if err != nil {
			t.Fatal(err)
		}
		frames, size := r.Frames()
		stored, err := io.ReadAll(frames)
		if err != nil || int64(len(stored)) != size {
			t.Fatalf("%d bytes of %d, %v", len(stored), size, err)
		}
		unzstd := exec.Command(program, "-dc")
		unzstd.Stdin = bytes.NewReader(stored)
		if got, err := unzstd.Output(); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: zstd reads %d bytes, %v; want %d", name, len(got), err, len(content))
		}
	}
}

// counted counts the bytes that are read.
type counted struct {
	bin.Source
	n int
}

func (c *counted) ReadAt(b []byte, off int64) (int, error) {
	c.n += len(b)
	return c.Source.ReadAt(b, off)
}

func TestRangeReadsItsFramesOnly(t *testing.T) {
	content := random(64 << 20)
	src := &counted{Source: struct{ bin.Source }{bin.Bytes(pack(t, content))}}
	r, err := pool.Open(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, off := range []int64{40<<20 - 50, 40 << 20, 41 << 20} {
		part := make([]byte, 100)
		if _, err := r.ReadAt(part, off); err != nil || !bytes.Equal(part, content[off:off+100]) {
			t.Errorf("at offset %d: %v", off, err)
		}
	}
	if src.n > 5<<20 {
		t.Errorf("%d bytes were read for the content of two frames", src.n)
	}
}

func TestConcurrentReadersGetTheirBytes(t *testing.T) {
	content := text(20 << 20)
	r, err := pool.Open(t.Context(), bin.Bytes(pack(t, content)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all sync.WaitGroup
	for seed := range 4 {
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(seed)))
			for range 100 {
				off, part := rnd.IntN(len(content)-5000), make([]byte, 5000)
				if _, err := r.ReadAt(part, int64(off)); err != nil || !bytes.Equal(part, content[off:off+5000]) {
					t.Errorf("at offset %d: %v", off, err)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestDamageIsOneMalformedError(t *testing.T) {
	stored := pack(t, text(5<<20))
	damage := map[string]func([]byte) []byte{
		"cut off":        func(b []byte) []byte { return b[:len(b)-1] },
		"short":          func(b []byte) []byte { return b[len(b)-10:] },
		"empty":          func([]byte) []byte { return nil },
		"without frames": func(b []byte) []byte { return b[5000:] },
		"longer":         func(b []byte) []byte { return append([]byte("x"), b...) },
		"frame":          func(b []byte) []byte { b[3000] ^= 1; return b },
		"checksum":       func(b []byte) []byte { b[len(b)-9-3*8-8-1] ^= 1; return b },
		"count":          func(b []byte) []byte { b[len(b)-6] = 0xff; return b },
		"sizes":          func(b []byte) []byte { b[len(b)-9-4] ^= 1; return b },
	}
	for name, do := range damage {
		r, err := pool.Open(t.Context(), bin.Bytes(do(bytes.Clone(stored))))
		if err == nil {
			_, err = io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
		}
		if fault.KindOf(err) != fault.Malformed {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "blob: ") {
			t.Errorf("%s: the error does not name its place: %v", name, err)
		}
	}
}

func TestReadingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, err := pool.Open(ctx, bin.Bytes(pack(t, text(5<<20))))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := r.ReadAt(make([]byte, 1), 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// full fails after some bytes.
type full struct{ left int }

var errFull = errors.New("the disk is full")

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestFailureOfTheOutputIsReturned(t *testing.T) {
	for _, left := range []int{0, 1 << 20, 5 << 20} {
		w := pool.NewWriter(&full{left})
		_, first := w.Write(random(5 << 20))
		if err := w.Close(); !errors.Is(err, errFull) || first != nil && !errors.Is(first, errFull) {
			t.Errorf("%d bytes: Write: %v, Close: %v", left, first, err)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, n := range []int{0, 1, 3000} {
		f.Add(pack(f, text(n)))
	}
	stored := pack(f, text(3000))
	table := len(stored) - 25
	f.Add(append(append(bytes.Clone(stored[:table]), stored[:table]...), // two frames
		0x5e, 0x2a, 0x4d, 0x18, 25, 0, 0, 0, byte(table), byte(table>>8), 0, 0, 0xb8, 0xb, 0, 0, byte(table), byte(table>>8), 0, 0, 0xb8, 0xb, 0, 0,
		2, 0, 0, 0, 0, 0xb1, 0xea, 0x92, 0x8f))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := pool.Open(t.Context(), bin.Bytes(data))
		if err != nil {
			if fault.KindOf(err) != fault.Malformed {
				t.Fatal(err)
			}
			return
		}
		defer r.Close()
		n, err := io.Copy(io.Discard, io.NewSectionReader(r, 0, r.Size()))
		if err != nil && fault.KindOf(err) != fault.Malformed {
			t.Fatal(err)
		}
		if err == nil && n != r.Size() {
			t.Fatalf("read %d bytes of %d", n, r.Size())
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	for name, content := range map[string][]byte{"text": text(64 << 20), "random": random(64 << 20), "20KB": text(20_000)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				w := pool.NewWriter(io.Discard)
				w.Write(content)
				w.Close()
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for name, content := range map[string][]byte{"text": text(64 << 20), "random": random(64 << 20)} {
		stored := pack(b, content)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				r, err := pool.Open(b.Context(), bin.Bytes(stored))
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, io.NewSectionReader(r, 0, r.Size()))
				r.Close()
			}
		})
	}
}
