package demangle_test

import (
	"testing"
	"time"

	"symbolon/internal/demangle"
)

func TestNamesInEveryStyle(t *testing.T) {
	for _, x := range []struct{ name, full, noParams, simple, called string }{
		{"_ZN2ns1fEi", "ns::f(int)", "ns::f", "ns::f", "ns::f(int)"},
		{"__ZN2ns1fEi", "ns::f(int)", "ns::f", "ns::f", "ns::f(int)"},
		{"_ZN2ns1gIiEEvT_", "void ns::g<int>(int)", "ns::g<int>", "ns::g", "ns::g<int>(int)"},
		{"_ZNK3PotILi3EE4pourEv", "Pot<3>::pour() const", "Pot<3>::pour", "Pot::pour", "Pot<3>::pour() const"},
		{"_ZN3foo3barIiEEiT_.cold", "int foo::bar<int>(int) [clone .cold]", "foo::bar<int>", "foo::bar", "foo::bar<int>(int) [clone .cold]"},
		{"_ZNK1A1fIiEEvT_", "void A::f<int>(int) const", "A::f<int>", "A::f", "A::f<int>(int) const"},
		{"_ZN1AcvT_IiEEv", "A::operator int<int>()", "A::operator int<int>", "A::operator int", "A::operator int<int>()"},
		{"?lift@Crane@harbor@@QEAAHH@Z", "harbor::Crane::lift(int)", "harbor::Crane::lift", "harbor::Crane::lift", "harbor::Crane::lift(int)"},
		{"$s8mangling12GenericUnionO3FooyACyxGSicAEmlF", "mangling.GenericUnion.Foo<A>(mangling.GenericUnion<A>.Type) -> (Swift.Int) -> mangling.GenericUnion<A>", "GenericUnion.Foo<A>", "GenericUnion.Foo", "GenericUnion.Foo<A>(GenericUnion<A>.Type)"},
		{"_ZTV3Pot", "vtable for Pot", "vtable for Pot", "vtable for Pot", "vtable for Pot"},
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt", "core::fmt::Write::write_fmt", "core::fmt::Write::write_fmt", "core::fmt::Write::write_fmt"},
		{"_RNvCs1234_7mycrate3foo", "mycrate::foo", "mycrate::foo", "mycrate::foo", "mycrate::foo"},
		{"_RINvC1a3fooNtC1a1SE", "a::foo::<a::S>", "a::foo::<a::S>", "a::foo", "a::foo::<a::S>"},
		{"$s4main3FooV3bar1aySi_tF", "main.Foo.bar(a: Swift.Int) -> ()", "Foo.bar", "Foo.bar", "Foo.bar(a: Int)"},
		{"$s4main3fooyyxlF", "main.foo<A>(A) -> ()", "foo<A>", "foo", "foo<A>(A)"},
		{"camlStdlib__List__map_123", "Stdlib.List.map", "Stdlib.List.map", "Stdlib.List.map", "Stdlib.List.map"},
		{"gopkg.in/yaml%2ev3.Unmarshal", "gopkg.in/yaml.v3.Unmarshal", "gopkg.in/yaml.v3.Unmarshal", "gopkg.in/yaml.v3.Unmarshal", "gopkg.in/yaml.v3.Unmarshal"},
	} {
		for style, want := range map[demangle.Style]string{demangle.Full: x.full, demangle.NoParams: x.noParams, demangle.Simple: x.simple, demangle.Called: x.called} {
			if got := demangle.Name(x.name, style); got != want {
				t.Errorf("%s, style %d: got %q, want %q", x.name, style, got, want)
			}
			if got := string(demangle.Append([]byte("x "), []byte(x.name), style)); got != "x "+want {
				t.Errorf("%s appended, style %d: got %q, want %q", x.name, style, got, "x "+want)
			}
		}
	}
}

func TestBareNamesHaveNoArgumentsOfTemplates(t *testing.T) {
	for name, want := range map[string]string{
		"_ZNK1A1fIiEEvT_":                  "void A::f(int) const",
		"_ZN3geoltI3BoxEEbRKNS_4AreaIT_EE": "bool geo::operator<(geo::Area const&)",
		"_ZNSt6vectorIiSaIiEEixEm":         "std::vector::operator[](unsigned long)",
		"_ZZN1a1bIiEEvvENKUliE_clEi":       "a::b()::{lambda(int)#1}::operator()(int) const",
		"?f@?$A@H@@QEAAXXZ":                "A::f()",
		"_RINvC1a3fooNtC1a1SE":             "a::foo::<a::S>",
		"main.Map[go.shape.int]":           "main.Map[go.shape.int]",
		"plain<int>":                       "plain<int>",
	} {
		if got := demangle.Name(name, demangle.Bare); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestOtherNamesStayAsTheyAre(t *testing.T) {
	for _, name := range []string{
		"", "_", "f", "i", "main", "_start", "_Z", "_Zzz", "_ZN", "_R", "__R_", "_ZN3fooE\x00", "std::vector<int>",
		"_RNvCs1234_7mycrate", "_RC0", "_ZN99999999999999999999f", "-[Lamp setLevel:]", "+[NSView(Glow) a:b:]", "__31-[Lamp fade:]_block_invoke",
		"caml_main__f_1", "camlModule", "camlModule__fn", "camlModule_12", "camlite_12", "camlStdlib__Bytes__11", "camlA__B_c__1", "go.(*T).m", "100%", "a%zz", "a%20b", "_f", "@f@8", "f@@16",
		"__imp__Z3foov", "java.lang.Object.<init>", "_D4test3fooFZv", "??@0123@", "Z3foov", "RNvC1a1b",
	} {
		if got := demangle.Name(name, demangle.Full); got != name {
			t.Errorf("%q became %q", name, got)
		}
		if got := string(demangle.Append(nil, []byte(name), demangle.Full)); got != name {
			t.Errorf("%q appended became %q", name, got)
		}
	}
}

func TestKnownLanguageRestrictsTheManglings(t *testing.T) {
	for _, x := range []struct {
		lang       demangle.Lang
		name, want string
	}{
		{demangle.PlainLang, "_ZN3foo3barEv", "_ZN3foo3barEv"},
		{demangle.PlainLang, "$s4main3fooyyF", "$s4main3fooyyF"},
		{demangle.CPP, "_ZN3foo3barEv", "foo::bar()"},
		{demangle.CPP, "_ZN3foo17h0123456789abcdefE", "foo::h0123456789abcdef"},
		{demangle.CPP, "_RNvC1a1b", "_RNvC1a1b"},
		{demangle.Rust, "_ZN3foo3barEv", "_ZN3foo3barEv"},
		{demangle.Rust, "_ZN3foo17h0123456789abcdefE", "foo"},
		{demangle.Rust, "_RNvC1a1b", "a::b"},
		{demangle.Swift, "$s4main3fooyyF", "main.foo() -> ()"},
		{demangle.Swift, "_ZN3foo3barEv", "_ZN3foo3barEv"},
		{demangle.Go, "a%2eb.c", "a.b.c"},
		{demangle.Go, "_ZN3foo3barEv", "_ZN3foo3barEv"},
		{demangle.OCaml, "camlFoo.bar_12", "Foo.bar"},
		{demangle.Lang(200), "_ZN3foo3barEv", "_ZN3foo3barEv"},
	} {
		if got := demangle.NameIn(x.lang, x.name, demangle.Full); got != x.want {
			t.Errorf("%s in language %d: got %s, want %s", x.name, x.lang, got, x.want)
		}
	}
}

func TestClassesOfSwiftInMethodsOfObjectiveC(t *testing.T) {
	for name, want := range map[string]string{
		"-[_TtC3foo3bar run]":                         "-[foo.bar run]",
		"+[_TtC3foo3bar makeWith:and:]":               "+[foo.bar makeWith:and:]",
		"-[_TtC3foo3bar(Extra) run]":                  "-[foo.bar(Extra) run]",
		"-[_TtCC3foo3bar3Row run]":                    "-[foo.bar.Row run]",
		"-[_TtC3fooP33_0123456789ABCDEF3bar3Row run]": "-[_TtC3fooP33_0123456789ABCDEF3bar3Row run]",
		"-[_TtGC3foo3BarSi_ run]":                     "-[foo.Bar<Swift.Int> run]",
		"-[_TtC3foo3bar.1 run]":                       "-[_TtC3foo3bar.1 run]",
		"-[_TtC3foo3barrun]":                          "-[_TtC3foo3barrun]",
		"-[_TtSi":                                     "-[_TtSi",
		"-[_TF4main3fooFT_T_ run]":                    "-[_TF4main3fooFT_T_ run]",
		"-[Lamp run]":                                 "-[Lamp run]",
		"-[_":                                         "-[_",
	} {
		for _, lang := range []demangle.Lang{demangle.AnyLang, demangle.PlainLang, demangle.CPP, demangle.Swift} {
			if got := demangle.NameIn(lang, name, demangle.NoParams); got != want {
				t.Errorf("%s in language %d: got %s, want %s", name, lang, got, want)
			}
		}
	}
}

func TestHashedNamesOfMSVCAreCut(t *testing.T) {
	const hashed = "??@0123456789abcdef0123456789abcdef@"
	for _, name := range []string{hashed, hashed + "??_R4@"} {
		if got := demangle.Name(name, demangle.Full); got != hashed {
			t.Errorf("%s became %s", name, got)
		}
	}
}

func TestEscapesOfOCaml(t *testing.T) {
	for name, want := range map[string]string{
		"camlFoo__$3e$3e_12": "Foo.>>",
		"camlFoo__a__b_c_12": "Foo.a.b_c",
		"camlFoo___x_12":     "Foo_.x",
		"camlFoo__Bar__f__1": "Foo.Bar.f_",
		"camlFoo__Make_712":  "Foo.Make",
		"camlFoo.f$zz_1":     "Foo.f$zz",
	} {
		if got := demangle.Name(name, demangle.Full); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// BenchmarkPlain is a name that is not mangled, as most are.
func BenchmarkPlain(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		demangle.Name("pthread_mutex_lock", demangle.Full)
	}
}

func FuzzName(f *testing.F) {
	for _, name := range []string{"camlStdlib__List__map_123", "a%2eb.c", "??@0123456789abcdef0123456789abcdef@??_R4@", "_foo@12", "_Z1fv", "_RNvC1a1b", "$s4main3fooyyF", "-[_TtC3foo3bar run]"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, style := range []demangle.Style{demangle.Full, demangle.NoParams, demangle.Simple, demangle.LLVM, demangle.Called, demangle.Bare} {
			start := time.Now()
			got := demangle.Name(name, style)
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("%q took %v", name, took)
			}
			if name != "" && got == "" || len(got) > max(len(name), 32<<10) {
				t.Errorf("%q became %d bytes", name, len(got))
			}
			if again := string(demangle.Append([]byte("x"), []byte(name), style)); again != "x"+got {
				t.Errorf("%q became %q and %q", name, got, again)
			}
		}
	})
}

func TestTextKeepsEverythingButNames(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"at _Z1fv.":                       "at f().",
		"(_ZN1a1bEv+0x10) <_Z1gi>":        "(a::b()+0x10) <g(int)>",
		"no name here, not even _Z":       "no name here, not even _Z",
		"?f@@YAXH@Z called by _Z1fv":      "f(int) called by f()",
		"é_Z1fv":                          "é_Z1fv",
		"$s4main3fooyyF, then\tmore text": "main.foo() -> (), then\tmore text",
	} {
		if got := demangle.Text(text, demangle.Full); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
