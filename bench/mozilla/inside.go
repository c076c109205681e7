//go:build linux

package mozilla

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"time"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/sys/unix"

	"symbolon/bench/process"
	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
	"symbolon/internal/table"
)

// children are what the program does when it starts itself as another process:
// by the first argument.
var children = map[string]func(args []string) error{
	"origin":  serveOrigin,
	"inflate": inflate,
	"build":   build,
	"lookup":  lookup,
}

// child runs one of them and returns the figures that it prints.
func (b *bench) child(name string, env []string, args ...string) (map[string]float64, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(b.ctx, self, append([]string{"mozilla", name}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	figures := map[string]float64{}
	return figures, json.Unmarshal(out, &figures)
}

func tell(figures map[string]float64) error { return json.NewEncoder(os.Stdout).Encode(figures) }

// timed is how long something takes, by the clock and in processor time of
// this process.
func timed(do func() error) (wall, cpu time.Duration, err error) {
	before, err := process.Clock(unix.CLOCK_PROCESS_CPUTIME_ID)
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if err := do(); err != nil {
		return 0, 0, err
	}
	wall = time.Since(start)
	after, err := process.Clock(unix.CLOCK_PROCESS_CPUTIME_ID)
	return wall, after - before, err
}

// inflate unpacks a gzip file in one goroutine and keeps nothing.
func inflate(args []string) error {
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	wall, cpu, err := timed(func() error {
		z, err := gzip.NewReader(bufio.NewReaderSize(f, 1<<20))
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, z)
		return err
	})
	if err != nil {
		return err
	}
	return tell(map[string]float64{"wall": wall.Seconds(), "cpu": cpu.Seconds()})
}

// onDisk is a file as the server has it: read, not mapped.
type onDisk struct {
	*os.File
	size int64
}

func (f onDisk) Size() int64 { return f.size }

// build scans a .sym file, hashes it and writes its table to another file.
func build(args []string) error {
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	var obj *object.Object
	_, scan, err := timed(func() error {
		o, err := debugfile.Open(onDisk{f, st.Size()}, object.Options{})
		if err == nil {
			obj = o.Objects()[0]
		}
		return err
	})
	if err != nil {
		return err
	}
	h := sha256.New()
	_, hash, err := timed(func() error {
		_, err := io.Copy(h, io.NewSectionReader(f, 0, st.Size()))
		return err
	})
	if err != nil {
		return err
	}
	out, err := os.Create(args[1])
	if err != nil {
		return err
	}
	wall, cpu, err := timed(func() error {
		w := bufio.NewWriterSize(out, 1<<20)
		opt := symcache.Options{
			Memory: 256 << 20, Scratch: scratch{}, Workers: runtime.GOMAXPROCS(0),
		}
		err := table.Build(context.Background(), w, obj, opt, table.Input{Size: st.Size(), Hash: [32]byte(h.Sum(nil))})
		return errors.Join(err, w.Flush())
	})
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	return tell(map[string]float64{"scan": scan.Seconds(), "hash": hash.Seconds(), "wall": wall.Seconds(), "cpu": cpu.Seconds()})
}

type scratch struct{}

func (scratch) Create() (bin.ScratchFile, error) { return os.CreateTemp("", "symbolon-bench-*") }

func (scratch) Remove(f bin.ScratchFile) error {
	file := f.(*os.File) // what Create made
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// lookup looks up 100,000 addresses in a table: anywhere in the functions of
// its .sym file, in random order and in that of the addresses.
func lookup(args []string) error {
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	addrs := anywhere(findFunctions(text), 100_000)
	packed, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	t, err := symcache.Open(bin.Bytes(packed))
	if err != nil {
		return err
	}
	figures := map[string]float64{}
	pass(t, addrs, true) // the checksums of all pages are compared
	for _, order := range []string{"random", "in order"} {
		if order == "in order" {
			slices.Sort(addrs)
		}
		for _, names := range []bool{false, true} {
			frames, passes := 0, 10
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, cpu, err := timed(func() error {
				for range passes {
					frames += pass(t, addrs, names)
				}
				return nil
			})
			runtime.ReadMemStats(&after)
			if err != nil {
				return err
			}
			key := order
			if names {
				key += ", with names"
			}
			figures[key+": ns / frame"] = float64(cpu.Nanoseconds()) / float64(frames)
			// A pass itself allocates its two buffers.
			figures[key+": allocations / lookup"] = float64(after.Mallocs-before.Mallocs) / float64(passes*len(addrs))
		}
	}
	return errors.Join(t.Damaged(), tell(figures))
}

// pass looks all addresses up and counts their frames.
func pass(t *symcache.Table, addrs []uint64, names bool) (count int) {
	frames, text := make([]sym.Frame, 0, 512), make([]byte, 0, 64<<10)
	for _, a := range addrs {
		frames = t.Lookup(frames[:0], a)
		count += len(frames)
		for i := 0; names && i < len(frames); i++ {
			text, _ = t.AppendText(text[:0], frames[i].Func)
		}
	}
	return count
}

// anywhere is n random addresses in functions, each byte as likely as another.
func anywhere(funcs []function, n int) []uint64 {
	ends, total := make([]uint64, len(funcs)), uint64(0)
	for i, f := range funcs {
		total += f.size
		ends[i] = total
	}
	r := rand.New(rand.NewPCG(seed, seed))
	addrs := make([]uint64, n)
	for k := range addrs {
		p := r.Uint64N(total)
		i, _ := slices.BinarySearchFunc(ends, p, func(end, p uint64) int { return cmp.Compare(end, p+1) })
		addrs[k] = funcs[i].addr + funcs[i].size - (ends[i] - p)
	}
	return addrs
}
