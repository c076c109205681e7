package swift_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"symbolon/internal/demangle"
	"symbolon/internal/demangle/demangletest"
	"symbolon/internal/demangle/swift"
)

// swiftNames are Swift names with what they say in full and without parameters.
var swiftNames = []struct{ name, full, noParams string }{
	{`$s1a3FooV0A3BaryyF`, `a.Foo.FooBar() -> ()`, `Foo.FooBar`},
	{`$s4main3fooyyF`, `main.foo() -> ()`, `foo`},
	{`$S4main3fooyyF`, `main.foo() -> ()`, `foo`},
	{`_$s4main3fooyyF`, `main.foo() -> ()`, `foo`},
	{`$e4main3fooyyF`, `main.foo() -> ()`, `foo`},
	{`$s4main3foo1a1bySi_SutF`, `main.foo(a: Swift.Int, b: Swift.UInt) -> ()`, `foo`},
	{`$s4main3foo_1bySi_SutF`, `main.foo(_: Swift.Int, b: Swift.UInt) -> ()`, `foo`},
	{`$s4main3fooyySi_S2itF`, `main.foo(Swift.Int, Swift.Int, Swift.Int) -> ()`, `foo`},
	{`$s4main4zeroyySi_Sit_tF`, `main.zero((Swift.Int, Swift.Int)) -> ()`, `zero`},
	{`$s4main3fooyyYaKF`, `main.foo() async throws -> ()`, `foo`},
	{`$s4main4callyyAA3ErrOYKF`, `main.call() throws(main.Err) -> ()`, `call`},
	{`$s4main4callyyyyKXEF`, `main.call(() throws -> ()) -> ()`, `call`},
	{`$s4main3fooyyyyScMYccF`, `main.foo(@Swift.MainActor () -> ()) -> ()`, `foo`},
	{`$s4main3fooyyyyYbScMYccF`, `main.foo(@Swift.MainActor @Sendable () -> ()) -> ()`, `foo`},
	{`$s4main3fooyySizF`, `main.foo(inout Swift.Int) -> ()`, `foo`},
	{`$s4main3fooyySid_tF`, `main.foo(Swift.Int...) -> ()`, `foo`},
	{`$s4main3FooV2eeoiySbAC_ACtFZ`, `static main.Foo.== infix(main.Foo, main.Foo) -> Swift.Bool`, `static Foo.== infix`},
	{`$s4main2psopyS2iF`, `main.+- prefix(Swift.Int) -> Swift.Int`, `+- prefix`},
	{`$s4main0012vergenza_JFayyF`, `main.vergüenza() -> ()`, `vergüenza`},
	{`$s4main16NumberFormattersV06numberC5StyleyyF`, `main.NumberFormatters.numberFormattersStyle() -> ()`, `NumberFormatters.numberFormattersStyle`},
	{`$s4main3foo33_0E4228093681F6920F0AB2E48B4F1C69LLyyF`, `main.(foo in _0E4228093681F6920F0AB2E48B4F1C69)() -> ()`, `foo`},
	{`$s4main3fooyyF3barL0_yyF`, `bar #2 () -> () in main.foo() -> ()`, `bar #2 in foo`},
	{`$s4main3fooyyF.resume.0`, `main.foo() -> () with unmangled suffix ".resume.0"`, `foo`},
	{`_T04main3barySi1a_SS1btF`, `main.bar(a: Swift.Int, b: Swift.String) -> ()`, `bar`},
	{`@__swiftmacro_4main3FooV3bar3quxfMm0_`, `member macro @qux expansion #2 of bar in main.Foo`, `member macro @qux expansion #2 of bar in Foo`},
	{`$s4main3fooyyypF`, `main.foo(Any) -> ()`, `foo`},
	{`$s4main3fooyyAA3Bar_AA3BazpF`, `main.foo(main.Bar & main.Baz) -> ()`, `foo`},
	{`$s4main3fooyyAA3Bar_AA3BazpmF`, `main.foo((main.Bar & main.Baz).Protocol) -> ()`, `foo`},
	{`$s4main3fooyyypXpF`, `main.foo(Any.Type) -> ()`, `foo`},
	{`$s4main3fooyyAA3Bar_XlF`, `main.foo(main.Bar & Swift.AnyObject) -> ()`, `foo`},
	{`$s4main3fooyyAA3Bar_AA3ZimCXcF`, `main.foo(main.Zim & main.Bar) -> ()`, `foo`},
	{`$s4main3fooyySimF`, `main.foo(Swift.Int.Type) -> ()`, `foo`},
	{`$s4main3fooyySaySiGSgF`, `main.foo(Swift.Optional<Swift.Array<Swift.Int>>) -> ()`, `foo`},
	{`$s4main3fooyySDySSSiGF`, `main.foo(Swift.Dictionary<Swift.String, Swift.Int>) -> ()`, `foo`},
	{`$s4main3fooyyyycSgF`, `main.foo(Swift.Optional<() -> ()>) -> ()`, `foo`},
	{`$s4main3fooyyBi32_F`, `main.foo(Builtin.Int32) -> ()`, `foo`},
	{`$s4main3fooyyBi32_Bv4_F`, `main.foo(Builtin.Vec4xInt32) -> ()`, `foo`},
	{`$s4main3FooV3BarVyx_SiGD`, `main.Foo<A>.Bar<Swift.Int>`, `Foo<A>.Bar<Int>`},
	{`$sSo8NSStringC4mainE3fooyyF`, `(extension in main):__C.NSString.foo() -> ()`, `NSString.foo`},
	{`$s4main1gyySiXCvp`, `main.g : @convention(c) (Swift.Int) -> ()`, `g`},
	{`$s4main1AV3fooQryF`, `main.A.foo() -> some`, `A.foo`},
	{`$s4main1AV3fooyQryFQOyQo_D`, `<<opaque return type of main.A.foo() -> some>>.0`, `<<opaque return type of A.foo>>.0`},
	{`$sSiXMtD`, `@thin Swift.Int.Type`, `@thin Int.Type`},
	{`$s4main3FooV1xSiSgXwvp`, `main.Foo.x : weak Swift.Optional<Swift.Int>`, `Foo.x`},
	{`$s4main3fooyys5NeverOF`, `main.foo(Swift.Never) -> ()`, `foo`},
	{`$s4main3fooyyAA3Bar_pSi5AssocAaCPRts_XPF`, `main.foo(any main.Bar<Self.main.Bar.Assoc == Swift.Int>) -> ()`, `foo`},
	{`$sSccyytGD`, `Swift.UnsafeContinuation<()>`, `UnsafeContinuation<()>`},
	{`$s4main3fooyySiYuF`, `main.foo(sending Swift.Int) -> ()`, `foo`},
	{`$s4main3fooyyxlF`, `main.foo<A>(A) -> ()`, `foo<A>`},
	{`$s4main3fooyyx_q_tAA3BarRzAA3BazR_r0_lF`, `main.foo<A, B where A: main.Bar, B: main.Baz>(A, B) -> ()`, `foo<A, B>`},
	{`$s4main3fooyyx_q_tq_Rszr0_lF`, `main.foo<A, B where A == B>(A, B) -> ()`, `foo<A, B>`},
	{`$s4main3fooyyxRlzClF`, `main.foo<A where A: AnyObject>(A) -> ()`, `foo<A>`},
	{`$s4main3fooyyxAA1P3AssRpzlF`, `main.foo<A where A.Ass: main.P>(A) -> ()`, `foo<A>`},
	{`$s4main3fooyyxSi3AssRtzlF`, `main.foo<A where A.Ass == Swift.Int>(A) -> ()`, `foo<A>`},
	{`$s4main3fooyyxAA3ZimCRbzlF`, `main.foo<A where A: main.Zim>(A) -> ()`, `foo<A>`},
	{`$s4main3fooyyxRi_zlF`, `main.foo<A where A: ~Swift.Copyable>(A) -> ()`, `foo<A>`},
	{`$s4main3fooyyxxQp_tRvzlF`, `main.foo<each A>(repeat A) -> ()`, `foo<each A>`},
	{`$s4main3FooV3zapyyqd__lF`, `main.Foo.zap<A>(A1) -> ()`, `Foo.zap<A>`},
	{`$s4main3FooV1xACyxGqd___tcAA1PRd__lufC`, `main.Foo.init<A where A1: main.P>(x: A1) -> main.Foo<A>`, `Foo.init<A>`},
	{`$sSa4mainSHRzlE3fooyyF`, `(extension in main):Swift.Array<A where A: Swift.Hashable>.foo() -> ()`, `Array<A>.foo`},
	{`$s4main3fooyy3AssQzF`, `main.foo(A.Ass) -> ()`, `foo`},
	{`$s4main3fooyy3AssAA3BarPQzF`, `main.foo(A.main.Bar.Ass) -> ()`, `foo`},
	{`$s4main3fooyyx_3OneQz3Two_ACQZtF`, `main.foo(A, A.One, A.Two.One) -> ()`, `foo`},
	{`$s4main3FooC3barSivg`, `main.Foo.bar.getter : Swift.Int`, `Foo.bar.getter`},
	{`$s4main3FooC3barSivsZ`, `static main.Foo.bar.setter : Swift.Int`, `static Foo.bar.setter`},
	{`$s4main3FooC3barSivM`, `main.Foo.bar.modify : Swift.Int`, `Foo.bar.modify`},
	{`$s4main3FooC3barSivau`, `main.Foo.bar.unsafeMutableAddressor : Swift.Int`, `Foo.bar.unsafeMutableAddressor`},
	{`$s4main3FooVyS2icig`, `main.Foo.subscript.getter : (Swift.Int) -> Swift.Int`, `Foo.subscript.getter`},
	{`$s4main3FooV1xS2i_tcip`, `main.Foo.subscript(x: Swift.Int) -> Swift.Int`, `Foo.subscript`},
	{`$s4main3FooC1xACSi_tcfC`, `main.Foo.__allocating_init(x: Swift.Int) -> main.Foo`, `Foo.__allocating_init`},
	{`$s4main3FooC1xACSi_tcfc`, `main.Foo.init(x: Swift.Int) -> main.Foo`, `Foo.init`},
	{`$s4main3FooCfD`, `main.Foo.__deallocating_deinit`, `Foo.__deallocating_deinit`},
	{`$s4main3FooCfd`, `main.Foo.deinit`, `Foo.deinit`},
	{`$s4main3FooVfD`, `main.Foo.deinit`, `Foo.deinit`},
	{`$s4main3FooCfE`, `main.Foo.__ivar_destroyer`, `Foo.__ivar_destroyer`},
	{`$s4main3FooV3barSivpfi`, `variable initialization expression of main.Foo.bar : Swift.Int`, `variable initialization expression of Foo.bar`},
	{`$s4main3foo1aySi_tFfA0_`, `default argument 1 of main.foo(a: Swift.Int) -> ()`, `default argument 1 of foo`},
	{`$s4main3fooyyFyycfU_`, `closure #1 () -> () in main.foo() -> ()`, `closure #1 in foo`},
	{`$s4main3fooyyFyycfU0_ySicfU1_`, `closure #3 (Swift.Int) -> () in closure #2 () -> () in main.foo() -> ()`, `closure #3 in closure #2 in foo`},
	{`$s4main3fooyyFSbyKXKfu_`, `implicit closure #1 : @autoclosure () throws -> Swift.Bool in main.foo() -> ()`, `implicit closure #1 in foo`},
	{`$s4main4TestC1xACSi_tc6_PRIV_Llfc`, `main.Test.(in _PRIV_).init(x: Swift.Int) -> main.Test`, `Test.init`},
	{`$s4main4TestC1xACSi_tc6_PRIV_LlfC`, `main.Test.__allocating_init(x: Swift.Int) -> main.Test`, `Test.__allocating_init`},
	{`$s4main3FooV3bar3quxfMp_`, `peer macro @qux expansion #1 of bar in main.Foo`, `peer macro @qux expansion #1 of bar in Foo`},
	{`$s4main3FooC3baryyFTo`, `@objc main.Foo.bar() -> ()`, `@objc Foo.bar`},
	{`$s4main3FooC3baryyFTA`, `partial apply forwarder for main.Foo.bar() -> ()`, `partial apply for Foo.bar`},
	{`$s4main3fooyyYaFTQ0_`, `(1) await resume partial function for main.foo() async -> ()`, `foo`},
	{`$s4main3fooyyYaFTY1_`, `(2) suspend resume partial function for main.foo() async -> ()`, `foo`},
	{`$s4main3fooyyYaFTu`, `async function pointer to main.foo() async -> ()`, `async function pointer to foo`},
	{`$s4main3FooVAA3BarA2aDP3zimyyFTW`, `protocol witness for main.Bar.zim() -> () in conformance main.Foo : main.Bar in main`, `protocol witness for Bar.zim in conformance Foo`},
	{`$s4main3FooVAA3BarAA4PartAaDP_4ItemSTAA3ZooPWT`, `associated type witness table accessor for main.Bar.Part.Swift.Sequence.Item : main.Zoo in main.Foo : main.Bar in main`, `associated type witness table accessor for Bar.Part.Sequence.Item : Zoo in Foo`},
	{`$s4main3FooV3barBovg`, `main.Foo.bar.getter : Builtin.NativeObject`, `Foo.bar.getter`},
	{`$s4main3FooV3barBpvpfi`, `variable initialization expression of main.Foo.bar : Builtin.RawPointer`, `variable initialization expression of Foo.bar`},
	{`$s4main3FooC3barSivgAA3ZooC3barSivgTV`, `vtable thunk for main.Zoo.bar.getter : Swift.Int dispatching to main.Foo.bar.getter : Swift.Int`, `vtable thunk for Zoo.bar.getter dispatching to Foo.bar.getter`},
	{`$s4main3FooC3baryyFTj`, `dispatch thunk of main.Foo.bar() -> ()`, `dispatch thunk of Foo.bar`},
	{`$s4main3FooC3baryyFTc`, `curry thunk of main.Foo.bar() -> ()`, `curry thunk of Foo.bar`},
	{`$s4main3fooyyxlFSi_Tg5`, `generic specialization <Swift.Int> of main.foo<A>(A) -> ()`, `specialized foo<A>`},
	{`$s4main3fooyyxlFSi_Tgq5`, `generic specialization <serialized, Swift.Int> of main.foo<A>(A) -> ()`, `specialized foo<A>`},
	{`$s4main3fooyyxlFSi_Ti5`, `inlined generic function <Swift.Int> of main.foo<A>(A) -> ()`, `specialized foo<A>`},
	{`$s4main3fooyyxlFSiTp5`, `generic partial specialization <Signature = Swift.Int> of main.foo<A>(A) -> ()`, `specialized foo<A>`},
	{`$s4main3fooyyxlFSiTpq5`, `generic partial specialization <serialized, Signature = Swift.Int> of main.foo<A>(A) -> ()`, `specialized foo<A>`},
	{`$s4main3fooyyxlFTf4nd_n`, `function signature specialization <Arg[1] = Dead> of main.foo<A>(A) -> ()`, `specialized foo<A>`},
	{`$s4main3fooyyxlFTf4dGX_g`, `function signature specialization <Arg[0] = Dead and Owned To Guaranteed and Exploded, Return = Owned To Guaranteed> of main.foo<A>(A) -> ()`, `specialized foo<A>`},
	{`$s4main3fooyySiFTf0pi5_n`, `function signature specialization <Arg[0] = [Constant Propagated Integer : 5]> of main.foo(Swift.Int) -> ()`, `specialized foo`},
	{`$s4main3fooyySiF3barTf1pf_n`, `function signature specialization <Arg[0] = [Constant Propagated Function : bar]> of main.foo(Swift.Int) -> ()`, `specialized foo`},
	{`$s4main3fooyySSF5helloTf3psb_n`, `function signature specialization <Arg[0] = [Constant Propagated String : u8'hello']> of main.foo(Swift.String) -> ()`, `specialized foo`},
	{`$s4main3fooyyyyXEF21$s4main3baryyFyycfU0_SiTf1nc_n`, `function signature specialization <Arg[1] = [Closure Propagated : closure #2 () -> () in main.bar() -> (), Argument Types : [Swift.Int]> of main.foo(() -> ()) -> ()`, `specialized foo`},
	{`$s4main3fooyySSF4_123Tf3psb_n`, `function signature specialization <Arg[0] = [Constant Propagated String : u8'123']> of main.foo(Swift.String) -> ()`, `specialized foo`},
	{`$sS2SSbIegggd_S2SSbIegnnd_TR`, `reabstraction thunk helper from @escaping @callee_guaranteed (@guaranteed Swift.String, @guaranteed Swift.String) -> (@unowned Swift.Bool) to @escaping @callee_guaranteed (@in_guaranteed Swift.String, @in_guaranteed Swift.String) -> (@unowned Swift.Bool)`, `thunk for @escaping @callee_guaranteed (@guaranteed String, @guaranteed String) -> (@unowned Bool)`},
	{`$sxSbIegnd_xSbIegnr_lTR`, `reabstraction thunk helper <A> from @escaping @callee_guaranteed (@in_guaranteed A) -> (@unowned Swift.Bool) to @escaping @callee_guaranteed (@in_guaranteed A) -> (@out Swift.Bool)`, `thunk for @escaping @callee_guaranteed (@in_guaranteed A) -> (@unowned Bool)`},
	{`$sIeghH_ytIeghHr_TR`, `reabstraction thunk helper from @escaping @callee_guaranteed @Sendable @async () -> () to @escaping @callee_guaranteed @Sendable @async () -> (@out ())`, `thunk for @escaping @callee_guaranteed @Sendable @async () -> ()`},
	{`$ss5Error_pIegzo_ytsAA_pIegrzo_TR`, `reabstraction thunk helper from @escaping @callee_guaranteed () -> (@error @owned Swift.Error) to @escaping @callee_guaranteed () -> (@out (), @error @owned Swift.Error)`, `thunk for @escaping @callee_guaranteed () -> (@error @owned Error)`},
	{`$s4main3FooV1aSivpACTKq`, `key path getter for main.Foo.a : Swift.Int : main.Foo, serialized`, `key path getter for Foo.a : Foo, serialized`},
	{`$s4main3FooCMa`, `type metadata accessor for main.Foo`, `type metadata accessor for Foo`},
	{`$s4main3FooCN`, `type metadata for main.Foo`, `type metadata for Foo`},
	{`$s4main3FooPMp`, `protocol descriptor for main.Foo`, `protocol descriptor for Foo`},
	{`$s4main3FooCAA3BarAAWP`, `protocol witness table for main.Foo : main.Bar in main`, `protocol witness table for Foo`},
	{`$s4main3FooVyxGAA3BarA2aERzlMc`, `protocol conformance descriptor for <A where A: main.Bar> main.Foo<A> : main.Bar in main`, `protocol conformance descriptor for <A> Foo<A>`},
	{`$s4main3FooCACAA3BarAAWl`, `lazy protocol witness table accessor for type main.Foo and conformance main.Foo : main.Bar in main`, `lazy protocol witness table accessor for type Foo and conformance Foo`},
	{`$s4main3FooC3barSivpWvd`, `direct field offset for main.Foo.bar : Swift.Int`, `direct field offset for Foo.bar`},
	{`$s4main3FooCWOe`, `outlined consume of main.Foo`, `outlined consume of Foo`},
	{`$s4main3FooCwca`, `assignWithCopy value witness for main.Foo`, `assignWithCopy for Foo`},
	{`$s4main1a_1b_WZ`, `one-time initialization function for (a, b)`, `one-time initialization function for (a, b)`},
	{`$s4main3fooyyFTv0_`, `outlined variable #1 of main.foo() -> ()`, `outlined variable #1 of foo`},
	{`$s4main3fooyyFTembgnn_`, `outlined bridged method (mbgnn) of main.foo() -> ()`, `outlined bridged method (mbgnn) of foo`},
	{`$s4main3fooyyAA1ZVyxAA1PHD1_g_GAA1PRzlF`, `main.foo<A where A: main.P>(main.Z) -> ()`, `foo<A>`},
	{`$s4main3fooyyAA1ZVy1b1XVAD1c1PHPyHCg_GF`, `main.foo(main.Z<b.X>) -> ()`, `foo`},
	{`$sxSbSHRzlySiIsegnd_SgWOe`, `outlined consume of Swift.Optional<@escaping @callee_guaranteed @substituted <A where A: Swift.Hashable> (@in_guaranteed A) -> (@unowned Swift.Bool) for <Swift.Int>>`, `outlined consume of (@escaping @callee_guaranteed @substituted <A> (@in_guaranteed A) -> (@unowned Bool) for <Int>)?`},
	{`$sSiSiSbIegydYy_SgWOe`, `outlined consume of Swift.Optional<@escaping @callee_guaranteed (@unowned Swift.Int) -> (@unowned Swift.Int, @yields @unowned Swift.Bool)>`, `outlined consume of (@escaping @callee_guaranteed (@unowned Int) -> (@unowned Int, @yields @unowned Bool))?`},
	{`$sSiSbIegywd_SgWOe`, `outlined consume of Swift.Optional<@escaping @callee_guaranteed (@unowned @noDerivative Swift.Int) -> (@unowned Swift.Bool)>`, `outlined consume of (@escaping @callee_guaranteed (@unowned @noDerivative Int) -> (@unowned Bool))?`},
	{`$sSiSbIetCyd_SgWOe`, `outlined consume of Swift.Optional<@escaping @convention(thin) @convention(c) (@unowned Swift.Int) -> (@unowned Swift.Bool)>`, `outlined consume of (@escaping @convention(thin) @convention(c) (@unowned Int) -> (@unowned Bool))?`},
	{`$s4main3FooV4zoomE3BarVyx_SiGD`, `(extension in zoom):main.Foo<A>.Bar<Swift.Int>`, `Foo<A>.Bar<Int>`},
	{`$s4main3fooyyxlF3BarL_VySi_GD`, `Bar #1 in main.foo<Swift.Int>(A) -> ()`, `Bar #1 in foo<Int>`},
	{`$s4main3fooyyxxQp_QSdRvzlF`, `main.foo<each A>(@direct Pack{repeat A}) -> ()`, `foo<each A>`},
	{`$s4main3fooyyxQe0_RvzlF`, `main.foo<each A>(/* level: 1 */ each A) -> ()`, `foo<each A>`},
	{`$s4main3fooyyx_q_txRh_r0_lF`, `main.foo<A, B where B.shape == A.shape>(A, B) -> ()`, `foo<A, B>`},
	{`$s4main3fooyyxRlzE32_8_lF`, `main.foo<A where A: _Trivial(33, 9)>(A) -> ()`, `foo<A>`},
	{`$s4main3fooyyxSi3One_3TwoRTzlF`, `main.foo<A where A.One.Two == Swift.Int>(A) -> ()`, `foo<A>`},
	{`$s4main3fooyyxAA1P3OneQzRQlF`, `main.foo<A where A.One: main.P>(A) -> ()`, `foo<A>`},
	{`$s4main3FooC3barSivlu`, `main.Foo.bar.unsafeAddressor : Swift.Int`, `Foo.bar.unsafeAddressor`},
	{`$s4main3FooC3barSivaO`, `main.Foo.bar.owningMutableAddressor : Swift.Int`, `Foo.bar.owningMutableAddressor`},
	{`$s4main3FooV3barfMf1_`, `freestanding macro expansion #3 of bar in main.Foo`, `freestanding macro expansion #3 of bar in Foo`},
	{`$s4main3FooV3barfMu_`, `unique name #1 of bar in main.Foo`, `unique name #1 of bar in Foo`},
	{`$s4main3FooCAAEACycfC`, `(extension in main):main.Foo.init() -> main.Foo`, `Foo.init`},
	{`$s4main2psoPyS2iF`, `main.+- postfix(Swift.Int) -> Swift.Int`, `+- postfix`},
	{`$s4main4qmqmoiyS2i_SitF`, `main.?*?* infix(Swift.Int, Swift.Int) -> Swift.Int`, `?*?* infix`},
	{`$s4main3FooXY`, `main.Foo`, `Foo`},
	{`$s4main3fooyySuSiXBF`, `main.foo(@convention(block) (Swift.Int) -> Swift.UInt) -> ()`, `foo`},
	{`$s4main3fooyySiXwF`, `main.foo(weak Swift.Int) -> ()`, `foo`},
	{`$s4main3fooyySiXDF`, `main.foo(Self) -> ()`, `foo`},
	{`$s4main3fooyySiXmTF`, `main.foo(@thick Swift.Int.Type) -> ()`, `foo`},
	{`$s4main3fooyyXeF`, `main.foo(<ERROR TYPE>) -> ()`, `foo`},
	{`$s4main3fooyySuSiYjrcF`, `main.foo(@differentiable(reverse) (Swift.Int) -> Swift.UInt) -> ()`, `foo`},
	{`$s4main3fooyySuSiYAcF`, `main.foo(@isolated(any) (Swift.Int) -> Swift.UInt) -> ()`, `foo`},
	{`$s4main3fooyySuSiYTcF`, `main.foo((Swift.Int) -> sending Swift.UInt) -> ()`, `foo`},
	{`$s4mainMXM`, `module descriptor main`, `module descriptor `},
	{`$s4main3fooyyxlFSi_Tt0g5`, `generic specialization <Swift.Int> of main.foo<A>(A) -> ()`, `specialized foo<A>`},
	{`$sSC7CGErrorLeVMa`, `type metadata accessor for __C_Synthesized.related decl 'e' for CGError`, `type metadata accessor for related decl 'e' for CGError`},
	{`$s4main3fooyyAA1AV_A2DtF`, `main.foo(main.A, main.A, main.A) -> ()`, `foo`},
	{`$s4main3sumyxx_xtlFSHRzlTJVrSSpSr`, `vtable thunk for reverse-mode derivative of main.sum<A>(A, A) -> A with respect to parameters {0, 1} and results {0} with <A where A: Swift.Hashable>`, `vtable thunk for reverse-mode derivative of sum<A>`},
	{`$s4main3fooyyAA1ZVyAA2S1V_AA2S2VQPAfA1QHPyHC_AhA1QHPyHCHXg_GF`, `main.foo(main.Z<Pack{main.S1, main.S2}>) -> ()`, `foo`},
	{`$s4main5RowOfVy$3_SbGD`, `main.RowOf<4, Swift.Bool>`, `RowOf<4, Bool>`},
	{`$s$n1_SiBVD`, `Builtin.FixedArray<-2, Swift.Int>`, `Builtin.FixedArray<-2, Int>`},
	{`$s4main5applyyyyyXEF6helperSiz_SbXxTf1nc_n`, `function signature specialization <Arg[1] = [Closure Propagated : helper, Argument Types : [{ var Swift.Int, let Swift.Bool }]> of main.apply(() -> ()) -> ()`, `specialized apply`},
	{`$s4main5applyyyyyXEF6helperxz_Bi8__lXXTf1nc_n`, `function signature specialization <Arg[1] = [Closure Propagated : helper, Argument Types : [<A> { var A } <Builtin.Int8>]> of main.apply(() -> ()) -> ()`, `specialized apply`},
	{`$s4main5applyyyyyXE_yyXEtF6helperSiTf1ncC0_n`, `function signature specialization <Arg[1] = [Closure Propagated : helper, Argument Types : [Swift.Int], Arg[2] = [Same As Argument 0]> of main.apply(() -> (), () -> ()) -> ()`, `specialized apply`},
	{`$s4main3sumyS2f_SftFTJfSUSpSr`, `forward-mode derivative of main.sum(Swift.Float, Swift.Float) -> Swift.Float with respect to parameters {0, 2} and results {0}`, `forward-mode derivative of sum`},
	{`$s4main3sumyS2f_SftFTJpSSpSrTj`, `dispatch thunk of pullback of main.sum(Swift.Float, Swift.Float) -> Swift.Float with respect to parameters {0, 1} and results {0}`, `dispatch thunk of pullback of sum`},
	{`$s4main3sumyS2f_SftFTSTJdSSpSr`, `differential of protocol self-conformance witness for main.sum(Swift.Float, Swift.Float) -> Swift.Float with respect to parameters {0, 1} and results {0}`, `differential of protocol self-conformance witness for sum`},
	{`$s4main3sumyS2f_SftFWJlSSpSr`, `linear differentiability witness for main.sum(Swift.Float, Swift.Float) -> Swift.Float with respect to parameters {0, 1} and results {0}`, `linear differentiability witness for sum`},
	{`$sS2fIegyd_TJSpSSpSrSUP`, `autodiff subset parameters thunk for pullback from @escaping @callee_guaranteed (@unowned Swift.Float) -> (@unowned Swift.Float) with respect to parameters {0, 1} and results {0} to parameters {0}`, `autodiff subset parameters thunk for pullback from @escaping @callee_guaranteed (@unowned Float) -> (@unowned Float)`},
	{`$s4main3sumyS2fFS2fIegyd_TJSrSSpSrUSP`, `autodiff subset parameters thunk for reverse-mode derivative from main.sum(Swift.Float) -> Swift.Float with respect to parameters {0, 1} and results {0} to parameters {1} of type @escaping @callee_guaranteed (@unowned Swift.Float) -> (@unowned Swift.Float)`, `autodiff subset parameters thunk for reverse-mode derivative from sum`},
	{`$sS2fIegyd_SfSdIegyd_TJOd`, `autodiff self-reordering reabstraction thunk for differential from @escaping @callee_guaranteed (@unowned Swift.Float) -> (@unowned Swift.Float) to @escaping @callee_guaranteed (@unowned Swift.Float) -> (@unowned Swift.Double)`, `autodiff self-reordering reabstraction thunk for differential from @escaping @callee_guaranteed (@unowned Float) -> (@unowned Float) to @escaping @callee_guaranteed (@unowned Float) -> (@unowned Double)`},
	{`$s4main3fooyyxRi2_zlF`, `main.foo<A where A: ~Swift.<bit 3>>(A) -> ()`, `foo<A>`},
	{`$s4main6sourceV7literalxfm`, `main.source.literal : A`, `source.literal`},
	{`$s4main10main_swiftfMX11_8_5tablefMf_`, `freestanding macro expansion #1 of table in module main file main_swift line 12 column 9`, `freestanding macro expansion #1 of table in module main file main_swift line 12 column 9`},
	{`$s4main3BoxV33_4361AD9339943F52AE6186DD51E04E91Ll5entryfMf0_`, `freestanding macro expansion #2 of entry(in _4361AD9339943F52AE6186DD51E04E91) in main.Box`, `freestanding macro expansion #2 of entry in Box`},
	{`@__swiftmacro_4main3BoxV4_ABCLl5entryfMf_`, `freestanding macro expansion #1 of entry(in _ABC) in main.Box`, `freestanding macro expansion #1 of entry in Box`},
	{`$s4main3BoxV5lower4_ABCLL5entryfMp_`, `peer macro @entry expansion #1 of (lower in _ABC) in main.Box`, `peer macro @entry expansion #1 of lower in Box`},
	{`$s4main9$10016c2dyXZ3BoxV`, `main.(unknown context at $10016c2d).Box`, `Box`},
	{`$s4main3BoxVWOi0_`, `outlined enum tag store of main.Box`, `outlined enum tag store of Box`},
	{`$s4main3fooyyFTTI`, `identity thunk of main.foo() -> ()`, `identity thunk of foo`},
	{`$s4main3FooV3bar1aySi_tFACTKmu`, `key path unapplied method main.Foo.bar(a: Swift.Int) -> () : main.Foo`, `key path unapplied method Foo.bar : Foo`},
	{`$s4main3FooV3bar1aySi_tFACTKMA`, `key path applied method main.Foo.bar(a: Swift.Int) -> () : main.Foo`, `key path applied method Foo.bar : Foo`},
	{`$s4main1xAA3OfPVy3lib1GVyAA1fQryFQOyQo_GAjE1PAAxAeKHD1_AIHO_HCg_Gvp`, `main.x : main.OfP<lib.G<<<opaque return type of main.f() -> some>>.0>>`, `x`},
	{`$sTA.12`, `partial apply forwarder with unmangled suffix ".12"`, `partial apply`},
	{`$sBAIegHgIL_ytIegHr_TR`, `reabstraction thunk helper from @escaping @callee_guaranteed @async (@guaranteed Builtin.ImplicitActor) -> () to @escaping @callee_guaranteed @async () -> (@out ())`, `thunk for @escaping @callee_guaranteed @async (@guaranteed Builtin.ImplicitActor) -> ()`},
}

func TestSwiftNamesAreWrittenInFullAndShort(t *testing.T) {
	for _, x := range swiftNames {
		if got := demangle.Name(x.name, demangle.Full); got != x.full {
			t.Errorf("%s:\n got %s\nwant %s", x.name, got, x.full)
		}
		if got := demangle.Name(x.name, demangle.NoParams); got != x.noParams {
			t.Errorf("%s without parameters:\n got %s\nwant %s", x.name, got, x.noParams)
		}
	}
}

func TestSimpleSwiftNamesHaveNoGenericArguments(t *testing.T) {
	for name, want := range map[string]string{
		"$s4main3fooyyx_q_tAA3BarRzAA3BazR_r0_lF": "foo",
		"$sSa4mainSHRzlE3fooyyF":                  "Array.foo",
		"$s4main3FooV3BarVyx_SiGD":                "Foo.Bar",
		"$s4main3fooyyxlFSi_Tg5Tf4nd_n":           "specialized foo",
		"$s4main3FooVyxGAA3BarA2aERzlMc":          "protocol conformance descriptor for Foo",
	} {
		if got := demangle.Name(name, demangle.Simple); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestBrokenSwiftNamesStayAsTheyAre(t *testing.T) {
	for _, name := range []string{
		"$s", "$sTB", "$s4main3Foo", "$s4mai", "$s4main3fooyyFq", "$s4main3fooyF", "$s4main3foo1aySi_SutF", "$sAZ_D", "$sA99999999999999999999_D",
		"$s99999999999999999999a", "$s01aD", "$s0012vergenza_Jf*yyF", "$s4main3fooyyFTf4n", "$s4main3fooyyFTf4q_n", "$s4main3fooyySi_SiG",
		"$sSi_SiSu_tD", "$s4main3fooyyFTQ", "$s4main3fooyyFTe", "$sSizzzRzlD", "$sSiBv4_D", "$sBf_D", "$s3foo\x01abcdV", "_T0", "_T04main3fooyF",
		"$s4main3FooV\xff", "$s4main3fooyyx_q_tRszl", "$ss4main3foo", "$s4main3fooyyFSiSiTg5", "_TtC4main3Fo",
		"$s$D", "$s$n_SiD", "$s4main3fooyyFTJfXpSr", "$s4main3fooyyFTJzSpSr", "$s4main3fooyyFTJfSp",
		"$s4main3fooyyFWJzSpSr", "$sTJSpSpSrSP", "$s4main3foofMX1_", "$sSiXXD", "$sSiXZ", "$s4main3BoxVWOiz", "$sSiBV",
	} {
		if got := demangle.Name(name, demangle.Full); got != name {
			t.Errorf("%q became %q", name, got)
		}
	}
}

func TestDeepSwiftNamesAreBounded(t *testing.T) {
	name := "4main3fooyyF"
	for len(name) < 7000 {
		name = "4main3baryyF" + strconv.Itoa(len(name)+2) + "$s" + name + "Tf1c_n"
	}
	for _, name := range []string{
		"$s" + name,
		"$s4main3fooyyS2048i" + strings.Repeat("S2048i", 1000) + "F",
		"$s4main3foo" + strings.Repeat("A2000B", 1300),
		"$s" + strings.Repeat("4main1AV1a", 700) + "yyF",
		"$sSi" + strings.Repeat("Sg", 4000) + "D",
		"$sSi" + strings.Repeat("_AAtABt", 1000) + "D",
		"$sx" + strings.Repeat("r9999_9999_l", 600) + "uD",
		"$s4main1aSi" + strings.Repeat("_A2B3C2Dt", 700) + "F",
		"$s" + strings.Repeat("0A1aB", 1600) + "V",
		"$s1a1byyFTJf" + strings.Repeat("S", 7000) + "pSr",
		"$s" + strings.Repeat("Siz_", 1700) + "XxD",
	} {
		start := time.Now()
		got := demangle.Name(name, demangle.Full)
		if took := time.Since(start); took > time.Second {
			t.Errorf("%.30q took %v", name, took)
		}
		if got != name && len(got) > 32<<10 {
			t.Errorf("%.30q became %d bytes", name, len(got))
		}
	}
}

func TestDepthOfSwiftNamesHasALimit(t *testing.T) {
	if got, want := demangle.Name("$sSi"+strings.Repeat("m", 100)+"D", demangle.Full), "Swift.Int"+strings.Repeat(".Type", 100); got != want {
		t.Errorf("100 levels: got %s", got)
	}
	if name := "$sSi" + strings.Repeat("m", 300) + "D"; demangle.Name(name, demangle.Full) != name {
		t.Error("300 levels were written")
	}
}

func BenchmarkSwift(b *testing.B) {
	b.ReportAllocs()
	dst := make([]byte, 0, 1<<10)
	name := []byte("$s4main3FooV1xACyxGqd___tcAA1PRd__lufC")
	for b.Loop() {
		demangle.Append(dst, name, demangle.Full)
	}
}

func FuzzSwift(f *testing.F) {
	for _, x := range append(swiftNames, oldNames...) {
		f.Add([]byte(x.name))
	}
	demangletest.Fuzz(f, swift.Append)
}
