package cache_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/fault"
)

func TestKeysOfDifferentPartsDiffer(t *testing.T) {
	seen := map[cache.Key]string{}
	for _, parts := range [][]string{
		{}, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"a", "", "b"}, {"ab", ""}, {"", "ab"}, {"1:a"}, {"a\n1:b"},
		{"a\n", "b"}, {"a", "\nb"}, {"1:a\n"}, {strings.Repeat("a", 11)}, {"a:aaaaaaaaa"},
	} {
		k := cache.KeyOf(parts...)
		if other, ok := seen[k]; ok {
			t.Errorf("%q and %s have one key", parts, other)
		}
		seen[k] = fmt.Sprintf("%q", parts)
	}
}

// A key that changes loses everything that is cached.
func TestKeyIsStable(t *testing.T) {
	const want = "4b44a5fd40fc6363ab1eba178a7f46fb9a0073b578959a627c08cf3bb7744b30"
	if got := cache.KeyOf("symcache", "1").String(); got != want {
		t.Errorf("key is %s, want %s", got, want)
	}
}

func TestOnlyCanonicalKeyTextIsAKey(t *testing.T) {
	k := cache.KeyOf("a")
	if got, ok := cache.ParseKey(k.String()); !ok || got != k {
		t.Errorf("%v does not come back", k)
	}
	for _, text := range []string{"", "ab", strings.ToUpper(k.String()), k.String() + "0", k.String()[:63] + "g"} {
		if _, ok := cache.ParseKey(text); ok {
			t.Errorf("%q is a key", text)
		}
	}
}

func TestEveryKindOfFaultHasItsLifetime(t *testing.T) {
	want := map[fault.Kind]time.Duration{
		fault.Internal: 0, fault.NotFound: time.Hour, fault.Denied: 10 * time.Minute, fault.Timeout: time.Minute,
		fault.Transport: time.Minute, fault.Malformed: 24 * time.Hour, fault.Unsupported: 24 * time.Hour,
	}
	for _, k := range fault.Kinds() {
		f := fault.New(k, "", "x")
		if got := (cache.Config{}).For(f, false); got != want[k] {
			t.Errorf("%v: %v, want %v", k, got, want[k])
		}
		public := want[k]
		if k == fault.NotFound {
			public = 24 * time.Hour
		}
		if got := (cache.Config{}).For(f, true); got != public {
			t.Errorf("public %v: %v, want %v", k, got, public)
		}
	}
	if got := (cache.Config{}).For(nil, false); got != 0 {
		t.Errorf("no fault: %v", got)
	}
}

func TestLifetimesCanBeSetAndTurnedOff(t *testing.T) {
	c := cache.Config{NotFound: -1, NotFoundPublic: time.Second, Denied: 2 * time.Second}
	for _, q := range []struct {
		kind   fault.Kind
		public bool
		want   time.Duration
	}{
		{fault.NotFound, false, 0}, {fault.NotFound, true, time.Second},
		{fault.Denied, false, 2 * time.Second}, {fault.Timeout, false, time.Minute},
	} {
		if got := c.For(fault.New(q.kind, "", "x"), q.public); got != q.want {
			t.Errorf("%v, public %v: %v, want %v", q.kind, q.public, got, q.want)
		}
	}
}

func TestRememberedFaultTellsItsEnd(t *testing.T) {
	until := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	f := cache.Remembered(fault.New(fault.Denied, "there", "no"), until)
	if f.Kind != fault.Denied || f.Place != "there" || f.Detail != "no" {
		t.Errorf("fault: %+v", f)
	}
	if got := cache.Expires(fmt.Errorf("ask: %w", f)); !got.Equal(until) {
		t.Errorf("expires %v", got)
	}
	if got := cache.Expires(fault.New(fault.Denied, "there", "no")); !got.IsZero() {
		t.Errorf("a fresh fault expires %v", got)
	}
	if text := f.Cause.Error(); !strings.Contains(text, "2031-05-06T07:08:09Z") {
		t.Errorf("cause: %s", text)
	}
}
