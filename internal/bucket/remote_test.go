package bucket_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

func TestParts(t *testing.T) {
	broken := errors.New("the body broke")
	for _, size := range []int{0, 1, 9, 10, 11, 20, 25} {
		body := strings.Repeat("0123456789", 3)[:size]
		p := bucket.NewParts(t.Context(), iotest.OneByteReader(strings.NewReader(body)), bucket.Attrs{Size: int64(size)}, 10)
		var got []string
		for last := false; !last; {
			var part []byte
			var err error
			if part, last, err = p.Next(); err != nil {
				t.Fatal(err)
			}
			got = append(got, string(part))
		}
		if strings.Join(got, "") != body || len(got) != max(1, (size+9)/10) {
			t.Errorf("%d bytes: %q", size, got)
		}
	}
	for want, c := range map[string]struct {
		r    io.Reader
		size int64
	}{
		"declared size of 3 bytes":  {strings.NewReader("0123"), 3},
		"declared size of 30 bytes": {strings.NewReader("0123456789ab"), 30},
		"declared size of 12 bytes": {strings.NewReader("0123456789ab0123456789ab"), 12},
		"the body broke":            {io.MultiReader(strings.NewReader("0123456789ab"), iotest.ErrReader(broken)), 0},
	} {
		p := bucket.NewParts(t.Context(), c.r, bucket.Attrs{Size: c.size}, 10)
		var err error
		for last := false; !last && err == nil; {
			_, last, err = p.Next()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := bucket.NewParts(ctx, strings.NewReader("0123456789ab"), bucket.Attrs{}, 10)
	if _, _, err := p.Next(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, _, err := p.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

// clock is a clock that the test advances.
type clock struct{ now atomic.Int64 }

func (c *clock) Now() time.Time       { return time.Unix(c.now.Load(), 0) }
func (c *clock) pass(d time.Duration) { c.now.Add(int64(d / time.Second)) }

func TestRenewalKeepsValidValue(t *testing.T) { synctest.Test(t, renewalKeepsValidValue) }

func renewalKeepsValidValue(t *testing.T) {
	var c clock
	var fetched atomic.Int32
	var failing atomic.Bool
	r := bucket.Renewed[int32]{Now: c.Now, Early: 5 * time.Minute, Fetch: func(context.Context) (int32, time.Time, error) {
		n := fetched.Add(1)
		if failing.Load() {
			return 0, time.Time{}, fault.New(fault.Denied, "", "no")
		}
		return n, c.Now().Add(time.Hour), nil
	}}
	want := func(value int32, kind string) {
		t.Helper()
		got, err := r.Get(t.Context())
		if kind == "" && (err != nil || got != value) || kind != "" && (err == nil || !strings.Contains(err.Error(), kind)) {
			t.Fatalf("%d, %v; want %d %s", got, err, value, kind)
		}
	}
	want(1, "")
	synctest.Wait()
	c.pass(54 * time.Minute)
	want(1, "")
	c.pass(2 * time.Minute)
	failing.Store(true)
	want(1, "") // and a renewal fails in the background
	synctest.Wait()
	c.pass(11 * time.Second)
	want(1, "")
	synctest.Wait()
	if n := fetched.Load(); n != 3 {
		t.Fatalf("got %d fetches after a failed renewal and its pause, want 3", n)
	}
	c.pass(10 * time.Minute)
	want(0, "denied: no")
	synctest.Wait()
	failing.Store(false)
	n := fetched.Load()
	want(n+1, "")
	r.Drop(func(v int32) bool { return v == 1 })
	want(n+1, "")
	r.Drop(func(v int32) bool { return v == n+1 })
	want(n+2, "")
}

func TestRenewalIsSingleFlight(t *testing.T) { synctest.Test(t, renewalIsSingleFlight) }

func renewalIsSingleFlight(t *testing.T) {
	var fetched atomic.Int32
	r := bucket.Renewed[string]{Now: time.Now, Fetch: func(ctx context.Context) (string, time.Time, error) {
		fetched.Add(1)
		time.Sleep(time.Second)
		return "value", time.Now().Add(time.Hour), ctx.Err()
	}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if i == 0 {
				cancel()
				if _, err := r.Get(ctx); err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			} else if got, err := r.Get(t.Context()); got != "value" || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	all.Wait()
	if n := fetched.Load(); n != 1 {
		t.Errorf("fetched %d times", n)
	}
}

func TestExpiredCredentialsAreRejected(t *testing.T) {
	r := bucket.Renewed[int]{Now: time.Now, Fetch: func(context.Context) (int, time.Time, error) { return 1, time.Now(), nil }}
	if _, err := r.Get(t.Context()); fault.KindOf(err) != fault.Denied {
		t.Error(err)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(206, "bytes 0-9/10", int64(10), int64(0), int64(-1))
	f.Add(206, "bytes 2-4/9223372036854775807", int64(-1), int64(2), int64(3))
	f.Add(200, "", int64(10), int64(0), int64(3))
	f.Fuzz(func(t *testing.T, status int, text string, length, off, n int64) {
		resp := &http.Response{
			StatusCode: status, ContentLength: length, Header: http.Header{"Content-Range": {text}},
			Body: io.NopCloser(bytes.NewReader(make([]byte, 100))),
		}
		off = max(off, 0)
		part := bucket.Part{
			Key: "k", Attrs: func(_ *http.Response, size int64) bucket.Attrs { return bucket.Attrs{Size: size} },
			Ask:  func(map[string]string, func(int) bool) (*http.Response, error) { return resp, nil },
			Stat: func(context.Context, string) (bucket.Attrs, error) { return bucket.Attrs{}, errors.New("asked") },
		}
		r, a, err := part.Get(t.Context(), off, n)
		if err != nil {
			return
		}
		size := a.Size
		from, want := bucket.Cut(off, n, size)
		if size < 0 || from != off && want > 0 {
			t.Fatalf("%d bytes from %d of %d", want, from, size)
		}
		if got, err := io.ReadAll(r); err != nil || length >= 0 && length <= 100 && int64(len(got)) > max(want, 100) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	})
}

func TestRangeHeader(t *testing.T) {
	for _, c := range []struct {
		off, n int64
		want   string
	}{{0, -1, ""}, {0, 4, "bytes=0-3"}, {3, 4, "bytes=3-6"}, {3, -1, "bytes=3-"}, {1, 1<<63 - 1, "bytes=1-"}, {0, 1<<63 - 1, "bytes=0-9223372036854775806"}} {
		done := errors.New("asked")
		part := bucket.Part{Key: "k", Ask: func(header map[string]string, _ func(int) bool) (*http.Response, error) {
			if got := header["Range"]; got != c.want {
				t.Errorf("%d, %d: %q, want %q", c.off, c.n, got, c.want)
			}
			return nil, done
		}}
		if _, _, err := part.Get(t.Context(), c.off, c.n); err != done {
			t.Error(err)
		}
	}
}

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"a\n b\t\x00c": "a b c", "\u2028x\u009b31m": "x 31m", "\xff": "?", strings.Repeat("ä", 200): strings.Repeat("ä", 150) + "...",
	} {
		if got := bucket.Line(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := bucket.Hide("a secret b other c", "secret", "", "other"); got != "a [redacted] b [redacted] c" {
		t.Error(got)
	}
}
