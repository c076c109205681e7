package swift_test

import (
	"strconv"
	"strings"
	"testing"

	"symbolon/internal/demangle"
	"symbolon/internal/demangle/core"
)

// oldNames are names of Swift 1 to 3 with what they say in full and without
// parameters.
var oldNames = []struct{ name, full, noParams string }{
	{`_TF4main3fooFT_T_`, `main.foo() -> ()`, `foo`},
	{`_TF4main3fooFT1aSi1bSS_Sb`, `main.foo(a: Swift.Int, b: Swift.String) -> Swift.Bool`, `foo`},
	{`_TF4main3foofTSiSu_Sb`, `main.foo(Swift.Int, Swift.UInt) -> Swift.Bool`, `foo`},
	{`_TFC4main3Box4openfzT_S0_`, `main.Box.open() throws -> main.Box`, `Box.open`},
	{`_TFV4main3Row3geturfqd__x`, `main.Row.get<A>(A1) -> A`, `Row.get<A>`},
	{`_TFC4main3Boxg5widthSi`, `main.Box.width.getter : Swift.Int`, `Box.width.getter`},
	{`_TFZC4main3Boxs5widthSi`, `static main.Box.width.setter : Swift.Int`, `static Box.width.setter`},
	{`_TFC4main3Boxau5widthSi`, `main.Box.width.unsafeMutableAddressor : Swift.Int`, `Box.width.unsafeMutableAddressor`},
	{`_TFC4main3Boxlu5widthSi`, `main.Box.width.unsafeAddressor : Swift.Int`, `Box.width.unsafeAddressor`},
	{`_TFC4main3Boxg9subscriptFSiSb`, `main.Box.subscript.getter : (Swift.Int) -> Swift.Bool`, `Box.subscript.getter`},
	{`_TiC4main3Box9subscriptFSiSb`, `main.Box.subscript(Swift.Int) -> Swift.Bool`, `Box.subscript`},
	{`_TvC4main3Box5widthSi`, `main.Box.width : Swift.Int`, `Box.width`},
	{`_TFC4main3BoxCfT1aSi_S0_`, `main.Box.__allocating_init(a: Swift.Int) -> main.Box`, `Box.__allocating_init`},
	{`_TFC4main3Boxcft_S0_`, `main.Box.init() -> main.Box`, `Box.init`},
	{`_TFC4main3BoxcfT_S0_`, `main.Box.init() -> main.Box`, `Box.init`},
	{`_TFC4main3BoxD`, `main.Box.__deallocating_deinit`, `Box.__deallocating_deinit`},
	{`_TFC4main3Boxd`, `main.Box.deinit`, `Box.deinit`},
	{`_TFV4main3RowE`, `main.Row.__ivar_destroyer`, `Row.__ivar_destroyer`},
	{`_TFC4main3Boxe`, `main.Box.__ivar_initializer`, `Box.__ivar_initializer`},
	{`_TFF4main3fooFT_T_U_FT_Si`, `closure #1 () -> Swift.Int in main.foo() -> ()`, `closure #1 in foo`},
	{`_TFF4main3fooFT_T_u0_KT_Si`, `implicit closure #2 : @autoclosure () -> Swift.Int in main.foo() -> ()`, `implicit closure #2 in foo`},
	{`_TIF4main3fooFT1aSi_T_A_`, `default argument 0 of main.foo(a: Swift.Int) -> ()`, `default argument 0 of foo`},
	{`_TIvC4main3Box5widthSii`, `variable initialization expression of main.Box.width : Swift.Int`, `variable initialization expression of Box.width`},
	{`_TFF4main3fooFT_T_L_3barFT_T_`, `bar #1 () -> () in main.foo() -> ()`, `bar #1 in foo`},
	{`_TF4mainP4_ABC3fooFT_T_`, `main.(foo in _ABC)() -> ()`, `foo`},
	{`_TF4mainoi2ltFTSiSi_Sb`, `main.<~ infix(Swift.Int, Swift.Int) -> Swift.Bool`, `<~ infix`},
	{`_TF4mainop1sFSiSi`, `main.- prefix(Swift.Int) -> Swift.Int`, `- prefix`},
	{`_TFE4mainSi6doubleFT_Si`, `(extension in main):Swift.Int.double() -> Swift.Int`, `Int.double`},
	{`_TFe4mainRxs8HashablerSa6lookupFT_T_`, `(extension in main):Swift.Array<A where A: Swift.Hashable>.lookup() -> ()`, `Array<A>.lookup`},
	{`_TF4main3fooFFzSiSbT_`, `main.foo((Swift.Int) throws -> Swift.Bool) -> ()`, `foo`},
	{`_TF4main3fooFTbSiSb_T_`, `main.foo(@convention(block) (Swift.Int) -> Swift.Bool) -> ()`, `foo`},
	{`_TF4main3fooFTcSiSbXfSiSb_T_`, `main.foo(@convention(c) (Swift.Int) -> Swift.Bool, @convention(thin) (Swift.Int) -> Swift.Bool) -> ()`, `foo`},
	{`_TF4main3fooFTKT_Sb_T_`, `main.foo(@autoclosure () -> Swift.Bool) -> ()`, `foo`},
	{`_TF4main3fooFTRSiDC4main3Box_T_`, `main.foo(inout Swift.Int, Self) -> ()`, `foo`},
	{`_TF4main3fooFtSi_T_`, `main.foo(Swift.Int...) -> ()`, `foo`},
	{`_TF4main3fooFPMP_T_`, `main.foo(Any.Type) -> ()`, `foo`},
	{`_TF4main3fooFTP_PS_3BarS_3Baz_MSi_T_`, `main.foo(Any, main.Bar & main.Baz, Swift.Int.Type) -> ()`, `foo`},
	{`_TF4main3fooFTXMTSiXPMoP__T_`, `main.foo(@thick Swift.Int.Type, @objc_metatype Any.Type) -> ()`, `foo`},
	{`_TF4main3fooFTERRBi8_Bv4Bf32_Bv2BpBw_T_`, `main.foo(<ERROR TYPE>, Builtin.Int8, Builtin.Vec4xFPIEEE32, Builtin.Vec2xRawPointer, Builtin.Word) -> ()`, `foo`},
	{`_TF4main3fooFTScCSo8NSObjectVSC6CGRect_T_`, `main.foo(Swift.UnicodeScalar, __C.NSObject, __C_Synthesized.CGRect) -> ()`, `foo`},
	{`_TF4main3fooFGVCS_3Box3RowSi_Sb_T_`, `main.foo(main.Box<Swift.Int>.Row<Swift.Bool>) -> ()`, `foo`},
	{`_TF4main3foourFxT_`, `main.foo<A>(A) -> ()`, `foo<A>`},
	{`_TF4main3foou0_RxS_3BarrFTxq__T_`, `main.foo<A, B where A: main.Bar>(A, B) -> ()`, `foo<A, B>`},
	{`_TF4main3foouRxCS_3Zim_S_3Barwx4Itemzq_rFxT_`, `main.foo<A where A: main.Zim, B: main.Bar, A.Item == B>(A) -> ()`, `foo<A>`},
	{`_TF4main3foou0_RxCS_3Zim_S_3Barwx4Itemzq_rFTxwx4Item_T_`, `main.foo<A, B where A: main.Zim, B: main.Bar, A.Item == B>(A, A.Item) -> ()`, `foo<A, B>`},
	{`_TF4main3foouRxlCWx4Item3Key_s8HashablerFWx4Item3Key_wxPS_3Bar3Ass`, `main.foo<A where A: AnyObject, A.Item.Key: Swift.Hashable>(A.Item.Key) -> A.main.Bar.Ass`, `foo<A>`},
	{`_TF4main3foouRxlE64_16_le32_lNrFTxq__T_`, `main.foo<A where A: _Trivial(64, 16), B: _Trivial(32), B: _NativeRefCountedObject>(A, B) -> ()`, `foo<A>`},
	{`_TF4main3foouRxlE64_16rFxT_`, `main.foo<A where A: _Trivial(64, 16)>(A) -> ()`, `foo<A>`},
	{`_TF4main3fooFTaS_5Alias_T_`, `main.foo(main.Alias) -> ()`, `foo`},
	{`_TF4main3fooFqqx4Item5OtherT_`, `main.foo(A.Item.Other) -> ()`, `foo`},
	{`_TF4main3fooFT_Qu`, `main.foo() -> some`, `foo`},
	{`_TTRXFo_oSSdSi_zoPs5Error__XFg_iSSlSi_iT_zoPS___`, `reabstraction thunk helper from @callee_guaranteed (@in Swift.String, @inout Swift.Int) -> (@out (), @error @owned Swift.Error) to @callee_owned (@owned Swift.String, @unowned Swift.Int) -> (@error @owned Swift.Error)`, `thunk for @callee_guaranteed (@in String, @inout Int) -> (@out (), @error @owned Error)`},
	{`_TTrGrXFo_ix_dSb_XFdCb_ix_dSb_`, `reabstraction thunk <A> from @callee_unowned @convention(block) (@in A) -> (@unowned Swift.Bool) to @callee_owned (@in A) -> (@unowned Swift.Bool)`, `thunk for @callee_unowned @convention(block) (@in A) -> (@unowned Bool)`},
	{`_TTRXFtCc_dSi_aSi_XFo__DSi_`, `reabstraction thunk helper from @callee_owned () -> (@unowned_inner_pointer Swift.Int) to @convention(thin) @convention(c) (@unowned Swift.Int) -> (@autoreleased Swift.Int)`, `thunk for @callee_owned () -> (@unowned_inner_pointer Int)`},
	{`_TPA__TF4main3fooFT_T_`, `partial apply forwarder for main.foo() -> ()`, `partial apply for foo`},
	{`_TPAo__TF4main3fooFT_T_`, `partial apply ObjC forwarder for main.foo() -> ()`, `partial apply for foo`},
	{`_TTDFC4main3Box4openfT_T_`, `dynamic main.Box.open() -> ()`, `dynamic Box.open`},
	{`_TTdFC4main3Box4openfT_T_`, `super main.Box.open() -> ()`, `super Box.open`},
	{`_TTOFSC3barFSdSd`, `@nonobjc __C_Synthesized.bar(Swift.Double) -> Swift.Double`, `@nonobjc bar`},
	{`_TToFC4main3Box4openfT_T_`, `@objc main.Box.open() -> ()`, `@objc Box.open`},
	{`_TMC4main3Box`, `type metadata for main.Box`, `type metadata for Box`},
	{`_TMaC4main3Box`, `type metadata accessor for main.Box`, `type metadata accessor for Box`},
	{`_TMps8Hashable`, `protocol descriptor for Swift.Hashable`, `protocol descriptor for Hashable`},
	{`_TwcaV4main3Row`, `assignWithCopy value witness for main.Row`, `assignWithCopy for Row`},
	{`_TWVV4main3Row`, `value witness table for main.Row`, `value witness table for Row`},
	{`_TWvdvC4main3Box5widthSi`, `direct field offset for main.Box.width : Swift.Int`, `direct field offset for Box.width`},
	{`_TWPC4main3BoxS_3BarS_`, `protocol witness table for main.Box : main.Bar in main`, `protocol witness table for Box`},
	{`_TWlC4main3BoxS0_S_3BarS_`, `lazy protocol witness table accessor for type main.Box and conformance main.Box : main.Bar in main`, `lazy protocol witness table accessor for type Box and conformance Box`},
	{`_TWtC4main3BoxS_3BarS_4Item`, `associated type metadata accessor for Item in main.Box : main.Bar in main`, `associated type metadata accessor for Item in Box`},
	{`_TWTC4main3BoxS_3BarS_4Items8Hashable`, `associated type witness table accessor for Item : Swift.Hashable in main.Box : main.Bar in main`, `associated type witness table accessor for Item : Hashable in Box`},
	{`_TTWC4main3BoxS_3BarS_FS1_3foofT_T_`, `protocol witness for main.Bar.foo() -> () in conformance main.Box : main.Bar in main`, `protocol witness for Bar.foo in conformance Box`},
	{`_TTSg5Si___TF4main3foourFxT_`, `generic specialization <Swift.Int> of main.foo<A>(A) -> ()`, `specialized foo<A>`},
	{`_TTSrq5SiSis8Hashables_Sb___TF4main3foourFxT_`, `generic not re-abstracted specialization <serialized, Swift.Int with Swift.Int : Swift.Hashable in Swift, Swift.Bool> of main.foo<A>(A) -> ()`, `specialized foo<A>`},
	{`_TTSf1d_gs_n_i_k_os___TF4main3fooFT_T_`, `function signature specialization <Arg[0] = Dead, Arg[1] = Owned To Guaranteed and Exploded, Arg[3] = Value Promoted from Box, Arg[4] = Stack Promoted from Box, Arg[5] = Guaranteed To Owned and Exploded> of main.foo() -> ()`, `specialized foo`},
	{`_TTSf1cl17_TF4main3barFT_T_SiSb___TF4main3fooFT_T_`, `function signature specialization <Arg[0] = [Closure Propagated : main.bar() -> (), Argument Types : [Swift.Int, Swift.Bool]> of main.foo() -> ()`, `specialized foo`},
	{`_TTSg5Si___TTSf1d___TF4main3foourFxT_`, `generic specialization <Swift.Int> of function signature specialization <Arg[0] = Dead> of main.foo<A>(A) -> ()`, `specialized foo<A>`},
	{`_TF4main3fooFT_T_.resume`, `main.foo() -> () with unmangled suffix ".resume"`, `foo`},
	{`_TF4main3fooFT_T__merged12`, `main.foo() -> () with unmangled suffix "_merged12"`, `foo`},
	{`_TF4main3fooFT_T_31`, `main.foo() -> () with unmangled suffix "31"`, `foo`},
	{`_TtC4main3Foo`, `main.Foo`, `Foo`},
	{`_TtGC4main3BoxSi_`, `main.Box<Swift.Int>`, `Box<Int>`},
	{`_TtP4main3Bar_`, `main.Bar`, `Bar`},
	{`_TtCF4main3fooFT_T_L_3Row`, `Row #1 in main.foo() -> ()`, `Row #1 in foo`},
	{`_TtSi.3`, `Swift.Int with unmangled suffix ".3"`, `Int`},
}

func TestNamesOfSwift3AreWrittenInFullAndShort(t *testing.T) {
	for _, x := range oldNames {
		if got := demangle.Name(x.name, demangle.Full); got != x.full {
			t.Errorf("%s:\n got %s\nwant %s", x.name, got, x.full)
		}
		if got := demangle.Name(x.name, demangle.NoParams); got != x.noParams {
			t.Errorf("%s without parameters:\n got %s\nwant %s", x.name, got, x.noParams)
		}
	}
}

func TestOtherNamesWithThePrefixOfSwift3StayAsTheyAre(t *testing.T) {
	for _, name := range []string{
		"_T", "_TF", "_TC", "_TM", "_TMSize", "_TtSi_x", "_TtSi4", "_Timer", "_TIFFOpen", "_Tt", "_TtC", "_TtTSi", "_TtBx", "_TtBv4", "_TtQd_", "_TtX", "_TFE1a",
		"_Tw", "_Twca", "_TWvx", "_TWP", "_TTo", "_TTSg5S", "_TTSg5Si", "_TTSg5Si_", "_TTSx5Si___TF4main3fooFT_T_", "_TTSf1q___TF4main3fooFT_T_",
		"_TTSf1cpx___TF4main3fooFT_T_", "_TTSf1___TF4main3fooFT_T_", "_TPA", "_TPA__T", "_TF4main3fooFT_T_x", "_TF4main3fooFT_", "_TF4main3foo",
		"_TF4main3fooFS9_T_", "_TF4main3fooFS_T_", "_TFZZ4main3fooFT_T_", "_TF4mainoq1sFSiSi", "_TF4mainX3a*bFT_T_", "_TF4main9fooFT_T_",
		"_TF4main3foouRxs8Hashable", "_TF4main3foouRxlE64rFxT_", "_TF4main3foouRxlE64_rFxT_", "_TF4main3foou_Fx", "_TtGSiSi", "_TtPSi_",
		"_TTRXFo_dSi", "_TTRXFz_dSi_XFo__", "_TTRXFo_zdSi_", "_TtERX", "_TFC4main3BoxU_", "_TIF4main3fooFT_T_A", "_TFC4main3Boxq5widthSi", "_TF4main3foo\xff",
	} {
		if got := demangle.Name(name, demangle.Full); got != name {
			t.Errorf("%q became %q", name, got)
		}
	}
}

// Each type is local to a function of the one before it, twice.
func TestTypesOfSwift3InTypesAreBounded(t *testing.T) {
	name := "V1a1b"
	for i := range 16 {
		reference := "S" + strconv.Itoa(2*i) + "_"
		name = "T" + name + "VF1a1fFT" + reference + reference + "_T_L_1b_"
	}
	if got, want := demangle.Name("_TtTV1a1bVF1a1fFTS0_S0__T_L_1b_", demangle.Full), "(a.b, b #1 in a.f(a.b, a.b) -> ())"; got != want {
		t.Errorf("one of them: got %s, want %s", got, want)
	}
	if got := demangle.Name("_Tt"+name, demangle.Full); len(got) > core.MaxText+len(name) {
		t.Errorf("%d bytes became %d", len(name), len(got))
	}
	for _, name := range []string{
		"_Tt" + strings.Repeat("G", 7000), "_Tt" + strings.Repeat("M", 7000) + "Si", "_Tt" + strings.Repeat("F", 4000) + strings.Repeat("T_", 1900),
		"_TF" + strings.Repeat("F", 7000), "_TT" + strings.Repeat("S", 7000), "_Ttu" + strings.Repeat("9999_", 1500) + "rSi",
		"_TtP" + strings.Repeat("4main", 1500), "_TtGSi" + strings.Repeat("Si", 3500) + "_",
	} {
		if got := demangle.Name(name, demangle.Full); got != name {
			t.Errorf("%.20q became %.40q", name, got)
		}
	}
}
