package redis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"symbolon/internal/cache/remote"
	"symbolon/internal/metric"
	"symbolon/internal/transfer"
)

const (
	connections = 16          // the most to one server
	dialTimeout = time.Second // to connect and log in, and for an answer after its caller has left
	startWait   = 250 * time.Millisecond

	maxFailures = 3 // commands in a row without an answer
	maxSlow     = 8 // answers in a row that take more than a part of the timeout
	slowPart    = 4 // of the timeout: a fourth
)

var (
	errDown   = errors.New("redis is unavailable")
	errSilent = errors.New("no answer in time")
	errSlow   = errors.New("all answers are slow")
)

// link sends commands to Redis while there is a session, and ends the session
// when commands fail.
type link struct {
	options rueidis.ClientOption
	timeout time.Duration
	probe   string // a key that does not exist
	log     *slog.Logger

	monitor *remote.Monitor
	session atomic.Pointer[session] // nil: Redis is unavailable
}

// session is a client for as long as it gets answers.
type session struct {
	rueidis.Client
	failures transfer.Breaker
	slow     transfer.Breaker
	refused  atomic.Bool // a command, which is logged once
}

// open begins to connect, and waits a moment for the result. It calls connected
// once.
func (l *link) open(connected func(rueidis.Client)) {
	var once sync.Once
	l.monitor = &remote.Monitor{Tier: tier, Name: "redis", Log: l.log, Connect: func(ctx context.Context) (func(), error) {
		s, err := l.connect(ctx)
		if err != nil {
			return nil, err
		}
		l.session.Store(s)
		once.Do(func() { connected(s) })
		return func() {
			l.session.CompareAndSwap(s, nil)
			s.Close()
		}, nil
	}}
	l.monitor.Start(startWait)
}

func (l *link) close() { l.monitor.Stop() }

// connect returns a session that has shown that it answers in time.
func (l *link) connect(ctx context.Context) (*session, error) {
	c, err := rueidis.NewClient(l.options)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	s := &session{Client: c, failures: transfer.Breaker{Limit: maxFailures}, slow: transfer.Breaker{Limit: maxSlow}}
	for _, wait := range []time.Duration{dialTimeout, l.timeout / slowPart} { // the first one connects
		r, err := l.await(ctx, wait, s, func(ctx context.Context) rueidis.RedisResult {
			return s.Do(ctx, s.B().Get().Key(l.probe).Build())
		})
		if err == nil {
			err = r.Error()
		}
		if errors.Is(err, errSilent) {
			err = fmt.Errorf("no answer within %s: cache.redis.timeout is %s, and a server is used if it answers within a quarter of it", wait, l.timeout)
		}
		if err != nil && !rueidis.IsRedisNil(err) {
			c.Close()
			return nil, err
		}
	}
	return s, nil
}

// await sends a command and waits for the answer. A command whose caller was canceled
// continues until dialTimeout: its late answer is discarded, and its connection can be
// reused.
func (l *link) await(ctx context.Context, wait time.Duration, s *session, send func(context.Context) rueidis.RedisResult) (rueidis.RedisResult, error) {
	answer := make(chan rueidis.RedisResult, 1)
	go func() {
		own, cancel := context.WithTimeout(context.Background(), dialTimeout)
		defer cancel()
		answer <- send(own)
	}()
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case r := <-answer:
		return r, r.NonRedisError()
	case <-late.C:
		return rueidis.RedisResult{}, errSilent
	case <-ctx.Done():
		return rueidis.RedisResult{}, ctx.Err()
	}
}

// do sends a command, if Redis is available. A nil answer is not an error.
func (l *link) do(ctx context.Context, wait time.Duration, send func(context.Context, rueidis.Client) rueidis.RedisResult) (rueidis.RedisResult, error) {
	s := l.session.Load()
	if s == nil {
		return rueidis.RedisResult{}, errDown
	}
	if err := ctx.Err(); err != nil {
		return rueidis.RedisResult{}, err
	}
	start := time.Now()
	r, err := l.await(ctx, wait, s, func(ctx context.Context) rueidis.RedisResult { return send(ctx, s) })
	now := time.Now()
	if wait <= l.timeout { // a request waits for it
		if now.Sub(start) < l.timeout/slowPart {
			s.slow.Succeed()
		} else if s.slow.Fail(now) {
			l.lose(s, errSlow)
		}
	}
	switch {
	case err != nil && ctx.Err() != nil: // not a failure of Redis
		return r, ctx.Err()
	case err != nil:
		metric.CacheFailures.Add(1, tier, "silent")
		if s.failures.Fail(now) {
			l.lose(s, err)
		}
		return r, err
	}
	s.failures.Succeed()
	if err := r.Error(); err != nil && !rueidis.IsRedisNil(err) {
		metric.CacheFailures.Add(1, tier, "refused")
		if !s.refused.Swap(true) {
			l.log.Warn("redis refuses a command", "error", err)
		}
		return r, err
	}
	return r, nil
}

// lose ends a session.
func (l *link) lose(s *session, err error) {
	if l.session.CompareAndSwap(s, nil) {
		l.monitor.Lost(err)
	}
}
