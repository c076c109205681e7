package symbfile_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/fault"
	"symbolon/internal/ingest"
	"symbolon/internal/ingest/symbfile"
)

// losing is a bucket that loses a part when its bytes are read.
type losing struct {
	bucket.Bucket
	key string
}

func (l *losing) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, bucket.Attrs, error) {
	if key == l.key && n < 0 {
		if err := l.Delete(ctx, key); err != nil {
			return nil, bucket.Attrs{}, err
		}
	}
	return l.Bucket.Get(ctx, key, off, n)
}

// TestAPartThatIsSweptWhilePublishing has its upload published when it came again.
func TestAPartThatIsSweptWhilePublishing(t *testing.T) {
	b := &losing{Bucket: mem.New()}
	n := open(t, b, symbfile.Config{})
	one := split("one", 3)
	for _, parts := range [][][]byte{one, cut(joined(one), 700, 1500)} {
		n.sent(part(0, 1), ranges("before", 0, 5), true)
		n.sent(of("u", 0, 3), parts[0], false)
		n.sent(of("u", 1, 3), parts[1], false)
		b.key = n.keyOf("u", 1, 3)
		if _, err := n.take(of("u", 2, 3), parts[2]); err == nil || fault.KindOf(err) != fault.Transport {
			t.Fatalf("%v", err)
		}
		n.holds(ranges("before", 0, 5))
		b.key = ""
		n.sent(of("u", 1, 3), parts[1], true)
		n.holds(one...)
		n.sent(part(0, 1), ranges("after", 0, 5), true)
	}
}

func TestABodyThatBreaksLeavesNothing(t *testing.T) {
	broken := errors.New("the connection broke")
	b := mem.New()
	n := open(t, b, symbfile.Config{})
	body := ranges("x", 0, 2000)
	for _, count := range []int{1, 2} {
		for _, size := range []int{0, 3, 9, 5000, len(body)} {
			_, err := n.Take(t.Context(), part(0, count), io.MultiReader(bytes.NewReader(body[:size]), iotest.ErrReader(io.ErrUnexpectedEOF)))
			refusal(t, err, ingest.Truncated)
			_, err = n.Take(t.Context(), part(0, count), io.MultiReader(bytes.NewReader(body[:size]), iotest.ErrReader(broken)))
			var r *ingest.Refusal
			if !errors.Is(err, broken) || errors.As(err, &r) {
				t.Errorf("%d bytes: %v", size, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			stop := iotest.ErrReader(nil)
			_, err = n.Take(ctx, part(0, count), io.MultiReader(bytes.NewReader(body[:size]), readerFunc(func([]byte) (int, error) { cancel(); return 0, io.EOF }), stop))
			if !errors.Is(err, context.Canceled) {
				t.Errorf("canceled after %d bytes: %v", size, err)
			}
		}
	}
	if n.published(symbfile.Ranges) != nil || n.waiting("", 2) != nil {
		t.Error("something is left")
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestLimitsHold(t *testing.T) {
	n := open(t, mem.New(), symbfile.Config{MaxPart: 4 << 10, MaxFile: 6 << 10})
	small, large := ranges("x", 0, 85), ranges("x", 0, 400)
	if len(small) > 4<<10 || len(small) < 3<<10 {
		t.Fatalf("a part of %d bytes", len(small))
	}
	n.sent(part(0, 1), small, true)
	z, _ := zstd.NewWriter(nil)
	for _, body := range [][]byte{large, z.EncodeAll(large, nil)} {
		n.refused(part(0, 1), body, ingest.TooLarge)
		n.refused(part(0, 2), body, ingest.TooLarge)
	}
	n.refused(part(1, 2), append([]byte("raw"), large...), ingest.TooLarge)
	n.sent(part(0, 2), small, false)
	n.refused(part(1, 2), small, ingest.TooLarge)
	if left := n.waiting("", 2); left != nil {
		t.Errorf("parts are left: %v", left)
	}
	n.holds(small)
}

// long is a body that is made while it is read: a file, and some of it again and again.
func long(size int) io.Reader {
	file := ranges("long", 0, 4000)
	list := []io.Reader{bytes.NewReader(file)}
	for n := len(file); n < size; n += len(file) - 10 {
		list = append(list, bytes.NewReader(file[10:]))
	}
	return io.MultiReader(list...)
}

func TestMemoryIsBounded(t *testing.T) {
	n := open(t, folder(t), symbfile.Config{})
	measure := func(size int) uint64 {
		runtime.GC()
		var before, now runtime.MemStats
		runtime.ReadMemStats(&before)
		most := uint64(0)
		read := 0
		body := long(size)
		watched := readerFunc(func(p []byte) (int, error) {
			k, err := body.Read(p)
			if read += k; read > size/16 {
				read = 0
				runtime.GC()
				runtime.ReadMemStats(&now)
				most = max(most, now.HeapAlloc-min(before.HeapAlloc, now.HeapAlloc))
			}
			return k, err
		})
		if _, err := n.Take(t.Context(), part(0, 1), watched); err != nil {
			t.Fatal(err)
		}
		return most
	}
	measure(1 << 20)
	if most := measure(64 << 20); most > 8<<20 {
		t.Errorf("a part of 64 MiB takes %d KiB", most>>10)
	}
	if i, err := n.Info(t.Context(), fileID, symbfile.Ranges); err != nil || i.Size < 64<<20 {
		t.Errorf("%+v, %v", i, err)
	}
}

func TestASpoolThatFailsIsOurTrouble(t *testing.T) {
	n := open(t, mem.New(), symbfile.Config{})
	full := errors.New("the disk is full")
	n.Store = withSpool(full)
	_, err := n.take(part(0, 1), ranges("x", 0, 3))
	var r *ingest.Refusal
	if !errors.Is(err, full) || errors.As(err, &r) || fault.KindOf(err) != fault.Internal {
		t.Errorf("%v", err)
	}
	if !strings.Contains(err.Error(), "spool") {
		t.Errorf("the error has no place: %v", err)
	}
}
