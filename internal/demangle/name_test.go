package demangle_test

import (
	"strings"
	"testing"
	"time"

	"symbolon/internal/demangle"
)

func TestNamesInEveryStyle(t *testing.T) {
	for _, x := range []struct{ name, full, noParams, simple string }{
		{"_ZN2ns1fEi", "ns::f(int)", "ns::f", "ns::f"},
		{"__ZN2ns1fEi", "ns::f(int)", "ns::f", "ns::f"},
		{"_ZN2ns1gIiEEvT_", "void ns::g<int>(int)", "ns::g<int>", "ns::g"},
		{"_ZNK3PotILi3EE4pourEv", "Pot<3>::pour() const", "Pot<3>::pour", "Pot::pour"},
		{"_ZTV3Pot", "vtable for Pot", "vtable for Pot", "vtable for Pot"},
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt", "core::fmt::Write::write_fmt", "core::fmt::Write::write_fmt"},
		{"_RNvCs1234_7mycrate3foo", "mycrate::foo", "mycrate::foo", "mycrate::foo"},
	} {
		for style, want := range map[demangle.Style]string{demangle.Full: x.full, demangle.NoParams: x.noParams, demangle.Simple: x.simple} {
			if got := demangle.Name(x.name, style); got != want {
				t.Errorf("%s, style %d: got %q, want %q", x.name, style, got, want)
			}
		}
	}
}

func TestOtherNamesStayAsTheyAre(t *testing.T) {
	for _, name := range []string{
		"", "_", "f", "i", "main", "_start", "_Z", "_Zzz", "_ZN", "_R", "__R_", "_ZN3fooE\x00", "std::vector<int>", "?f@@YAXXZ",
		"_RNvCs1234_7mycrate", "_RC0", "_ZN99999999999999999999f",
	} {
		if got := demangle.Name(name, demangle.Full); got != name {
			t.Errorf("%q became %q", name, got)
		}
	}
}

func TestHostileNamesAreBounded(t *testing.T) {
	for _, name := range []string{
		"_Z" + strings.Repeat("N1a", 5000) + "E",
		"_Z1f" + strings.Repeat("P", 8000) + "i",
		"_Z1fI" + strings.Repeat("S_", 4000) + "E",
		"_Z1f" + strings.Repeat("1aI", 1000) + "i" + strings.Repeat("E", 1000),
		"_RNvC" + strings.Repeat("B_", 3000),
		"_R" + strings.Repeat("Nv", 3900) + "C1a" + strings.Repeat("1b", 100),
		"_ZN1aIXaddd" + strings.Repeat("E", 100),
		"_Z" + strings.Repeat("x", 1<<20),
		doubling(17),
		doubling(12),
		"_Z1fIJ" + strings.Repeat("i", 640) + "EEv" + strings.Repeat("DpT_", 65),
		"_Z1fIJ" + strings.Repeat("i", 160) + "EEv" + strings.Repeat("DpT_", 8),
		"_Z1fIJ" + strings.Repeat("i", 2000) + "EEvDpT_",
	} {
		start := time.Now()
		got := demangle.Name(name, demangle.Full)
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%.20q took %v", name, took)
		}
		if got != name && len(got) > 64<<10 {
			t.Errorf("%.20q became %d bytes", name, len(got))
		}
	}
}

// doubling is a name of which each part names the part before it twice.
func doubling(n int) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	name := "_Z1fIiEv1AIT_E"
	for i := range n {
		d := string(digits[2+2*i : 3+2*i])
		name += "1AIJS" + d + "_S" + d + "_EE"
	}
	return name
}

func FuzzName(f *testing.F) {
	for _, name := range []string{"_ZN2ns1gIiEEvT_", "_RNvCs1234_7mycrate3foo", "___Z1fv_block_invoke", "_ZN4core3fmt17h0123456789abcdefE"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, style := range []demangle.Style{demangle.Full, demangle.NoParams, demangle.Simple} {
			if got := demangle.Name(name, style); name != "" && got == "" {
				t.Errorf("%q became nothing", name)
			}
		}
	})
}

func BenchmarkName(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		demangle.Name("_ZN2ns1gIiEEvT_", demangle.Full)
	}
}
