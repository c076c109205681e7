package store_test

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/metric"
	"symbolon/internal/store"
	"symbolon/internal/waittest"
)

func TestChangesAreSeenWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := mem.New()
		first := open(t, b)
		upload(t, first, "a", symbols(1, code))
		var own, others changed
		s, node := open(t, b), open(t, b)
		s.OnChange(own.note)
		node.OnChange(others.note)
		ctx, cancel := context.WithCancel(t.Context())
		for _, one := range []*store.Store{s, node} {
			go one.Watch(ctx)
		}
		synctest.Wait()
		u := upload(t, s, "new", symbols(2, code))
		if own.count(2) != 1 {
			t.Error("Commit did not call the hook")
		}
		if others.count(2) != 0 {
			t.Error("the other node knew of the upload before it looked")
		}
		time.Sleep(time.Second)
		if others.count(2) != 1 {
			t.Errorf("the other node saw the upload %d times", others.count(2))
		}
		if all, err := node.Projects(t.Context()); err != nil || len(all) != 3 {
			t.Errorf("the other node has the projects %v, %v", all, err)
		}
		if err := node.Delete(t.Context(), u.ID, "", ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if own.count(2) != 2 || others.count(2) != 2 {
			t.Errorf("after the deletion the nodes saw %d and %d changes", own.count(2), others.count(2))
		}
		if own.count(1)+others.count(1) != 0 {
			t.Error("a change before the start is reported")
		}
		cancel()
		synctest.Wait()
	})
}

func TestManyChangesOfTwoNodesAreAllSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := mem.New()
		ctx, cancel := context.WithCancel(t.Context())
		nodes := []*store.Store{open(t, b), open(t, b), open(t, b)}
		seen := make([]changed, len(nodes))
		for i, s := range nodes {
			s.OnChange(seen[i].note)
			go s.Watch(ctx)
		}
		synctest.Wait()
		const uploads = 40
		for i := range uploads {
			upload(t, nodes[i%2], "a", symbols(i+1, code))
		}
		time.Sleep(time.Second)
		for n := range uploads {
			for i := range nodes {
				if got := seen[i].count(n + 1); got != 1 {
					t.Errorf("node %d saw %d changes by upload %d", i, got, n)
				}
			}
		}
		cancel()
		synctest.Wait()
	})
}

func TestOldChangesAreRemoved(t *testing.T) {
	b := mem.New()
	s := open(t, b)
	for i := range 1003 {
		upload(t, s, "a", symbols(i%3+1, code))
	}
	keys, more, err := b.List(t.Context(), "change/", "", 1000)
	if err != nil || more || len(keys) != 1000 {
		t.Fatalf("%d changes, more: %v, %v", len(keys), more, err)
	}
	node := open(t, b)
	upload(t, node, "a", symbols(1, code))
	if _, err := b.Stat(t.Context(), "change/1004"); err != nil {
		t.Errorf("a new process does not continue the changes: %v", err)
	}
}

func TestAnnouncedSymbfilesAreSeenByOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := mem.New()
		s, node := open(t, b), open(t, b)
		var own, others []ident.Module
		s.OnChange(func(ids []ident.Module) { own = append(own, ids...) })
		node.OnChange(func(ids []ident.Module) { others = append(others, ids...) })
		ctx, cancel := context.WithCancel(t.Context())
		go node.Watch(ctx)
		synctest.Wait()
		m := ident.Module{Type: ident.TypeELF, FileID: ident.FileID{1, 2}, CodeID: "0123456789abcdef"}
		s.Announce(t.Context(), m)
		if len(own) != 1 || own[0] != m {
			t.Errorf("this process saw %v, want %v", own, m)
		}
		time.Sleep(time.Second)
		cancel()
		synctest.Wait()
		if len(others) != 1 || others[0] != m {
			t.Errorf("the other process saw %v, want %v", others, m)
		}
	})
}

// absent is a bucket that may be away.
type absent struct {
	bucket.Bucket
	isAway    atomic.Bool
	asked     atomic.Int32
	listsOnly bool // a Get of it finds no key, as at Google
}

func (a *absent) failure() error {
	a.asked.Add(1)
	if a.isAway.Load() {
		return fault.New(fault.Transport, "", "connection refused")
	}
	return nil
}

func (a *absent) List(ctx context.Context, prefix, after string, n int) ([]string, bool, error) {
	if err := a.failure(); err != nil {
		return nil, false, err
	}
	return a.Bucket.List(ctx, prefix, after, n)
}

func (a *absent) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, bucket.Attrs, error) {
	if err := a.failure(); err != nil && !a.listsOnly {
		return nil, bucket.Attrs{}, err
	}
	return a.Bucket.Get(ctx, key, off, n)
}

func TestBucketThatOnlyListsMissRemainsUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, log := &absent{Bucket: mem.New(), listsOnly: true}, &waittest.Log{}
		b.isAway.Store(true)
		s := store.New(store.Config{}, store.Deps{Bucket: b, Now: time.Now, Log: slog.New(slog.NewTextHandler(log, nil))})
		ctx, cancel := context.WithCancel(t.Context())
		go s.Watch(ctx)
		time.Sleep(time.Minute)
		if log.Count("the state is unavailable") != 1 || log.Count("available again") > 0 || !s.IsAway() {
			t.Errorf("IsAway is %v, and the log is\n%v", s.IsAway(), log)
		}
		cancel()
		synctest.Wait()
	})
}

func TestUnavailableBucketIsReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, log := &absent{Bucket: mem.New()}, &waittest.Log{}
		b.isAway.Store(true)
		s := store.New(store.Config{}, store.Deps{Bucket: b, Now: time.Now, Log: slog.New(slog.NewTextHandler(log, nil))})
		ctx, cancel := context.WithCancel(t.Context())
		go s.Watch(ctx)
		isReported := func(unavailable, available, up int) {
			t.Helper()
			if log.Count("the state is unavailable") != unavailable || log.Count("the state is available again") != available {
				t.Errorf("the log is\n%v", log)
			}
			if got := metric.StateUp.Sum(); got != int64(up) {
				t.Errorf("state_up is %v, want %d", got, up)
			}
		}
		synctest.Wait()
		isReported(1, 0, 0)                          // at the start: at once
		time.Sleep(time.Hour + 100*time.Millisecond) // between two looks
		isReported(1, 0, 0)
		b.isAway.Store(false)
		time.Sleep(time.Second)
		isReported(1, 1, 1)
		if _, err := s.Find(t.Context(), []string{"a"}, store.Question{Module: module(1)}); err != nil {
			t.Errorf("Find: %v", err)
		}
		b.isAway.Store(true)
		time.Sleep(time.Second) // a pause, of two looks
		b.isAway.Store(false)
		time.Sleep(time.Second)
		isReported(1, 1, 1)
		b.isAway.Store(true)
		time.Sleep(2 * time.Second)
		isReported(2, 1, 0)
		cancel()
		synctest.Wait()
	})
}
