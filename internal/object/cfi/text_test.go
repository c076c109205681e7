package cfi_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/breakpad"
	"symbolon/internal/format/frame"
	"symbolon/internal/ident"
	"symbolon/internal/object/cfi"
	"symbolon/internal/sym"
)

func frameSection(f *fixture.Frame) *frame.Section {
	return &frame.Section{Data: f.Bytes(), Addr: f.Addr, EH: f.EH, Order: binary.LittleEndian, AddrSize: f.AddrSize, Text: f.Text, DataBase: f.Data}
}

// frameText returns the records of a section, and the number of omitted rules.
func frameText(t *testing.T, s *frame.Section, arch ident.Arch, base uint64) (string, int) {
	t.Helper()
	text := cfi.Text{Base: base, Registers: cfi.RegistersOf(arch)}
	var dst []byte
	for _, p := range s.Each(func(f *frame.FDE) bool {
		damage, err := text.Each(f, func(u *sym.Unwind) error { dst = breakpad.AppendStack(dst, u); return nil })
		if damage != nil || err != nil {
			t.Error(damage, err)
		}
		return true
	}) {
		t.Error(p)
	}
	return strings.TrimSpace(string(dst)), text.Untold
}

func wantFrameText(t *testing.T, instr []byte, untold int, want ...string) {
	t.Helper()
	f := fixture.NewFrame(false)
	f.FDE(f.CIE(fixture.FrameX8664(false)), 0x401000, 0x100, instr...)
	got, left := frameText(t, frameSection(f), ident.ArchX86_64, 0x400000)
	if got != strings.Join(want, "\n") || left != untold {
		t.Errorf("got, omitting %d,\n%s\nwant, omitting %d,\n%s", left, got, untold, strings.Join(want, "\n"))
	}
}

func TestCFITextRecordsChanges(t *testing.T) {
	wantFrameText(t, []byte{0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x41, 0x2e, 8, 0x41, 0x0c, 7, 8, 0xc6}, 0,
		"STACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^",
		"STACK CFI 1001 .cfa: $rsp 16 + $rbp: .cfa -16 + ^",
		"STACK CFI 1004 .cfa: $rbp 16 +",
		"STACK CFI 1006 .cfa: $rsp 8 + $rbp: $rbp")
	wantFrameText(t, []byte{7, 16, 0x41, 8, 3, 0x41, 9, 3, 12, 0x41, 0x14, 3, 3, 0x41, 7, 3}, 0,
		"STACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .undef",
		"STACK CFI 1001 $rbx: $rbx",
		"STACK CFI 1002 $rbx: $r12",
		"STACK CFI 1003 $rbx: .cfa -24 +",
		"STACK CFI 1004 $rbx: .undef")
}

func TestCFITextOmitsOtherRules(t *testing.T) {
	// A register without a name, an operation without a counterpart.
	wantFrameText(t, []byte{0x05, 0xff, 1, 2, 0x10, 3, 1, 0x2d}, 2, "STACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^")
	// Where it was said before, it does not hold any more.
	wantFrameText(t, []byte{0x83, 2, 0x41, 0x10, 3, 1, 0x2d}, 1,
		"STACK CFI INIT 1000 100 .cfa: $rsp 8 + $rbx: .cfa -16 + ^ .ra: .cfa -8 + ^",
		"STACK CFI 1001 $rbx: .undef")
}

func TestCFITextGapWithoutCFA(t *testing.T) {
	wantFrameText(t, []byte{0x41, 0x0e, 16, 0x41, 0x0f, 1, 0x2d, 0x42, 0x0c, 7, 24, 0x41, 0x0e, 32}, 1,
		"STACK CFI INIT 1000 2 .cfa: $rsp 8 + .ra: .cfa -8 + ^",
		"STACK CFI 1001 .cfa: $rsp 16 +",
		"STACK CFI INIT 1004 fc .cfa: $rsp 24 + .ra: .cfa -8 + ^",
		"STACK CFI 1005 .cfa: $rsp 32 +")
	wantFrameText(t, []byte{0x0f, 1, 0x2d}, 1, "")
}

func TestFramesBeforeImageAreSkipped(t *testing.T) {
	f := fixture.NewFrame(false)
	f.FDE(f.CIE(fixture.FrameX8664(false)), 0x1000, 0x100)
	if got, _ := frameText(t, frameSection(f), ident.ArchX86_64, 0x2000); got != "" {
		t.Error(got)
	}
}

func TestExpressionsBecomePostfix(t *testing.T) {
	for _, c := range []struct {
		want string
		expr []byte
	}{
		{"$rsp 8 + $rip 16 % 5 + 16 / 8 * +", []byte{0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}}, // of a PLT
		{"$rbp -8 + ^", []byte{0x76, 0x78, 0x06}},
		{"$rsp", []byte{0x92, 7, 0, 0x96}},
		{"$rsp 200 + ^", []byte{0x77, 0, 0x23, 0xc8, 1, 0x06}},
		{"$rsp 16 @", []byte{0x77, 0, 0x09, 0xf0, 0x1a}},
		{"$rsp 255 -", []byte{0x77, 0, 0x08, 0xff, 0x1c}},
		{"$rsp -2 +", []byte{0x77, 0, 0x0b, 0xfe, 0xff, 0x22}},
		{"$rsp 513 +", []byte{0x77, 0, 0x0a, 1, 2, 0x22}},
		{"$rsp -1 +", []byte{0x77, 0, 0x0d, 0xff, 0xff, 0xff, 0xff, 0x22}},
		{"$rsp 65536 +", []byte{0x77, 0, 0x0c, 0, 0, 1, 0, 0x22}},
		{"$rsp 65536 *", []byte{0x77, 0, 0x0e, 0, 0, 1, 0, 0, 0, 0, 0, 0x1e}},
		{"$rsp -2 *", []byte{0x77, 0, 0x0f, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1e}},
		{"$rsp 300 + -3 +", []byte{0x77, 0, 0x10, 0xac, 2, 0x22, 0x11, 0x7d, 0x22}},
		{"$rsp 8 /", []byte{0x77, 0, 0x33, 0x25}},
		{"$rsp $rsp ^ +", []byte{0x77, 0, 0x12, 0x06, 0x22}},
		{"$rbx $rsp -", []byte{0x77, 0, 0x73, 0, 0x16, 0x1c}},
		{"$rbx", []byte{0x73, 0, 0x77, 0, 0x13}},
		{"$rbx $rsp $rbx - -", []byte{0x73, 0, 0x77, 0, 0x14, 0x1c, 0x1c}},
		{"", nil},                                     // nothing
		{"", []byte{0x06}},                            // from an empty stack
		{"", []byte{0x77, 0, 0x22}},                   // with one operand
		{"", []byte{0x77}},                            // cut off
		{"", []byte{0x77, 0, 0x77, 0, 0x1a}},          // bits of something unknown
		{"", []byte{0x77, 0, 0x35, 0x1a}},             // not the low bits
		{"", []byte{0x77, 0, 0x33, 0x2a}},             // a comparison of anything
		{"", []byte{0x80, 0, 0x33, 0x1a, 0x34, 0x2a}}, // a comparison that is always false
		{"", []byte{0x92, 0xff, 0x7f, 0}},             // a register without a name
		{"", []byte{0x77, 0, 0x28, 0, 0}},             // a jump
		{"", doubling(60)},
		{"", []byte(strings.Repeat("\x30", 40))},
		{"", []byte(strings.Repeat("\x96", 250) + "\x77\x00\x96\x96\x96\x96\x96\x96")},
	} {
		instr := append(append([]byte{0x0f}, byte(len(c.expr)&0x7f)|0x80, byte(len(c.expr)>>7)), c.expr...)
		want, untold := "STACK CFI INIT 1000 100 .cfa: "+c.want+" .ra: .cfa -8 + ^", 0
		if c.want == "" {
			want, untold = "", 1
		}
		wantFrameText(t, instr, untold, want)
	}
	wantFrameText(t, []byte{0x10, 3, 2, 0x23, 8, 0x16, 6, 3, 0x38, 0x1c, 0x96}, 0,
		"STACK CFI INIT 1000 100 .cfa: $rsp 8 + $rbx: .cfa 8 + ^ $rbp: .cfa 8 - .ra: .cfa -8 + ^")
}

// doubling returns an expression whose text doubles with each step.
func doubling(n int) []byte {
	b := []byte{0x77, 0}
	for range n {
		b = append(b, 0x12, 0x22)
	}
	return b
}

func TestRegistersOf(t *testing.T) {
	for _, c := range []struct {
		arch   ident.Arch
		sp, ra byte
		want   string
	}{
		{ident.ArchX86, 4, 8, ".cfa: $esp 16 +"},
		{ident.ArchX86_64, 7, 16, ".cfa: $rsp 16 +"},
		{ident.ArchX86_64h, 32, 16, ".cfa: $xmm15 16 +"},
		{ident.ArchARMv7, 13, 14, ".cfa: sp 16 + .ra: lr"},
		{ident.ArchARM64e, 31, 30, ".cfa: sp 16 + .ra: x30"},
		{ident.ArchARM64, 72, 30, ".cfa: v8 16 + .ra: x30"},
		{ident.ArchMIPS, 29, 31, ".cfa: $sp 16 + .ra: $ra"},
		{ident.ArchMIPS64el, 23, 31, ".cfa: $s7 16 + .ra: $ra"},
		{ident.ArchPPC64, 1, 65, ".cfa: r1 16 + .ra: lr"},
		{ident.ArchRISCV64, 2, 1, ".cfa: sp 16 + .ra: ra"},
		{ident.ArchRISCV64, 27, 1, ".cfa: s11 16 + .ra: ra"},
		{ident.ArchS390x, 15, 14, ".cfa: r15 16 + .ra: r14"},
		{ident.ArchWasm32, 1, 2, ""},
	} {
		f := fixture.NewFrame(false)
		cie := fixture.FrameCIE{Version: 3, CodeAlign: 1, DataAlign: -8, RA: uint64(c.ra), Instructions: []byte{0x0c, c.sp, 16}}
		f.FDE(f.CIE(cie), 0x1000, 0x10)
		want := "STACK CFI INIT 1000 10 " + c.want
		if c.want == "" {
			want = ""
		}
		if got, _ := frameText(t, frameSection(f), c.arch, 0); got != want {
			t.Errorf("%v: %q, want %q", c.arch, got, want)
		}
	}
}

func TestRestoredReturnAddress(t *testing.T) {
	f := fixture.NewFrame(false)
	cie := fixture.FrameCIE{Version: 3, CodeAlign: 4, DataAlign: -8, RA: 30, Instructions: []byte{0x0c, 31, 0}}
	f.FDE(f.CIE(cie), 0x1000, 0x20, 0x41, 0x0e, 16, 0x9d, 2, 0x9e, 1, 0x46, 0x0e, 0, 0xdd, 0xde)
	got, _ := frameText(t, frameSection(f), ident.ArchARM64, 0)
	if want := `STACK CFI INIT 1000 20 .cfa: sp 0 + .ra: x30
STACK CFI 1004 .cfa: sp 16 + x29: .cfa -16 + ^ .ra: .cfa -8 + ^
STACK CFI 101c .cfa: sp 0 + x29: x29 .ra: x30`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
