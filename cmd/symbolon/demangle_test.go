package main

import "testing"

func TestNamesAreFoundInText(t *testing.T) {
	for line, want := range map[string]string{
		"_ZN3foo3barEv":                                 "foo::bar()",
		"at _ZN3foo3barEv+0x1":                          "at foo::bar()+0x1",
		"./prog(_ZN3foo3barEv+0x1) [0x4011]":            "./prog(foo::bar()+0x1) [0x4011]",
		"#1 0x12 in __Z3foov /src/a.cc:3":               "#1 0x12 in foo() /src/a.cc:3",
		"_Z3foov _Z3barv,_RNvC1a1b":                     "foo() bar(),a::b",
		"U _Z3foov@GLIBCXX_3.4":                         "U foo()@GLIBCXX_3.4",
		"undefined: _Z3foov.":                           "undefined: foo().",
		"is it _Z3foov?":                                "is it foo()?",
		"_Z3foov.cold is cold":                          "foo() [clone .cold] is cold",
		"thread $s4main3FooV3bar1aySi_tF (a)":           "thread main.Foo.bar(a: Swift.Int) -> () (a)",
		"error LNK2019: ?f@ns@@YAHH@Z in ??0A@@QEAA@XZ": "error LNK2019: ns::f(int) in A::A()",
		"<?f@@YAXXZ>, .?AVA@@":                          "<f()>, A `RTTI Type Descriptor Name'",
		"gopkg.in/yaml%2ev3.Unmarshal":                  "gopkg.in/yaml.v3.Unmarshal",
		"https://example.org/a%2eb x":                   "https://example.org/a%2eb x",
		"my_Z3foov __imp__Z3foov __imp_?f@@YAXXZ":       "my_Z3foov __imp__Z3foov __imp_?f@@YAXXZ",
		"?? ??:0 _Z f _Zzz \xff_Z3foov":                 "?? ??:0 _Z f _Zzz \xff_Z3foov",
		"":                                              "",
	} {
		if got := doingWith(t, line+"\n", "demangle"); got != want+"\n" {
			t.Errorf("%q:\n got %q\nwant %q", line, got, want+"\n")
		}
	}
}
