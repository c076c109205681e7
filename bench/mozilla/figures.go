//go:build linux

package mozilla

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"symbolon/bench/process"

	"github.com/klauspost/compress/zstd"
)

// startUp measures from the start of the process to the first byte of an
// answer from tables on disk, and what the server holds before any request.
func (b *bench) startUp() error {
	s, err := b.startWarm()
	if err != nil {
		return err
	}
	err = s.With(func() error {
		c, err := dial(s.Addr)
		if err != nil {
			return err
		}
		defer c.Close()
		if _, err := c.Write(b.work.small[0].wire); err != nil {
			return err
		}
		if _, err := c.r.Peek(1); err != nil {
			return err
		}
		b.report.add("start", "first answer", "ms", ms(time.Since(s.Born)))
		cpu, err := s.CPU()
		b.report.add("start", "first answer", "cpu s", cpu.Seconds())
		return err
	})
	if err != nil {
		return err
	}
	if s, err = b.startWarm(); err != nil {
		return err
	}
	return s.With(func() error {
		if err := s.rest(); err != nil {
			return err
		}
		b.report.add("start", "before any request", "resident MB", float64(s.idle)/mb)
		return nil
	})
}

const (
	packedRow    = "packed, as the shared tier has them"
	sharedWindow = 1 << 20 // as cache/redis packs
)

// sizes compares the bytes of all tables with those of the files they are of.
func (b *bench) sizes() error {
	data, err := b.allTables()
	if err != nil {
		return err
	}
	files, err := (&server{Server: &process.Server{Data: data}}).tables()
	if err != nil {
		return err
	}
	z, err := zstd.NewWriter(nil, zstd.WithWindowSize(sharedWindow))
	if err != nil {
		return err
	}
	defer z.Close()
	syms, tables, packed := 0.0, 0.0, 0.0
	for _, m := range b.modules {
		syms += float64(m.size)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		tables += float64(len(text))
		packed += float64(len(z.EncodeAll(text, nil)))
	}
	b.report.add("size", "in memory", "bytes / byte", tables/syms)
	b.report.add("size", packedRow, "bytes / byte", packed/syms)
	return nil
}

// builds measures how fast a table is built with one worker, with two and with
// all cores.
func (b *bench) builds() error {
	m := &b.modules[0]
	counts := []int{1, 2, runtime.NumCPU()}
	slices.Sort(counts)
	for _, workers := range slices.Compact(counts) {
		got, err := b.child("build", []string{fmt.Sprint("GOMAXPROCS=", workers)}, m.path, b.tablePath())
		if err != nil {
			return err
		}
		row := "1 worker"
		if workers > 1 {
			row = fmt.Sprintf("%d workers", workers)
		}
		b.report.add("build", row, "MB / s", float64(m.size)/mb/got["wall"])
		b.report.add("build", row, "MB / cpu s", float64(m.size)/mb/got["cpu"])
		if workers == 1 {
			b.report.add("build", "beside it", "cpu s to scan", got["scan"])
			b.report.add("build", "beside it", "cpu s to hash", got["hash"])
		}
	}
	return nil
}

func (b *bench) tablePath() string { return filepath.Join(b.tmp, "largest.table") }

func (b *bench) lookups() error {
	m := &b.modules[0]
	if _, err := os.Stat(b.tablePath()); err != nil {
		if _, err := b.child("build", nil, m.path, b.tablePath()); err != nil {
			return err
		}
	}
	got, err := b.child("lookup", nil, m.path, b.tablePath())
	if err != nil {
		return err
	}
	for _, row := range []string{"random", "in order", "random, with names", "in order, with names"} {
		for _, name := range []string{"ns / frame", "allocations / lookup"} {
			b.report.add("lookup", row, name, got[row+": "+name])
		}
	}
	return nil
}

// memory measures what a server with a small budget of tables holds after it
// has served everything, and after many requests more.
func (b *bench) memory() error {
	data, err := b.fresh()
	if err != nil {
		return err
	}
	s, err := b.start(data, "plain/", "table.max_bytes=64MiB")
	if err != nil {
		return err
	}
	return s.With(func() error {
		small, err := b.everything(s)
		if err != nil {
			return err
		}
		before, err := s.Memory("VmRSS")
		if err != nil {
			return err
		}
		small.conns, small.count = 4, 10_000
		if _, err := s.closed(small); err != nil {
			return err
		}
		after, err := s.Memory("VmRSS")
		if err != nil {
			return err
		}
		most, err := s.Memory("VmHWM")
		r := b.report
		r.add("memory", "after everything", "resident MB", float64(before)/mb)
		r.add("memory", "after 10,000 requests more", "resident MB", float64(after)/mb)
		r.add("memory", "after 10,000 requests more", "MB grown", float64(after-before)/mb)
		r.add("memory", "at any time", "resident MB", float64(most)/mb)
		return err
	})
}

// everything has s serve all files cold, two giants more, and all shapes of
// warm requests. It returns the load of small requests.
func (b *bench) everything(s *server) (small load, err error) {
	ask := func() error {
		_, err := s.askOnce(&b.work.one)
		if err == nil {
			_, err = s.askOnce(&b.work.big)
		}
		return err
	}
	if err := errors.Join(ask(), s.await(len(b.modules), ask), b.giant(s, 1), b.giant(s, 2)); err != nil {
		return load{}, err
	}
	for i, shape := range b.work.shapes {
		l, err := s.loadOf(shape.requests)
		if err != nil {
			return load{}, err
		}
		if i == 0 {
			small = l
		}
		l.conns, l.cpu, l.wall = 4, b.opt.load, time.Minute
		if _, err := s.closed(l); err != nil {
			return load{}, err
		}
	}
	return small, s.Settle()
}
