package shared_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/bucket/s3test"
	"symbolon/internal/cache"
	"symbolon/internal/cache/cachetest"
	"symbolon/internal/cache/shared"
	"symbolon/internal/fault"
	"symbolon/internal/metric"
	"symbolon/internal/waittest"
)

const (
	left  = "shared bucket unavailable, backing off"
	again = "shared bucket available again"
)

// TestAStoreThatIsKilledAndComesBack kills a real one while two nodes use it.
func TestAStoreThatIsKilledAndComesBack(t *testing.T) {
	t.Parallel()
	s := s3test.Run(t)
	var nodes []*node
	var tiers []*cache.Layer
	for range 2 {
		n := open(t, shared.Config{Timeout: 2 * time.Second}, far(t, s.Endpoint(), "x"))
		l := cache.Over(n.disk, n, time.Now)
		defer l.Close()
		nodes, tiers = append(nodes, n), append(tiers, l)
	}
	body := func(i int) []byte { return noise(200<<10+i, byte(i)) }
	var all sync.WaitGroup
	var done atomic.Int32
	for w, l := range tiers {
		all.Go(func() {
			for i := range 60 {
				kind := []cache.Kind{cache.Symcache, cache.Meta}[i%2]
				key := cache.KeyOf(fmt.Sprint(i / 2))
				if got := cachetest.Get(t, l, kind, key); got == nil {
					cachetest.Put(t, l, kind, key, body(i/2))
				} else if !bytes.Equal(got, body(i/2)) {
					t.Errorf("node %d: something else is served", w)
				}
				done.Add(1)
			}
		})
	}
	waittest.Until(t, "a part of the work is done", func() bool { return done.Load() >= 30 })
	s.Kill()
	all.Wait()
	for _, n := range nodes {
		waittest.Until(t, "the node backs off", func() bool {
			cachetest.Get(t, n, cache.Symcache, cache.KeyOf("unknown"))
			return n.log.Count(left) == 1
		})
		start := time.Now()
		for range 100 {
			if cachetest.Get(t, n, cache.Symcache, keyA) != nil {
				t.Error("an entry came from nowhere")
			}
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("100 misses cost %v", took)
		}
	}
	s.Start()
	for _, n := range nodes {
		waittest.Until(t, "it is used again", func() bool { return n.log.Count(again) == 1 })
	}
	cachetest.Put(t, nodes[0], cache.Symcache, keyA, body(99))
	if !bytes.Equal(cachetest.Get(t, nodes[1], cache.Symcache, keyA), body(99)) {
		t.Error("nothing is shared after the recovery")
	}
}

// hung is a bucket that, once it hangs, does not even mind its context, as
// folders of a network can.
type hung struct {
	*mem.Bucket
	hangs  atomic.Bool
	middle atomic.Bool // in the middle of an answer
	end    chan struct{}
}

func (h *hung) wait() {
	if h.hangs.Load() {
		<-h.end
	}
}

func (h *hung) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, bucket.Attrs, error) {
	h.wait()
	r, a, err := h.Bucket.Get(context.WithoutCancel(ctx), key, off, n)
	if err == nil && h.middle.Load() {
		begin, _ := io.ReadAll(io.LimitReader(r, 80))
		return io.NopCloser(io.MultiReader(bytes.NewReader(begin), late{h}, r)), a, nil
	}
	return r, a, err
}

// late is an empty reader, which returns at the end.
type late struct{ *hung }

func (l late) Read([]byte) (int, error) {
	<-l.end
	return 0, io.EOF
}

func (h *hung) Put(ctx context.Context, key string, r io.Reader, a bucket.Attrs) (bool, error) {
	h.wait()
	return h.Bucket.Put(context.WithoutCancel(ctx), key, r, a)
}

func (h *hung) Stat(ctx context.Context, key string) (bucket.Attrs, error) {
	h.wait()
	return h.Bucket.Stat(context.WithoutCancel(ctx), key)
}

func TestABucketThatHangsCostsItsTimeoutsAndThenNothing(t *testing.T) {
	h := &hung{Bucket: mem.New(), end: make(chan struct{})}
	n := open(t, shared.Config{Timeout: 50 * time.Millisecond, FetchTimeout: 100 * time.Millisecond}, h)
	body := noise(300<<10, 1)
	cachetest.Put(t, n, cache.Symcache, keyA, body)
	h.hangs.Store(true)
	off := metric.CacheLookups.Value("shared", "symcache", "off")
	start := time.Now()
	for range 1000 {
		if cachetest.Get(t, n, cache.Symcache, keyA) != nil {
			t.Fatal("an entry came from nowhere")
		}
	}
	cachetest.Put(t, n, cache.Symcache, keyB, body)
	n.Remember(t.Context(), cache.Meta, keyA, fault.New(fault.Denied, "", ""), time.Hour)
	n.Forget(t.Context(), cache.Symcache, keyA)
	if took := time.Since(start); took < 100*time.Millisecond || took > 2*time.Second {
		t.Errorf("it costs %v", took)
	}
	if n := metric.CacheLookups.Value("shared", "symcache", "off") - off; n < 990 {
		t.Errorf("only %d of 1000 lookups cost nothing", n)
	}
	waittest.Until(t, "the log has the failure", func() bool { return n.log.Count(left) == 1 })
	h.hangs.Store(false)
	close(h.end)
	waittest.Until(t, "it is used again", func() bool { return n.log.Count(again) == 1 })
	waittest.Until(t, "the entry is found", func() bool { return bytes.Equal(cachetest.Get(t, n, cache.Symcache, keyA), body) })
}

func TestAnEntryThatComesTooLateLeavesNothing(t *testing.T) { synctest.Test(t, lateEntryLeavesNothing) }

func lateEntryLeavesNothing(t *testing.T) {
	h := &hung{Bucket: mem.New(), end: make(chan struct{})}
	n := open(t, shared.Config{Timeout: time.Second, FetchTimeout: time.Second}, h)
	cachetest.Put(t, n, cache.Symcache, keyA, noise(300<<10, 1))
	h.middle.Store(true)
	if cachetest.Get(t, n, cache.Symcache, keyA) != nil {
		t.Error("it came")
	}
	close(h.end)
	synctest.Wait() // then open looks for spools that are left
}

func TestAnUploadThatHangsEnds(t *testing.T) { synctest.Test(t, uploadThatHangsEnds) }

func uploadThatHangsEnds(t *testing.T) {
	h := &hung{Bucket: mem.New(), end: make(chan struct{})}
	n := open(t, shared.Config{Timeout: 50 * time.Millisecond, FetchTimeout: 100 * time.Millisecond}, h)
	h.hangs.Store(true)
	start := time.Now()
	cachetest.Put(t, n, cache.Symcache, keyA, noise(300<<10, 1)) // closes what is being written
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
	close(h.end)
	h.hangs.Store(false)
	synctest.Wait()
	if object(t, h, cache.Symcache, keyA) != nil {
		t.Error("a part was written")
	}
}

// TestAServerThatSaysNothingIsLeftAlone has one that takes connections, and one
// that begins an entry and does not go on.
func TestAServerThatSaysNothingIsLeftAlone(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	n := open(t, shared.Config{Timeout: 30 * time.Millisecond}, far(t, "http://"+l.Addr().String(), ""))
	start := time.Now()
	for range 1000 {
		if cachetest.Get(t, n, cache.Symcache, keyA) != nil {
			t.Fatal("an entry came from nowhere")
		}
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it costs %v", took)
	}

	b := mem.New()
	good := open(t, patient(), b)
	cachetest.Put(t, good, cache.Symcache, keyA, noise(1<<20, 1))
	text := object(t, b, cache.Symcache, keyA)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		_, _ = w.Write(text[:len(text)/2])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	n = open(t, shared.Config{Timeout: 300 * time.Millisecond, FetchTimeout: 600 * time.Millisecond}, far(t, server.URL, ""))
	start = time.Now()
	if cachetest.Get(t, n, cache.Symcache, keyA) != nil {
		t.Error("a half is served")
	}
	if took := time.Since(start); took < 500*time.Millisecond || took > 3*time.Second {
		t.Errorf("half an entry costs %v", took)
	}
}

// TestABucketThatTakesNothingIsStillRead has a proxy that refuses writes before a
// real store.
func TestABucketThatTakesNothingIsStillRead(t *testing.T) {
	s := s3test.Run(t)
	target, err := url.Parse(s.Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	through := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		through.ServeHTTP(w, r)
	}))
	defer server.Close()
	cachetest.Put(t, open(t, patient(), far(t, s.Endpoint(), "")), cache.Symcache, keyA, []byte("a table"))
	n := open(t, patient(), far(t, server.URL, ""))
	for range 5 {
		cachetest.Put(t, n, cache.Symcache, keyB, []byte("another"))
	}
	if got := cachetest.Get(t, n, cache.Symcache, keyA); string(got) != "a table" {
		t.Errorf("got %q", got)
	}
	if n.log.Count("refuses a write") != 1 || n.log.Count("level=WARN") != 1 {
		t.Error("the log does not have it once")
	}
}

func TestARefusedReaderIsToldOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	n := open(t, patient(), far(t, server.URL, ""))
	waittest.Until(t, "the log has the failure", func() bool { return n.log.Count(left) == 1 })
	if cachetest.Get(t, n, cache.Symcache, keyA) != nil || n.log.Count("level=WARN") != 1 || n.log.Count("level=WARN msg=\""+left) != 1 {
		t.Error("the log does not have it once")
	}
	if n.log.Count(s3test.SecretKey) != 0 {
		t.Error("the log has the secret")
	}
}

// A HEAD request has the same answer for a missing bucket and for a missing key.
func TestAMissingBucketIsToldOnceAndLeftAlone(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, "<Error><Code>NoSuchBucket</Code></Error>") // net/http omits it for HEAD
	}))
	defer server.Close()
	n := open(t, patient(), far(t, server.URL, ""))
	waittest.Until(t, "the log has the failure", func() bool { return n.log.Count("NoSuchBucket") == 1 })
	waittest.Until(t, "two more probes were answered", func() bool { return asked.Load() >= 4 })
	if cachetest.Get(t, n, cache.Symcache, keyA) != nil || n.log.Count("available again") != 0 || n.log.Count("level=WARN") != 1 {
		t.Error("the log does not have it once")
	}
}

func TestACallerWhoLeavesSaysNothingAboutTheBucket(t *testing.T) {
	h := &hung{Bucket: mem.New(), end: make(chan struct{})}
	n := open(t, patient(), h)
	h.hangs.Store(true)
	for range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		if b, err := n.Get(ctx, cache.Symcache, keyA); b != nil || err != nil {
			t.Errorf("%v, %v", b, err)
		}
		cancel()
	}
	close(h.end)
	h.hangs.Store(false)
	cachetest.Put(t, n, cache.Symcache, keyA, []byte("a table"))
	if cachetest.Get(t, n, cache.Symcache, keyA) == nil || n.log.Count(left) != 0 {
		t.Error("the node backs off")
	}
}

// plain is a bucket without conditional creates.
type plain struct{ bucket.Bucket }

func (p plain) Put(ctx context.Context, key string, r io.Reader, a bucket.Attrs) (bool, error) {
	if a.IfAbsent {
		return false, fault.New(fault.Unsupported, key, "%w", bucket.ErrConditions)
	}
	return p.Bucket.Put(ctx, key, r, a)
}

func TestBucketWithoutConditionalCreatesIsUsed(t *testing.T) {
	n := open(t, patient(), plain{mem.New()})
	cachetest.Put(t, n, cache.Symcache, keyA, []byte("a table"))
	cachetest.Put(t, n, cache.Symcache, keyB, []byte("another"))
	for key, want := range map[cache.Key]string{keyA: "a table", keyB: "another"} {
		if got := cachetest.Get(t, n, cache.Symcache, key); string(got) != want {
			t.Errorf("%v: %q, want %q", key, got, want)
		}
	}
	if n.log.Count("refuses") != 0 {
		t.Error("the bucket is reported as refusing")
	}
}
