package transfer_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/transfer"
)

var start = time.Date(2031, 2, 3, 4, 5, 0, 0, time.UTC)

func TestWaitsDoubleUpToABound(t *testing.T) {
	b := transfer.Backoff{First: 100 * time.Millisecond, Max: time.Second}
	for tries, most := range map[int]time.Duration{1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 4: 800 * time.Millisecond, 5: time.Second, 100: time.Second} {
		longest := time.Duration(0)
		for range 100 {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				if !b.Wait(t.Context(), tries, 0) {
					t.Error("no retry")
				}
				longest = max(longest, time.Since(begun))
			})
		}
		if longest > most {
			t.Errorf("after %d tries: waited %v, want at most %v", tries, longest, most)
		}
		if longest < most/2 {
			t.Errorf("after %d tries: waited at most %v, want up to %v", tries, longest, most)
		}
	}
}

func TestWaitEndsWithoutARetry(t *testing.T) {
	b := transfer.Backoff{First: 100 * time.Millisecond, Max: time.Second, MaxAfter: 10 * time.Second}
	for name, c := range map[string]struct {
		after, deadline time.Duration
		retry           bool
		wait            time.Duration
	}{
		"as long as the server asks":         {after: 10 * time.Second, deadline: time.Minute, retry: true, wait: 10 * time.Second},
		"the server asks for too long":       {after: 11 * time.Second, deadline: time.Minute},
		"the server asks for after the end":  {after: 9 * time.Second, deadline: 8 * time.Second},
		"the context has a deadline in time": {after: 9 * time.Second, deadline: 10 * time.Second, retry: true, wait: 9 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), c.deadline)
			defer cancel()
			begun := time.Now()
			if retry := b.Wait(ctx, 1, c.after); retry != c.retry {
				t.Errorf("%s: retry is %v, want %v", name, retry, c.retry)
			}
			if waited := time.Since(begun); waited != c.wait {
				t.Errorf("%s: waited %v, want %v", name, waited, c.wait)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if b.Wait(ctx, 1, 5*time.Second) {
			t.Error("a retry after the context was canceled")
		}
	})
}

func TestRetryAfter(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"": 0, "0": 0, "1": time.Second, "3600": time.Hour, "-1": 0, "1.5": 0, "soon": 0, "99999999999999999999": 0,
		start.Add(2 * time.Minute).Format(http.TimeFormat): 2 * time.Minute,
		start.Add(-time.Minute).Format(http.TimeFormat):    0,
	} {
		if got := transfer.RetryAfter(header, start); got != want {
			t.Errorf("%q: got %v, want %v", header, got, want)
		}
	}
}

func TestGuardCancelsATransferThatStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, g := transfer.NewGuard(t.Context(), time.Minute)
		defer g.Close()
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Fatal("canceled before it was started")
		}
		r := g.Reader(strings.NewReader(strings.Repeat("x", 100)))
		for range 10 {
			if _, err := r.Read(make([]byte, 10)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(59 * time.Second)
		}
		if ctx.Err() != nil {
			t.Fatal("canceled though bytes moved")
		}
		g.Stop()
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Fatal("canceled though it was stopped")
		}
		g.Start()
		time.Sleep(61 * time.Second)
		if err := context.Cause(ctx); err != transfer.ErrStalled {
			t.Errorf("the cause is %v", err)
		}
	})
}

func TestGuardWithoutALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, g := transfer.NewGuard(t.Context(), 0)
		g.Start()
		time.Sleep(24 * time.Hour)
		if ctx.Err() != nil {
			t.Error("it was canceled")
		}
		g.Close()
		if !errors.Is(ctx.Err(), context.Canceled) {
			t.Error("Close does not cancel the context")
		}
		if _, err := g.Reader(strings.NewReader("")).Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("read after Close: %v", err)
		}
	})
}

func TestPathsAreEscapedForURLs(t *testing.T) {
	for path, want := range map[string]string{
		"a-b_c.d~e/F9": "a-b_c.d~e/F9",
		"a b+c":        "a%20b%2Bc",
		"#%?":          "%23%25%3F",
		"ö":            "%C3%B6",
		"a:b@c&d=e;f,": "a%3Ab%40c%26d%3De%3Bf%2C",
		"<\">'{}|^`":   "%3C%22%3E%27%7B%7D%7C%5E%60",
	} {
		if got := transfer.EscapePath(path); got != want {
			t.Errorf("%q: got %s, want %s", path, got, want)
		}
	}
}
