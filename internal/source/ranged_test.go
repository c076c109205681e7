package source_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"symbolon/internal/fault"
	"symbolon/internal/source"
	"symbolon/internal/waittest"
)

// ranges is a server of one file that knows ranges, and what it saw.
type ranges struct {
	url      string
	data     []byte
	requests atomic.Int32
	under    atomic.Int32
	most     atomic.Int32
	each     func(request int32, w http.ResponseWriter) // may panic to break the connection
	budget   func(request int32) int                    // bytes after which the connection breaks; negative: none
}

func serveRanges(t *testing.T, size int) *ranges {
	t.Helper()
	s := &ranges{data: make([]byte, size)}
	rand.NewChaCha8([32]byte{7}).Read(s.data)
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *ranges) serve(w http.ResponseWriter, r *http.Request) {
	number := s.requests.Add(1)
	s.most.Store(max(s.most.Load(), s.under.Add(1)))
	defer s.under.Add(-1)
	var first, last int
	fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last)
	if s.each != nil {
		s.each(number, w)
	}
	w.Header().Set("Content-Length", fmt.Sprint(last+1-first))
	w.WriteHeader(http.StatusPartialContent)
	body := s.data[first : last+1]
	if s.budget != nil {
		if n := s.budget(number); n >= 0 && n < len(body) {
			w.Write(body[:n])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	}
	w.Write(body)
}

func (s *ranges) open(ctx context.Context, off, n int64) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", off, off+n-1))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fault.New(fault.Transport, "", "%w", err)
	}
	if resp.StatusCode != http.StatusPartialContent {
		resp.Body.Close()
		return nil, fault.New(fault.Denied, "", "%s", resp.Status)
	}
	return resp.Body, nil
}

func TestRangesComeInOrder(t *testing.T) {
	for _, size := range []int{0, 1, source.Piece - 1, source.Piece, source.Piece + 1, 6*source.Piece + 12345} {
		s := serveRanges(t, size)
		r := source.NewRanged(t.Context(), int64(size), nil, s.open)
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, s.data) {
			t.Errorf("%d bytes: got %d, %v", size, len(got), err)
		}
		if want := (size + source.Piece - 1) / source.Piece; int(s.requests.Load()) != want || r.Resumed() != 0 {
			t.Errorf("%d bytes: %d requests, %d resumed; want %d", size, s.requests.Load(), r.Resumed(), want)
		}
		if n := s.most.Load(); n > 4 {
			t.Errorf("%d bytes: %d requests at one time", size, n)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Files share the memory for pieces that are fetched ahead; a file that gets none
// is read all the same.
func TestRangesShareTheirMemory(t *testing.T) {
	const size = 5*source.Piece + 1
	s := serveRanges(t, size)
	ahead := source.NewAhead(2)
	var open []*source.Ranged
	for range 3 {
		r := source.NewRanged(t.Context(), size, ahead, s.open)
		open = append(open, r)
		if _, err := io.ReadFull(r, make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
	}
	waittest.Until(t, "there are five requests", func() bool { return s.requests.Load() >= 5 })
	if n := s.requests.Load(); n != 5 { // one of each file, and two ahead
		t.Errorf("%d requests", n)
	}
	var all sync.WaitGroup
	for _, r := range open {
		all.Go(func() {
			got, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(got, s.data[10:]) {
				t.Errorf("got %d bytes, %v", len(got), err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s.requests.Store(0)
	r := source.NewRanged(t.Context(), size, ahead, s.open)
	defer r.Close()
	if _, err := io.ReadFull(r, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the released memory is used", func() bool { return s.requests.Load() >= 3 })
}

func TestReaderOfRangesKeepsItsContract(t *testing.T) {
	s := serveRanges(t, source.Piece+5)
	r := source.NewRanged(t.Context(), int64(len(s.data)), nil, s.open)
	defer r.Close()
	if err := iotest.TestReader(r, s.data); err != nil {
		t.Error(err)
	}
}

// Connections that break in the middle cost only what was not received yet.
func TestBrokenRangesAreResumed(t *testing.T) {
	const size = 4*source.Piece + 99
	s := serveRanges(t, size)
	s.budget = func(request int32) int {
		if request > 3 { // even if one part had all those that break
			return -1
		}
		return int(request) * 100_000
	}
	s.each = func(request int32, _ http.ResponseWriter) {
		if request == 2 {
			panic(http.ErrAbortHandler) // before a byte has come
		}
	}
	r := source.NewRanged(t.Context(), size, nil, s.open)
	defer r.Close()
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, s.data) {
		t.Fatalf("got %d bytes, %v", len(got), err)
	}
	if r.Resumed() == 0 || int(s.requests.Load()) != 5+r.Resumed() {
		t.Errorf("%d resumed with %d requests", r.Resumed(), s.requests.Load())
	}
}

func TestRangesThatNeverEndAreGivenUp(t *testing.T) {
	s := serveRanges(t, 2*source.Piece)
	s.budget = func(int32) int { return 1 }
	r := source.NewRanged(t.Context(), 2*source.Piece, nil, s.open)
	defer r.Close()
	if n, err := io.Copy(io.Discard, r); err == nil || n > 6 {
		t.Errorf("%d bytes, %v", n, err)
	}
	if n := s.requests.Load(); n > 12 {
		t.Errorf("%d requests", n)
	}
}

func TestFinalFailureOfARangeIsNotRepeated(t *testing.T) {
	var calls atomic.Int32
	r := source.NewRanged(t.Context(), 3*source.Piece, nil, func(context.Context, int64, int64) (io.ReadCloser, error) {
		calls.Add(1)
		return nil, fault.New(fault.Denied, "", "no")
	})
	if _, err := io.Copy(io.Discard, r); fault.KindOf(err) != fault.Denied {
		t.Error(err)
	}
	if err := r.Close(); err != nil || calls.Load() != 3 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

func TestRangesEndWithTheContext(t *testing.T) {
	before := runtime.NumGoroutine()
	s := serveRanges(t, 4*source.Piece)
	ctx, cancel := context.WithCancel(t.Context())
	r := source.NewRanged(ctx, 4*source.Piece, nil, s.open)
	if _, err := io.ReadFull(r, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.Copy(io.Discard, r); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.Read(make([]byte, 1)); err == nil {
		t.Error("read after Close")
	}
	http.DefaultClient.CloseIdleConnections()
	waittest.Until(t, fmt.Sprintf("no more than %d goroutines remain", before+3), func() bool { return runtime.NumGoroutine() <= before+3 })
}
