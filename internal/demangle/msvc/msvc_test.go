package msvc_test

import (
	"strings"
	"testing"
	"time"

	"symbolon/internal/demangle"
	"symbolon/internal/demangle/demangletest"
	"symbolon/internal/demangle/msvc"
)

func TestMSVCOperators(t *testing.T) {
	for letters, word := range map[string]string{
		"2":   "operator new",
		"3":   "operator delete",
		"4":   "operator=",
		"5":   "operator>>",
		"6":   "operator<<",
		"7":   "operator!",
		"8":   "operator==",
		"9":   "operator!=",
		"A":   "operator[]",
		"C":   "operator->",
		"D":   "operator*",
		"E":   "operator++",
		"F":   "operator--",
		"G":   "operator-",
		"H":   "operator+",
		"I":   "operator&",
		"J":   "operator->*",
		"K":   "operator/",
		"L":   "operator%",
		"M":   "operator<",
		"N":   "operator<=",
		"O":   "operator>",
		"P":   "operator>=",
		"Q":   "operator,",
		"R":   "operator()",
		"S":   "operator~",
		"T":   "operator^",
		"V":   "operator&&",
		"X":   "operator*=",
		"Y":   "operator+=",
		"Z":   "operator-=",
		"_0":  "operator/=",
		"_1":  "operator%=",
		"_2":  "operator>>=",
		"_3":  "operator<<=",
		"_4":  "operator&=",
		"_6":  "operator^=",
		"_A":  "`typeof'",
		"_D":  "`vbase destructor'",
		"_E":  "`vector deleting destructor'",
		"_F":  "`default constructor closure'",
		"_G":  "`scalar deleting destructor'",
		"_H":  "`vector constructor iterator'",
		"_I":  "`vector destructor iterator'",
		"_J":  "`vector vbase constructor iterator'",
		"_K":  "`virtual displacement map'",
		"_L":  "`eh vector constructor iterator'",
		"_M":  "`eh vector destructor iterator'",
		"_N":  "`eh vector vbase constructor iterator'",
		"_O":  "`copy constructor closure'",
		"_P":  "`udt returning'",
		"_T":  "`local vftable constructor closure'",
		"_U":  "operator new[]",
		"_V":  "operator delete[]",
		"_X":  "`placement delete closure'",
		"_Y":  "`placement delete[] closure'",
		"__A": "`managed vector constructor iterator'",
		"__B": "`managed vector destructor iterator'",
		"__C": "`EH vector copy constructor iterator'",
		"__D": "`EH vector vbase copy constructor iterator'",
		"__G": "`vector copy constructor iterator'",
		"__H": "`vector vbase copy constructor iterator'",
		"__I": "`managed vector vbase copy constructor iterator'",
		"__L": "operator co_await",
		"__M": "operator<=>",
		"U":   "operator|",
		"W":   "operator||",
		"_5":  "operator|=",
	} {
		name := "??" + letters + "C@@QEAAXH@Z"
		if got := demangle.Name(name, demangle.Full); got != "C::"+word+"(int)" {
			t.Errorf("%s: got %s, want C::%s(int)", name, got, word)
		}
	}
	for name, want := range map[string]string{
		"??_GC@@UAEPAXI@Z":   "C::`scalar deleting dtor'(unsigned int)",
		"??_HC@@QAEXH@Z":     "C::`vector ctor iterator'(int)",
		"??__HC@@QAEXH@Z":    "C::`vector vbase copy constructor iterator'(int)",
		"??_NC@@QAEXH@Z":     "C::`eh vector vbase ctor iterator'(int)",
		"??0C@@QAE@XZ":       "C::C(void)",
		"??MC@@QBE_NABV0@@Z": "C::operator<(class C const &) const",
	} {
		if got := demangle.Name(name, demangle.LLVM); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestOtherNamesAreNotReadAsMSVC(t *testing.T) {
	for _, name := range []string{
		"?", "??", "?x", "?x@", "?f@@", "?f@@Y", "?f@@YAXX", "?f@@YAX", "?f@@YAHZ", "?f@@YKXXZ", "?f@@YAXXZ_E", "?f@@YAXXZ@", "?@@YAXXZ",
		"?A0x8417fefe::_Count_traits_8", "?f@@YAX1@Z", "?f@1@YAXXZ", "?f@@YAXPEH@Z", "?f@@YAXW8E@@@Z", "?f@@YAXL@Z", "?f@@YAX_B@Z",
		"?f@@YAX$$D@Z", "?f@@YAX$D@Z", "?f@@YAXY_@Z", "?f@@YAXPEAYA@H@Z", "?f@@YAXPEAY?0H@Z", "?f@@YAXP7XXZ@Z",
		"??0@@QEAA@XZ", "??1@@QEAA@XZ", "??B@@YAHXZ@", "??BC@@QEAA@XZ", "??BC@@2HA", "??_WC@@QEAAXXZ", "??_ZC@@QEAAXXZ", "??__ZC@@QEAAXXZ", "??__",
		"??$f@H@Y", "??$f@$4@@YAXXZ", "??$f@$", "??$f@$1@@YAXXZ@", "?f@?$?0H@C@@YAXXZ", "?f@?$?BH@C@@YAXXZ", "?x@?1f@@4HA", "?x@?1??f@@4HA",
		"??_7C@@5B@", "??_7C@@6E@", "??_7C@@6BA", "??_R0H@7", "??_R1C@@8", "??_R2C@@7", "??_9C@@$CA@AA", "??_9C@@$BA@BA", "??_9C@@$BA@AK",
		"??_BC@@4HA", "??__Ex@@3HAYAXXZ", "??__E?x@@YAXXZ", "??__E?x@@3HA@YAXXZ", "?f@C@@$9A@A@EAAXXZ", "?f@C@@$RXA@A@A@A@EAAXXZ",
		"??_C@_2A@X@a@", "??_C@_1?0@X@a@", "??_C@_10X@a@", "??_C@_11X@a@", "??_C@_01X", "??_C@_01X@a", "??_C@_01X@?", "??_C@_01X@?$", "??_C@_01X@?$aa@",
		"??_C@_01X@?_@", "??_C@@01X@a@", "??_C@_01X@" + strings.Repeat("a", 129) + "@",
		"?f@@YAX" + strings.Repeat("PEA", 200) + "H@Z", "?x@@3HAAAAAAAAAAAAAAAAAAAA", "?x@?AAAAAAAAAAAAAAAAAA", "?x@?BAAAAAAAAAAAAAAAAA@??c@@9@4HA",
		".?", ".?A", ".?AVFoo@@x", ".?AVFoo", ".H", ".text", "@?f@@YAXXZ", "__imp_?f@@YAXXZ", "?f\x01@@YAXXZ", "?f\n@@YAXXZ",
		"??$f@$2UNT@@H0@@YAXXZ", "??$f@$3H00@@YAXXZ", "??$f@$7TNU@@@@YAXXZ", "??$f@$" + strings.Repeat("2UN@@", 300) + "@@YAXXZ",
	} {
		for _, style := range []demangle.Style{demangle.Full, demangle.NoParams, demangle.Simple, demangle.LLVM} {
			if got := demangle.Name(name, style); got != name {
				t.Errorf("%q, style %d: became %q", name, style, got)
			}
		}
	}
}

// TestEveryPartOfAMSVCNameIsRead reads what is left of names that were cut, and
// names with one letter changed.
func TestEveryPartOfAMSVCNameIsRead(t *testing.T) {
	for _, x := range msvcNames {
		for i := range x.name {
			demangle.Name(x.name[:i], demangle.Full)
			for _, c := range []byte("?@$0AZ") {
				demangle.Name(x.name[:i]+string(c)+x.name[i+1:], demangle.LLVM)
			}
		}
	}
}

// TestMSVCReferencesAreBounded has names in which each parameter is twice the
// one before it: their texts would be longer than all memory.
func TestMSVCReferencesAreBounded(t *testing.T) {
	double := "P6AX" + strings.Repeat("P6AX", 10) + "PEAH" + "00@Z" + "11@Z" + "22@Z" + "33@Z" + "44@Z" + "55@Z" + "66@Z" + "77@Z" + "88@Z" + "99@Z" + "@Z"
	wide := "?f@@YAXP6AXPEAH@Z" + strings.Repeat("P6AX"+strings.Repeat("0123456789", 40)[:400]+"@Z", 9) + "@Z"
	for _, name := range []string{"?f@@YAX" + double + "@Z", wide, "?f@@YAX" + strings.Repeat("V?$A@", 120) + strings.Repeat("@@", 120) + "@Z"} {
		start := time.Now()
		got := demangle.Name(name, demangle.Full)
		if took := time.Since(start); took > time.Second {
			t.Errorf("%.40s took %v", name, took)
		}
		if len(got) > 16<<10 {
			t.Errorf("%.40s became %d bytes", name, len(got))
		}
	}
}

func TestMSVCNamesOfKnownLanguages(t *testing.T) {
	for lang, want := range map[demangle.Lang]string{
		demangle.AnyLang: "ns::f()", demangle.CPP: "ns::f()", demangle.PlainLang: "?f@ns@@YAXXZ", demangle.Rust: "?f@ns@@YAXXZ",
	} {
		if got := demangle.NameIn(lang, "?f@ns@@YAXXZ", demangle.Full); got != want {
			t.Errorf("language %d: got %s, want %s", lang, got, want)
		}
	}
}

func BenchmarkMSVC(b *testing.B) {
	const name = "?_Resize@?$vector@V?$basic_string@DU?$char_traits@D@std@@V?$allocator@D@2@@std@@V?$allocator@V?$basic_string@DU?$char_traits@D@std@@V?$allocator@D@2@@std@@@2@@std@@AEAAX_KAEBV?$basic_string@DU?$char_traits@D@std@@V?$allocator@D@2@@2@@Z"
	var buffer [1 << 10]byte
	for _, x := range []struct{ kind, name string }{{"short", "?f@ns@@YAHHPEBD@Z"}, {"long", name}} {
		b.Run(x.kind, func(b *testing.B) {
			b.ReportAllocs()
			mangled := []byte(x.name)
			for b.Loop() {
				demangle.Append(buffer[:0], mangled, demangle.Full)
			}
		})
	}
}

func FuzzMSVC(f *testing.F) {
	for _, x := range msvcNames {
		f.Add([]byte(x.name))
	}
	for _, text := range []string{`??_C@_05CJBACGMB@hello?$AA@`, `??_C@_15ODEHAHHF@?$AAh?$AAi?$AA?$AA@`, `??_C@_09ABCDEFGH@?$CC?8?2?6?7?$AH?$AI?a?$IA?$AA@`} {
		f.Add([]byte(text))
	}
	demangletest.Fuzz(f, msvc.Append)
}
