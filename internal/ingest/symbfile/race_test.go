package symbfile_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/fault"
	"symbolon/internal/ingest"
	"symbolon/internal/ingest/symbfile"
	"symbolon/internal/source"
)

// stepped is a bucket in which something happens right before one of the operations
// that follow.
type stepped struct {
	bucket.Bucket
	mu   sync.Mutex
	left int // operations before it
	do   func()
}

// after has do happen when n more operations were done.
func (s *stepped) after(n int, do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, s.do = n, do
}

// pending tells whether it is still to happen.
func (s *stepped) pending() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.do != nil
}

func (s *stepped) step() {
	s.mu.Lock()
	do := s.do
	if s.left--; s.left >= 0 {
		do = nil
	}
	if do != nil {
		s.do = nil
	}
	s.mu.Unlock()
	if do != nil {
		do()
	}
}

func (s *stepped) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, bucket.Attrs, error) {
	s.step()
	return s.Bucket.Get(ctx, key, off, n)
}

func (s *stepped) Put(ctx context.Context, key string, r io.Reader, a bucket.Attrs) (bool, error) {
	s.step()
	return s.Bucket.Put(ctx, key, r, a)
}

func (s *stepped) Stat(ctx context.Context, key string) (bucket.Attrs, error) {
	s.step()
	return s.Bucket.Stat(ctx, key)
}

func (s *stepped) Delete(ctx context.Context, key string) error {
	s.step()
	return s.Bucket.Delete(ctx, key)
}

// everywhere runs a test once for each operation of what the test does, with
// something else that happens right before it, in another process. Begin makes the
// nodes: what it does is not counted.
func everywhere(t *testing.T, begin func(one, other *node), do func(one *node), meanwhile func(other *node), check func(one *node, at int)) {
	t.Helper()
	for at := 0; ; at++ {
		b := mem.New()
		s := &stepped{Bucket: b}
		one := open(t, s, symbfile.Config{})
		other := beside(t, b, symbfile.Config{}, one.clock)
		begin(one, other)
		s.after(at, func() { meanwhile(other) })
		do(one)
		if s.pending() {
			if at == 0 {
				t.Fatal("nothing was done")
			}
			return
		}
		check(one, at)
	}
}

// TestTwoThatFindAnOldUploadAtOnce has two uploads begin when a third one gives way:
// one of them is taken, and is whole.
func TestTwoThatFindAnOldUploadAtOnce(t *testing.T) {
	old, one, two := split("old", 2), split("one", 2), split("two", 2)
	var first, second error
	everywhere(t, func(n, _ *node) {
		n.sent(part(0, 2), old[0], false)
		n.clock.pass(11 * time.Minute)
	}, func(n *node) {
		_, first = n.take(part(0, 2), one[0])
	}, func(n *node) {
		_, second = n.take(part(0, 2), two[0])
	}, func(n *node, at int) {
		taken := one
		if first != nil {
			taken = two
		}
		if (first == nil) == (second == nil) || first != nil && !conflict(first) || second != nil && !conflict(second) {
			t.Fatalf("before operation %d: %v, %v", at, first, second)
		}
		n.sent(part(1, 2), taken[1], true)
		n.holds(taken...)
	})
}

// TestThePartThatCompletesIsSentTwiceAtOnce has both answers good, nothing left that
// another upload could take for its own, and the next upload published.
func TestThePartThatCompletesIsSentTwiceAtOnce(t *testing.T) {
	one, two := split("one", 2), split("two", 2)
	send := func(n *node) {
		n.clock.pass(time.Second)
		if _, err := n.take(part(1, 2), one[1]); err != nil {
			t.Fatal(err)
		}
	}
	everywhere(t, func(n, _ *node) { n.sent(part(0, 2), one[0], false) }, send, send, func(n *node, at int) {
		n.holds(one...)
		if left := n.waiting("", 2); left != nil {
			t.Fatalf("before operation %d: parts are left: %v", at, left)
		}
		n.sent(part(0, 2), two[0], false)
		n.sent(part(1, 2), two[1], true)
		n.holds(two...)
	})
}

// TestAnUploadBeginsWhileAnotherIsPublished has all of the second one come at each
// moment of the last part of the first one, as soon as its part 0 is taken.
func TestAnUploadBeginsWhileAnotherIsPublished(t *testing.T) {
	one, two := split("one", 3), split("two", 3)
	var err error
	everywhere(t, func(n, _ *node) {
		n.sent(part(0, 3), one[0], false)
		n.sent(part(1, 3), one[1], false)
	}, func(n *node) {
		n.sent(part(2, 3), one[2], true)
	}, func(n *node) {
		n.clock.pass(time.Second)
		_, err = n.take(part(0, 3), two[0])
		if err != nil && !conflict(err) {
			t.Fatal(err)
		}
	}, func(n *node, at int) {
		n.holds(one...)
		if err != nil {
			return
		}
		n.sent(part(1, 3), two[1], false)
		n.sent(part(2, 3), two[2], true)
		n.holds(two...)
	})
}

// TestTheRestOfAnUploadMeetsItsTwin has the other parts of an upload that shares
// part 0 come at each moment of the last part of the first one.
func TestTheRestOfAnUploadMeetsItsTwin(t *testing.T) {
	one, two := split("one", 2), split("two", 2)
	two[0] = one[0]
	var err error
	everywhere(t, func(n, other *node) {
		n.sent(part(0, 2), one[0], false)
		other.sent(part(0, 2), two[0], false)
	}, func(n *node) {
		if _, mine := n.take(part(1, 2), one[1]); (mine == nil) == (err == nil) {
			t.Fatalf("%v, %v", mine, err)
		} else if mine == nil {
			n.holds(one...)
		} else {
			n.holds(two...)
		}
	}, func(n *node) {
		if _, err = n.take(part(1, 2), two[1]); err != nil && !conflict(err) {
			t.Fatal(err)
		}
	}, func(n *node, at int) {
		if left := n.waiting("", 2); left != nil {
			t.Fatalf("before operation %d: parts are left: %v", at, left)
		}
	})
}

// kept is a bucket that remembers what was published.
type kept struct {
	bucket.Bucket
	mu  sync.Mutex
	all [][]byte
}

func (k *kept) Put(ctx context.Context, key string, r io.Reader, a bucket.Attrs) (bool, error) {
	if key != source.ElasticPath(fileID, "ranges") {
		return k.Bucket.Put(ctx, key, r, a)
	}
	var body bytes.Buffer
	created, err := k.Bucket.Put(ctx, key, io.TeeReader(r, &body), a)
	if err != nil {
		return false, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, body.Bytes())
	return created, nil
}

// TestClientsAtTwoProcessesAtOnce has clients that send part 0 first and the others
// side by side, each to both processes at once, and that begin another upload when
// one was refused. Published files are complete, and accepted ones are published.
func TestClientsAtTwoProcessesAtOnce(t *testing.T) {
	t.Parallel()
	for _, b := range []bucket.Bucket{mem.New(), folder(t)} {
		k := &kept{Bucket: b}
		c := &clock{goes: true}
		nodes := []*node{beside(t, k, symbfile.Config{}, c), beside(t, k, symbfile.Config{}, c)}
		const count = 4
		var mu sync.Mutex
		whole, taken := map[string]string{}, map[string]bool{}
		// send tells whether a part was taken by all of these nodes.
		send := func(k int, body []byte, nodes ...*node) bool {
			errs := make([]error, len(nodes))
			var all sync.WaitGroup
			for i, n := range nodes {
				all.Go(func() { _, errs[i] = n.take(part(k, count), body) })
			}
			all.Wait()
			for _, err := range errs {
				if err != nil && !conflict(err) {
					t.Error(err)
				}
			}
			return !slices.ContainsFunc(errs, conflict)
		}
		var all sync.WaitGroup
		for c := range 3 {
			all.Go(func() {
				for u, done := 0, 0; u < 1000 && done < 4; u++ {
					name := fmt.Sprintf("client%d-%d", c, u)
					parts := split(name, count)
					mu.Lock()
					whole[string(joined(parts))] = name
					mu.Unlock()
					if !send(0, parts[0], nodes[(c+u)%2]) {
						continue
					}
					good := make([]bool, count)
					var rest sync.WaitGroup
					for _, k := range rand.Perm(count) {
						if k > 0 {
							rest.Go(func() { good[k] = send(k, parts[k], nodes...) })
						}
					}
					rest.Wait()
					if !slices.Contains(good[1:], false) {
						done++
						mu.Lock()
						taken[name] = true
						mu.Unlock()
					}
				}
			})
		}
		all.Wait()
		done := map[string]bool{}
		for _, blob := range k.all {
			name, ok := whole[string(decoded(blob))]
			if !ok {
				t.Fatal("a mixture is published")
			}
			done[name] = true
		}
		for name := range taken {
			if !done[name] {
				t.Errorf("all parts of %s were taken, and it was not published", name)
			}
		}
		if t.Logf("%d published, %d taken", len(done), len(taken)); len(taken) == 0 {
			t.Error("nothing is published")
		}
	}
}

// dying is a bucket that fails once it is to write a key that ends so.
type dying struct {
	bucket.Bucket
	at string
}

func (d *dying) Put(ctx context.Context, key string, r io.Reader, a bucket.Attrs) (bool, error) {
	if d.at != "" && strings.HasSuffix(key, d.at) {
		return false, fault.New(fault.Transport, key, "the process died")
	}
	return d.Bucket.Put(ctx, key, r, a)
}

// TestACompleteUploadOfAProcessThatDiedIsPublished has it die before it has
// published, and before it has noted that.
func TestACompleteUploadOfAProcessThatDiedIsPublished(t *testing.T) {
	for _, at := range []string{"/ranges", "/sums", "/over"} {
		b := mem.New()
		d := &dying{Bucket: b}
		n := open(t, d, symbfile.Config{})
		other := beside(t, b, symbfile.Config{}, n.clock)
		one, two := split("one", 2), split("two", 2)
		n.sent(part(0, 2), one[0], false)
		d.at = at
		if _, err := n.take(part(1, 2), one[1]); err == nil {
			t.Fatal("it did not die")
		}
		other.refused(part(0, 2), two[0], ingest.Conflict)
		n.clock.pass(10 * time.Minute)
		other.sent(part(0, 2), two[0], false)
		other.holds(one...)
		other.sent(part(1, 2), two[1], true)
		other.holds(two...)
	}
}

func TestPartsAreRemovedAlsoIfNobodyWaits(t *testing.T) {
	s := &stepped{Bucket: mem.New()}
	n := open(t, s, symbfile.Config{})
	parts := split("gone", 2)
	n.sent(part(0, 2), parts[0], false)
	ctx, cancel := context.WithCancel(t.Context())
	first := n.keyOf("", 0, 2)
	s.Bucket = &canceling{Bucket: s.Bucket, key: source.ElasticPath(fileID, "ranges"), cancel: cancel}
	_, _ = n.Take(ctx, part(1, 2), bytes.NewReader(parts[1])) // the client has left
	n.holds(parts...)
	if _, err := n.bucket.Stat(t.Context(), first); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a part is left: %v", err)
	}
}

// canceling is a bucket in which a client leaves when a key was written.
type canceling struct {
	bucket.Bucket
	key    string
	cancel func()
}

func (c *canceling) Put(ctx context.Context, key string, r io.Reader, a bucket.Attrs) (bool, error) {
	created, err := c.Bucket.Put(ctx, key, r, a)
	if key == c.key {
		c.cancel()
	}
	return created, err
}

func TestARepetitionOfANamedUploadIsKnownForGood(t *testing.T) {
	n := open(t, mem.New(), symbfile.Config{})
	parts := split("told", 2)
	n.sent(of("u", 0, 2), parts[0], false)
	n.sent(of("u", 1, 2), parts[1], true)
	n.sent(part(0, 1), ranges("another", 0, 1), true)
	n.clock.pass(10 * time.Hour)
	n.sent(of("u", 1, 2), parts[1], false)
	if left := n.waiting("u", 2); left != nil {
		t.Errorf("parts are left: %v", left)
	}
}

// aging is a bucket that sweeps what is old by the clock of a test.
type aging struct {
	bucket.Bucket
	clock *clock
	put   map[string]time.Time
}

func (a *aging) Put(ctx context.Context, key string, r io.Reader, attrs bucket.Attrs) (bool, error) {
	_, err := a.Stat(ctx, key)
	if err != nil || !attrs.IfAbsent {
		a.put[key] = a.clock.now()
	}
	return a.Bucket.Put(ctx, key, r, attrs)
}

func (a *aging) sweep(t *testing.T, age time.Duration) {
	for key, at := range a.put {
		if strings.HasPrefix(key, ingest.Incoming) && a.clock.now().Sub(at) > age {
			if err := a.Delete(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			delete(a.put, key)
		}
	}
}

// TestAnUploadOutlivesWhatIsKnownOfEarlierOnes has an upload on each of several days,
// in progress when the marks of the day before are removed.
func TestAnUploadOutlivesWhatIsKnownOfEarlierOnes(t *testing.T) {
	a := &aging{Bucket: mem.New(), put: map[string]time.Time{}}
	n := open(t, a, symbfile.Config{})
	a.clock = n.clock
	for day := range 5 {
		parts := split(fmt.Sprint("day", day), 3)
		for k := range parts {
			n.sent(part(k, 3), parts[k], k == 2)
			n.clock.pass(5 * time.Minute)
			a.sweep(t, 24*time.Hour)
		}
		n.sent(part(2, 3), parts[2], false)
		n.holds(parts...)
		n.clock.pass(24*time.Hour - 22*time.Minute - time.Duration(day%2)*10*time.Hour)
		a.sweep(t, 24*time.Hour)
	}
	n.clock.pass(25 * time.Hour)
	if a.sweep(t, 24*time.Hour); len(a.put) != 1 {
		t.Errorf("more than the published file is left: %v", a.put)
	}
}

// TestWhatASweepLeftIsNoPartOfTheNextUpload has the later parts of an upload outlive
// the first one.
func TestWhatASweepLeftIsNoPartOfTheNextUpload(t *testing.T) {
	a := &aging{Bucket: mem.New(), put: map[string]time.Time{}}
	n := open(t, a, symbfile.Config{})
	a.clock = n.clock
	one, two := split("one", 3), split("two", 3)
	n.sent(part(0, 3), one[0], false)
	n.clock.pass(23 * time.Hour)
	n.sent(part(1, 3), one[1], false)
	n.clock.pass(time.Hour + time.Minute)
	a.sweep(t, 24*time.Hour)
	for k := range two {
		n.sent(part(k, 3), two[k], k == 2)
	}
	n.holds(two...)
}
