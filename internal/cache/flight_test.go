package cache_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/fault"
)

// counted is a result with a count of its users.
type counted struct{ refs atomic.Int64 }

func newCounted() *counted {
	c := &counted{}
	c.refs.Store(1)
	return c
}

func (c *counted) share() *counted {
	if c.refs.Add(1) < 2 {
		panic("shared after the last reference was gone")
	}
	return c
}

func (c *counted) drop() {
	if c.refs.Add(-1) < 0 {
		panic("dropped twice")
	}
}

func newCountedFlight() *cache.Flight[string, *counted] {
	return cache.NewFlight[string]((*counted).share, (*counted).drop)
}

func TestCallersShareOneWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCountedFlight()
		result, ran := newCounted(), 0
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				got, err := f.Do(t.Context(), "k", func(context.Context) (*counted, error) {
					ran++
					time.Sleep(time.Second)
					return result, nil
				})
				if err != nil || got != result {
					t.Errorf("Do: %v, %v", got, err)
				}
			})
		}
		all.Wait()
		synctest.Wait()
		if ran != 1 || result.refs.Load() != 20 {
			t.Errorf("ran %d times, %d references for 20 callers", ran, result.refs.Load())
		}
	})
}

func TestKeysDoNotWaitForEachOther(t *testing.T) {
	f := cache.NewFlight[string, int](nil, nil)
	got, err := f.Do(t.Context(), "outer", func(ctx context.Context) (int, error) {
		return f.Do(ctx, "inner", func(context.Context) (int, error) { return 7, nil })
	})
	if got != 7 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
}

func TestNextCallWorksAnew(t *testing.T) {
	f := cache.NewFlight[string, int](nil, nil)
	for want := range 3 {
		got, err := f.Do(t.Context(), "k", func(context.Context) (int, error) { return want, nil })
		if got != want || err != nil {
			t.Errorf("%d, %v; want %d", got, err, want)
		}
	}
}

func TestErrorsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCountedFlight()
		broken := errors.New("broken")
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				got, err := f.Do(t.Context(), "k", func(context.Context) (*counted, error) {
					time.Sleep(time.Second)
					return newCounted(), broken
				})
				if got != nil || err != broken {
					t.Errorf("Do: %v, %v", got, err)
				}
			})
		}
		all.Wait()
	})
}

type contextKey struct{}

func TestWorkOutlivesTheFirstCallerForTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCountedFlight()
		result := newCounted()
		first, leave := context.WithCancel(context.WithValue(t.Context(), contextKey{}, "first"))
		gone := make(chan error, 1)
		go func() {
			_, err := f.Do(first, "k", func(ctx context.Context) (*counted, error) {
				time.Sleep(time.Second)
				if ctx.Value(contextKey{}) != "first" {
					t.Error("the values of the first caller are lost")
				}
				return result, ctx.Err()
			})
			gone <- err
		}()
		synctest.Wait()
		stays := make(chan error, 1)
		go func() {
			_, err := f.Do(t.Context(), "k", func(context.Context) (*counted, error) {
				return nil, errors.New("second work")
			})
			stays <- err
		}()
		synctest.Wait()
		leave()
		if err := <-gone; err != context.Canceled {
			t.Errorf("the caller that left got %v", err)
		}
		if err := <-stays; err != nil {
			t.Errorf("the caller that stayed got %v", err)
		}
		synctest.Wait()
		if n := result.refs.Load(); n != 1 {
			t.Errorf("%d references, want that of the caller that stayed", n)
		}
	})
}

func TestLastCallerToLeaveCancelsTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCountedFlight()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ended := make(chan error, 1)
		for range 2 {
			go f.Do(ctx, "k", func(ctx context.Context) (*counted, error) {
				<-ctx.Done()
				ended <- ctx.Err()
				time.Sleep(time.Hour) // winding down
				return nil, ctx.Err()
			})
		}
		if err := <-ended; err != context.Canceled {
			t.Errorf("the work ended with %v", err)
		}
		start := time.Now()
		got, err := f.Do(t.Context(), "k", func(context.Context) (*counted, error) { return newCounted(), nil })
		if got == nil || err != nil || time.Since(start) > 0 {
			t.Errorf("the next caller got %v, %v after %v", got, err, time.Since(start))
		}
		time.Sleep(2 * time.Hour)
	})
}

func TestKeptWorkGoesOnWithoutCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCountedFlight()
		f.Keep = true
		result := newCounted()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		work := func(ctx context.Context) (*counted, error) {
			time.Sleep(time.Minute)
			return result, ctx.Err()
		}
		if _, err := f.Do(ctx, "k", work); err != context.DeadlineExceeded {
			t.Errorf("the caller got %v", err)
		}
		late, err := f.Do(t.Context(), "k", func(context.Context) (*counted, error) {
			return nil, errors.New("second work")
		})
		if late != result || err != nil {
			t.Errorf("the later caller got %v, %v", late, err)
		}
		late.drop()
		if _, err := f.Do(ctx, "k", work); err != context.DeadlineExceeded {
			t.Errorf("the last caller got %v", err)
		}
		synctest.Wait()
		if n := result.refs.Load(); n != 0 {
			t.Errorf("%d references are left", n)
		}
	})
}

func TestUnwantedResultIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCountedFlight()
		result := newCounted()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		f.Do(ctx, "k", func(context.Context) (*counted, error) {
			time.Sleep(time.Minute) // hears nothing of being canceled
			return result, nil
		})
		time.Sleep(time.Hour)
		if n := result.refs.Load(); n != 0 {
			t.Errorf("%d references are left", n)
		}
	})
}

func TestPanicIsAFaultForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCountedFlight()
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				_, err := f.Do(t.Context(), "k", func(context.Context) (*counted, error) {
					time.Sleep(time.Second)
					panic("boom")
				})
				if fault.KindOf(err) != fault.Internal || !strings.Contains(err.Error(), "panic: boom") {
					t.Errorf("Do: %v", err)
				}
			})
		}
		all.Wait()
		if got, err := f.Do(t.Context(), "k", func(context.Context) (*counted, error) { return newCounted(), nil }); err != nil {
			t.Errorf("afterwards: %v, %v", got, err)
		}
	})
}

func TestWorkThatExitsIsAFault(t *testing.T) {
	f := newCountedFlight()
	_, err := f.Do(t.Context(), "k", func(context.Context) (*counted, error) {
		runtime.Goexit()
		return nil, nil
	})
	if fault.KindOf(err) != fault.Internal || err == nil {
		t.Errorf("Do: %v", err)
	}
}

func TestEndedContextStartsNoWork(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := newCountedFlight().Do(ctx, "k", func(context.Context) (*counted, error) {
		t.Error("the work ran")
		return nil, nil
	})
	if err != context.Canceled {
		t.Errorf("Do: %v", err)
	}
}

// TestReferencesBalance lets callers leave at the moment at which the result
// comes.
func TestReferencesBalance(t *testing.T) {
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprint("keep=", keep), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { balance(t, keep) })
		})
	}
}

func balance(t *testing.T, keep bool) {
	f := newCountedFlight()
	f.Keep = keep
	var mu sync.Mutex
	var made []*counted
	var all sync.WaitGroup
	outcomes := map[error]int{}
	for i := range 3000 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i%4)*time.Millisecond)
			defer cancel()
			got, err := f.Do(ctx, fmt.Sprint(i/9), func(context.Context) (*counted, error) {
				time.Sleep(3 * time.Millisecond)
				c := newCounted()
				mu.Lock()
				defer mu.Unlock()
				made = append(made, c)
				return c, nil
			})
			if err == nil {
				got.drop()
			}
			mu.Lock()
			defer mu.Unlock()
			outcomes[err]++
		})
	}
	all.Wait()
	time.Sleep(time.Second)
	if len(outcomes) != 2 || outcomes[nil] == 0 || outcomes[context.DeadlineExceeded] == 0 {
		t.Errorf("outcomes: %v", outcomes)
	}
	for _, c := range made {
		if n := c.refs.Load(); n != 0 {
			t.Fatalf("%d references are left", n)
		}
	}
}

func TestClosingEndsWhatRuns(t *testing.T) {
	f := cache.NewFlight[int, int](nil, nil)
	f.Keep = true
	begun, ended := make(chan struct{}), false
	got := make(chan error, 1)
	go func() {
		_, err := f.Do(t.Context(), 1, func(ctx context.Context) (int, error) {
			close(begun)
			<-ctx.Done()
			ended = true
			return 0, ctx.Err()
		})
		got <- err
	}()
	<-begun
	f.Close()
	if !ended {
		t.Error("the work still runs")
	}
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("the waiting caller got %v", err)
	}
	if _, err := f.Do(t.Context(), 2, func(context.Context) (int, error) { return 1, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("afterwards: %v", err)
	}
}
