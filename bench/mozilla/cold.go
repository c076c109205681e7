//go:build linux

package mozilla

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"symbolon/bench/process"
)

const mb = 1e6

func (b *bench) cold() error {
	if _, err := b.first("cold", "largest file", "plain/", b.work.one, 1); err != nil {
		return err
	}
	body, err := b.first("cold", "all files", "plain/", b.work.big, len(b.modules))
	if err != nil {
		return err
	}
	right, err := checkAnswer(b.modules, body, 11)
	b.report.note("cold: %d frames of the answer were compared with the FUNC records; the answers of files and of their tables are the same bytes", right)
	return err
}

// first measures the first answer of a fresh server, and what follows until
// the tables are built. It returns the answer.
func (b *bench) first(group, row, source string, q request, tables int) (body []byte, err error) {
	data, err := b.fresh()
	if err != nil {
		return nil, err
	}
	s, err := b.start(data, source)
	if err != nil {
		return nil, err
	}
	return body, s.With(func() error {
		m, err := s.watch()
		if err != nil {
			return err
		}
		if body, err = s.askOnce(&q); err != nil {
			return err
		}
		if err := m.read(); err != nil {
			return err
		}
		b.report.add(group, row, "wall s", m.wall.Seconds())
		b.report.add(group, row, "cpu s", m.cpu.Seconds())
		b.report.add(group, row, "peak MB over idle", m.peak)
		err = s.await(tables, func() error { _, err := s.askOnce(&q); return err })
		if err != nil {
			return err
		}
		if err := m.read(); err != nil {
			return err
		}
		b.report.add(group, row, "cpu s with the tables", m.cpu.Seconds())
		b.report.add(group, row, "peak MB over idle with the tables", m.peak)
		again, err := s.askOnce(&q)
		if err == nil && !bytes.Equal(again, body) {
			err = fmt.Errorf("%s: %w: by the file, then by its table", row, errDiffers)
		}
		return err
	})
}

// watch is what a server has used since a moment at rest.
type watch struct {
	s         *server
	start     time.Time
	before    time.Duration
	wall, cpu time.Duration
	peak      float64 // MB over idle
}

func (s *server) watch() (*watch, error) {
	if err := s.rest(); err != nil {
		return nil, err
	}
	before, err := s.CPU()
	return &watch{s: s, start: time.Now(), before: before}, err
}

// read reads the peak first: what is built behind the answer has begun.
func (w *watch) read() error {
	w.wall = time.Since(w.start)
	most, err := w.s.Memory("VmHWM")
	now, err2 := w.s.CPU()
	w.cpu, w.peak = now-w.before, float64(most-w.s.idle)/mb
	return errors.Join(err, err2)
}

// gzipped compares the first answer from a compressed file with unpacking it.
func (b *bench) gzipped() error {
	packed, err := b.compress(&b.modules[0])
	if err != nil {
		return err
	}
	alone, err := b.child("inflate", nil, packed)
	if err != nil {
		return err
	}
	if _, err = b.first("gzip", "largest file", "gzip/", b.work.one, 1); err != nil {
		return err
	}
	r := b.report
	r.add("gzip", "unpacking it alone", "wall s", alone["wall"])
	r.add("gzip", "unpacking it alone", "cpu s", alone["cpu"])
	r.add("gzip", "ratio of the two", "wall", r.last("gzip", "largest file", "wall s")/alone["wall"])
	r.add("gzip", "ratio of the two", "cpu", r.last("gzip", "largest file", "cpu s")/alone["cpu"])
	return nil
}

// peer measures another server the same way: cold and warm answers.
func (b *bench) peer() error {
	for _, of := range []struct {
		row string
		q   request
	}{{"cold, largest file", b.work.one}, {"cold, all files", b.work.big}} {
		if err := b.withPeer(func(s *server) error {
			m, err := s.watch()
			if err != nil {
				return err
			}
			body, err := s.askOnce(&of.q)
			if err := errors.Join(err, m.read()); err != nil {
				return err
			}
			b.report.add("peer", of.row, "wall s", m.wall.Seconds())
			b.report.add("peer", of.row, "cpu s", m.cpu.Seconds())
			b.report.add("peer", of.row, "peak MB over idle", m.peak)
			_, err = checkAnswer(b.modules, body, 11)
			return err
		}); err != nil {
			return err
		}
	}
	return b.withPeer(func(s *server) error {
		if _, err := s.askOnce(&b.work.big); err != nil {
			return err
		}
		if err := s.Settle(); err != nil {
			return err
		}
		return b.warmShapes(s, "peer", 1)
	})
}

// withPeer starts the other server with an empty data directory.
func (b *bench) withPeer(use func(*server) error) error {
	data, err := b.fresh()
	if err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	command := strings.NewReplacer("{port}", port, "{source}", b.origin+"plain/", "{data}", data).Replace(b.opt.peer)
	started, out, err := process.Launch(b.ctx, data, "/bin/sh", "-c", command)
	if err != nil {
		return err
	}
	go process.Discard(out)
	s := &server{Server: started, ctx: b.ctx}
	s.Addr = "127.0.0.1:" + port
	return s.With(func() error {
		for range 200 {
			if c, err := dial(s.Addr); err == nil {
				return errors.Join(c.Close(), use(s))
			}
			if err := process.Pause(b.ctx, 50*time.Millisecond); err != nil {
				return err
			}
		}
		return errors.New("the other server does not listen on " + s.Addr)
	})
}
