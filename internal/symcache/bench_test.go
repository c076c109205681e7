package symcache_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"symbolon/internal/sym"
	"symbolon/internal/symcache"
)

// synthetic is a model like a large C++ program: names with nested templates
// that share most of their parts, some 8 bytes of code to a row, calls that
// are inlined three deep on average, nine of ten rows in the usual file of
// their function, small gaps between functions and a few large ones.
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

// workload is what all benchmarks share: about 100,000 functions and a
// million rows.
var workload = sync.OnceValue(func() *model { return synthetic(100_000, 10) })

func BenchmarkBuild(b *testing.B) {
	m := workload()
	rows, nodes, names, size := 0, 0, 0, int64(0)
	for _, blk := range m.blocks {
		rows += len(blk.Rows)
		nodes += len(blk.Nodes)
	}
	for _, name := range m.texts {
		names += len(name)
	}
	b.ReportAllocs()
	for b.Loop() {
		var w counter
		if err := tryBuild(m, symcache.Options{}, &w); err != nil {
			b.Fatal(err)
		}
		size = int64(w)
	}
	b.SetBytes(int64(names + 20*rows + 32*nodes)) // about what a .sym file has
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
	b.ReportMetric(float64(size)/float64(rows), "B/row")
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

var built = sync.OnceValue(func() []byte {
	m := workload()
	var out writer
	if err := tryBuild(m, symcache.Options{}, &out); err != nil {
		panic(err)
	}
	return out.b
})

type writer struct{ b []byte }

func (w *writer) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}

// addresses are of rows, in order or not.
func addresses(inOrder bool) []uint64 {
	m := workload()
	r := rand.New(rand.NewPCG(7, 7))
	var all []uint64
	for _, blk := range m.blocks {
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

func benchmarkLookup(b *testing.B, inOrder, names bool) {
	table := open(b, built())
	addrs := addresses(inOrder)
	var frames []sym.Frame
	var text []byte
	for _, a := range addrs {
		frames = table.Lookup(frames[:0], a)
	}
	if err := table.Damaged(); err != nil {
		b.Fatal(err)
	}
	count, size, i := 0, 0, 0
	b.ReportAllocs()
	for b.Loop() {
		frames = table.Lookup(frames[:0], addrs[i])
		count += len(frames)
		if names {
			for _, f := range frames {
				text = table.AppendText(text[:0], f.Func)
				size += len(text)
			}
		}
		if i++; i == len(addrs) {
			i = 0
		}
	}
	b.SetBytes(int64(size / b.N))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(count), "ns/frame")
}

func BenchmarkLookupRandom(b *testing.B)     { benchmarkLookup(b, false, false) }
func BenchmarkLookupInOrder(b *testing.B)    { benchmarkLookup(b, true, false) }
func BenchmarkAppendTextRandom(b *testing.B) { benchmarkLookup(b, false, true) }

func BenchmarkAppendTextInOrder(b *testing.B) { benchmarkLookup(b, true, true) }

func BenchmarkOpen(b *testing.B) {
	file := built()
	b.ReportAllocs()
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
	table := open(t, m.build(t, symcache.Options{}))
	frames, text := make([]sym.Frame, 0, 300), make([]byte, 0, 1<<16)
	i := 0
	allocs := testing.AllocsPerRun(1000, func() {
		b := m.blocks[i%len(m.blocks)]
		i++
		frames = table.Lookup(frames[:0], b.Rows[len(b.Rows)/2].Addr)
		table.Nearest(b.Rows[0].Addr)
		for _, f := range frames {
			text = table.AppendText(text[:0], f.Func)
			text = table.AppendText(text[:0], f.File)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
