package msvc_test

import (
	"testing"

	"symbolon/internal/demangle"
)

// msvcNames are names with what they say in full, without parameters, in short,
// and as LLVM spells it. Most are what clang makes of C++.
var msvcNames = []struct{ name, full, noParams, simple, llvm string }{
	{`?f@@YAXXZ`, `f()`, `f`, `f`, `f(void)`},
	{`?f@ns@@YAHHPEBD@Z`, `ns::f(int, char const*)`, `ns::f`, `ns::f`, `ns::f(int, char const *)`},
	{`?g@@YAHPEAHZZ`, `g(int*, ...)`, `g`, `g`, `g(int *, ...)`},
	{`?g@@YAXZZ`, `g(...)`, `g`, `g`, `g(...)`},
	{`?f@C@@QEBAHH@Z`, `C::f(int) const`, `C::f`, `C::f`, `C::f(int) const`},
	{`?f@C@@UEAAXXZ`, `C::f()`, `C::f`, `C::f`, `C::f(void)`},
	{`?f@C@@SAXXZ`, `C::f()`, `C::f`, `C::f`, `C::f(void)`},
	{`?f@C@@AEAAXXZ`, `C::f()`, `C::f`, `C::f`, `C::f(void)`},
	{`?lr@C@@QEGAAXXZ`, `C::lr() &`, `C::lr`, `C::lr`, `C::lr(void) &`},
	{`?rr@C@@QEHDAXXZ`, `C::rr() const volatile &&`, `C::rr`, `C::rr`, `C::rr(void) const volatile &&`},
	{`?v@C@@QEIFAAXXZ`, `C::v() __restrict __unaligned`, `C::v`, `C::v`, `C::v(void) __restrict __unaligned`},
	{`?f@@YAXX_E`, `f() noexcept`, `f`, `f`, `f(void) noexcept`},
	{`??0C@ns@@QEAA@XZ`, `ns::C::C()`, `ns::C::C`, `ns::C::C`, `ns::C::C(void)`},
	{`??1C@ns@@QEAA@XZ`, `ns::C::~C()`, `ns::C::~C`, `ns::C::~C`, `ns::C::~C(void)`},
	{`??0?$C@H@ns@@QEAA@AEBV01@@Z`, `ns::C<int>::C<int>(ns::C<int> const&)`, `ns::C<int>::C<int>`, `ns::C::C`, `ns::C<int>::C<int>(class ns::C<int> const &)`},
	{`??$?0H@C@@QEAA@HPEAH@Z`, `C::C<int>(int, int*)`, `C::C<int>`, `C::C`, `C::C<int>(int, int *)`},
	{`??BC@@QEBAHXZ`, `C::operator int() const`, `C::operator int`, `C::operator int`, `C::operator int(void) const`},
	{`??$?BH@C@@QEBAPEAHXZ`, `C::operator<int> int*() const`, `C::operator<int> int*`, `C::operator int*`, `C::operator<int> int *(void) const`},
	{`??$?6U?$T@D@std@@@std@@YAAEAV?$O@DU?$T@D@std@@@0@AEAV10@PEBD@Z`, `std::operator<<<std::T<char> >(std::O<char, std::T<char> >&, char const*)`, `std::operator<<<std::T<char> >`, `std::operator<<`, `std::operator<<<struct std::T<char>>(class std::O<char, struct std::T<char>> &, char const *)`},
	{`??__K_deg@@YAHO@Z`, `operator ""_deg(long double)`, `operator ""_deg`, `operator ""_deg`, `operator ""_deg(long double)`},
	{`?f1@@YAXU?$Pack@$$V@@U?$Pack@H@@U?$Pack@U?$Pack@$$V@@U?$Pack@HUS@inner@ns@@@@@@U?$Ints@$S@@U?$Ints@$00$0?1$0BCM@@@U?$TT@$$YPack@@@@@Z`, `f1(Pack<>, Pack<int>, Pack<Pack<>, Pack<int, ns::inner::S> >, Ints<>, Ints<1, -2, 300>, TT<Pack>)`, `f1`, `f1`, `f1(struct Pack<>, struct Pack<int>, struct Pack<struct Pack<>, struct Pack<int, struct ns::inner::S>>, struct Ints<>, struct Ints<1, -2, 300>, struct TT<Pack>)`},
	{`?f2@@YAXU?$Auto@$MH00@@U?$Auto@$1?glob@@3HA@@U?$Auto@$MW4EC@@00@@U?$Auto@$1?f@S@ns@@QEBAHH@Z@@@Z`, `f2(Auto<1>, Auto<&int glob>, Auto<1>, Auto<&ns::S::f(int) const>)`, `f2`, `f2`, `f2(struct Auto<1>, struct Auto<&int glob>, struct Auto<1>, struct Auto<&ns::S::f(int) const>)`},
	{`??$f@$E?x@@3HA@@YAXXZ`, `f<int x>()`, `f<int x>`, `f`, `f<int x>(void)`},
	{`??$f@$H?g@C@@QEAAXXZA@@@YAXXZ`, `f<{C::g(), 0}>()`, `f<{C::g(), 0}>`, `f`, `f<{C::g(void), 0}>(void)`},
	{`??$f@$I?g@C@@QEAAXXZ3A@@@YAXXZ`, `f<{C::g(), 4, 0}>()`, `f<{C::g(), 4, 0}>`, `f`, `f<{C::g(void), 4, 0}>(void)`},
	{`??$f@$F7A@@@YAXXZ`, `f<{8, 0}>()`, `f<{8, 0}>`, `f`, `f<{8, 0}>(void)`},
	{`??$f@$GBA@A@?0@@YAXXZ`, `f<{16, 0, -1}>()`, `f<{16, 0, -1}>`, `f`, `f<{16, 0, -1}>(void)`},
	{`??$z@$1??$z@$MH00@?$Q@H@@SAXXZ@?$Q@H@@SAXXZ`, `Q<int>::z<&Q<int>::z<1>()>()`, `Q<int>::z<&Q<int>::z<1>()>`, `Q::z`, `Q<int>::z<&Q<int>::z<1>(void)>(void)`},
	{`?f20@@YAXU?$TA@$2UNA@@3H00@01@@_N00@@@@Z`, `f20(TA<NA{{1, 2}, 1}>)`, `f20`, `f20`, `f20(struct TA<struct NA{{1, 2}, 1}>)`},
	{`?f21@@YAXU?$TP@$2UNP@@PEBH1?glob@@3HAAEAHE?2@3HA2UNT@@H02H03@@@@@Z`, `f21(TP<NP{&int glob, int glob, NT{3, 4}}>)`, `f21`, `f21`, `f21(struct TP<struct NP{&int glob, int glob, struct NT{3, 4}}>)`},
	{`?f24@@YAXU?$TF@$2UNF@@NBDPPIAAAAAAAAAAAA@MAEAAAAAAA@@@@@Z`, `f24(TF<NF{1.5, 2}>)`, `f24`, `f24`, `f24(struct TF<struct NF{1.5, 2}>)`},
	{`?f25@@YAXU?$TU@$7TNU@@i@00@@@@Z`, `f25(TU<NU{.i = 1}>)`, `f25`, `f25`, `f25(struct TU<union NU{.i = 1}>)`},
	{`?p@@YAXPEAHPEBHQEAHPECHPEDHPEIAHPEFAH@Z`, `p(int*, int const*, int* const, int volatile*, int const volatile*, int* __restrict, int __unaligned*)`, `p`, `p`, `p(int *, int const *, int *const, int volatile *, int const volatile *, int *__restrict, int __unaligned *)`},
	{`?r@@YAXAEAHAEBH$$QEAH$$QEBH@Z`, `r(int&, int const&, int&&, int const&&)`, `r`, `r`, `r(int &, int const &, int &&, int const &&)`},
	{`?a@@YAXPEAY02HAEAY134$$CBHPEAPEAY02PEAH@Z`, `a(int (*)[3], int const (&)[4][5], int* (**)[3])`, `a`, `a`, `a(int (*)[3], int const (&)[4][5], int *(**)[3])`},
	{`?fp@@YAXP6AHH@ZP6GXXZP6APEAHPEAH@ZPEAP6AXXZA6AHH@ZP6AP6AHF@ZD@Z@Z`, `fp(int (*)(int), void (*)(), int* (*)(int*), void (**)(), int (&)(int), int (* (*)(char))(short))`, `fp`, `fp`, `fp(int (__cdecl *)(int), void (__stdcall *)(void), int * (__cdecl *)(int *), void (__cdecl **)(void), int (__cdecl &)(int), int (__cdecl * (__cdecl *)(char))(short))`},
	{`?m@@YAXPEQC@@HPERC@@HP8C@@EAAXXZP8C@@EBAHH@ZP8C@@EHAAXXZPEQC@@PEQ1@H@Z`, `m(int C::*, int const C::*, void (C::*)(), int (C::*)(int) const, void (C::*)() &&, int C::* C::*)`, `m`, `m`, `m(int C::*, int const C::*, void (__cdecl C::*)(void), int (__cdecl C::*)(int) const, void (__cdecl C::*)(void) &&, int C::*C::*)`},
	{`?ft@@YAXU?$W@$$A6AHDZZ@@U?$W@$$A8@@GDAHD@Z@@U?$W@$$BY0A@H@@U?$W@$$CBH@@U?$W@$$BY02$$CBH@@U?$W@$$QEAH@@U?$W@X@@@Z`, `ft(W<int (char, ...)>, W<int (char) const volatile &>, W<int[]>, W<int const>, W<int const[3]>, W<int&&>, W<void>)`, `ft`, `ft`, `ft(struct W<int __cdecl(char, ...)>, struct W<int __cdecl(char) const volatile &>, struct W<int[]>, struct W<int const>, struct W<int const[3]>, struct W<int &&>, struct W<void>)`},
	{`?b@@YAXCDEFGHIJKMNO_J_K_N_W_Q_S_U_L_M$$T@Z`, `b(signed char, char, unsigned char, short, unsigned short, int, unsigned int, long, unsigned long, float, double, long double, int64_t, uint64_t, bool, wchar_t, char8_t, char16_t, char32_t, int128_t, uint128_t, std::nullptr_t)`, `b`, `b`, `b(signed char, char, unsigned char, short, unsigned short, int, unsigned int, long, unsigned long, float, double, long double, __int64, unsigned __int64, bool, wchar_t, char8_t, char16_t, char32_t, __int128, unsigned __int128, std::nullptr_t)`},
	{`?e@@YAXW4E@ns@@TU@@@Z`, `e(ns::E, U)`, `e`, `e`, `e(enum ns::E, union U)`},
	{`?back@@YAXVA@@V1@PEAV1@1AEBV1@2@Z`, `back(A, A, A*, A, A const&, A*)`, `back`, `back`, `back(class A, class A, class A *, class A, class A const &, class A *)`},
	{`?ret@@YAP6AHH@ZH@Z`, `ret(int)`, `ret`, `ret`, `ret(int)`},
	{`?retarr@@YAAEAY02HXZ`, `retarr()`, `retarr`, `retarr`, `retarr(void)`},
	{`?ret@@YA?AV?$A@H@@XZ`, `ret()`, `ret`, `ret`, `ret(void)`},
	{`?ret@@YA?BHXZ`, `ret()`, `ret`, `ret`, `ret(void)`},
	{`?lam@@YA?A?<auto>@@XZ`, `lam()`, `lam`, `lam`, `lam(void)`},
	{`?vec@@YQMM@Z`, `vec(float)`, `vec`, `vec`, `vec(float)`},
	{`?reg@@YwXH@Z`, `reg(int)`, `reg`, `reg`, `reg(int)`},
	{`?swift@@YSXXZ`, `swift()`, `swift`, `swift`, `swift(void)`},
	{`?x@@3HA`, `int x`, `x`, `x`, `int x`},
	{`?x@C@@2HB`, `int const C::x`, `C::x`, `C::x`, `int const C::x`},
	{`?x@C@@0PEBDEB`, `char const* C::x`, `C::x`, `C::x`, `char const *C::x`},
	{`?x@@3PEBDEB`, `char const* x`, `x`, `x`, `char const *x`},
	{`?x@@3QEBDEB`, `char const* const x`, `x`, `x`, `char const *const x`},
	{`?x@@3P6AHH@ZEA`, `int (*x)(int)`, `x`, `x`, `int (__cdecl *x)(int)`},
	{`?x@@3PAP6AHH@ZA`, `int (** x)(int)`, `x`, `x`, `int (__cdecl **x)(int)`},
	{`?x@@3PEQC@@HEQ1@`, `int C::* x`, `x`, `x`, `int C::*x`},
	{`?rr@@3AEAY01$$CBHEB`, `int const (&rr)[2]`, `rr`, `rr`, `int const (&rr)[2]`},
	{`?x@?1??f@@YAHH@Z@4HA`, "int `int __cdecl f(int)'::`2'::x", "`f'::`2'::x", "`f'::`2'::x", "int `int __cdecl f(int)'::`2'::x"},
	{`?x@?1??f@C@@UEBAHH@Z@4HA`, "int `public: virtual int __cdecl C::f(int) const'::`2'::x", "`C::f'::`2'::x", "`C::f'::`2'::x", "int `public: virtual int __cdecl C::f(int) const'::`2'::x"},
	{`?x@?1??c@@9@4HA`, "int `c'::`2'::x", "`c'::`2'::x", "`c'::`2'::x", "int `extern \"C\" c'::`2'::x"},
	{`?x@?@??c@@9@4HA`, "int `c'::`0'::x", "`c'::`0'::x", "`c'::`0'::x", "int `extern \"C\" c'::`0'::x"},
	{`?x@?BA@??c@@9@4HA`, "int `c'::`16'::x", "`c'::`16'::x", "`c'::`16'::x", "int `extern \"C\" c'::`16'::x"},
	{`??R<lambda_1>@?0??f@@YAHXZ@QEBA?A?<auto>@@H@Z`, "`int __cdecl f()'::`1'::<lambda_1>::operator()(int) const", "`f'::`1'::<lambda_1>::operator()", "`f'::`1'::<lambda_1>::operator()", "`int __cdecl f(void)'::`1'::<lambda_1>::operator()(int) const"},
	{`?z@?1???$?RH@<lambda_0>@@QEBA?A?<auto>@@HH@Z@4HA`, "int `public: <auto> __cdecl <lambda_0>::operator()<int>(int, int) const'::`2'::z", "`<lambda_0>::operator()<int>'::`2'::z", "`<lambda_0>::operator()'::`2'::z", "int `public: <auto> __cdecl <lambda_0>::operator()<int>(int, int) const'::`2'::z"},
	{`?m@L@?1??f@@YAHH@Z@QEAAHH@Z`, "`int __cdecl f(int)'::`2'::L::m(int)", "`f'::`2'::L::m", "`f'::`2'::L::m", "`int __cdecl f(int)'::`2'::L::m(int)"},
	{`?f@?A0x1234abcd@@YAXUA@1@@Z`, "`anonymous namespace'::f(`anonymous namespace'::A)", "`anonymous namespace'::f", "`anonymous namespace'::f", "`anonymous namespace'::f(struct `anonymous namespace'::A)"},
	{`??$f@H@deep@?A0x8D199B7D@@YAXHUAnon@?A0x8D199B7D@@PEAU1?A0x8D199B7D@@PEAH@Z`, "`anonymous namespace'::deep::f<int>(int, `anonymous namespace'::Anon, `anonymous namespace'::Anon*, int*)", "`anonymous namespace'::deep::f<int>", "`anonymous namespace'::deep::f", "`anonymous namespace'::deep::f<int>(int, struct `anonymous namespace'::Anon, struct `anonymous namespace'::Anon *, int *)"},
	{"?lift@?QIWinch@harbor@@Crane@harbor@@UAGJI@Z", "harbor::Crane::[harbor::IWinch]::lift(unsigned int)", "harbor::Crane::[harbor::IWinch]::lift", "harbor::Crane::[harbor::IWinch]::lift", "harbor::Crane::[harbor::IWinch]::lift(unsigned int)"},
	{"?get@?Q?$IBox@H@@Box@@UAGPAV1@XZ", "Box::[IBox<int>]::get()", "Box::[IBox<int>]::get", "Box::[IBox]::get", "Box::[IBox<int>]::get(void)"},
	{"??__J?A@??f@@YAHXZ@5BB@", "`int __cdecl f()'::`anonymous namespace'::`local static thread guard'{17}", "`f'::`anonymous namespace'::`local static thread guard'{17}", "`f'::`anonymous namespace'::`local static thread guard'{17}", "`int __cdecl f(void)'::`anonymous namespace'::`local static thread guard'{17}"},
	{"?m@L@??f@@YAHXZ@QEAAHH@Z", "`int __cdecl f()'::L::m(int)", "`f'::L::m", "`f'::L::m", "`int __cdecl f(void)'::L::m(int)"},
	{`?f@?A@@YAXXZ`, "`anonymous namespace'::f()", "`anonymous namespace'::f", "`anonymous namespace'::f", "`anonymous namespace'::f(void)"},
	{`??_7C@@6B@`, "const C::`vftable'", "C::`vftable'", "C::`vftable'", "const C::`vftable'"},
	{`??_7C@@6BA@@B@@@`, "const C::`vftable'{for `A's `B'}", "C::`vftable'", "C::`vftable'", "const C::`vftable'{for `A's `B'}"},
	{`??_8?$C@H@ns@@7B@`, "const ns::C<int>::`vbtable'", "ns::C<int>::`vbtable'", "ns::C::`vbtable'", "const ns::C<int>::`vbtable'"},
	{`??_8C@@7BA@ns@@@`, "const C::`vbtable'{for `ns::A'}", "C::`vbtable'", "C::`vbtable'", "const C::`vbtable'{for `ns::A'}"},
	{`??_SC@@6B@`, "const C::`local vftable'", "C::`local vftable'", "C::`local vftable'", "const C::`local vftable'"},
	{`??_R0?AV?$C@H@ns@@@8`, "ns::C<int>::`RTTI Type Descriptor'", "ns::C<int>::`RTTI Type Descriptor'", "ns::C::`RTTI Type Descriptor'", "class ns::C<int> `RTTI Type Descriptor'"},
	{`??_R0PEAH@8`, "int*::`RTTI Type Descriptor'", "int*::`RTTI Type Descriptor'", "int*::`RTTI Type Descriptor'", "int *`RTTI Type Descriptor'"},
	{`??_R1A@?0A@EA@C@@8`, "C::`RTTI Base Class Descriptor at (0, -1, 0, 64)'", "C::`RTTI Base Class Descriptor at (0, -1, 0, 64)'", "C::`RTTI Base Class Descriptor at (0, -1, 0, 64)'", "C::`RTTI Base Class Descriptor at (0, -1, 0, 64)'"},
	{`??_R1BA@3FA@EA@C@@8`, "C::`RTTI Base Class Descriptor at (16, 4, 80, 64)'", "C::`RTTI Base Class Descriptor at (16, 4, 80, 64)'", "C::`RTTI Base Class Descriptor at (16, 4, 80, 64)'", "C::`RTTI Base Class Descriptor at (16, 4, 80, 64)'"},
	{`??_R2C@@8`, "C::`RTTI Base Class Array'", "C::`RTTI Base Class Array'", "C::`RTTI Base Class Array'", "C::`RTTI Base Class Array'"},
	{`??_R3C@@8`, "C::`RTTI Class Hierarchy Descriptor'", "C::`RTTI Class Hierarchy Descriptor'", "C::`RTTI Class Hierarchy Descriptor'", "C::`RTTI Class Hierarchy Descriptor'"},
	{`??_R4C@@6BA@@@`, "const C::`RTTI Complete Object Locator'{for `A'}", "C::`RTTI Complete Object Locator'", "C::`RTTI Complete Object Locator'", "const C::`RTTI Complete Object Locator'{for `A'}"},
	{`.?AVFoo@@`, "Foo `RTTI Type Descriptor Name'", "Foo `RTTI Type Descriptor Name'", "Foo `RTTI Type Descriptor Name'", "class Foo `RTTI Type Descriptor Name'"},
	{`.?AU?$A@H@ns@@`, "ns::A<int> `RTTI Type Descriptor Name'", "ns::A<int> `RTTI Type Descriptor Name'", "ns::A `RTTI Type Descriptor Name'", "struct ns::A<int> `RTTI Type Descriptor Name'"},
	{`??_9C@@$BA@AA`, "[thunk]: C::`vcall'{0, {flat}}", "C::`vcall'", "C::`vcall'", "[thunk]: __cdecl C::`vcall'{0, {flat}}"},
	{`??_9C@@$BBI@AE`, "[thunk]: C::`vcall'{24, {flat}}", "C::`vcall'", "C::`vcall'", "[thunk]: __thiscall C::`vcall'{24, {flat}}"},
	{`??_B?1??f@@YAHXZ@51`, "`int __cdecl f()'::`2'::`local static guard'{2}", "`f'::`2'::`local static guard'{2}", "`f'::`2'::`local static guard'{2}", "`int __cdecl f(void)'::`2'::`local static guard'{2}"},
	{`??_B?1??f@@YAHXZ@4IA`, "`int __cdecl f()'::`2'::`local static guard'", "`f'::`2'::`local static guard'", "`f'::`2'::`local static guard'", "`int __cdecl f(void)'::`2'::`local static guard'"},
	{`??__J?1??f@@YAHXZ@51`, "`int __cdecl f()'::`2'::`local static thread guard'{2}", "`f'::`2'::`local static thread guard'{2}", "`f'::`2'::`local static thread guard'{2}", "`int __cdecl f(void)'::`2'::`local static thread guard'{2}"},
	{`??__Ex@@YAXXZ`, "`dynamic initializer for 'x''()", "`dynamic initializer for 'x''", "`dynamic initializer for 'x''", "`dynamic initializer for 'x''(void)"},
	{`??__Fx@ns@@YAXXZ`, "`dynamic atexit destructor for 'ns::x''()", "`dynamic atexit destructor for 'ns::x''", "`dynamic atexit destructor for 'ns::x''", "`dynamic atexit destructor for 'ns::x''(void)"},
	{`??__E?x@C@@2HA@@YAXXZ`, "`dynamic initializer for 'C::x''()", "`dynamic initializer for 'C::x''", "`dynamic initializer for 'C::x''", "`dynamic initializer for `int C::x''(void)"},
	{`??__E?$tv@H@@YAXXZ`, "`dynamic initializer for 'tv<int>''()", "`dynamic initializer for 'tv<int>''", "`dynamic initializer for 'tv''", "`dynamic initializer for 'tv<int>''(void)"},
	{`??__Fs@?1??f@@YAHXZ@YAXXZ`, "`dynamic atexit destructor for '`int __cdecl f()'::`2'::s''()", "`dynamic atexit destructor for '`f'::`2'::s''", "`dynamic atexit destructor for '`f'::`2'::s''", "`dynamic atexit destructor for '`int __cdecl f(void)'::`2'::s''(void)"},
	{`?f@C@@WBA@EAAXXZ`, "[thunk]: C::f`adjustor{16}'()", `C::f`, `C::f`, "[thunk]: C::f`adjustor{16}'(void)"},
	{`?f@C@@G7EAAXXZ`, "[thunk]: C::f`adjustor{8}'()", `C::f`, `C::f`, "[thunk]: C::f`adjustor{8}'(void)"},
	{`?f@C@@$4PPPPPPPM@A@EAAXXZ`, "[thunk]: C::f`vtordisp{-4, 0}'()", `C::f`, `C::f`, "[thunk]: C::f`vtordisp{-4, 0}'(void)"},
	{`?f@C@@$2PPPPPPPM@A@EBAHH@Z`, "[thunk]: C::f`vtordisp{-4, 0}'(int) const", `C::f`, `C::f`, "[thunk]: C::f`vtordisp{-4, 0}'(int) const"},
	{`?f@C@@$R4BA@3A@7EAAXXZ`, "[thunk]: C::f`vtordispex{16, 4, 0, 8}'()", `C::f`, `C::f`, "[thunk]: C::f`vtordispex{16, 4, 0, 8}'(void)"},
	{`?f@@$$J0YAXXZ`, `f()`, `f`, `f`, `f(void)`},
	{`?f@@$$FYAXXZ`, `f()`, `f`, `f`, `f(void)`},
	{`?f@@$$hYAXXZ`, `f()`, `f`, `f`, `f(void)`},
	{`?f@@YAXP$AAVString@Platform@@A$CAH@Z`, `f(Platform::String^, int%)`, `f`, `f`, `f(class Platform::String ^, int %)`},
	{`?ToString@Object@Platform@@UE$AAAPE$AAVString@2@XZ`, `Platform::Object::ToString()`, `Platform::Object::ToString`, `Platform::Object::ToString`, `Platform::Object::ToString(void)`},
	{`?f@@YAXXZ.llvm.123`, `f() (.llvm.123)`, `f`, `f`, `f(void)`},
	{`?f@C@@CAXXZ`, `C::f()`, `C::f`, `C::f`, `C::f(void)`},
	{`?f@C@@IAEXXZ`, `C::f()`, `C::f`, `C::f`, `C::f(void)`},
	{`?f@C@@MAEXXZ`, `C::f()`, `C::f`, `C::f`, `C::f(void)`},
	{`?x@C@@1HA`, `int C::x`, `C::x`, `C::x`, `int C::x`},
	{`?x@@3HD`, `int const volatile x`, `x`, `x`, `int const volatile x`},
	{`?f@@YAXP8C@@DAXXZ@Z`, `f(void (C::*)() const volatile)`, `f`, `f`, `f(void (__cdecl C::*)(void) const volatile)`},
	{`?f@@YAXPETC@@H@Z`, `f(int const volatile C::*)`, `f`, `f`, `f(int const volatile C::*)`},
	{`?x@@3PETC@@HET1@`, `int const volatile C::* x`, `x`, `x`, `int const volatile C::*x`},
	{`?f@@YAXAFBH@Z`, `f(int const __unaligned&)`, `f`, `f`, `f(int const __unaligned &)`},
}

func TestMSVCNames(t *testing.T) {
	for _, x := range msvcNames {
		for style, want := range map[demangle.Style]string{
			demangle.Full: x.full, demangle.NoParams: x.noParams, demangle.Simple: x.simple, demangle.LLVM: x.llvm,
		} {
			if got := demangle.Name(x.name, style); got != want {
				t.Errorf("%s, style %d: got %s, want %s", x.name, style, got, want)
			}
		}
	}
}

func TestMSVCTextsAreReadInEveryStyle(t *testing.T) {
	for name, want := range map[string]string{
		`??_C@_05CJBACGMB@hello?$AA@`:                                   `"hello"`,
		`??_C@_0O@BFJCFAAK@unknown?5error@`:                             `"unknown error"...`,
		`??_C@_0CB@ABCDEFGH@12345678901234567890123456789012@`:          `"12345678901234567890123456789012"...`,
		`??_C@_09ABCDEFGH@?$CC?8?2?6?7?$AH?$AI?a?$IA?$AA@`:              `"\"\'\\\n\t\a\b\xE1\x80"`,
		`??_C@_15ODEHAHHF@?$AAh?$AAi?$AA?$AA@`:                          `L"hi"`,
		`??_C@_17CIKBIHLH@?$AAO?$AAC?$AAP@`:                             `L"OCP"`,
		`??_C@_1GO@KOBNFKCE@?$AAA?$AAS?$BC4@`:                           `L"AS\x1234"...`,
		`??_C@_05ABCDEFGH@h?$AAi?$AA?$AA?$AA@`:                          `u"hi"`,
		`??_C@_0M@ABCDEFGH@h?$AA?$AA?$AA4?$BC?$AA?$AA?$AA?$AA?$AA?$AA@`: `U"h\x1234"`,
		`??_C@_11LOCGONAA@?$AA?$AA@`:                                    `L""`,
		`??_C@_00CNPNBAHC@?$AA@`:                                        `""`,
		`??_C@_0CM@ABCDEFGH@h?$AAi?$AAh?$AAi?$AAh?$AAi?$AAh?$AAi?$AAh?$AAi?$AAh?$AAi?$AAh?$AAi?$AAh?$AAi?$AA@`: `u"hihihihihihihihi"...`,
	} {
		for _, style := range []demangle.Style{demangle.Full, demangle.NoParams, demangle.Simple, demangle.LLVM} {
			if got := demangle.Name(name, style); got != want {
				t.Errorf("%s, style %d: got %s, want %s", name, style, got, want)
			}
		}
	}
}
