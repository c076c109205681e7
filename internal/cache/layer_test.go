package cache_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/cache/cachetest"
	"symbolon/internal/cache/disk"
	"symbolon/internal/fault"
	"symbolon/internal/metric"
	"symbolon/internal/waittest"
)

func store(t *testing.T) *disk.Store {
	s, err := disk.Open(disk.Config{}, t.TempDir(), time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// shared is a disk that serves as the far tier, with one lease for all keys.
// Its Put announces itself and waits for gate, if there is one.
type shared struct {
	*disk.Store
	mu     sync.Mutex
	held   bool
	began  chan struct{}
	gate   chan struct{}
	events []string
}

func (s *shared) event(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, what)
}

func (s *shared) Put(ctx context.Context, kind cache.Kind, key cache.Key, fill func(io.Writer) error) (cache.Blob, error) {
	if s.gate != nil {
		s.began <- struct{}{}
		select {
		case <-s.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	b, err := s.Store.Put(ctx, kind, key, fill)
	s.event("put")
	return b, err
}

// seen returns the events, and whether the lease is held.
func (s *shared) seen() (events []string, held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events), s.held
}

func (s *shared) Acquire(context.Context, cache.Key) (func(), bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held {
		return func() {}, false
	}
	s.held = true
	return func() {
		s.event("release")
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held = false
	}, true
}

func layer(t *testing.T, far *shared) (*cache.Layer, *disk.Store) {
	near := store(t)
	l := cache.Over(near, far, time.Now)
	t.Cleanup(l.Close)
	return l, near
}

func put(t *testing.T, c cache.Tier, kind cache.Kind, key cache.Key, body string) {
	t.Helper()
	b, err := c.Put(t.Context(), kind, key, func(w io.Writer) error {
		_, err := io.WriteString(w, body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
}

func get(t *testing.T, c cache.Tier, kind cache.Kind, key cache.Key) string {
	t.Helper()
	b, err := c.Get(t.Context(), kind, key)
	if err != nil {
		t.Fatal(err)
	}
	if b == nil {
		return ""
	}
	defer b.Close()
	var out bytes.Buffer
	if _, err := io.Copy(&out, io.NewSectionReader(b, 0, b.Size())); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var key = cache.KeyOf("key")

func TestLayerIsATier(t *testing.T) {
	cachetest.Run(t, func(t *testing.T) cache.Tier {
		l, _ := layer(t, &shared{Store: store(t)})
		return l
	})
}

func TestFarEntriesComeNear(t *testing.T) {
	far := &shared{Store: store(t)}
	l, near := layer(t, far)
	for _, kind := range cache.Kinds() {
		put(t, far, kind, key, "of "+string(kind))
		want := "of " + string(kind)
		if kind == cache.Objects {
			want = ""
		}
		if got := get(t, l, kind, key); got != want {
			t.Errorf("%s: %q", kind, got)
		}
		if got := get(t, near, kind, key); got != want {
			t.Errorf("%s: near is %q", kind, got)
		}
	}
	other := cache.KeyOf("other")
	far.Remember(t.Context(), cache.Meta, other, fault.New(fault.Denied, "p", "d"), time.Hour)
	for _, c := range []cache.Tier{l, near} {
		_, err := c.Get(t.Context(), cache.Meta, other)
		if rest := time.Until(cache.Expires(err)); fault.KindOf(err) != fault.Denied || rest < 59*time.Minute || rest > time.Hour {
			t.Errorf("%v for %v", err, rest)
		}
	}
}

func TestWhatTheNearTierCannotTakeIsReadFar(t *testing.T) {
	far := &shared{Store: store(t)}
	l, near := layer(t, far)
	put(t, far, cache.Symcache, key, "table")
	near.Close()
	if got := get(t, l, cache.Symcache, key); got != "table" {
		t.Errorf("got %q", got)
	}
}

func TestEntriesAndFaultsGoFarLater(t *testing.T) {
	far := &shared{Store: store(t)}
	l, _ := layer(t, far)
	for _, kind := range cache.Kinds() {
		put(t, l, kind, key, "body")
	}
	other := cache.KeyOf("other")
	l.Remember(t.Context(), cache.Meta, other, fault.New(fault.Denied, "p", "d"), time.Hour)
	waittest.Until(t, "the last one has arrived", func() bool {
		_, err := far.Get(t.Context(), cache.Meta, other)
		return time.Until(cache.Expires(err)) > 59*time.Minute
	})
	for _, kind := range []cache.Kind{cache.Meta, cache.Symcache} {
		if get(t, far, kind, key) != "body" {
			t.Errorf("%s has not arrived", kind)
		}
	}
	if get(t, far, cache.Objects, key) != "" {
		t.Error("a fetched file was shared")
	}
}

func TestWhatIsForgottenOnItsWayDoesNotArrive(t *testing.T) {
	far := &shared{Store: store(t), began: make(chan struct{}), gate: make(chan struct{})}
	l, near := layer(t, far)
	put(t, l, cache.Symcache, key, "running")
	<-far.began
	other := cache.KeyOf("other")
	put(t, l, cache.Symcache, other, "waiting")
	l.Forget(t.Context(), cache.Symcache, other)
	l.Forget(t.Context(), cache.Symcache, key)
	close(far.gate)
	go func() { <-far.began }()
	put(t, l, cache.Meta, key, "the last one")
	waittest.Until(t, "the last one has arrived", func() bool { return get(t, far, cache.Meta, key) != "" })
	for _, key := range []cache.Key{key, other} {
		for _, c := range []cache.Tier{l, near, far} {
			if got := get(t, c, cache.Symcache, key); got != "" {
				t.Errorf("%q is there", got)
			}
		}
	}
}

func TestALeaseIsGivenBackBehindWhatWasPut(t *testing.T) {
	far := &shared{Store: store(t), began: make(chan struct{}), gate: make(chan struct{})}
	l, _ := layer(t, far)
	release, ok := l.Acquire(t.Context(), key)
	if !ok {
		t.Fatal("a free lease was not acquired")
	}
	if again, ok := l.Acquire(t.Context(), key); ok {
		t.Error("it was given twice")
	} else {
		again()
	}
	put(t, l, cache.Symcache, key, "table")
	<-far.began
	release()
	release()
	if _, ok := l.Acquire(t.Context(), key); ok {
		t.Error("the lease was released before the table was there")
	}
	close(far.gate)
	waittest.Until(t, "the lease is released", func() bool {
		release, ok := l.Acquire(t.Context(), key)
		release()
		return ok
	})
	if events, _ := far.seen(); events[0] != "put" || events[1] != "release" {
		t.Errorf("in this order: %q", events)
	}
}

func TestTheQueueIsBoundedAndCloseEndsIt(t *testing.T) {
	far := &shared{Store: store(t), began: make(chan struct{}), gate: make(chan struct{})}
	l, near := layer(t, far)
	put(t, l, cache.Symcache, key, "table")
	<-far.began
	release, ok := l.Acquire(t.Context(), key)
	if !ok {
		t.Fatal("a free lease was not acquired")
	}
	release() // waits after the table
	before := metric.CacheDropped.Value("meta")
	for range 2000 {
		l.Remember(t.Context(), cache.Meta, key, fault.New(fault.Denied, "", "no"), time.Hour)
	}
	if dropped := metric.CacheDropped.Value("meta") - before; dropped < 900 || dropped > 1000 {
		t.Errorf("%d of 2000 were dropped", dropped)
	}
	l.Close()
	l.Close()
	if _, held := far.seen(); held || get(t, far, cache.Symcache, key) != "" {
		t.Error("close has left the lease, or waited for the table")
	}
	put(t, l, cache.Symcache, key, "later")
	if get(t, near, cache.Symcache, key) != "later" {
		t.Error("a closed layer does not answer")
	}
	if release, ok = l.Acquire(t.Context(), key); !ok {
		t.Error("a closed layer refuses a lease")
	}
	release()
	if _, held := far.seen(); held {
		t.Error("the lease is not released")
	}
}
