package pe_test

import (
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/breakpad"
	ours "symbolon/internal/format/pe"
	"symbolon/internal/sym"
)

// unwound returns a file with code from 0x1000 on, unwind information at 0x5000 and
// an exception directory.
func unwound(machine uint16, info []byte, table ...uint32) *fixture.PE {
	p := fixture.NewPE(machine)
	p.Section(fixture.PESection{Name: ".text", Addr: 0x1000, Size: 0x4000, Data: make([]byte, 0x400), Flags: fixture.PECode})
	p.Section(fixture.PESection{Name: ".xdata", Addr: 0x5000, Data: info})
	return p.Table(fixture.PEDirException, fixture.PESection{Name: ".pdata", Addr: 0x6000, Data: fixture.PEPack(table)})
}

// records returns all records, without their prefixes, and the problems.
func records(f *ours.File) (text string, problems []string) {
	found, _ := f.UnwindRecords(func(u *sym.Unwind) error { text += string(breakpad.AppendStack(nil, u)); return nil })
	for _, p := range found {
		problems = append(problems, p.Reason)
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "STACK CFI INIT ", "INIT "), "STACK CFI ", ""), problems
}

func checkRecords(t *testing.T, what string, p *fixture.PE, want ...string) {
	t.Helper()
	got, problems := records(clean(t, p.Bytes()))
	if w := strings.Join(want, "\n") + "\n"; got != w || problems != nil {
		t.Errorf("%s: %v\n got\n%swant\n%s", what, problems, got, w)
	}
}

func TestRecordsOfX64(t *testing.T) {
	const push, allocLarge, allocSmall, setFrame, save, saveFar, epilog, spare, xmm, xmmFar, machine = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
	code := func(at, op, info uint16) uint16 { return at | op<<8 | info<<12 }
	type unwind = fixture.PEUnwind
	for name, c := range map[string]struct {
		unwind
		want []string
	}{
		"leaf with a record": {unwind{}, []string{"INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^"}},
		"steps of a prolog": {unwind{Prolog: 16, Codes: []uint16{code(16, save, 6), 8, code(12, xmm, 6), 1, code(8, allocSmall, 3), code(2, push, 12)}}, []string{
			"INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^",
			"1002 .cfa: $rsp 16 + $r12: .cfa -16 + ^",
			"1008 .cfa: $rsp 48 +",
			"1010 $rsi: .cfa 16 + ^"}},
		"large frames": {unwind{Codes: []uint16{code(24, saveFar, 3), 0x10, 0, code(16, xmmFar, 7), 0, 0, code(8, allocLarge, 1), 0, 2, code(4, allocLarge, 0), 0x20}}, []string{
			"INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^",
			"1004 .cfa: $rsp 264 +",
			"1008 .cfa: $rsp 131336 +",
			"1018 $rbx: .cfa -131320 + ^"}},
		"frame pointer": {unwind{Frame: 5 | 2<<4, Codes: []uint16{code(12, save, 3), 4, code(9, allocSmall, 5), code(5, setFrame, 0), code(1, push, 5)}}, []string{
			"INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^",
			"1001 .cfa: $rsp 16 + $rbp: .cfa -16 + ^",
			"1005 .cfa: $rbp -16 +",
			"100c $rbx: $rbp 0 + ^"}},
		"interrupt": {unwind{Codes: []uint16{code(0, machine, 1)}}, []string{"INIT 1000 40 .cfa: $rsp 48 + $rsp: .cfa -16 + ^ .ra: .cfa -40 + ^"}},
		"second version": {unwind{Version: 2, Codes: []uint16{code(1, epilog, 1), code(0x20, epilog, 0), code(4, spare, 0), 0, 0, code(4, allocSmall, 0)}}, []string{
			"INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^",
			"1004 .cfa: $rsp 16 +"}},
		"prolog longer than the function": {unwind{Codes: []uint16{code(0x40, allocSmall, 0)}}, []string{"INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^"}},
	} {
		checkRecords(t, name, unwound(fixture.PEX64, c.Bytes(), 0x1000, 0x1040, 0x5000), c.want...)
	}
}

// A chained entry begins with the frame of the other one. Registers that it
// saves are relative to that frame.
func TestChainedEntries(t *testing.T) {
	first := fixture.PEUnwind{Prolog: 5, Codes: []uint16{0x4205, 0x3001}}.Bytes()
	second := fixture.PEUnwind{Flags: 4, Codes: []uint16{0x6405, 7}, Parent: []uint32{0x1000, 0x1010, 0x5000}}.Bytes()
	at := uint32(0x5000 + len(first))
	p := unwound(fixture.PEX64, append(first, second...), 0x1000, 0x1010, 0x5000, 0x1010, 0x1040, at, 0x1040, 0x1050, 0x6000|1)
	checkRecords(t, "chained", p,
		"INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^",
		"1001 .cfa: $rsp 16 + $rbx: .cfa -16 + ^",
		"1005 .cfa: $rsp 56 +",
		"INIT 1010 30 .cfa: $rsp 56 + $rbx: .cfa -16 + ^ .ra: .cfa -8 + ^",
		"1015 $rsi: .cfa 0 + ^",
		"INIT 1040 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^",
		"1041 .cfa: $rsp 16 + $rbx: .cfa -16 + ^",
		"1045 .cfa: $rsp 56 +")
	if got := clean(t, p.Bytes()).FunctionStarts(nil); len(got) != 1 || got[0] != 0x1000 {
		t.Errorf("functions %x", got)
	}
}

func TestRecordsOfARM64(t *testing.T) {
	body := "INIT 1000 40 .cfa: sp 0 + .ra: x30"
	for name, c := range map[string]struct {
		info []byte
		want []string
	}{
		"epilog at the end": {fixture.PEXdata(0x40, "\xe1\x83\xe4", 0), []string{body,
			"1004 .cfa: sp 32 + x29: .cfa -32 + ^ .ra: .cfa -24 + ^", "1008 .cfa: x29 32 +",
			"1038 .cfa: sp 32 +", "103c .cfa: sp 0 + x29: x29 .ra: x30"}},
		"epilog in the middle": {fixture.PEXdata(0x40, "\xd2\x41\x22\xe4", -1, fixture.PEScope{Off: 0x10}, fixture.PEScope{Off: 0x20, Code: 2}), []string{body,
			"1004 .cfa: sp 16 + x19: .cfa -16 + ^ x20: .cfa -8 + ^", "1008 x28: .cfa -8 + ^",
			"1014 x28: x28", "1018 .cfa: sp 0 + x19: x19 x20: x20", "101c .cfa: sp 16 + x19: .cfa -16 + ^ x20: .cfa -8 + ^ x28: .cfa -8 + ^",
			"1020 x28: x28", "1024 .cfa: sp 0 + x19: x19 x20: x20", "1028 .cfa: sp 16 + x19: .cfa -16 + ^ x20: .cfa -8 + ^ x28: .cfa -8 + ^"}},
		"sizes and pointers": {fixture.PEXdata(0x40, "\xe2\x02\x41\x02\xc0\x01\xe0\x00\x10\x00\xe3\xfc\xe4", -1), []string{body,
			"100c .cfa: sp 65536 +", "1010 .cfa: sp 65552 +", "1014 .cfa: sp 65584 +", "1018 x29: .cfa -65576 + ^ .ra: .cfa -65568 + ^", "101c .cfa: x29 65568 +"}},
		"all registers": {fixture.PEXdata(0x40, "\xdc\x42\xd8\xc4\xda\x07\xd7\x08\xd6\x06\xd0\x05\xd4\x63\xc8\x82\xcc\x43\xde\x21\xe4", -1), []string{body,
			"1004 .cfa: sp 16 + d9: .cfa -16 + ^",
			"1008 .cfa: sp 48 + x20: .cfa -48 + ^ x21: .cfa -40 + ^",
			"100c x21: .cfa -32 + ^ x22: .cfa -24 + ^",
			"1010 .cfa: sp 80 + x22: .cfa -80 + ^",
			"1014 x19: .cfa -40 + ^",
			"1018 x19: .cfa -32 + ^ .ra: .cfa -24 + ^",
			"101c x27: .cfa -16 + ^ .ra: .cfa -8 + ^",
			"1020 .cfa: sp 144 + d8: .cfa -144 + ^ d9: .cfa -136 + ^",
			"1024 d11: .cfa -112 + ^ d12: .cfa -104 + ^",
			"1028 d9: .cfa -128 + ^"}},
		"next pairs": {fixture.PEXdata(0x40, "\xe6\xd8\x02\xe6\xe6\x26\xe4", -1), []string{body,
			"1004 .cfa: sp 48 + x19: .cfa -48 + ^ x20: .cfa -40 + ^", "1008 x21: .cfa -32 + ^ x22: .cfa -24 + ^",
			"100c x23: .cfa -16 + ^ x24: .cfa -8 + ^", "1010 d8: .cfa -32 + ^ d9: .cfa -24 + ^", "1014 d10: .cfa -16 + ^ d11: .cfa -8 + ^"}},
		"any registers": {fixture.PEXdata(0x40, "\xe7\x08\x80\xe7\x46\x41\xe7\x05\x01\xe7\x60\x01\xe4", -1), []string{body,
			"1004 .cfa: sp 32 + x0: .cfa -32 + ^ x1: .cfa -24 + ^", "1008 x5: .cfa -24 + ^", "100c d6: .cfa -16 + ^ d7: .cfa -8 + ^"}},
		"part of a function": {fixture.PEXdata(0x40, "\xe5\x83\xe4", -1), []string{"INIT 1000 40 .cfa: sp 32 + x29: .cfa -32 + ^ .ra: .cfa -24 + ^"}},
		"long header":        {fixture.PEXdata(0x40, strings.Repeat("\xe3", 200)+"\xe4", -1), []string{body}},
	} {
		checkRecords(t, name, unwound(fixture.PEARM64, c.info, 0x1000, 0x5000), c.want...)
	}
}

// packedWord returns an entry of packed unwind information for 64 bytes.
func packedWord(kind, doubles, ints, homes, link, frame uint32) uint32 {
	return kind | 16<<2 | doubles<<13 | ints<<16 | homes<<20 | link<<21 | frame/16<<23
}

func TestPackedRecordsOfARM64(t *testing.T) {
	body := "INIT 1000 40 .cfa: sp 0 + .ra: x30"
	for name, c := range map[string]struct {
		word uint32
		want []string
	}{
		"leaf": {packedWord(1, 0, 0, 0, 0, 32), []string{body, "1004 .cfa: sp 32 +", "103c .cfa: sp 0 +"}},
		"link among registers": {packedWord(1, 0, 3, 0, 1, 32), []string{body,
			"1004 .cfa: sp 32 + x19: .cfa -32 + ^ x20: .cfa -24 + ^", "1008 x21: .cfa -16 + ^ .ra: .cfa -8 + ^",
			"1038 x21: x21 .ra: x30", "103c .cfa: sp 0 + x19: x19 x20: x20"}},
		"link after an even number": {packedWord(1, 0, 2, 0, 1, 48), []string{body,
			"1004 .cfa: sp 32 + x19: .cfa -32 + ^ x20: .cfa -24 + ^", "1008 .ra: .cfa -16 + ^", "100c .cfa: sp 48 +",
			"1034 .cfa: sp 32 +", "1038 .ra: x30", "103c .cfa: sp 0 + x19: x19 x20: x20"}},
		"only the link": {packedWord(1, 0, 0, 0, 1, 16), []string{body, "1004 .cfa: sp 16 + .ra: .cfa -16 + ^", "103c .cfa: sp 0 + .ra: x30"}},
		"one and the link": {packedWord(1, 0, 1, 0, 1, 16), []string{body,
			"1004 .cfa: sp 16 +", "1008 x19: .cfa -16 + ^ .ra: .cfa -8 + ^", "1038 x19: x19 .ra: x30", "103c .cfa: sp 0 +"}},
		"doubles": {packedWord(1, 2, 1, 0, 0, 32), []string{body,
			"1004 .cfa: sp 32 + x19: .cfa -32 + ^", "1008 d8: .cfa -24 + ^ d9: .cfa -16 + ^", "100c d10: .cfa -8 + ^",
			"1034 d10: d10", "1038 d8: d8 d9: d9", "103c .cfa: sp 0 + x19: x19"}},
		"only doubles": {packedWord(1, 1, 0, 0, 0, 16), []string{body, "1004 .cfa: sp 16 + d8: .cfa -16 + ^ d9: .cfa -8 + ^", "103c .cfa: sp 0 + d8: d8 d9: d9"}},
		"signed with frame": {packedWord(1, 0, 3, 0, 2, 64), []string{body,
			"1008 .cfa: sp 32 + x19: .cfa -32 + ^ x20: .cfa -24 + ^", "100c x21: .cfa -16 + ^",
			"1010 .cfa: sp 64 + x29: .cfa -64 + ^ .ra: .cfa -56 + ^", "1014 .cfa: x29 64 +",
			"102c .cfa: sp 64 +", "1030 .cfa: sp 32 + x29: x29 .ra: x30", "1034 x21: x21", "1038 .cfa: sp 0 + x19: x19 x20: x20"}},
		"large frame": {packedWord(1, 0, 0, 0, 3, 4112), []string{body,
			"1004 .cfa: sp 4080 +", "1008 .cfa: sp 4112 +", "100c x29: .cfa -4112 + ^ .ra: .cfa -4104 + ^", "1010 .cfa: x29 4112 +",
			"1030 .cfa: sp 4112 +", "1034 x29: x29 .ra: x30", "1038 .cfa: sp 4080 +", "103c .cfa: sp 0 +"}},
		"parameters": {packedWord(1, 0, 2, 1, 0, 80), []string{body,
			"1004 .cfa: sp 80 + x19: .cfa -80 + ^ x20: .cfa -72 + ^", "103c .cfa: sp 0 + x19: x19 x20: x20"}},
		"only parameters": {packedWord(1, 0, 0, 1, 0, 64), []string{body, "1004 .cfa: sp 64 +", "103c .cfa: sp 0 +"}},
		"part of a function": {packedWord(2, 0, 2, 0, 0, 16), []string{
			"INIT 1000 40 .cfa: sp 16 + x19: .cfa -16 + ^ x20: .cfa -8 + ^ .ra: x30"}},
	} {
		checkRecords(t, name, unwound(fixture.PEARM64, nil, 0x1000, c.word), c.want...)
	}
	f := clean(t, unwound(fixture.PEARM64, fixture.PEXdata(0x40, "\xe4", -1), 0x1000, packedWord(2, 0, 2, 0, 0, 16), 0x1040, packedWord(1, 0, 2, 0, 0, 16), 0x1080, 0x5000).Bytes())
	if got := f.FunctionStarts(nil); len(got) != 2 || got[0] != 0x1040 {
		t.Errorf("functions %x", got)
	}
}

// Damage affects a function, and is reported.
func TestDamagedUnwindInformation(t *testing.T) {
	good := fixture.PEUnwind{Codes: []uint16{0x4204}}.Bytes()
	x64 := func(u fixture.PEUnwind, table ...uint32) *fixture.PE {
		return unwound(fixture.PEX64, append(u.Bytes(), good...), append(table, 0x2000, 0x2010, 0x5000+uint32(len(u.Bytes())))...)
	}
	arm := func(info []byte, word uint32) *fixture.PE {
		return unwound(fixture.PEARM64, append(info, fixture.PEXdata(0x10, "\x02\xe4", -1)...), 0x1000, word, 0x2000, 0x5000+uint32(len(info)))
	}
	self := fixture.PEUnwind{Flags: 4, Parent: []uint32{0x1000, 0x1040, 0x5000}}
	for want, p := range map[string]*fixture.PE{
		"invalid range of addresses":                       x64(fixture.PEUnwind{}, 0x1040, 0x1000, 0x5000),
		"chain of entries is too long":                     x64(self, 0x1000, 0x1040, 0x5000),
		"invalid reference to another entry":               x64(fixture.PEUnwind{}, 0x1000, 0x1040, 0x6000|1),
		"unwind information is beyond the end of the file": x64(fixture.PEUnwind{}, 0x1000, 0x1040, 0x90000),
		"unknown version of unwind information":            x64(fixture.PEUnwind{Version: 3}, 0x1000, 0x1040, 0x5000),
		"unwind codes are truncated":                       x64(fixture.PEUnwind{Codes: []uint16{0x0104}}, 0x1000, 0x1040, 0x5000),
		"unknown unwind code":                              x64(fixture.PEUnwind{Codes: []uint16{0x0b04}}, 0x1000, 0x1040, 0x5000),
		"invalid packed unwind information":                arm(nil, packedWord(1, 0, 15, 0, 0, 0)),
		"unknown kind of unwind information":               arm(nil, 3),
		"invalid size":                                     arm(fixture.PEXdata(0, "\xe4", -1), 0x5000),
		"unknown unwind code, or too many":                 arm(fixture.PEXdata(0x40, "\xe9\xe4", -1), 0x5000),
		"epilogs overlap, or are outside of the function":  arm(fixture.PEXdata(0x40, "\x02\xe4", -1, fixture.PEScope{Off: 0x80}), 0x5000),
		"unknown unwind code in an epilog, or too many":    arm(fixture.PEXdata(0x40, "\x02\xe4\xdf\x02\xe4", 2), 0x5000),
	} {
		if want == "invalid reference to another entry" {
			p.Sections[2].Data[8] = 1 // it refers to itself
			p.Sections[2].Data[9] = 0x60
		}
		text, problems := records(clean(t, p.Bytes()))
		if len(problems) != 1 || problems[0] != want || !strings.Contains(text, "INIT 2000 10") {
			t.Errorf("%s: %v\n%s", want, problems, text)
		}
	}
}

// The work for functions with shared codes is limited by the size of the file.
func TestSharedCodesAreLimited(t *testing.T) {
	var table []uint32
	for i := range uint32(7000) {
		table = append(table, 0x1000+i*0x400, 0x5000)
	}
	p := unwound(fixture.PEARM64, fixture.PEXdata(0x400, strings.Repeat("\x01", 250)+"\xe4", -1), table...)
	b := p.Bytes()
	size := 0
	problems, _ := clean(t, b).UnwindRecords(func(u *sym.Unwind) error { size += len(u.Rules); return nil })
	if len(problems) != 1 || size > 64*len(b) {
		t.Errorf("%d bytes make %d, %v", len(b), size, problems)
	}
}
