package debugfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
	"symbolon/internal/trial"
)

// pattern is a file that is nowhere whole: text that is made when it is read,
// between a head and a tail.
type pattern struct {
	head, tail string
	size       int64 // of what is between them
	fill       func(dst []byte, off int64)
}

func (p pattern) Size() int64 { return int64(len(p.head)) + p.size + int64(len(p.tail)) }

func (p pattern) ReadAt(dst []byte, off int64) (n int, err error) {
	for n < len(dst) {
		switch at := off + int64(n) - int64(len(p.head)); {
		case at < 0:
			n += copy(dst[n:], p.head[at+int64(len(p.head)):])
		case at < p.size:
			k := int(min(int64(len(dst)-n), p.size-at))
			p.fill(dst[n:n+k], at)
			n += k
		case at < p.size+int64(len(p.tail)):
			n += copy(dst[n:], p.tail[at-p.size:])
		default:
			return n, io.EOF
		}
	}
	return n, nil
}

// repeat is n times one text between a head and a tail.
func repeat(head, text string, n int64, tail string) pattern {
	block := strings.Repeat(text, 1+1<<16/len(text)) // it is quicker in large pieces
	return pattern{head, tail, n * int64(len(text)), func(dst []byte, off int64) {
		for k := copy(dst, block[off%int64(len(text)):]); k < len(dst); {
			k += copy(dst[k:], block[(off+int64(k))%int64(len(text)):])
		}
	}}
}

// hex8 writes eight hex digits.
func hex8(dst []byte, v int64) {
	for i := range 8 {
		dst[i] = "0123456789abcdef"[v>>(28-4*i)&15]
	}
}

// numbered are n records with their number, times step, in the place of
// %%%%%%%%.
func numbered(head, text string, n, step int64, tail string) pattern {
	at, width := strings.Index(text, "%%%%%%%%"), int64(len(text))
	return pattern{head, tail, n * width, func(dst []byte, off int64) {
		var room [64]byte
		rec := room[:copy(room[:], text)]
		for k := 0; k < len(dst); {
			i := (off + int64(k)) / width
			hex8(rec[at:], i*step)
			k += copy(dst[k:], rec[off+int64(k)-i*width:])
		}
	}}
}

// cost runs do and tells its time and by how much the heap grew at most.
func cost(do func()) (took time.Duration, peak uint64) {
	defer debug.SetGCPercent(debug.SetGCPercent(40))
	runtime.GC()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	before := heap[0].Value.Uint64()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			metrics.Read(heap)
			if now := heap[0].Value.Uint64(); now > before {
				peak = max(peak, now-before)
			}
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	start := time.Now()
	do()
	took = time.Since(start)
	close(stop)
	<-done
	return took, peak
}

// spill keeps what a build cannot keep in memory.
type spill struct{ dir string }

func (s spill) Create() (bin.ScratchFile, error) { return os.CreateTemp(s.dir, "") }

func (s spill) Remove(f bin.ScratchFile) error {
	file := f.(*os.File) // what Create made
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// tableOf makes the table of an object.
func tableOf(o *object.Object, opt symcache.Options, workers int) (*symcache.Table, error) {
	b := symcache.NewBuilder(opt, o.AppendText)
	defer b.Close()
	if err := o.Blocks(object.BlockOptions{Workers: workers}, b.Add); err != nil {
		return nil, err
	}
	var file bytes.Buffer
	if err := b.Finish(&file, symcache.Info{Module: o.Info().Module}); err != nil {
		return nil, err
	}
	return symcache.Open(bin.Bytes(file.Bytes()))
}

// answerer is what both ways of answering have.
type answerer interface {
	Lookup(dst []sym.Frame, addr uint64) []sym.Frame
	Nearest(addr uint64) (sym.Frame, bool)
	AppendText(dst []byte, t sym.Text) []byte
}

// ofTable is a table that tells nothing more of a name than a file.
type ofTable struct{ *symcache.Table }

func (t ofTable) AppendText(dst []byte, text sym.Text) []byte {
	dst, _ = t.Table.AppendText(dst, text)
	return dst
}

// said is all that a has to say about an address.
func said(dst []byte, a answerer, frames []sym.Frame, addr uint64) []byte {
	frames = a.Lookup(frames[:0], addr)
	if near, ok := a.Nearest(addr); ok {
		frames = append(frames, near)
	}
	for _, f := range frames {
		dst = append(a.AppendText(dst, f.Func), 0)
		dst = append(a.AppendText(dst, f.File), 0)
		dst = fmt.Appendf(dst, "%d %d %x %x %v %s\n", f.Line, f.Column, f.Entry, f.Size, f.Inlined, f.Lang)
	}
	return dst
}

// agree demands that the file and its table say the same.
func agree(t *testing.T, o *object.Object, table *symcache.Table, addrs []uint64, what string) {
	t.Helper()
	var a, b []byte
	frames := make([]sym.Frame, 0, 300)
	for _, addr := range addrs {
		a, b = said(a[:0], o, frames, addr), said(b[:0], ofTable{table}, frames, addr)
		if !bytes.Equal(a, b) {
			t.Fatalf("%s, %#x:\nfile  %.500s\ntable %.500s", what, addr, a, b)
		}
	}
}

// module is the first line of the files below.
const module = "MODULE Linux x86_64 " + fixture.SymID + " hostile.so\n"

// hostile is a file made to exhaust, and what reading it may cost. The bounds
// are several times what it costs on a slow machine; the memory of a table is
// that of its build, which may spill, and of the table itself.
type hostile struct {
	src         bin.Source
	wants       map[uint64]string // the innermost function at some addresses
	time        time.Duration     // for everything
	open, table uint64            // MiB
}

func hostiles() map[string]hostile {
	n := int64(200_000)
	if trial.Race() {
		n /= 4 // everything is ten times as slow
	}
	tail := "FUNC fffff000 10 0 last\nfffff000 10 1 0\n"
	last := map[uint64]string{0xfffff008: "last"}
	all := map[string]hostile{
		"100,000 nested INLINE": {
			src:   bin.Bytes([]byte(module + "INLINE_ORIGIN 0 i\nFUNC 10 10 0 f\n" + inside(100_000) + "10 10 1 0\n" + tail)),
			wants: map[uint64]string{0x18: "i", 0xfffff008: "last"}, time: 2 * time.Second, open: 8, table: 32,
		},
		"gigabyte of a FUNC": {
			src:   repeat(module+"FUNC 10 10 0 ", "gigabyte", 1<<27, "\n10 10 1 0\n"+tail),
			wants: map[uint64]string{0x10: "", 0xfffff008: "last"}, time: 5 * time.Second, open: 8, table: 8,
		},
		"FUNC of 20 MB": {
			src:   numbered(module+"FUNC 0 7fffffff 0 f\n", "%%%%%%%% 10 1 0\n", 100*n/16, 16, tail),
			wants: map[uint64]string{0x100: "f", 0xfffff008: "last"}, time: 3 * time.Second, open: 8, table: 64,
		},
		"200,000 FUNC over one another": {
			src:   numbered(module, "FUNC %%%%%%%% 7fffffff 0 f\n", n, 1, tail),
			wants: map[uint64]string{0: "f", 63: "f", 0xfffff008: "last"}, time: 2 * time.Second, open: 60, table: 8,
		},
		"FUNC that all overlap with 60 others": {
			src:   numbered(module, "FUNC %%%%%%%% 3c0 0 f\n", n/5, 16, tail),
			wants: map[uint64]string{0x8: "f", 0x10000: "f", 0xfffff008: "last"}, time: 4 * time.Second, open: 16, table: 64,
		},
		"40,000 PUBLIC": {
			src:   numbered(module, "PUBLIC %%%%%%%% 0 p\n", n/5, 1, tail),
			wants: map[uint64]string{1: "p", 0xfffff008: "last"}, time: 2 * time.Second, open: 18, table: 36,
		},
		"40,000 empty FUNC": {
			src:   numbered(module, "FUNC %%%%%%%% 0 0 f\n", n/5, 16, tail),
			wants: last, time: 2 * time.Second, open: 18, table: 36,
		},
		"200,000 lines at one place": {
			src:   repeat(module+"FUNC 10 10 0 f\n", "10 10 1 0\n", n, tail),
			wants: map[uint64]string{0x18: "f", 0xfffff008: "last"}, time: 2 * time.Second, open: 8, table: 60,
		},
		"40,000 FUNC of one line": {
			src:   numbered(module, "FUNC %%%%%%%% 8 0 f\n0 8 1 0\n", n/5, 16, tail),
			wants: map[uint64]string{0: "f", 0xfffff008: "last"}, time: 2 * time.Second, open: 18, table: 36,
		},
	}
	for name, record := range map[string]string{
		"PUBLIC at one address": "PUBLIC 10 0 p\n", "FUNC at one address": "FUNC 10 10 0 p\n",
		"FILE": "FILE %%%%%%%% a.c\n", "FILE of one number": "FILE 1 a.c\n", "FILE with an invalid path": "FILE 1 ..\n",
		"INLINE_ORIGIN": "INLINE_ORIGIN %%%%%%%% i\n", "INFO": "INFO a b\n", "STACK CFI INIT": "STACK CFI INIT %%%%%%%% 10 .cfa: 1\n",
		"STACK CFI": "STACK CFI %%%%%%%% .cfa: 1\n", "STACK WIN": "STACK WIN 4 %%%%%%%% 10 0 0 0 0 0 0 1 1\n", "unknown": "X\n", "empty lines": "\n", "CRs": "\r",
		"NULs": "\x00\x00\x00\x00\x00\x00\n", "INLINE at one place": "INLINE 0 1 0 0 1 1\n",
		"MODULE": module, "invalid FUNC": "FUNC x\n", "invalid PUBLIC": "PUBLIC\n",
	} {
		src := repeat(module+"FUNC 10 10 0 p\n", record, n, "\n"+tail)
		if strings.Contains(record, "%") {
			src = numbered(module, record, n, 16, tail)
		}
		all["200,000 "+name] = hostile{src: src, wants: last, time: 2 * time.Second, open: 60, table: 64}
	}
	for name, begin := range map[string]string{
		"FILE": "FILE 1 ", "PUBLIC": "PUBLIC 10 0 ", "INLINE_ORIGIN": "INLINE_ORIGIN 1 ", "INLINE": "INLINE 0 1 0 0 1 1 ", "line": "10 10 1 0 ",
		"STACK CFI": "STACK CFI INIT 10 10 ", "STACK WIN": "STACK WIN 4 1 1 1 1 1 1 1 1 1 ", "INFO": "INFO A ", "unknown record": "X ", "number": "FUNC 1",
	} {
		all["64 MiB of a "+name] = hostile{
			src: repeat(module+"FUNC 10 10 0 p\n"+begin, "11111111", 1<<23, "\n"+tail), wants: last, time: 2 * time.Second, open: 8, table: 8,
		}
	}
	return all
}

// inside are INLINE records, each in the one before.
func inside(levels int) string {
	var b strings.Builder
	for i := range levels {
		fmt.Fprintf(&b, "INLINE %d 1 0 0 10 10\n", i)
	}
	return b.String()
}

// Files of many records, or of a giant one, cost time and memory in proportion,
// and give the answers that are left in them: from the file and from its table.
func TestHostileFilesAreBounded(t *testing.T) {
	dir := t.TempDir()
	for name, h := range hostiles() {
		t.Run(name, func(t *testing.T) {
			var f *object.File
			var table *symcache.Table
			var err error
			opening, open := cost(func() { f, err = debugfile.Open(h.src, object.Options{}) })
			if err != nil {
				t.Fatal(err)
			}
			o := f.Objects()[0]
			asking, _ := cost(func() {
				for addr, want := range h.wants {
					if frames := o.Lookup(nil, addr); (want == "") != (len(frames) == 0) || want != "" && str(o, frames[0].Func) != want {
						t.Errorf("%#x: %s; want %q", addr, show(o, frames), want)
					}
				}
			})
			building, build := cost(func() { table, err = tableOf(o, symcache.Options{Memory: 256 << 20, Scratch: spill{dir}}, 2) })
			if err != nil {
				t.Fatal(err)
			}
			for addr := range h.wants {
				agree(t, o, table, []uint64{addr - 1, addr, addr + 1}, name)
			}
			t.Logf("%d MB: opened in %v with %d KiB, asked in %v, table in %v with %d KiB",
				h.src.Size()/1_000_000, opening, open>>10, asking, building, build>>10)
			if took := opening + asking + building; took > h.time && !trial.Race() {
				t.Errorf("it took %v; the bound is %v", took, h.time)
			}
			if (open > h.open<<20 || build > h.table<<20) && !trial.Race() {
				t.Errorf("opened with %d MiB, table with %d MiB; the bounds are %d and %d", open>>20, build>>20, h.open, h.table)
			}
		})
	}
}

// edge is a file whose records lie at the ends of the address space.
const edge = module + `FILE 0 a.c
INLINE_ORIGIN 0 i
FUNC 0 1 0 first
0 1 1 0
FUNC 10 ffffffffffffffff 0 beyond
10 ffffffffffffffff 2 0
FUNC fffffffffffffff0 10 0 top
INLINE 0 3 0 0 fffffffffffffff8 7 fffffffffffffffc ffffffffffffffff fffffffffffffffe 2
fffffffffffffff0 10 4 0
fffffffffffffff8 ffffffffffffffff 5 0
FUNC ffffffffffffffff 1 0 end
FUNC ffffffffffffffff ffffffffffffffff 0 more
ffffffffffffffff 1 6 0
PUBLIC ffffffffffffffff 0 p
PUBLIC fffffffffffffffe 0 q
PUBLIC 0 0 r
`

// everywhere are the addresses of rows, with their neighbours, and those at
// which errors of counting show.
func everywhere(t testing.TB, o *object.Object) []uint64 {
	addrs := []uint64{0, 1, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, ^uint64(0) - 1, ^uint64(0)}
	for a := range uint64(0x100) {
		addrs = append(addrs, a, ^a)
	}
	for _, b := range copyBlocks(t, o, 1) {
		for _, r := range b.Rows[:min(len(b.Rows), 300)] {
			addrs = append(addrs, r.Addr-1, r.Addr, r.Addr+1)
		}
	}
	return addrs
}

// harmless opens text and, if it is a file, demands that it and its table say
// the same everywhere.
func harmless(t *testing.T, text []byte, what string) (opened bool) {
	t.Helper()
	f, err := debugfile.Open(bin.Bytes(text), object.Options{})
	if err != nil {
		return false
	}
	o := f.Objects()[0]
	table, err := tableOf(o, symcache.Options{}, 1+len(text)%2)
	if err != nil {
		t.Fatalf("%s: %v\n%s", what, err, text)
	}
	agree(t, o, table, everywhere(t, o), what)
	return true
}

func TestRangesAtTheEndOfAllAddresses(t *testing.T) {
	if !harmless(t, []byte(edge), "edge") {
		t.Fatal("it is not opened")
	}
	o := open(t, []byte(edge))
	for addr, want := range map[uint64]string{0: "first", 0xfffffffffffffff1: "top", 0xfffffffffffffff9: "i"} {
		if frames := o.Lookup(nil, addr); len(frames) == 0 || str(o, frames[0].Func) != want {
			t.Errorf("%#x: %s; want %s", addr, show(o, frames), want)
		}
	}
}

// small has every record, all of it within the first addresses.
func small() []byte {
	return fixture.NewSym("s.so").Info("CODE_ID", "4B3C2D1E").File(0, "/a/../b.c").File(1, `c:\d.c`).Origin(0, "i").Origin(1, "j").
		Func(0x10, 0x30, "f").Inline(0, 7, 0, 0, 0x14, 8, 0x20, 8).Inline(1, 8, 1, 1, 0x16, 4).
		Line(0x10, 8, 3, 0).Line(0x18, 8, 11, 1).Line(0x20, 0x20, 8, 0).
		Raw("FUNC m 38 20 4 g").Line(0x38, 0x20, 1, 0).Func(0x90, 0, "none").Public(0x60, "p").Raw("PUBLIC m 20 0 q").
		CFIInit(0x10, 0x30, ".cfa: $rsp 8 +").CFI(0x14, ".cfa: $rsp 16 +").Win(0x10, 4, "$eip 4 +").Bytes()
}

func TestEveryTruncationAnswersAsItsTable(t *testing.T) {
	opened, step := 0, 1
	if trial.Race() {
		step = 10
	}
	for _, text := range [][]byte{small(), []byte(edge)} {
		for n := 0; n <= len(text); n += step {
			if harmless(t, text[:n], fmt.Sprintf("the first %d bytes", n)) {
				opened++
			}
		}
	}
	if opened < 800/step {
		t.Errorf("only %d of the parts are files", opened)
	}
}

func TestEveryChangedByteAnswersAsItsTable(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, seed))
	plain := []byte("0123456789abcdefm -+\r\n\t\x00\xff FUNCPUBLICSTACK")
	opened, n := 0, 500
	if trial.Race() {
		n /= 3
	}
	for range n {
		text := small()
		if r.IntN(4) == 0 {
			text = []byte(edge)
		}
		at, b := len(module)+r.IntN(len(text)-len(module)), byte(r.Uint32())
		if r.IntN(4) > 0 {
			b = plain[r.IntN(len(plain))]
		}
		was := text[at]
		text[at] = b
		if harmless(t, text, fmt.Sprintf("byte %d from %q to %q", at, was, b)) {
			opened++
		}
	}
	if opened < n*2/3 {
		t.Errorf("only %d of the changed files are files", opened)
	}
}
