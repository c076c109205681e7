package breakpad_test

import (
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/breakpad"
)

// library returns a file with the mix of records of a large library.
func library() []byte {
	s := fixture.NewSym("library.so")
	const name = "project::component::Container<std::pair<unsigned long, std::basic_string<char>>>::method(int, char const*) const"
	for i := range 4000 {
		s.Origin(i, name+name+name)
	}
	addr := uint64(0x1000)
	for i := range 2000 {
		s.Func(addr, 480, name)
		for k := range uint64(24) {
			s.Inline(int(k%3), i, 3, int(k)*17, addr+k*20, 20, addr+k*20+10, 5)
		}
		for k := range uint64(40) {
			s.Line(addr+k*12, 12, i, int(k))
		}
		addr += 480
	}
	for i := range uint64(2000) {
		s.CFIInit(0x1000+i*480, 480, ".cfa: $rsp 8 + .ra: .cfa -8 + ^").CFI(0x1001+i*480, ".cfa: $rsp 16 + $rbp: .cfa -16 + ^")
	}
	return s.Bytes()
}

func BenchmarkScan(b *testing.B) {
	text := library()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := scan(text, 1<<20); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseFunc(b *testing.B) {
	text := library()
	x := index(b, text)
	s := x.Funcs[100]
	var f breakpad.Func
	b.SetBytes(int64(s.Len))
	b.ReportAllocs()
	for b.Loop() {
		x.ParseFunc(s, text[s.Off:s.Off+int64(s.Len)], &f, nil)
	}
}
