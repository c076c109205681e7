package demangle_test

import (
	"strings"
	"testing"
	"time"

	"symbolon/internal/demangle"
)

func TestSubstitutionsAfterUnresolvedNames(t *testing.T) {
	for name, want := range map[string]string{
		"_Z1fIiEN1AIXsr1BIT_EE1vEE1tES1_S1_":                                    "A<B<int>::v>::t f<int>(int, int)",
		"_Z1fIiEN1AIXsr1n1BIT_EE1vEE1tES1_S1_":                                  "A<n::B<int>::v>::t f<int>(int, int)",
		"_ZSteqIcEN1n2ifIXsr2isIT_EE1vEbE1tERKSt6vectorIS2_ES8_":                "n::if<is<char>::v, bool>::t std::operator==<char>(std::vector<char> const&, std::vector<char> const&)",
		"_Z1fIiLi16EEN1AIXsr1BIT_EE1vEE1tES1_S1_":                               "A<B<int>::v>::t f<int, 16>(int, int)",
		"_Z1fIiEN1AIXsr1BIT_EE1vEXsr1CIT_EE1vEE1tES1_S1_":                       "A<B<int>::v, C<int>::v>::t f<int>(int, int)",
		"_Z1fIiEN1AIXsr1BIT_EE1vEE1tES1_" + strings.Repeat("1sr", 200) + "S1_X": "",
	} {
		if want == "" {
			want = name
		}
		if got := demangle.Name(name, demangle.Full); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}

func TestEmptyPacksLeaveNoComma(t *testing.T) {
	for name, want := range map[string]string{
		"_Z1fIiJEEv1AIJT_DpT0_EE":     "void f<int>(A<int>)",
		"_Z1fI1BIiEJEEv1AIJT_DpT0_EE": "void f<B<int> >(A<B<int> >)",
	} {
		if got := demangle.Name(name, demangle.Full); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestCPPAsLLVMSpellsIt(t *testing.T) {
	for name, want := range map[string][2]string{ // Full, LLVM
		"_Z1fILm1EEvv":                    {"void f<1ul>()", "void f<1ul>()"},
		"_Z1fv.cold":                      {"f() [clone .cold]", "f() (.cold)"},
		"_Z1fI1AI1BEEvT_":                 {"void f<A<B> >(A<B>)", "void f<A<B>>(A<B>)"},
		"$s4main3fooyyxlF":                {"main.foo<A>(A) -> ()", "main.foo<A>(A) -> ()"},
		"_ZN3foo3bar17h0123456789abcdefE": {"foo::bar", "foo::bar"},
	} {
		for i, style := range [...]demangle.Style{demangle.Full, demangle.LLVM} {
			if got := demangle.Name(name, style); got != want[i] {
				t.Errorf("%s: got %s, want %s", name, got, want[i])
			}
		}
	}
}

func TestFunctionsInTemplateArgumentsHaveTheirParameters(t *testing.T) {
	for name, want := range map[string]string{
		"_Z5applyIXadL_Z4highiEEEvv":                    "void apply<&high(int)>()",
		"_Z5applyIXadL_Z4highiEEXadL_Z4highvEEEvv":      "void apply<&high(int), &high()>()",
		"_Z5applyIXadL_ZN1AIiE1fEiEEEvv":                "void apply<&A<int>::f(int)>()",
		"_Z5applyIXadL_ZNK1A1fEiEEEvv":                  "void apply<&A::f(int) const>()",
		"_Z5applyIXadL_Z4highIiEvT_EEEvv":               "void apply<&void high<int>(int)>()",
		"_Z5applyIXadL_Z1xEEEvv":                        "void apply<&x>()",
		"_ZZN1BIXadL_Z4highiEEE1fEvENKUlvE_clEv":        "B<&high(int)>::f()::{lambda()#1}::operator()() const",
		"_Z5applyIXcvPFviEadL_Z4highiEEEvv":             "void apply<(void (*)(int))(&high(int))>()",
		"_Z5applyIXadL_Z4highiEEXadL_Z4highvEEEvU3abci": "void apply<&high(int), &high()>(int abc)",
		"_Z5applyIXadL_ZNK1A1fEiEEEvU3abci":             "void apply<&A::f(int) const>(int abc)",
		"_Z5applyIXadL_Z1xEEEvU3abci":                   "void apply<&x>(int abc)",
	} {
		if got := demangle.Name(name, demangle.Full); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	const name, short, called = "_Z5applyIXadL_Z4highiEEEvv", "apply<&high(int)>", "apply<&high(int)>()"
	if got := demangle.Name(name, demangle.NoParams); got != short {
		t.Errorf("without parameters of its own: got %s, want %s", got, short)
	}
	if got := demangle.Name(name, demangle.Called); got != called {
		t.Errorf("as it is called: got %s, want %s", got, called)
	}
}

func TestBlocksAreTypes(t *testing.T) {
	for name, want := range map[string]string{
		"_Z3fooU13block_pointerFviE":                       "foo(void (int) block_pointer)",
		"_Z3fooPU13block_pointerFviES_S0_S1_":              "foo(void (int) block_pointer*, void (int), void (int) block_pointer, void (int) block_pointer*)",
		"_Z3fooRKU13block_pointerFPU13block_pointerFvvEiE": "foo(void () block_pointer* (int) block_pointer const&)",
		"_Z3fooIiEvU13block_pointerFvT_E":                  "void foo<int>(void (int) block_pointer)",
		"_ZN1AcvU13block_pointerFvvEEv":                    "A::operator void () block_pointer()",
		"_Z3fooU13block_pointerFviEU3abci":                 "foo(void (int) block_pointer, int abc)",
		"_Z3fooPU13block_pointerFviEU3abci":                "foo(void (int) block_pointer*, int abc)",
	} {
		if got := demangle.Name(name, demangle.Full); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestHashesOfLLVMAreHexadecimal(t *testing.T) {
	for name, want := range map[string][3]string{ // Full, LLVM, NoParams
		"_ZN3fooE.llvm.9D1C9369":                    {"foo [clone .llvm.9D1C9369]", "foo (.llvm.9D1C9369)", "foo"},
		"_Z3foov.cold.llvm.9D1C9369":                {"foo() [clone .cold] [clone .llvm.9D1C9369]", "foo() (.cold.llvm.9D1C9369)", "foo"},
		"__Z3foov.llvm.0123456789abcdefABCD":        {"foo() [clone .llvm.0123456789abcdefABCD]", "foo() (.llvm.0123456789abcdefABCD)", "foo"},
		"_Z3fooU3abci.llvm.9D1C9369":                {"foo(int abc) [clone .llvm.9D1C9369]", "foo(int abc) (.llvm.9D1C9369)", "foo"},
		"_ZN3foo17h0123456789abcdefE.llvm.9D1C9369": {"foo", "foo", "foo"},
		"_RNvC1a1b.llvm.9D1C9369":                   {"a::b", "a::b", "a::b"},
		"_Z3foov.llvm.9D1C936X":                     {"_Z3foov.llvm.9D1C936X", "foo() (.llvm.9D1C936X)", "foo"},
		"_Z3foov.llvm.":                             {"_Z3foov.llvm.", "foo() (.llvm.)", "foo"},
		"_Z3foov.llvm.123456":                       {"foo() [clone .llvm.123456]", "foo() (.llvm.123456)", "foo"},
	} {
		for i, style := range [...]demangle.Style{demangle.Full, demangle.LLVM, demangle.NoParams} {
			if got := demangle.Name(name, style); got != want[i] {
				t.Errorf("%s, style %d: got %s, want %s", name, style, got, want[i])
			}
		}
	}
}

func TestThunksHaveNoParametersInShortStyles(t *testing.T) {
	for name, want := range map[string]string{
		"_ZThn16_N1A1fEi":   "non-virtual thunk to A::f",
		"_ZTv0_n24_N1A1fEi": "virtual thunk to A::f",
		"_ZGTtN1A1fEi":      "transaction clone for A::f",
		"_ZGTnN1A1fEi":      "non-transaction clone for A::f",
		"_ZGTt":             "_ZGTt",
		"_ZThn16_":          "_ZThn16_",
		"_ZTv0_N1A1fEi":     "_ZTv0_N1A1fEi",
		"_ZGVZ1fvE1x":       "guard variable for f()::x",
	} {
		if got := demangle.Name(name, demangle.NoParams); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	if got, want := demangle.Name("_ZThn16_N1A1fEi", demangle.Full), "non-virtual thunk to A::f(int)"; got != want {
		t.Errorf("in full: got %s, want %s", got, want)
	}
}

func TestPrefixesAndSuffixesOfCPPNames(t *testing.T) {
	for name, want := range map[string]string{
		"__Z3foov":                                 "foo()",
		"___Z3foov_block_invoke":                   "invocation function for block in foo()",
		"____Z3foov_block_invoke":                  "invocation function for block in foo()",
		"_Z3foov.cold":                             "foo() [clone .cold]",
		"_Z3foov.llvm.123456":                      "foo() [clone .llvm.123456]",
		"_Z3foov$0123456789abcdef0123456789abcdef": "foo()",
		"_Z3foov@plt":                              "_Z3foov@plt",
		"_Z3foov@@GLIBCXX_3.4":                     "_Z3foov@@GLIBCXX_3.4",
		"_Z3f\u00f6ov":                             "_Z3f\u00f6ov",
		"_____Z3foov":                              "_____Z3foov",
		"a_Z3foov":                                 "a_Z3foov",
		"_ZN3foo17h0123456789abcdeE":               "_ZN3foo17h0123456789abcdeE",
	} {
		if got := demangle.Name(name, demangle.Full); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestLongCPPNamesAreRead(t *testing.T) {
	// Many references in a template, none of which stands for much.
	name := "_Z1fIiEvT_1AIS_E" + strings.Repeat("S_", 100)
	want := "void f<int>(int, A<f>" + strings.Repeat(", f", 100) + ")"
	if got := demangle.Name(name, demangle.Full); got != want {
		t.Errorf("got %s", got)
	}
}

func TestDepthOfCPPNamesHasALimit(t *testing.T) {
	if got, want := demangle.Name("_Z1f"+strings.Repeat("P", 200)+"i", demangle.Full), "f(int"+strings.Repeat("*", 200)+")"; got != want {
		t.Errorf("200 levels: got %s", got)
	}
	if name := "_Z1f" + strings.Repeat("P", 300) + "i"; demangle.Name(name, demangle.Full) != name {
		t.Error("300 levels were written")
	}
}

func TestHostileCPPNamesAreBounded(t *testing.T) {
	for _, name := range []string{
		"_Z" + strings.Repeat("N1a", 5000) + "E",
		"_Z1f" + strings.Repeat("P", 8000) + "i",
		"_Z1f" + strings.Repeat("PK", 120) + "i" + strings.Repeat("S_", 3900),
		"_Z1fIXad" + strings.Repeat("st", 900) + "iEEvv",
		"_ZN1AcvT_IiX" + strings.Repeat("sr1BIT_EE1v", 170) + "EEEv",
		"_Z1fI" + strings.Repeat("S_", 4000) + "E",
		"_Z1f" + strings.Repeat("1aI", 1000) + "i" + strings.Repeat("E", 1000),
		"_ZN1aIXaddd" + strings.Repeat("E", 100),
		"_Z" + strings.Repeat("x", 1<<20),
		doubling(17),
		doubling(12),
		"_Z1fIJ" + strings.Repeat("i", 640) + "EEv" + strings.Repeat("DpT_", 65),
		"_Z1fIJ" + strings.Repeat("i", 160) + "EEv" + strings.Repeat("DpT_", 8),
		"_Z1fIJ" + strings.Repeat("i", 2000) + "EEvDpT_",
		strings.Repeat("_ZGTt", 1600),
	} {
		start := time.Now()
		got := demangle.Name(name, demangle.Full)
		if took := time.Since(start); took > time.Second {
			t.Errorf("%.20q took %v", name, took)
		}
		if got != name && len(got) > 32<<10 {
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

func BenchmarkCPP(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		demangle.Name("_ZN2ns1gIiEEvT_", demangle.Full)
	}
}
