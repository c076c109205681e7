//go:build linux

package mozilla

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// conn is one keep-alive connection. It does as little as possible itself, as
// it shares the machine with the server.
type conn struct {
	net.Conn
	r    *bufio.Reader
	body bytes.Buffer // of the last answer
}

func dial(addr string) (*conn, error) {
	c, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, r: bufio.NewReaderSize(c, 64<<10)}, nil
}

// ask sends a request and reads the whole answer.
func (c *conn) ask(q *request) error {
	if err := c.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		return err
	}
	if _, err := c.Write(q.wire); err != nil {
		return err
	}
	res, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	c.body.Reset()
	if _, err := c.body.ReadFrom(res.Body); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d: %.300s", res.StatusCode, c.body.Bytes())
	}
	return nil
}

// askOnce sends one request on a connection of its own.
func (s *server) askOnce(q *request) ([]byte, error) {
	c, err := dial(s.Addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	err = c.ask(q)
	return c.body.Bytes(), err
}

var errDiffers = errors.New("the same request was answered differently")

// load is requests that are sent again and again. Every answer must be the one
// that is wanted.
type load struct {
	requests []request
	want     [][]byte
	conns    int
	cpu      time.Duration // of the server, after which it is enough; zero: no bound
	wall     time.Duration // likewise
	count    int           // requests, likewise
}

// loadOf is a load of these requests, which wants the answers that they get
// now.
func (s *server) loadOf(requests []request) (l load, err error) {
	c, err := dial(s.Addr)
	if err != nil {
		return load{}, err
	}
	defer c.Close()
	l = load{requests: requests, conns: 1}
	for i := range requests {
		if err := c.ask(&requests[i]); err != nil {
			return load{}, err
		}
		l.want = append(l.want, bytes.Clone(c.body.Bytes()))
	}
	return l, nil
}

// outcome is what came of a load.
type outcome struct {
	requests, frames int
	cpu, wall        time.Duration
	times            []time.Duration // sorted
}

// part is the time within which so much of all answers were there.
func (o *outcome) part(p float64) time.Duration {
	return o.times[min(len(o.times)-1, int(p*float64(len(o.times))))]
}

// closed sends the requests, each connection the next one when it has the
// answer to the last.
func (s *server) closed(l load) (*outcome, error) {
	before, err := s.CPU()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	var (
		next   atomic.Int64
		enough atomic.Bool
		all    = make([]outcome, l.conns)
		errs   = make([]error, l.conns)
		wg     sync.WaitGroup
	)
	for k := range l.conns {
		wg.Go(func() {
			defer enough.Store(true) // all end with the first one
			errs[k] = s.each(l, &all[k], func() (int, bool) {
				i := int(next.Add(1) - 1)
				now, err := s.CPU()
				if err != nil || l.cpu > 0 && now-before >= l.cpu || l.wall > 0 && time.Since(start) >= l.wall || l.count > 0 && i >= l.count {
					return 0, false
				}
				return i % len(l.requests), !enough.Load() && s.ctx.Err() == nil
			})
		})
	}
	wg.Wait()
	sum := &outcome{wall: time.Since(start)}
	after, err := s.CPU()
	if err := cmp.Or(append(errs, err, s.ctx.Err())...); err != nil {
		return nil, err
	}
	for _, o := range all {
		sum.requests += o.requests
		sum.frames += o.frames
		sum.times = append(sum.times, o.times...)
	}
	if sum.cpu = after - before; sum.requests == 0 {
		return nil, errors.New("no request was sent")
	}
	slices.Sort(sum.times)
	return sum, nil
}

// each is one connection's part of a closed load.
func (s *server) each(l load, o *outcome, next func() (int, bool)) error {
	c, err := dial(s.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		i, ok := next()
		if !ok {
			return nil
		}
		start := time.Now()
		if err := c.ask(&l.requests[i]); err != nil {
			return err
		}
		o.times = append(o.times, time.Since(start))
		if !bytes.Equal(c.body.Bytes(), l.want[i]) {
			return errDiffers
		}
		o.requests++
		o.frames += l.requests[i].frames
	}
}

// paced sends requests at random moments, so many a second on average, whether
// the earlier ones are answered or not. Times count from the moment at which a
// request was due.
func (s *server) paced(l load, rate float64) (*outcome, error) {
	const conns = 64
	type due struct {
		i  int
		at time.Time
	}
	var (
		queue = make(chan due, 1<<20)
		all   = make([]outcome, conns)
		errs  = make([]error, conns)
		wg    sync.WaitGroup
	)
	for k := range conns {
		c, err := dial(s.Addr)
		if err != nil {
			errs[k] = err
			break
		}
		wg.Go(func() {
			defer c.Close()
			for d := range queue {
				if errs[k] != nil {
					continue
				}
				if errs[k] = c.ask(&l.requests[d.i]); errs[k] == nil && !bytes.Equal(c.body.Bytes(), l.want[d.i]) {
					errs[k] = errDiffers
				}
				all[k].times = append(all[k].times, time.Since(d.at))
			}
		})
	}
	start := time.Now()
	r := rand.New(rand.NewPCG(seed, seed))
	at := start
	for i := 0; at.Sub(start) < l.wall && len(queue) < cap(queue) && s.ctx.Err() == nil; i++ {
		at = at.Add(time.Duration(r.ExpFloat64() / rate * float64(time.Second)))
		sleepUntil(at)
		queue <- due{i % len(l.requests), at}
	}
	close(queue)
	wg.Wait()
	sum := &outcome{wall: time.Since(start)}
	for _, o := range all {
		sum.times = append(sum.times, o.times...)
	}
	if err := cmp.Or(append(errs, s.ctx.Err())...); err != nil {
		return nil, err
	}
	if sum.requests = len(sum.times); sum.requests == 0 {
		return nil, errors.New("no request was sent")
	}
	slices.Sort(sum.times)
	return sum, nil
}

// sleepUntil sleeps by the system's clock: the runtime's timers have
// a resolution of a millisecond.
func sleepUntil(at time.Time) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if d := time.Until(at); d > 0 {
		t := unix.NsecToTimespec(d.Nanoseconds())
		_ = unix.Nanosleep(&t, nil) // a shorter sleep does no harm
	}
}
