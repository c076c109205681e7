//go:build linux

package mozilla

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// allTables is a data directory that has the tables of all files. No server
// has it.
func (b *bench) allTables() (string, error) {
	if b.warm != "" {
		return b.warm, nil
	}
	data, err := b.fresh()
	if err != nil {
		return "", err
	}
	s, err := b.start(data, "plain/")
	if err != nil {
		return "", err
	}
	ask := func() error { _, err := s.askOnce(&b.work.big); return err }
	if err = ask(); err == nil {
		err = s.await(len(b.modules), ask)
	}
	if err := errors.Join(err, s.Stop()); err != nil {
		return "", err
	}
	_ = os.Remove(filepath.Join(data, "control.sock")) // could not be copied
	b.warm = data
	return data, nil
}

// startWarm starts a server on a copy of that directory.
func (b *bench) startWarm(settings ...string) (*server, error) {
	all, err := b.allTables()
	if err != nil {
		return nil, err
	}
	data, err := b.fresh()
	if err != nil {
		return nil, err
	}
	if err := os.CopyFS(data, os.DirFS(all)); err != nil {
		return nil, err
	}
	return b.start(data, "plain/", settings...)
}

func (b *bench) warmAnswers() error {
	for _, conns := range []int{1, 4} {
		s, err := b.startWarm()
		if err != nil {
			return err
		}
		if err := s.With(func() error { return b.warmShapes(s, "warm", conns) }); err != nil {
			return err
		}
	}
	return nil
}

// warmShapes measures requests of all shapes.
func (b *bench) warmShapes(s *server, group string, conns int) error {
	for _, shape := range b.work.shapes {
		l, err := s.loadOf(shape.requests)
		if err != nil {
			return err
		}
		l.conns, l.cpu, l.wall = conns, b.opt.load/4, time.Minute
		if _, err := s.closed(l); err != nil { // the heap finds its size
			return err
		}
		l.cpu = b.opt.load
		o, err := s.closed(l)
		if err != nil {
			return fmt.Errorf("%s: %w", shape.name, err)
		}
		row := shape.name
		if conns > 1 {
			row = fmt.Sprintf("%s, %d connections", row, conns)
		}
		b.report.add(group, row, "frames / cpu s", float64(o.frames)/o.cpu.Seconds())
		b.report.add(group, row, "frames / s", float64(o.frames)/o.wall.Seconds())
		b.report.add(group, row, "ms p50", ms(o.part(.5)))
		b.report.add(group, row, "ms p95", ms(o.part(.95)))
	}
	most, err := s.Memory("VmHWM")
	b.report.add(group, fmt.Sprintf("all of these, connections: %d", conns), "peak MB", float64(most)/mb)
	return err
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// latency measures small requests at half load, alone and beside large files
// that are fetched, scanned and built one after the other.
func (b *bench) latency() error {
	s, err := b.startWarm()
	if err != nil {
		return err
	}
	return s.With(func() error {
		health := []request{{wire: []byte("GET /__lbheartbeat__ HTTP/1.1\r\nHost: bench\r\n\r\n")}}
		l, err := s.loadOf(b.work.small)
		nothing, err2 := s.loadOf(health)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		l.conns, l.wall = 8, max(b.opt.load, time.Second)
		if _, err := s.closed(l); err != nil { // the heap finds its size
			return err
		}
		full, err := s.closed(l)
		if err != nil {
			return err
		}
		rate := float64(full.requests) / full.wall.Seconds() / 2
		l.wall *= 3
		nothing.wall = l.wall
		b.report.add("latency", "half load", "requests / s", rate)
		o, err := s.paced(nothing, rate)
		if err != nil {
			return err
		}
		b.times("health checks instead", o)
		alone, err := s.paced(l, rate)
		if err != nil {
			return err
		}
		b.times("alone", alone)
		beside, giants, err := b.besideGiants(s, l, rate)
		if err != nil {
			return err
		}
		b.times("beside a cold giant", beside)
		b.report.add("latency", "beside a cold giant", "giants built", float64(giants))
		for _, p := range []int{50, 99} {
			at := float64(p) / 100
			b.report.add("latency", "ratio of the two", fmt.Sprintf("p%d", p), float64(beside.part(at))/float64(alone.part(at)))
		}
		return nil
	})
}

func (b *bench) times(row string, o *outcome) {
	b.report.add("latency", row, "ms p50", ms(o.part(.5)))
	b.report.add("latency", row, "ms p95", ms(o.part(.95)))
	b.report.add("latency", row, "ms p99", ms(o.part(.99)))
}

// besideGiants is paced while large files that are new come one after another.
func (b *bench) besideGiants(s *server, l load, rate float64) (*outcome, int, error) {
	var (
		wg   sync.WaitGroup
		done = make(chan struct{})
		made int
		fail error
	)
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if fail = b.giant(s, made); fail != nil {
				return
			}
			made++
		}
	})
	o, err := s.paced(l, rate)
	close(done)
	wg.Wait()
	if err == nil {
		err = fail
	}
	return o, made, err
}

// giant asks for the largest file under an id of its own, and waits until its
// table is built.
func (b *bench) giant(s *server, n int) error {
	had, err := s.tables()
	if err != nil {
		return err
	}
	m := b.modules[0]
	m.id = m.alias(n)
	q := newWorkload([]module{m}).one
	ask := func() error { _, err := s.askOnce(&q); return err }
	if err := ask(); err != nil {
		return err
	}
	return s.awaitTables(len(had)+1, ask)
}
