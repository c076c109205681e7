package bin_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/bin"
)

func TestBudgetIsNotExceeded(t *testing.T) { synctest.Test(t, budgetIsNotExceeded) }

func budgetIsNotExceeded(t *testing.T) {
	b := bin.NewBudget(100)
	var used, served atomic.Int64
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			n := rand.Int64N(150) // some requests exceed the budget
			ctx, cancel := context.WithCancel(t.Context())
			if i%3 == 0 {
				go cancel()
			} else {
				defer cancel()
			}
			release, err := b.Acquire(ctx, n)
			if err != nil {
				return
			}
			if now := used.Add(min(n, 100)); now > 100 {
				t.Errorf("%d of 100 bytes are in use", now)
			}
			time.Sleep(time.Duration(rand.Int64N(1e5)))
			used.Add(-min(n, 100))
			served.Add(1)
			release()
			release() // has no effect
		})
	}
	wg.Wait()
	if served.Load() < 100 {
		t.Errorf("only %d requests were granted", served.Load())
	}
	release, err := b.Acquire(t.Context(), 100) // all bytes were released exactly once
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := b.Acquire(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Acquire on an empty budget = %v", err)
	}
	release()
}

func TestCanceledAcquireUnblocksQueue(t *testing.T) { synctest.Test(t, canceledAcquireUnblocksQueue) }

func canceledAcquireUnblocksQueue(t *testing.T) {
	b := bin.NewBudget(10)
	release, _ := b.Acquire(t.Context(), 5)
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	large, small := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := b.Acquire(ctx, 10)
		large <- err
	}()
	synctest.Wait()
	go func() {
		r, err := b.Acquire(t.Context(), 5)
		small <- err
		r()
	}()
	select {
	case <-small:
		t.Error("the small request was granted before the large one")
	case <-time.After(20 * time.Millisecond):
	}
	cancel()
	if err := <-large; !errors.Is(err, context.Canceled) {
		t.Errorf("canceled Acquire = %v", err)
	}
	if err := <-small; err != nil {
		t.Error(err)
	}
}

func TestNilBudgetHasNoLimit(t *testing.T) {
	var b *bin.Budget
	release, err := b.Acquire(t.Context(), 1<<60)
	if err != nil {
		t.Fatal(err)
	}
	release()
}
