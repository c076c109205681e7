package symcache_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
)

// synthetic is a model like a large C++ program: names with nested templates
// that share most of their parts, about 8 bytes of code for each row, three
// nested inlined calls on average, nine of ten rows in the usual file of their
// function, small gaps between functions and a few large ones.
func synthetic(functions, rowsEach int) *model {
	r := rand.New(rand.NewPCG(42, uint64(functions)))
	m := &model{}
	types := []string{"int", "char", "unsigned long", "bool"}
	for i := range 40 + functions/20 {
		pick := func() string { return types[r.IntN(len(types))] }
		switch i % 4 {
		case 0:
			types = append(types, fmt.Sprintf("project::part%d::Class%d", i%17, i))
		case 1:
			types = append(types, fmt.Sprintf("std::vector<%s, std::allocator<%s> >", pick(), pick()))
		case 2:
			types = append(types, fmt.Sprintf("std::map<%s, %s>::const_iterator", pick(), pick()))
		case 3:
			types = append(types, pick()+" const&")
		}
		if last := len(types) - 1; len(types[last]) > 600 {
			types[last] = types[last][:30]
		}
	}
	var files []sym.Text
	for i := range 20 + functions/50 {
		files = append(files, m.text(fmt.Sprintf("/build/project-1.0/src/part%d/file%d.cc", i%17, i)))
	}
	type origin struct {
		name sym.Text
		file sym.Text
		line uint32
	}
	var origins []origin
	for i := range 50 + functions {
		pick := func() string { return types[r.IntN(1+r.IntN(1+r.IntN(len(types))))] }
		name := fmt.Sprintf("project::part%d::Class%d<%s>::method%d(%s, %s)", i%17, i%311, pick(), i, pick(), pick())
		origins = append(origins, origin{m.text(name), files[r.IntN(len(files))], 1 + r.Uint32N(3000)})
	}
	addr := uint64(0x401000)
	for range functions {
		b := &sym.Block{}
		of := []origin{origins[r.IntN(len(origins))]}
		b.Nodes = append(b.Nodes, sym.Node{Parent: -1, Name: of[0].name, Entry: addr})
		node := int32(0)
		for range 1 + r.IntN(2*rowsEach-1) {
			switch r.IntN(10) {
			case 0, 1, 2, 3:
				o := origins[r.IntN(1+r.IntN(len(origins)))]
				b.Nodes = append(b.Nodes, sym.Node{
					Parent: node, Name: o.name, CallFile: of[node].file, CallLine: of[node].line + r.Uint32N(60),
				})
				of = append(of, o)
				node = int32(len(b.Nodes) - 1)
			case 4, 5:
				node = max(0, b.Nodes[node].Parent)
			}
			file := of[node].file
			if r.IntN(10) == 0 {
				file = files[r.IntN(len(files))]
			}
			b.Rows = append(b.Rows, sym.Row{Addr: addr, Node: node, File: file, Line: of[node].line + r.Uint32N(60)})
			addr += 1 + r.Uint64N(14)
		}
		b.Nodes[0].Size = addr - b.Nodes[0].Entry
		b.Rows = append(b.Rows, sym.Row{Addr: addr, Node: sym.Hole})
		addr = (addr + 16) &^ 15
		if r.IntN(500) == 0 {
			addr += r.Uint64N(1 << 16)
		}
		m.blocks = append(m.blocks, b)
	}
	return m
}

// load is the input of the benchmarks.
type load struct {
	blocks []*sym.Block
	text   func(dst []byte, t sym.Text) []byte
	size   int64          // of the .sym file, or an estimate
	obj    *object.Object // nil: synthetic
}

// workload returns the input of all benchmarks: the .sym file in
// SYMBOLON_BENCH_SYM, else about 100,000 functions and a million rows.
var workload = sync.OnceValue(func() *load {
	if name := os.Getenv("SYMBOLON_BENCH_SYM"); name != "" {
		return loadFile(name)
	}
	m := synthetic(100_000, 10)
	l := &load{blocks: m.blocks, text: m.appendText}
	for _, b := range m.blocks {
		l.size += int64(20*len(b.Rows) + 32*len(b.Nodes))
	}
	for _, name := range m.texts {
		l.size += int64(len(name))
	}
	return l
})

func loadFile(name string) *load {
	file, err := os.ReadFile(name)
	if err != nil {
		panic(err)
	}
	f, err := debugfile.Open(bin.Bytes(file), object.Options{})
	if err != nil {
		panic(err)
	}
	l := &load{size: int64(len(file)), obj: f.Objects()[0]}
	l.text = l.obj.AppendText
	err = l.obj.Blocks(object.BlockOptions{Workers: 1}, func(b *sym.Block) error {
		l.blocks = append(l.blocks, &sym.Block{Nodes: slices.Clone(b.Nodes), Rows: slices.Clone(b.Rows)})
		return nil
	})
	if err != nil {
		panic(err)
	}
	return l
}

func (l *load) build(opt symcache.Options, w io.Writer) error {
	b := symcache.NewBuilder(opt, l.text)
	defer b.Close()
	for _, blk := range l.blocks {
		if err := b.Add(blk); err != nil {
			return err
		}
	}
	return b.Finish(w, symcache.Info{Producer: "bench"})
}

// BenchmarkBuild measures only Add and Finish.
func BenchmarkBuild(b *testing.B) {
	l := workload()
	rows, size := 0, int64(0)
	for _, blk := range l.blocks {
		rows += len(blk.Rows)
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(l.size)
			for b.Loop() {
				var w counter
				if err := l.build(symcache.Options{Workers: workers}, &w); err != nil {
					b.Fatal(err)
				}
				size = int64(w)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
			b.ReportMetric(float64(size)/float64(rows), "B/row")
		})
	}
}

// BenchmarkPipeline measures a build from an opened file.
func BenchmarkPipeline(b *testing.B) {
	l := workload()
	if l.obj == nil {
		b.Skip("SYMBOLON_BENCH_SYM names no .sym file")
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			b.SetBytes(l.size)
			for b.Loop() {
				t := symcache.NewBuilder(symcache.Options{Workers: workers}, l.text)
				err := l.obj.Blocks(object.BlockOptions{Workers: workers}, t.Add)
				if err == nil {
					err = t.Finish(io.Discard, symcache.Info{})
				}
				if err = errors.Join(err, t.Close()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

var built = sync.OnceValue(func() []byte {
	var out writer
	if err := workload().build(symcache.Options{}, &out); err != nil {
		panic(err)
	}
	return out.b
})

type writer struct{ b []byte }

func (w *writer) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}

// addresses returns those of an eighth of the rows, sorted or shuffled.
func addresses(inOrder bool) []uint64 {
	r := rand.New(rand.NewPCG(7, 7))
	var all []uint64
	for _, blk := range workload().blocks {
		for i := range blk.Rows {
			if blk.Rows[i].Node >= 0 && r.IntN(8) == 0 {
				all = append(all, blk.Rows[i].Addr)
			}
		}
	}
	if !inOrder {
		r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	}
	return all
}

func BenchmarkLookup(b *testing.B) {
	for _, order := range []string{"random", "in order"} {
		b.Run(order, func(b *testing.B) {
			table, addrs := open(b, built()), addresses(order == "in order")
			var frames []sym.Frame
			count, i := 0, 0
			b.ReportAllocs()
			for b.Loop() {
				frames = table.Lookup(frames[:0], addrs[i])
				count += len(frames)
				if i++; i == len(addrs) {
					i = 0
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(count), "ns/frame")
		})
	}
}

// BenchmarkAppendText decodes the names of frames, without a memo and with one
// that has all of them.
func BenchmarkAppendText(b *testing.B) {
	for _, order := range []string{"random", "in order"} {
		for _, how := range []string{"cold", "remembered"} {
			b.Run(order+"/"+how, func(b *testing.B) {
				table := open(b, built())
				if how == "remembered" {
					table.Remember(1 << 30)
				}
				var frames []sym.Frame
				for _, addr := range addresses(order == "in order")[:20_000] {
					frames = table.Lookup(frames, addr)
				}
				var text []byte
				for _, f := range frames {
					text, _ = table.AppendText(text[:0], f.Func)
				}
				size, i := 0, 0
				b.ReportAllocs()
				for b.Loop() {
					text, _ = table.AppendText(text[:0], frames[i].Func)
					size += len(text)
					if i++; i == len(frames) {
						i = 0
					}
				}
				b.SetBytes(int64(size / b.N))
			})
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	file := built()
	b.ReportAllocs()
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		open(b, file)
	}
}

func BenchmarkVerify(b *testing.B) {
	file := built()
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		if err := open(b, file).Verify(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestLookupDoesNotAllocate(t *testing.T) {
	m := large(t, 200)
	for _, limit := range []int64{0, 1 << 20} {
		table := open(t, m.build(t, symcache.Options{}))
		table.Remember(limit)
		frames, text := make([]sym.Frame, 0, 300), make([]byte, 0, 1<<16)
		ask := func(i int) {
			b := m.blocks[i%len(m.blocks)]
			frames = table.Lookup(frames[:0], b.Rows[len(b.Rows)/2].Addr)
			table.Nearest(b.Rows[0].Addr)
			for _, f := range frames {
				text, _ = table.AppendText(text[:0], f.Func)
				text, _ = table.AppendText(text[:0], f.File)
			}
		}
		for i := range m.blocks {
			ask(i)
		}
		i := 0
		allocs := testing.AllocsPerRun(1000, func() {
			ask(i)
			i++
		})
		if allocs != 0 {
			t.Errorf("%v allocations with %d bytes of memo", allocs, limit)
		}
	}
}
