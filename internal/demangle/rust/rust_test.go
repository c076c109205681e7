package rust_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"symbolon/internal/demangle"
	"symbolon/internal/demangle/core"
	"symbolon/internal/demangle/demangletest"
	"symbolon/internal/demangle/rust"
)

func TestRustNamesOfTheNewMangling(t *testing.T) {
	for name, want := range map[string]string{
		"_RNvCs1234_7mycrate3foo":                                 "mycrate::foo",
		"__RNvCs1234_7mycrate3foo":                                "mycrate::foo",
		"_RNvC6_123foo3bar":                                       "123foo::bar",
		"_RNvC7mycrateu8gdel_5qa":                                 "mycrate::gödel",
		"_RNvCs1234_7mycrate3foo.llvm.9876543210":                 "mycrate::foo",
		"_RNvCs1234_7mycrate3foo.cold":                            "mycrate::foo.cold",
		"_RINvC1a3fooC1bECs1_1c":                                  "a::foo::<b>",
		"_RNCNCNvC1a4main00B5_":                                   "a::main::{closure#0}::{closure#0}",
		"_RNCNvC1a4mains0_0":                                      "a::main::{closure#2}",
		"_RNSNvC1a4mains_4shim":                                   "a::main::{shim:shim#1}",
		"_RNvMC1aNtC1a1S3foo":                                     "<a::S>::foo",
		"_RNvXC1aNtC1a1SNtC1a1T3foo":                              "<a::S as a::T>::foo",
		"_RNvYNtC1a1SNtC1a1T3foo":                                 "<a::S as a::T>::foo",
		"_RINvC1a1fabcdefhijE":                                    "a::f::<i8, bool, char, f64, str, f32, u8, isize, usize>",
		"_RINvC1a1flmnopstuvxyzE":                                 "a::f::<i32, u32, i128, u128, _, i16, u16, (), ..., i64, u64, !>",
		"_RINvC1a1fRhQeOtPmAjj5_SbE":                              "a::f::<&u8, &mut str, *mut u16, *const u32, [usize; 5], [bool]>",
		"_RINvC1a1fTETaETabEE":                                    "a::f::<(), (i8,), (i8, bool)>",
		"_RINvC1a1fFEuFUKCaEbFK6systemEuE":                        `a::f::<fn(), unsafe extern "C" fn(i8) -> bool, extern "system" fn()>`,
		"_RINvC1a1fFG0_RL1_aRL0_bEuE":                             "a::f::<for<'a, 'b> fn(&'a i8, &'b bool)>",
		"_RINvC1a1fL_E":                                           "a::f::<'_>",
		"_RINvC1a1fDNtC1a1TEL_E":                                  "a::f::<dyn a::T>",
		"_RINvC1a1fDG_INtC1a1TRL0_ap4ItembENtC1a4SendEL_E":        "",
		"_RINvC1a1fDG_INtC1a1TRL0_aEp4ItembNtC1a4SendEL_E":        "a::f::<dyn for<'a> a::T<&'a i8, Item = bool> + a::Send>",
		"_RINvC1a1fDNtC1a1Tp4ItembEL_E":                           "a::f::<dyn a::T<Item = bool>>",
		"_RINvC1a1fDNtC1a1Tp3LenKj2_p4ItembEL_E":                  "a::f::<dyn a::T<Len = 2, Item = bool>>",
		"_RINvC1a1fDNtC1a1Tp3LenL_EL_E":                           "",
		"_RINvC1a1fWhRh2_h7_E":                                    "a::f::<u8 is 2..=7>",
		"_RINvC1a1fRWcORc61_c7a_Rc41_c5a_EE":                      "a::f::<&char is 'a'..='z' | 'A'..='Z'>",
		"_RINvC1a1fWPhNE":                                         "a::f::<*const u8 is !null>",
		"_RINvC1a1fWhOEE":                                         "",
		"_RINvC1a1fWhRh2_E":                                       "",
		"_RINvC1a1fWhO" + strings.Repeat("O", 300) + "NE":         "",
		"_RINvC1a1fKj1f_Kin1_Kb0_Kb1_Kc61_Kc27_Kca_KpE":           `a::f::<31, -1, false, true, 'a', '\'', '\n', _>`,
		"_RINvC1a1fKo123456789abcdef01_E":                         "a::f::<0x123456789abcdef01>",
		"_RINvC1a1fKRe68656c6c6f22_Ke61_KRAj1_j2_E":               "",
		"_RINvC1a1fKRe68656c6c6f22_Ke61_KRAj1_j2_EE":              `a::f::<"hello\"", {*"a"}, {&[1, 2]}>`,
		"_RINvC1a1fKTj1_EKTj1_j2_EKVNtC1a1SUKVNtC1a1STj1_EE":      "a::f::<{(1,)}, {(1, 2)}, {a::S}, {a::S(1)}>",
		"_RINvC1a1fKVNtC1a1SS1xj1_1yQj2_EE":                       "a::f::<{a::S { x: 1, y: &mut 2 }}>",
		"_RINvC1a1fNtC1a1SB7_E":                                   "a::f::<a::S, a::S>",
		"_RINvC1a1fTabEB7_Kj5_Bz_E":                               "",
		"_RC0":                                                    "",
		"_RNvC1a3fo":                                              "",
		"_RNvB_1a":                                                "",
		"_RINvC1a1fL1_E":                                          "",
		"_RNvC1a3foo_":                                            "",
		"_RNvC1au3n3h":                                            "a::☃",
		"_RNvC1au5zz_zz":                                          "",
		"_RNvC9999999999999999999a1b":                             "",
		"_RNvCszzzzzzzzzzzzzzzz_1a1b":                             "",
		"_RINvC1a1fKc110000_E":                                    "",
		"_RINvC1a1fKRe6_E":                                        "",
		"_RIC7integerKi_E":                                        "",
		"_RIC7integerKin_E":                                       "",
		"_RIC7integerKi0_E":                                       "integer::<0>",
		"_RIC4boolKb_E":                                           "",
		"_RIC4charKc_E":                                           "",
		"_RIC6stringKRe_E":                                        `string::<"">`,
		"_RIC8functionFKu3n3hEuE":                                 "",
		"_RIC8functionFK3n3hEuE":                                  `function::<extern "n3h" fn()>`,
		"_RNvC2a$1c":                                              "",
		"_RNvC1a3foo bar":                                         "",
		"_RNvC1a3foo.a b":                                         "",
		"_RINvC1a1fFG" + strings.Repeat("z", 8) + "_RL0_aEuE":     "",
		"_RINvC1a1f" + strings.Repeat("R", 300) + "aE":            "",
		"_RINvC1a1f" + strings.Repeat("T", 4000) + "aE":           "",
		"_RINvC1aKj" + strings.Repeat("0", 100) + "1_E":           "",
		"_RINvC1a1bKj" + strings.Repeat("0", 100) + "1_E":         "a::b::<1>",
		"_RINvC1a1b" + "T" + strings.Repeat("a", 100) + "E" + "E": "a::b::<(" + strings.TrimSuffix(strings.Repeat("i8, ", 100), ", ") + ")>",
	} {
		if want == "" {
			want = name
		}
		if got := demangle.Name(name, demangle.Full); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}

// legacy is a name of the old mangling, of parts.
func legacy(parts ...string) string {
	name := "_ZN"
	for _, part := range append(parts, "h0123456789abcdef") {
		name += strconv.Itoa(len(part)) + part
	}
	return name + "E"
}

func TestRustNamesOfTheOldMangling(t *testing.T) {
	for name, want := range map[string]string{
		legacy("core", "fmt", "Write", "write_fmt"):                 "core::fmt::Write::write_fmt",
		"_" + legacy("foo", "bar"):                                  "foo::bar",
		legacy("foo", "bar") + ".llvm.123":                          "foo::bar",
		legacy("foo", "bar") + ".cold":                              "foo::bar.cold",
		legacy("std", "__begin_short"):                              "std::__begin_short",
		legacy("_$LT$T$u20$as$u20$a..b..C$GT$", "foo"):              "<T as a::b::C>::foo",
		legacy("_$LT$$RF$$u5b$T$u5d$$u20$as$u20$a..b.C$GT$", "f.o"): "<&[T] as a::b.C>::f.o",
		legacy("foo", "$BP$const$u20$$LP$$RP$$C$", "bar"):           "foo::*const (),::bar",
		legacy("foo", "_$u7b$$u7b$closure$u7d$$u7d$"):               "foo::{{closure}}",
		legacy("foo", "$ufffffff$x"):                                "foo::$ufffffff$x",
		legacy("foo", "$u7$$ud800$x"):                               "foo::$u7$$ud800$x",
		"_ZN8$RF$testE":                                             "&test",
		"_ZN35Bar$LT$$u5b$u32$u3b$$u20$4$u5d$$GT$E":                 "Bar<[u32; 4]>",
		"_ZN28_$u7b$$u7b$closure$u7d$$u7d$E.llvm.123":               "{{closure}}",
		"_ZN8$RF$testEv":                                            "",
		"_ZN8$RF$testEi.cold":                                       "",
		"_ZN5$C$abE":                                                "",
		"_ZN4$LT$":                                                  "",
		legacy("foo") + "x":                                         "",
		legacy("foo")[:len(legacy("foo"))-1]:                        "",
		legacy():                                                    "",
		"_ZN3foo16h0123456789abcdeE":                                "",
		"_ZN3foo17h0123456789abcdeg" + "E":                          "",
		"_ZN3fo\x0117h0123456789abcdefE":                            "",
		"_ZN04foo17h0123456789abcdefE":                              "",
		"_ZN999999999999999999999foo17h0123456789abcdefE":           "",
	} {
		if want == "" {
			want = name
		}
		if got := demangle.NameIn(demangle.Rust, name, demangle.Full); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}

func TestSimpleRustNamesHaveNoGenericArguments(t *testing.T) {
	for name, want := range map[string]string{
		"_RNvMs_C1aINtC1a1SaE3foo":                                   "<a::S>::foo",
		"_RINvC1a3fooNtC1a1SE":                                       "a::foo",
		legacy("a..S$LT$T..U$GT$", "foo"):                            "a::S::foo",
		legacy("a", "foo..$LT$fn$LP$$RP$$u20$.$GT$$u20$u8$GT$", "b"): "a::foo::b",
		legacy("_$LT$a..S$LT$T$GT$$u20$as$u20$b..C$GT$", "foo"):      "<a::S as b::C>::foo",
	} {
		if got := demangle.Name(name, demangle.Simple); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// Each part names the two before it.
func TestReferencesOfRustNamesAreBounded(t *testing.T) {
	name := "_RINvC1a1bTaaE"
	at := 8
	for len(name) < 8000 {
		next := len(name) - 2
		part := "TB" + base62(at) + "B" + base62(at) + "E"
		name += part
		at = next
	}
	name += "E"
	start := time.Now()
	got := demangle.Name(name, demangle.Full)
	if took := time.Since(start); took > time.Second || got != name && len(got) > 32<<10 {
		t.Errorf("took %v for %d bytes", took, len(got))
	}
}

func base62(n int) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if n == 0 {
		return "_"
	}
	text := "_"
	for n--; ; n /= 62 {
		text = digits[n%62:n%62+1] + text
		if n < 62 {
			return text
		}
	}
}

func BenchmarkRust(b *testing.B) {
	b.ReportAllocs()
	dst := make([]byte, 0, 1<<10)
	name := []byte("_RINvNtC3std3mem8align_ofNtNtC3std3mem12DiscriminantE")
	for b.Loop() {
		demangle.Append(dst, name, demangle.Full)
	}
}

func FuzzRust(f *testing.F) {
	for _, name := range []string{
		"_RNvCs1234_7mycrate3foo", "_RINvC1a1fKRe68656c6c6f22_Ke61_KRAj1_j2_EE", "_RINvC1a1fDG_INtC1a1TRL0_aEp4ItembNtC1a4SendEL_E",
		"_RINvC1a1fKVNtC1a1SS1xj1_1yQj2_EE", "_RINvC1a1fFEuFUKCaEbFK6systemEuE", "_RNvYNtC1a1SNtC1a1T3foo", "_RNvC7mycrateu8gdel_5qa",
		legacy("_$LT$T$u20$as$u20$a..b..C$GT$", "foo"), "_RINvC1a1fKc61_Kb1_Kin1_Kp_E", "_RNSNvC1a4mains_4shim.llvm.12",
		"_RINvC1a1fWhORh2_h7_NEE", "_RINvC1a1fDNtC1a1Tp3LenKj2_EL_E", "_ZN8$RF$testE",
	} {
		f.Add([]byte(name))
	}
	demangletest.Fuzz(f, func(dst, name []byte, style core.Style, steps *int) ([]byte, bool) {
		if out, ok := rust.Append(dst, name, style, steps); ok {
			return out, true
		}
		return rust.AppendLegacy(dst, name, style, steps)
	})
}
