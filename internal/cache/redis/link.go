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

	"symbolon/internal/metric"
)

const (
	connections = 16          // to one server, at most
	dialTimeout = time.Second // to connect and log in, and for what nobody waits for any more
	startWait   = 250 * time.Millisecond

	maxFailures = 3 // in a row, until Redis is left alone
	maxSlow     = 8 // answers in a row that take more than a part of the timeout, likewise
	slowPart    = 4 // of the timeout: a fourth
	firstPause  = 100 * time.Millisecond
	lastPause   = time.Minute
)

var (
	errDown   = errors.New("redis is left alone")
	errSilent = errors.New("no answer in time")
	errSlow   = errors.New("all answers are slow")
)

// link is the way to Redis. It has a session while all is well. Without one it
// connects in the background, so that no request ever waits for that.
type link struct {
	options rueidis.ClientOption
	timeout time.Duration
	probe   string // a key that does not exist
	log     *slog.Logger

	session atomic.Pointer[session] // nil: Redis is left alone
	lost    chan error              // why the session is over
	ctx     context.Context
	cancel  context.CancelFunc
	done    chan struct{}
}

// session is a client for as long as it gets answers.
type session struct {
	rueidis.Client
	failures atomic.Int32 // in a row
	slow     atomic.Int32 // likewise
	refused  atomic.Bool  // and told
}

// open begins to connect, and waits a moment for the outcome. connected is
// called once.
func (l *link) open(connected func(rueidis.Client)) {
	l.lost, l.done = make(chan error, 1), make(chan struct{})
	l.ctx, l.cancel = context.WithCancel(context.Background())
	tried := make(chan struct{})
	var once sync.Once
	go l.keep(tried, func(c rueidis.Client) { once.Do(func() { connected(c) }) })
	select {
	case <-tried:
	case <-time.After(startWait):
	}
}

func (l *link) close() {
	l.cancel()
	<-l.done
}

// keep has a session whenever there can be one, until the end. It closes tried
// after the first try.
func (l *link) keep(tried chan struct{}, connected func(rueidis.Client)) {
	defer close(l.done)
	told := false // that Redis is left alone
	for pause := firstPause; l.ctx.Err() == nil; pause = min(2*pause, lastPause) {
		s, err := l.connect()
		began := time.Now()
		if err == nil {
			if l.session.Store(s); told {
				l.log.Info("redis answers and is used again")
			}
			told = false
			metric.CacheUp.Set(1, tier)
			connected(s)
		}
		if tried != nil {
			close(tried)
			tried = nil
		}
		if err == nil {
			if err = l.wait(s); time.Since(began) > 10*pause { // it is well most of the time
				pause = firstPause
			}
		}
		metric.CacheUp.Set(0, tier)
		if !told && l.ctx.Err() == nil {
			l.log.Warn("redis cannot be used and is left alone until it can; nothing is shared meanwhile", "error", err)
			told = true
		}
		if s != nil {
			s.Close()
		}
		select {
		case <-time.After(pause):
		case <-l.ctx.Done():
		}
	}
}

// wait waits until the session is over, and returns why.
func (l *link) wait(s *session) error {
	select {
	case err := <-l.lost:
		return err
	case <-l.ctx.Done():
		l.session.Store(nil)
		return nil
	}
}

// connect makes a session that has shown that it answers in time.
func (l *link) connect() (*session, error) {
	c, err := rueidis.NewClient(l.options)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	s := &session{Client: c}
	for _, wait := range []time.Duration{dialTimeout, l.timeout / slowPart} { // the first one connects
		r, err := l.await(l.ctx, wait, s, func(ctx context.Context) rueidis.RedisResult {
			return s.Do(ctx, s.B().Get().Key(l.probe).Build())
		})
		if err == nil {
			err = r.Error()
		}
		if err != nil && !rueidis.IsRedisNil(err) {
			c.Close()
			return nil, err
		}
	}
	return s, nil
}

// await does a command and waits for the answer. A command that is not waited
// for any more goes on by itself until dialTimeout: what it read late is thrown
// away, and its connection is of use again.
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

// do does a command, if Redis is not left alone. A nil answer is no error.
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
	if wait <= l.timeout { // somebody's answer waits for it
		l.judge(s, time.Since(start))
	}
	switch {
	case err != nil && ctx.Err() != nil: // says nothing about Redis
		return r, ctx.Err()
	case err != nil:
		metric.CacheFailures.Add(1, tier, "silent")
		if s.failures.Add(1) >= maxFailures {
			l.lose(s, err)
		}
		return r, err
	}
	s.failures.Store(0)
	if err := r.Error(); err != nil && !rueidis.IsRedisNil(err) {
		metric.CacheFailures.Add(1, tier, "refused")
		if !s.refused.Swap(true) {
			l.log.Warn("redis refuses a command", "error", err)
		}
		return r, err
	}
	return r, nil
}

// judge leaves Redis alone when it answers, but each time so late that requests
// are better off without it.
func (l *link) judge(s *session, took time.Duration) {
	if took < l.timeout/slowPart {
		s.slow.Store(0)
	} else if s.slow.Add(1) >= maxSlow {
		l.lose(s, errSlow)
	}
}

// lose ends a session.
func (l *link) lose(s *session, err error) {
	if l.session.CompareAndSwap(s, nil) {
		l.lost <- err
	}
}
