package redis

import (
	"context"
	"crypto/rand"
	"strconv"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"symbolon/internal/cache"
)

// Both scripts change the lease only while it has the token of its holder.
const (
	renewLease   = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return 0`
	releaseLease = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`
)

// Acquire acquires the lease of key, and renews it until it is released. A
// holder that loses its lease before finishes its work.
func (s *Store) Acquire(ctx context.Context, key cache.Key) (release func(), ok bool) {
	name := s.cfg.Prefix + layout + "lease:" + key.String()
	token := rand.Text()
	life := s.cfg.Lease.Milliseconds()
	r, err := s.link.do(context.WithoutCancel(ctx), slack*s.cfg.Timeout, func(ctx context.Context, c rueidis.Client) rueidis.RedisResult {
		return c.Do(ctx, c.B().Set().Key(name).Value(token).Nx().PxMilliseconds(life).Build())
	})
	switch {
	case err != nil:
		return func() {}, true
	case rueidis.IsRedisNil(r.Error()):
		return func() {}, false
	}
	held, end := context.WithCancel(context.Background())
	var renewal sync.WaitGroup
	renewal.Go(func() { s.renew(held, name, token) })
	return sync.OnceFunc(func() {
		end()
		renewal.Wait()
		_, _ = s.eval(context.Background(), releaseLease, name, token) // or it expires
	}), true
}

// renew renews a lease until held ends or the lease is lost.
func (s *Store) renew(held context.Context, name, token string) {
	tick := time.NewTicker(s.cfg.Lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-held.Done():
			return
		case <-tick.C:
		}
		r, err := s.eval(held, renewLease, name, token, strconv.FormatInt(s.cfg.Lease.Milliseconds(), 10))
		if err != nil {
			continue // there may be time for another try
		}
		if n, err := r.AsInt64(); err != nil || n == 0 {
			return
		}
	}
}

func (s *Store) eval(ctx context.Context, script, name string, args ...string) (rueidis.RedisResult, error) {
	return s.link.do(ctx, slack*s.cfg.Timeout, func(ctx context.Context, c rueidis.Client) rueidis.RedisResult {
		return c.Do(ctx, c.B().Eval().Script(script).Numkeys(1).Key(name).Arg(args...).Build())
	})
}
