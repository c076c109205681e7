package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/api/jobs"
	"symbolon/internal/fault"
	"symbolon/internal/waittest"
)

// away is a store that may be unavailable, and keeps nothing.
type away struct{ isAway atomic.Bool }

func (a *away) Put(context.Context, string, []byte, time.Duration) error {
	if a.isAway.Load() {
		return errors.New("redis is unavailable")
	}
	return nil
}

func (a *away) Get(context.Context, string) ([]byte, error) {
	return nil, fault.New(fault.NotFound, "", "no such answer")
}

func TestUnavailableStoreIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log := &away{}, &waittest.Log{}
		s := jobs.New(jobs.Config{MaxRunning: -1, Memory: 1 << 20, Retention: time.Hour},
			jobs.Deps{Store: store, Now: time.Now, Log: slog.New(slog.NewTextHandler(log, nil))})
		for outage := 1; outage <= 2; outage++ {
			for _, isAway := range []bool{true, false} {
				store.isAway.Store(isAway)
				for range 5 {
					submit(t, s, "", time.Minute)
				}
				time.Sleep(2 * time.Minute)
			}
			if n := log.Count("cannot share requests with other nodes"); n != outage {
				t.Errorf("%d lines after outage %d:\n%v", n, outage, log)
			}
		}
		s.Close()
	})
}
