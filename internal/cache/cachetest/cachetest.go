// Package cachetest is the promises of a cache tier as tests. A child of the
// family calls Run with a function that makes an empty tier, which has room
// for a hundred megabytes and the real time. Its own tests put and get with the
// same helpers.
package cachetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/waittest"
)

// Run tests that the tiers made by open keep the contract.
func Run(t *testing.T, open func(t *testing.T) cache.Tier) {
	for _, c := range []struct {
		name string
		test func(*testing.T, cache.Tier)
	}{
		{"NothingIsKnownAtFirst", miss},
		{"WhatWasPutIsFound", putGet},
		{"KindsAreApart", kindsApart},
		{"PutReplaces", replace},
		{"FailedFillStoresNothing", failedFill},
		{"PanickingFillStoresNothing", panickingFill},
		{"FailedFillKeepsWhatWasThere", failedFillKeeps},
		{"CanceledPutStoresNothing", canceled},
		{"FaultIsRememberedWithItsEnd", remember},
		{"FaultEnds", faultEnds},
		{"InternalFaultsAreNotRemembered", notRemembered},
		{"FaultReplacesEntryAndEntryFault", faultAndEntry},
		{"ForgetDrops", forget},
		{"BlobOutlivesItsEntry", blobOutlives},
		{"BlobIsReadInPieces", pieces},
		{"ConcurrentPutsOfOneKeyStayWhole", concurrent},
		{"BigEntryComesBack", big},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

func fill(body string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, body)
		return err
	}
}

// Content reads a blob to its end and closes it.
func Content(t testing.TB, b cache.Blob) []byte {
	t.Helper()
	got := make([]byte, b.Size())
	if n, err := b.ReadAt(got, 0); n != len(got) || err != nil && err != io.EOF {
		t.Fatalf("read %d of %d bytes: %v", n, len(got), err)
	}
	if err := b.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	return got
}

// Put puts body, and tests that it is what Put of the tier opened.
func Put(t testing.TB, c cache.Tier, kind cache.Kind, key cache.Key, body []byte) {
	t.Helper()
	b, err := c.Put(t.Context(), kind, key, fill(string(body)))
	if err != nil {
		t.Fatalf("Put: %v", err)
	}
	if got := Content(t, b); !bytes.Equal(got, body) {
		t.Fatalf("Put opened %d bytes %.40q, want %d bytes %.40q", len(got), got, len(body), body)
	}
}

// Get is what the tier has, or nil.
func Get(t testing.TB, c cache.Tier, kind cache.Kind, key cache.Key) []byte {
	t.Helper()
	b, err := c.Get(t.Context(), kind, key)
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	if b == nil {
		return nil
	}
	return Content(t, b)
}

func put(t *testing.T, c cache.Tier, kind cache.Kind, key cache.Key, body string) {
	t.Helper()
	Put(t, c, kind, key, []byte(body))
}

func has(t *testing.T, c cache.Tier, kind cache.Kind, key cache.Key, want string) {
	t.Helper()
	if got := Get(t, c, kind, key); got == nil || string(got) != want {
		t.Fatalf("got %d bytes %.40q, want %d bytes %.40q", len(got), got, len(want), want)
	}
}

func unknown(t *testing.T, c cache.Tier, kind cache.Kind, key cache.Key) {
	t.Helper()
	if b, err := c.Get(t.Context(), kind, key); b != nil || err != nil {
		t.Fatalf("Get: %v, %v; want nothing", b, err)
	}
}

var (
	keyA = cache.KeyOf("a")
	keyB = cache.KeyOf("b")
)

func miss(t *testing.T, c cache.Tier) {
	for _, kind := range cache.Kinds() {
		unknown(t, c, kind, keyA)
	}
}

func putGet(t *testing.T, c cache.Tier) {
	put(t, c, cache.Symcache, keyA, "table")
	put(t, c, cache.Symcache, keyB, "")
	has(t, c, cache.Symcache, keyA, "table")
	has(t, c, cache.Symcache, keyA, "table")
	has(t, c, cache.Symcache, keyB, "")
}

func kindsApart(t *testing.T, c cache.Tier) {
	for _, kind := range cache.Kinds() {
		put(t, c, kind, keyA, "of "+string(kind))
	}
	for _, kind := range cache.Kinds() {
		has(t, c, kind, keyA, "of "+string(kind))
	}
	c.Forget(t.Context(), cache.Meta, keyA)
	unknown(t, c, cache.Meta, keyA)
	has(t, c, cache.Objects, keyA, "of objects")
}

func replace(t *testing.T, c cache.Tier) {
	put(t, c, cache.Meta, keyA, strings.Repeat("long", 5000))
	put(t, c, cache.Meta, keyA, "short")
	has(t, c, cache.Meta, keyA, "short")
}

var errBroken = errors.New("the work broke")

func half(w io.Writer) error {
	if _, err := io.WriteString(w, strings.Repeat("half", 50_000)); err != nil {
		return err
	}
	return errBroken
}

func failedFill(t *testing.T, c cache.Tier) {
	if b, err := c.Put(t.Context(), cache.Objects, keyA, half); b != nil || err != errBroken {
		t.Fatalf("Put: %v, %v; want the error of the fill", b, err)
	}
	unknown(t, c, cache.Objects, keyA)
}

func panickingFill(t *testing.T, c cache.Tier) {
	func() {
		defer func() {
			if recover() != "boom" {
				t.Error("the panic is lost")
			}
		}()
		c.Put(t.Context(), cache.Objects, keyA, func(w io.Writer) error {
			io.WriteString(w, "half")
			panic("boom")
		})
	}()
	unknown(t, c, cache.Objects, keyA)
	put(t, c, cache.Objects, keyA, "whole")
}

func failedFillKeeps(t *testing.T, c cache.Tier) {
	put(t, c, cache.Objects, keyA, "entry")
	c.Remember(t.Context(), cache.Objects, keyB, fault.New(fault.Denied, "", "no"), time.Hour)
	for _, key := range []cache.Key{keyA, keyB} {
		if _, err := c.Put(t.Context(), cache.Objects, key, half); err != errBroken {
			t.Fatalf("Put: %v", err)
		}
	}
	has(t, c, cache.Objects, keyA, "entry")
	if _, err := c.Get(t.Context(), cache.Objects, keyB); fault.KindOf(err) != fault.Denied {
		t.Fatalf("the fault is lost: %v", err)
	}
}

func canceled(t *testing.T, c cache.Tier) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.Put(ctx, cache.Objects, keyA, func(w io.Writer) error {
		if _, err := io.WriteString(w, "half"); err != nil {
			return err
		}
		cancel()
		_, err := io.WriteString(w, "rest")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("writing went on: %v", err)
		}
		return nil // a fill that does not mind
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Put: %v", err)
	}
	unknown(t, c, cache.Objects, keyA)
	_, err = c.Put(ctx, cache.Objects, keyA, func(io.Writer) error {
		t.Error("the fill ran")
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Put after the end: %v", err)
	}
	// A canceled fill is not remembered.
	if _, err := c.Get(ctx, cache.Objects, keyA); err != nil {
		t.Errorf("Get after the end: %v", err)
	}
}

func remember(t *testing.T, c cache.Tier) {
	cause := errors.New("cause")
	for _, kind := range fault.Kinds()[1:] {
		key := cache.KeyOf(kind.String())
		f := &fault.Error{Kind: kind, Place: "https://symbols.example/" + kind.String(), Detail: "why “not”", Cause: cause}
		if kind == fault.Timeout {
			f.Status = 408
		}
		before := time.Now()
		c.Remember(t.Context(), cache.Meta, key, f, time.Hour)
		b, err := c.Get(t.Context(), cache.Meta, key)
		var got *fault.Error
		if b != nil || !errors.As(err, &got) {
			t.Fatalf("%v: %v, %v", kind, b, err)
		}
		if got.Kind != f.Kind || got.Place != f.Place || got.Detail != f.Detail || got.Status != f.Status || errors.Is(err, cause) {
			t.Errorf("%v came back as %+v", f, got)
		}
		end := cache.Expires(err)
		if end.Before(before.Add(59*time.Minute)) || end.After(time.Now().Add(61*time.Minute)) {
			t.Errorf("%v ends at %v", kind, end)
		}
		unknown(t, c, cache.Objects, key)
	}
}

func faultEnds(t *testing.T, c cache.Tier) {
	c.Remember(t.Context(), cache.Meta, keyA, fault.New(fault.Timeout, "", "slow"), 50*time.Millisecond)
	waittest.Until(t, "the fault has expired", func() bool {
		b, err := c.Get(t.Context(), cache.Meta, keyA)
		if b != nil {
			t.Fatal("a blob came of a fault")
		}
		return err == nil
	})
}

func notRemembered(t *testing.T, c cache.Tier) {
	put(t, c, cache.Meta, keyA, "entry")
	for f, life := range map[*fault.Error]time.Duration{
		fault.New(fault.Internal, "", "ours"):    time.Hour,
		fault.New(fault.NotFound, "", "no time"): 0,
		fault.New(fault.NotFound, "", "minus"):   -time.Hour,
	} {
		c.Remember(t.Context(), cache.Meta, keyA, f, life)
		c.Remember(t.Context(), cache.Meta, keyB, f, life)
		has(t, c, cache.Meta, keyA, "entry")
		unknown(t, c, cache.Meta, keyB)
	}
}

func faultAndEntry(t *testing.T, c cache.Tier) {
	put(t, c, cache.Meta, keyA, "entry")
	c.Remember(t.Context(), cache.Meta, keyA, fault.New(fault.Malformed, "", "bad"), time.Hour)
	if b, err := c.Get(t.Context(), cache.Meta, keyA); b != nil || fault.KindOf(err) != fault.Malformed {
		t.Fatalf("after Remember: %v, %v", b, err)
	}
	c.Remember(t.Context(), cache.Meta, keyA, fault.New(fault.Denied, "", "no"), time.Hour)
	if _, err := c.Get(t.Context(), cache.Meta, keyA); fault.KindOf(err) != fault.Denied {
		t.Fatalf("after the second Remember: %v", err)
	}
	put(t, c, cache.Meta, keyA, "again")
	has(t, c, cache.Meta, keyA, "again")
}

func forget(t *testing.T, c cache.Tier) {
	put(t, c, cache.Meta, keyA, "entry")
	c.Remember(t.Context(), cache.Meta, keyB, fault.New(fault.NotFound, "", "no"), time.Hour)
	for _, key := range []cache.Key{keyA, keyB} {
		c.Forget(t.Context(), cache.Meta, key)
		unknown(t, c, cache.Meta, key)
		c.Forget(t.Context(), cache.Meta, key)
	}
	put(t, c, cache.Meta, keyA, "again")
	has(t, c, cache.Meta, keyA, "again")
}

func blobOutlives(t *testing.T, c cache.Tier) {
	body := strings.Repeat("0123456789", 20_000)
	for i, drop := range []func(key cache.Key){
		func(key cache.Key) { c.Forget(t.Context(), cache.Symcache, key) },
		func(key cache.Key) { put(t, c, cache.Symcache, key, "another") },
		func(key cache.Key) {
			c.Remember(t.Context(), cache.Symcache, key, fault.New(fault.NotFound, "", "no"), time.Hour)
		},
	} {
		key := cache.KeyOf(fmt.Sprint(i))
		first, err := c.Put(t.Context(), cache.Symcache, key, fill(body))
		if err != nil {
			t.Fatal(err)
		}
		second, err := c.Get(t.Context(), cache.Symcache, key)
		if err != nil || second == nil {
			t.Fatalf("Get: %v, %v", second, err)
		}
		drop(key)
		if string(Content(t, first)) != body || string(Content(t, second)) != body {
			t.Fatalf("drop %d changed an open blob", i)
		}
	}
}

func pieces(t *testing.T, c cache.Tier) {
	const body = "0123456789"
	b, err := c.Put(t.Context(), cache.Meta, keyA, fill(body))
	if err != nil {
		t.Fatal(err)
	}
	if b.Size() != int64(len(body)) {
		t.Fatalf("size is %d", b.Size())
	}
	for _, q := range []struct {
		off  int64
		n    int
		want string
		eof  bool
	}{{0, 3, "012", false}, {7, 2, "78", false}, {8, 5, "89", true}, {10, 1, "", true}, {99, 1, "", true}} {
		p := make([]byte, q.n)
		n, err := b.ReadAt(p, q.off)
		if string(p[:n]) != q.want || (err == io.EOF) != q.eof || err != nil && err != io.EOF {
			t.Errorf("ReadAt(%d, %d) = %q, %v", q.off, q.n, p[:n], err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func concurrent(t *testing.T, c cache.Tier) {
	const writers, rounds = 6, 8
	body := func(w int) string { return strings.Repeat(string(rune('a'+w)), 30_000+w) }
	whole := func(b cache.Blob) bool {
		got := make([]byte, b.Size())
		b.ReadAt(got, 0)
		b.Close()
		return len(got) > 0 && string(got) == body(int(got[0]-'a'))
	}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for range rounds {
				b, err := c.Put(t.Context(), cache.Objects, keyA, fill(body(w)))
				if err != nil {
					t.Errorf("Put: %v", err)
				} else if !whole(b) {
					t.Error("Put opened something else")
				}
			}
		})
		all.Go(func() {
			for range rounds {
				b, err := c.Get(t.Context(), cache.Objects, keyA)
				if err != nil {
					t.Errorf("Get: %v", err)
				}
				if b != nil && !whole(b) {
					t.Error("Get found something else")
				}
			}
		})
	}
	all.Wait()
	b, err := c.Get(t.Context(), cache.Objects, keyA)
	if b == nil || err != nil || !whole(b) {
		t.Errorf("at the end: %v, %v", b, err)
	}
}

func big(t *testing.T, c cache.Tier) {
	body := make([]byte, 16<<20)
	rand.NewChaCha8([32]byte{}).Read(body)
	b, err := c.Put(t.Context(), cache.Objects, keyA, func(w io.Writer) error {
		for part := range slices.Chunk(body, 100_003) {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if string(Content(t, b)) != string(body) {
		t.Fatal("Put opened something else")
	}
	has(t, c, cache.Objects, keyA, string(body))
}
