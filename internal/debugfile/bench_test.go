package debugfile_test

import (
	"math/rand/v2"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// library is a file of the usual shape: functions of some 40 lines with three
// levels of inlining, long names, and unwind records.
func library(funcs int) []byte {
	r := rand.New(rand.NewPCG(5, 5))
	s := fixture.NewSym("library.so").Info("GENERATOR", "bench")
	for i := range 200 {
		s.File(i, "/builds/worker/checkouts/project/component/source.cpp")
	}
	const name = "project::component::Container<std::pair<unsigned long, std::basic_string<char>>>::method(int, char const*) const"
	for i := range 2000 {
		s.Origin(i, name)
	}
	addr := uint64(0x1000)
	for range funcs {
		const rows, width = 40, 12
		s.Func(addr, rows*width, name)
		for i := range uint64(8) {
			for depth := range uint64(3) {
				at := addr + i*5*width + depth*width
				s.Inline(int(depth), r.IntN(900), r.IntN(200), r.IntN(2000), at, 4*width-depth*width)
			}
		}
		for i := range uint64(rows) {
			s.Line(addr+i*width, width, r.IntN(3000), r.IntN(200))
		}
		addr += rows*width + uint64(r.IntN(16))
	}
	for i := range uint64(funcs) {
		s.CFIInit(0x1000+i*480, 480, ".cfa: $rsp 8 + .ra: .cfa -8 + ^")
	}
	return s.Bytes()
}

func BenchmarkOpen(b *testing.B) {
	text := library(2000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		open(b, text)
	}
}

func BenchmarkLookup(b *testing.B) {
	text := library(2000)
	for _, in := range []struct {
		name string
		step uint64
	}{{"ordered", 40}, {"random", 0x3456789}} {
		for _, from := range []struct {
			name string
			src  bin.Source
		}{{"memory", bin.Bytes(text)}, {"source", onDisk{bin.Bytes(text)}}} {
			b.Run(in.name+"/"+from.name, func(b *testing.B) {
				f, err := debugfile.Open(from.src, object.Options{})
				if err != nil {
					b.Fatal(err)
				}
				o := f.Objects()[0]
				var frames []sym.Frame
				addr := uint64(0)
				b.ReportAllocs()
				for b.Loop() {
					addr = (addr + in.step) % (2000 * 480)
					frames = o.Lookup(frames[:0], 0x1000+addr)
				}
			})
		}
	}
}

func BenchmarkBlocks(b *testing.B) {
	text := library(2000)
	for _, workers := range []int{1, 2} {
		b.Run("workers-"+string(rune('0'+workers)), func(b *testing.B) {
			o := open(b, text)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if err := o.Blocks(object.BlockOptions{Workers: workers}, discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
