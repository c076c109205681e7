//go:build linux

package images

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
	"symbolon/internal/table"
)

// work is what one process does. It prints lines "name value".
func work(phase, name, addrs string) error {
	debug.SetGCPercent(50) // as our server and command line do
	room := &space{}
	defer room.close()
	open := func() (*object.Object, error) {
		src, err := mapFile(name)
		if err != nil {
			return nil, err
		}
		f, err := debugfile.Open(src, object.Options{Space: room})
		if err != nil {
			return nil, err
		}
		return f.Objects()[0], nil
	}
	switch phase {
	case "addresses":
		o, err := open()
		if err != nil {
			return err
		}
		return chooseAddresses(o, addrs)
	case "build":
		stop, most := make(chan struct{}), make(chan int)
		go func() { most <- watch(stop) }()
		start, wall := used(), time.Now()
		o, err := open()
		if err != nil {
			return err
		}
		n, err := build(o, 1, io.Discard)
		if err != nil {
			return err
		}
		fmt.Printf("build %.4f\nbytes %d\n", (used() - start).Seconds(), n)
		fmt.Printf("narrow %.4f\n", time.Since(wall).Seconds())
		close(stop)
		fmt.Printf("anonymous-kB %d\n", <-most)
	case "wide":
		wall := time.Now()
		o, err := open()
		if err != nil {
			return err
		}
		if _, err := build(o, 2, io.Discard); err != nil {
			return err
		}
		fmt.Printf("wide %.4f\n", time.Since(wall).Seconds())
	case "lookup":
		o, err := open()
		if err != nil {
			return err
		}
		return lookups(o, addrs)
	}
	return nil
}

// build writes the table of o and tells its size.
func build(o *object.Object, workers int, w io.Writer) (int64, error) {
	count := &counter{w: w}
	opt := symcache.Options{Workers: workers, Scratch: scratch{}}
	err := table.Build(context.Background(), count, o, opt, table.Input{})
	return count.n, err
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return c.w.Write(p)
}

// chooseAddresses writes 100,000 addresses, each of a row, all rows alike.
func chooseAddresses(o *object.Object, name string) error {
	var rows []uint64
	err := o.Blocks(object.BlockOptions{Workers: 2}, func(b *sym.Block) error {
		for _, r := range b.Rows {
			if r.Node != sym.Hole {
				rows = append(rows, r.Addr)
			}
		}
		return nil
	})
	if err != nil || len(rows) == 0 {
		return errors.Join(err, fmt.Errorf("%d rows", len(rows)))
	}
	random := rand.New(rand.NewPCG(5, 5))
	var out bytes.Buffer
	for range 100_000 {
		fmt.Fprintf(&out, "%x\n", rows[random.IntN(len(rows))])
	}
	return os.WriteFile(name, out.Bytes(), 0o600)
}

// lookups times lookups in the table of o, in the order given and sorted.
func lookups(o *object.Object, name string) error {
	var file bytes.Buffer
	if _, err := build(o, 1, &file); err != nil {
		return err
	}
	t, err := symcache.Open(bin.Bytes(file.Bytes()))
	if err != nil {
		return err
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var addrs []uint64
	for s := range strings.FieldsSeq(string(text)) {
		addr, err := strconv.ParseUint(s, 16, 64)
		if err != nil {
			return err
		}
		addrs = append(addrs, addr)
	}
	frames := make([]sym.Frame, 0, 256)
	round := func() float64 {
		start := time.Now()
		for _, a := range addrs {
			frames = t.Lookup(frames[:0], a)
		}
		return float64(time.Since(start).Nanoseconds()) / float64(len(addrs))
	}
	round()
	fmt.Printf("random-ns %.1f\n", round())
	slices.Sort(addrs)
	fmt.Printf("sorted-ns %.1f\n", round())
	return nil
}

// mapped is a file in the address space.
type mapped []byte

func (m mapped) Bytes() []byte { return m }
func (m mapped) Size() int64   { return int64(len(m)) }

func (m mapped) ReadAt(p []byte, off int64) (int, error) { return bytes.NewReader(m).ReadAt(p, off) }

func mapFile(name string) (bin.Source, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(st.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
	return mapped(b), err
}

// space is memory in temporary files, for sections that are packed.
type space struct{ files []*os.File }

func (s *space) Take(n int) ([]byte, error) {
	f, err := os.CreateTemp("", "symbolon-images-*")
	if err != nil {
		return nil, err
	}
	s.files = append(s.files, f)
	if err := f.Truncate(int64(n)); err != nil {
		return nil, err
	}
	return syscall.Mmap(int(f.Fd()), 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

// Close does nothing: the process ends soon.
func (s *space) Close() error { return nil }

func (s *space) close() {
	for _, f := range s.files {
		f.Close()
		os.Remove(f.Name())
	}
}

// scratch is the folder for temporary files.
type scratch struct{}

func (scratch) Create() (bin.ScratchFile, error) { return os.CreateTemp("", "symbolon-images-*") }

func (scratch) Remove(f bin.ScratchFile) error {
	file := f.(*os.File) // what Create made
	return errors.Join(file.Close(), os.Remove(file.Name()))
}
