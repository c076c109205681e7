package cficache_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/cficache"
	"symbolon/internal/debugfile"
	"symbolon/internal/format/breakpad"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/unwind/rule"
)

// benchRecords returns the records of the file that the variable
// SYMBOLON_BENCH_CFI names, else those of 20,000 functions with six changes.
func benchRecords(b *testing.B) (ident.Arch, func(func(*sym.Unwind) error) error) {
	if name := os.Getenv("SYMBOLON_BENCH_CFI"); name != "" {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		f, err := debugfile.Open(bin.Bytes(data), object.Options{})
		if err != nil {
			b.Fatal(err)
		}
		o := f.Objects()[0]
		return o.Info().Module.Arch, o.CFI
	}
	random := rand.New(rand.NewPCG(1, 2))
	var all []sym.Unwind
	saved := []string{"$rbp", "$r15", "$r14", "$r13", "$r12", "$rbx"}
	for i := range uint64(20000) {
		addr := 0x1000 + 240*i
		all = append(all, sym.Unwind{Addr: addr, Size: 230, Rules: []byte(".cfa: $rsp 8 + .ra: .cfa -8 + ^")})
		for k := range 1 + random.IntN(6) {
			all = append(all, sym.Unwind{
				Kind: sym.UnwindChange, Addr: addr + uint64(2*k+1), Rules: fmt.Appendf(nil, ".cfa: $rsp %d + %s: .cfa -%d + ^", 16+8*k, saved[k], 16+8*k),
			})
		}
		all = append(all, sym.Unwind{Kind: sym.UnwindChange, Addr: addr + 20, Rules: fmt.Appendf(nil, ".cfa: $rsp %d +", 64+16*random.IntN(60))})
	}
	return ident.ArchX86_64, each(all)
}

func BenchmarkRead(b *testing.B) {
	_, records := benchRecords(b)
	for b.Loop() {
		_ = records(func(*sym.Unwind) error { return nil })
	}
}

func BenchmarkText(b *testing.B) {
	_, records := benchRecords(b)
	size := 0
	for b.Loop() {
		size = 0
		var line []byte
		_ = records(func(u *sym.Unwind) error {
			line = breakpad.AppendStack(line[:0], u)
			size += len(line)
			return nil
		})
	}
	b.ReportMetric(float64(size), "bytes")
}

func BenchmarkBuild(b *testing.B) {
	arch, records := benchRecords(b)
	var out bytes.Buffer
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		if err := cficache.Build(&out, arch, records, cficache.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	table, err := cficache.Open(out.Bytes())
	if err != nil {
		b.Fatal(err)
	}
	ranges, rows := table.Counts()
	b.ReportMetric(float64(out.Len()), "bytes")
	b.ReportMetric(float64(ranges), "ranges")
	b.ReportMetric(float64(rows), "rows")
}

func BenchmarkOpen(b *testing.B) {
	arch, records := benchRecords(b)
	var out bytes.Buffer
	if err := cficache.Build(&out, arch, records, cficache.Options{}); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(out.Len()))
	for b.Loop() {
		if _, err := cficache.Open(out.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	arch, records := benchRecords(b)
	var out bytes.Buffer
	if err := cficache.Build(&out, arch, records, cficache.Options{}); err != nil {
		b.Fatal(err)
	}
	table, err := cficache.Open(out.Bytes())
	if err != nil {
		b.Fatal(err)
	}
	var addrs []uint64
	_ = table.Ranges(func(start, _ uint64, _ rule.Row) error { addrs = append(addrs, start); return nil })
	random := rand.New(rand.NewPCG(1, 2))
	random.Shuffle(len(addrs), func(i, k int) { addrs[i], addrs[k] = addrs[k], addrs[i] })
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if table.Row(addrs[i%len(addrs)]) == nil {
			b.Fatal("no row")
		}
	}
}

// BenchmarkSymText builds a table of the lines of STACK records.
func BenchmarkSymText(b *testing.B) {
	arch, records := benchRecords(b)
	var text []byte
	_ = records(func(u *sym.Unwind) error { text = breakpad.AppendStack(text, u); return nil })
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		err := cficache.Build(io.Discard, arch, func(yield func(*sym.Unwind) error) error {
			for line := range bytes.Lines(text) {
				if u, ok := breakpad.ParseStack(line); ok {
					if err := yield(&u); err != nil {
						return err
					}
				}
			}
			return nil
		}, cficache.Options{})
		if err != nil {
			b.Fatal(err)
		}
	}
}
