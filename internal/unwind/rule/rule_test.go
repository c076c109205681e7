package rule_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/format/breakpad"
	"symbolon/internal/ident"
	"symbolon/internal/sym"
	"symbolon/internal/unwind/rule"
)

// memory has the bytes from base on.
type memory struct {
	base uint64
	data []byte
}

func (m memory) ReadAt(dst []byte, addr uint64) int {
	if addr < m.base || addr-m.base > uint64(len(m.data)) {
		return 0
	}
	return copy(dst, m.data[addr-m.base:])
}

// stack returns memory at 0x1000 whose words, counted from 0x1000 on, are
// 0xa0, 0xa1 and so on.
func stack(word int) memory {
	m := memory{base: 0x1000}
	for i := range 16 {
		if word == 4 {
			m.data = binary.LittleEndian.AppendUint32(m.data, uint32(0xa0+i))
		} else {
			m.data = binary.LittleEndian.AppendUint64(m.data, uint64(0xa0+i))
		}
	}
	return m
}

type piece struct {
	start, end uint64
	row        rule.Row
}

// compile returns the rows of STACK records, and the number of bad ones.
func compile(t *testing.T, cpu *rule.CPU, lines ...string) ([]piece, int) {
	t.Helper()
	var pieces []piece
	c := rule.Compiler{CPU: cpu}
	yield := func(start, end uint64, row rule.Row) error {
		pieces = append(pieces, piece{start, end, slices.Clone(row)})
		return nil
	}
	for _, line := range lines {
		u, ok := breakpad.ParseStack([]byte("STACK " + line))
		if !ok {
			t.Fatalf("invalid record %q", line)
		}
		if err := c.Add(&u, yield); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Flush(yield); err != nil {
		t.Fatal(err)
	}
	return pieces, c.Bad
}

// one returns the row of a single record.
func one(t *testing.T, cpu *rule.CPU, line string) rule.Row {
	t.Helper()
	pieces, bad := compile(t, cpu, line)
	if len(pieces) != 1 || bad != 0 {
		t.Fatalf("%q: %d rows, %d bad records", line, len(pieces), bad)
	}
	return pieces[0].row
}

// registers returns the registers in a list of name=hex.
func registers(t *testing.T, cpu *rule.CPU, list string) (r rule.Registers) {
	t.Helper()
	for word := range strings.FieldsSeq(list) {
		name, text, _ := strings.Cut(word, "=")
		var v uint64
		if _, err := fmt.Sscanf(text, "%x", &v); err != nil {
			t.Fatal(err)
		}
		reg, ok := cpu.Reg(name)
		if !ok {
			t.Fatalf("unknown register %s", name)
		}
		r.Set(reg, v)
	}
	return r
}

// text returns the registers as a list of name=hex.
func text(cpu *rule.CPU, r *rule.Registers) string {
	var words []string
	for i := range cpu.Count() {
		if v, ok := r.Get(rule.Reg(i)); ok {
			words = append(words, fmt.Sprintf("%s=%x", cpu.RegName(rule.Reg(i)), v))
		}
	}
	return strings.Join(words, " ")
}

type evalCase struct {
	rules  string
	callee string
	want   string // registers, or the reason of a failure after "!"
}

func check(t *testing.T, arch ident.Arch, prefix string, in rule.Windows, cases []evalCase) {
	t.Helper()
	cpu := rule.For(arch)
	for _, c := range cases {
		callee := registers(t, cpu, c.callee)
		caller, o, why := one(t, cpu, prefix+c.rules).Eval(cpu, &callee, stack(cpu.Word), false, in)
		got := text(cpu, &caller.Registers)
		switch o {
		case rule.Failed:
			got = "!" + why
		case rule.Outermost:
			got = "outermost"
		}
		if got != c.want {
			t.Errorf("%s of %s: got %s, want %s", c.rules, c.callee, got, c.want)
		}
	}
}

func TestRulesOfCFI(t *testing.T) {
	check(t, ident.ArchX86_64, "CFI INIT 10 10 ", rule.Windows{}, []evalCase{
		{".cfa: $rsp 16 + .ra: .cfa -8 + ^", "rsp=1000", "rsp=1010 rip=a1"},
		{".cfa: rsp 16 + .ra: .cfa 8 - ^", "rsp=1000", "rsp=1010 rip=a1"},
		// Registers that calls preserve are copied, unless a rule fails.
		{".cfa: $rsp 16 + .ra: .cfa -8 + ^", "rsp=1000 rbx=1 rbp=2 rax=3 r12=4", "rbx=1 rbp=2 rsp=1010 r12=4 rip=a1"},
		{".cfa: $rsp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^", "rsp=1000 rbp=2", "rbp=a0 rsp=1010 rip=a1"},
		{".cfa: $rsp 16 + .ra: .cfa -8 + ^ $rbp: .undef", "rsp=1000 rbp=2", "rsp=1010 rip=a1"},
		{".cfa: $rsp 16 + .ra: .cfa -8 + ^ $rbp: 0 ^", "rsp=1000 rbp=2", "rsp=1010 rip=a1"},
		{".cfa: $rsp 16 + .ra: .cfa -8 + ^ $rbp: $rbp $rdi: $rdi", "rsp=1000 rbp=2 rdi=3", "rdi=3 rbp=2 rsp=1010 rip=a1"},
		// A rule of the stack pointer is applied after the frame address.
		{".cfa: $rsp 16 + .ra: .cfa -8 + ^ $rsp: .cfa 8 +", "rsp=1000", "rsp=1018 rip=a1"},
		{".cfa: $rsp 16 + .ra: .cfa -8 + ^ $rsp: $rdx", "rsp=1000", "!rsp: unknown value of register rdx"},
		// All rules read the registers of the callee.
		{".cfa: $rsp 16 + .ra: .cfa -8 + ^ $rbx: 7 $rbp: $rbx", "rsp=1000 rbx=5", "rbx=7 rbp=5 rsp=1010 rip=a1"},
		// Registers that the CPU lacks are ignored, but not in expressions.
		{".cfa: $rsp 16 + .ra: .cfa -8 + ^ $xmm0: 7", "rsp=1000", "rsp=1010 rip=a1"},
		{".cfa: $xmm0 16 + .ra: .cfa -8 + ^", "rsp=1000", "!.cfa: register that the CPU lacks"},
		// Operators.
		{".cfa: 7 -2 * 30 + .ra: 17 5 %", "", "rsp=10 rip=2"},
		{".cfa: 100 7 / .ra: 29 8 @", "", "rsp=e rip=18"},
		{".cfa: $rsp 1 2 + 4 * + .ra: $rsp 8 + ^ $rsp ^ -", "rsp=1000", "rsp=100c rip=1"},
		{".cfa: -1 .ra: 1 -2 /", "", "rsp=ffffffffffffffff rip=0"},
		// Failures.
		{".cfa: $rbp .ra: 1", "rsp=1000", "!.cfa: unknown value of register rbp"},
		{".cfa: $rsp .ra: .cfa ^", "rsp=fff", "!.ra: unreadable memory at 0xfff"},
		{".cfa: $rsp .ra: .cfa ^", "rsp=107c", "!.ra: unreadable memory at 0x107c"},
		{".cfa: $rsp 0 / .ra: 1", "rsp=1000", "!.cfa: division by zero"},
		{".cfa: $rsp 0 % .ra: 1", "rsp=1000", "!.cfa: division by zero"},
		{".cfa: $rsp 3 @ .ra: 1", "rsp=1000", "!.cfa: invalid alignment: must be a power of two"},
		{".cfa: $rsp 0 @ .ra: 1", "rsp=1000", "!.cfa: invalid alignment: must be a power of two"},
		{".cfa: $rsp $rsp .ra: 1", "rsp=1000", "!.cfa: invalid expression: must leave one value"},
		{".cfa: $rsp + .ra: 1", "rsp=1000", "!.cfa: invalid expression: must leave one value"},
		{".cfa: " + strings.Repeat("1 ", 65) + ".ra: 1", "", "!.cfa: invalid expression: must leave one value"},
		{".cfa: .cfa 8 + .ra: 1", "rsp=1000", "!.cfa: frame address in its own rule"},
		{".cfa: 99999999999999999999 .ra: 1", "", "!.cfa: register that the CPU lacks"},
		{".ra: 1", "rsp=1000", "!.cfa: no rule"},
		{".cfa: 1 .ra: .undef 1 +", "", "!.ra: undefined"},
		// The end of a stack.
		{".cfa: $rsp 8 + .ra: .undef", "rsp=1000", "outermost"},
		{".cfa: $rsp 8 +", "rsp=1000", "outermost"},
	})
}

func TestRulesOfCFIOn32Bits(t *testing.T) {
	check(t, ident.ArchX86, "CFI INIT 10 10 ", rule.Windows{}, []evalCase{
		{".cfa: $esp 8 + .ra: .cfa -4 + ^ $eax: .cfa ^", "esp=1000 ebp=7", "eip=a1 esp=1008 ebp=7 eax=a2"},
		{".cfa: $esp 8 + .ra: 1", "esp=ffffffff", "!.cfa: value exceeds a word"},
		{".cfa: $esp 8 - .ra: 1 $ebx: -1", "esp=10 ebx=5", "eip=1 esp=8"},
	})
	check(t, ident.ArchARMv7, "CFI INIT 10 10 ", rule.Windows{}, []evalCase{
		{".cfa: sp 8 + .ra: lr r11: .cfa 8 - ^", "sp=1000 lr=55 r4=1 r0=2", "r4=1 fp=a0 sp=1008 pc=55"},
		{".cfa: r13 .ra: r14", "sp=1000 lr=55 r11=3", "fp=3 sp=1000 pc=55"},
		{".cfa: sp", "sp=1000", "!.ra: no rule"},
	})
}

func TestRulesOfWindows(t *testing.T) {
	const basic = "$T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + ="
	check(t, ident.ArchX86, "WIN 4 10 10 0 0 0 8 4 0 1 ", rule.Windows{}, []evalCase{
		{basic, "esp=1000 ebp=1004 ebx=3 esi=4", "eip=a2 esp=100c ebp=a1 ebx=3"},
		{strings.ReplaceAll(basic, "= $", "=$"), "esp=1000 ebp=1004", "eip=a2 esp=100c ebp=a1"},
		{basic + " $20 $T0 4 - ^ = $23 $T0 12 + ^ =", "esp=1000 ebp=1004", "eip=a2 esp=100c ebp=a1 ebx=a0 esi=a4"},
		{basic + " $ebx .undef =", "esp=1000 ebp=1004 ebx=3", "eip=a2 esp=100c ebp=a1"},
		{"$eip .raSearch ^ = $esp .raSearchStart 4 + =", "esp=1000 ebp=1004", "eip=a3 esp=1010 ebp=1004"},
		{"$eip .raSearch ^ = $esp $esp 16 @ =", "esp=1009 ebp=1004", "eip=a2 esp=1000 ebp=1004"},
		{"$eip .cbParams .cbCalleeParams + .cbSavedRegs + .cbLocals + = $esp 4 =", "esp=1000 ebp=1004", "eip=c esp=4 ebp=1004"},
		{"$eip 1 2 - = $esp -1 2 + = $edi 7 2 / = $ebx 65536 65536 * =", "esp=1000 ebp=1004", "eip=ffffffff esp=1 ebp=1004 ebx=0 edi=3"},
		{"$eip 1 = $esp 2 = 3 4", "esp=1000 ebp=1004", "eip=1 esp=2 ebp=1004"},
		{"$eip 1 =", "esp=1000 ebp=1004", "!frame: no rule"},
		{"$eip 1 = $esp 2 = $esp .undef =", "esp=1000 ebp=1004", "!frame: no rule"},
		{"$eip $T1 = $esp 2 =", "esp=1000 ebp=1004", "!frame: variable without a value"},
		{"1 2 =", "esp=1000 ebp=1004", "!frame: variable without a value"},
		{"$eip .undef 1 + = $esp 1 =", "esp=1000 ebp=1004", "!frame: undefined"},
		{"=", "esp=1000 ebp=1004", "!frame: invalid expression: must leave one value"},
		{basic, "esp=1000", "!frame: unknown value of register ebp"},
		{basic, "ebp=1000", "!frame: unknown value of register esp"},
		{basic, "esp=1000 ebp=2004", "!frame: unreadable memory at 0x2008"},
	})
	check(t, ident.ArchX86, "WIN 0 10 10 0 0 0 8 4 0 0 ", rule.Windows{Params: 8}, []evalCase{
		{"0", "esp=1000 ebp=7 ebx=8 esi=9", "eip=a5 esp=1018 ebp=7 ebx=8"},
		{"1", "esp=1000 ebp=7", "eip=a5 esp=1018 ebp=a2"},
		{"0", "ebp=7", "!frame: unknown value of register esp"},
	})
	// The return address that a system call left on the stack.
	first := rule.Windows{IsFirst: true}
	check(t, ident.ArchX86, "WIN 0 10 10 0 0 0 0 0 0 0 ", first, []evalCase{
		{"0", "eip=a0 esp=1000", "eip=a1 esp=1008"},
		{"0", "eip=a1 esp=1000", "eip=a0 esp=1004"},
	})
}

func TestRowsOfPieces(t *testing.T) {
	cpu := rule.For(ident.ArchX86_64)
	pieces, bad := compile(t, cpu,
		"CFI INIT 100 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^",
		"CFI 104 .cfa: $rsp 16 +",
		"CFI 102 $rbp: .cfa -16 + ^",
		"CFI 104 $rbp: $rbp",
		"CFI 110 .cfa: $rbp",
		"CFI INIT 200 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^",
		"CFI 204 .cfa:",
		"CFI 208 .cfa: $rsp 8 +",
		"CFI INIT 300 0 .cfa: $rsp 8 + .ra: .cfa -8 + ^",
		"CFI 300 .cfa: $rsp 8 +",
		"CFI INIT 400 10 $rsp 8 + .ra: 1",
		"CFI INIT fffffffffffffff0 20 .cfa: 1 .ra: 1",
	)
	var got []string
	callee := registers(t, cpu, "rsp=1000 rbp=5")
	for _, p := range pieces {
		caller, _, _ := p.row.Eval(cpu, &callee, stack(8), false, rule.Windows{})
		got = append(got, fmt.Sprintf("%x %x %s", p.start, p.end, text(cpu, &caller.Registers)))
	}
	want := []string{
		"100 102 rbp=5 rsp=1008 rip=a0",
		"102 104 rsp=1008 rip=a0",
		"104 110 rbp=5 rsp=1010 rip=a1",
		"200 204 rbp=5 rsp=1008 rip=a0",
		fmt.Sprintf("fffffffffffffff0 %x rbp=5 rsp=1 rip=1", uint64(math.MaxUint64)),
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if bad != 3 {
		t.Errorf("%d bad records, want 3", bad)
	}
}

func TestInvalidRecordsAreSkipped(t *testing.T) {
	long := strings.Repeat("$rbp: $rbp 1 + 2 * ", 1)
	for _, c := range []struct {
		arch ident.Arch
		line string
		bad  int
	}{
		{ident.ArchX86, "WIN 4 10 10 0 0 0 0 0 0 0 1", 1},
		{ident.ArchX86, "WIN 0 10 10 0 0 0 0 0 0 1 $eip 1 =", 1},
		{ident.ArchX86, "WIN 3 10 10 0 0 0 0 0 0 0 0", 0},
		{ident.ArchX86, "WIN 4 10 0 0 0 0 0 0 0 1 $eip 1 =", 0},
		{ident.ArchX86, "WIN 4 10 10 0 0 0 0 0 0 1 $eip 1x =", 1},
		{ident.ArchX86, "WIN 4 10 10 0 0 0 0 0 0 1 " + strings.Repeat("$eip 1 = ", 2000), 1},
		{ident.ArchX86_64, "WIN 0 10 10 0 0 0 0 0 0 0 0", 1},
		{ident.ArchX86_64, "CFI INIT 10 10 .cfa: .ra: 1", 1},
		{ident.ArchX86_64, "CFI INIT 10 10 .cfa: 1 .ra:", 1},
		{ident.ArchX86_64, "CFI INIT 10 10 .cfa: 1 .ra: " + strings.Repeat("1 + ", 3000), 1},
		{ident.ArchX86_64, "CFI 10 .cfa: 1" + long, 1},
	} {
		if pieces, bad := compile(t, rule.For(c.arch), c.line); len(pieces) > 0 || bad != c.bad {
			t.Errorf("%.60q: %d rows, %d bad records, want %d", c.line, len(pieces), bad, c.bad)
		}
	}
	vars := ""
	for i := range 64 {
		vars += fmt.Sprintf("$T%d 1 = ", i)
	}
	if _, bad := compile(t, rule.For(ident.ArchX86), "WIN 4 10 10 0 0 0 0 0 0 1 "+vars); bad != 1 {
		t.Error("accepted a program with too many variables")
	}
}

func TestLargePieceIsCut(t *testing.T) {
	lines := []string{"CFI INIT 0 100000 .cfa: $rsp 8 + .ra: .cfa -8 + ^"}
	for i := range 30000 {
		lines = append(lines, fmt.Sprintf("CFI %x .cfa: $rsp %d + $rbx: .cfa -32 + ^", i+1, i))
	}
	pieces, bad := compile(t, rule.For(ident.ArchX86_64), lines...)
	if last := pieces[len(pieces)-1]; bad == 0 || last.end >= 30000 {
		t.Errorf("%d bad records, end %d", bad, last.end)
	}
}

func TestYieldErrorEndsTheCompiler(t *testing.T) {
	failure := errors.New("full")
	c := rule.Compiler{CPU: rule.For(ident.ArchX86_64)}
	yield := func(uint64, uint64, rule.Row) error { return failure }
	for _, want := range []error{nil, failure} {
		if err := c.Add(&sym.Unwind{Size: 10, Rules: []byte(".cfa: 1 .ra: 1")}, yield); err != want {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

func TestWindowsRowFallsBackToCFI(t *testing.T) {
	cpu := rule.For(ident.ArchX86)
	row := append(one(t, cpu, "WIN 4 10 10 0 0 c 0 0 0 1 $eip $T0 ="), one(t, cpu, "CFI INIT 10 10 .cfa: $esp 4 + .ra: .cfa 4 - ^")...)
	callee := registers(t, cpu, "esp=1000 ebp=1000")
	caller, o, why := row.Eval(cpu, &callee, stack(4), false, rule.Windows{})
	if got := text(cpu, &caller.Registers); o != rule.Found || got != "eip=a0 esp=1004 ebp=1000" {
		t.Errorf("got %v %s %s", o, why, got)
	}
	if row.Params() != 12 {
		t.Errorf("parameters of %d bytes, want 12", row.Params())
	}
	if n := rule.Row(nil).Params(); n != 0 {
		t.Errorf("parameters of %d bytes without a row", n)
	}
}

func TestBigEndianMemory(t *testing.T) {
	cpu := rule.For(ident.ArchPPC)
	callee := registers(t, cpu, "r1=1000 lr=5")
	caller, _, why := one(t, cpu, "CFI INIT 10 10 .cfa: r1 8 + .ra: .cfa 8 - ^").Eval(cpu, &callee, stack(4), true, rule.Windows{})
	if got := text(cpu, &caller.Registers); got != "srr0=a0000000 r1=1008" {
		t.Errorf("got %s %s", got, why)
	}
}

func TestRegistersOfCPUs(t *testing.T) {
	for _, c := range []struct {
		arch  ident.Arch
		count int
		names string // of PC, SP, FP and LR
		saved string
	}{
		{ident.ArchX86, 10, "eip esp ebp -", "ebp ebx esi edi"},
		{ident.ArchX86_64h, 17, "rip rsp rbp -", "rbx rbp r12 r13 r14 r15"},
		{ident.ArchARMv7s, 16, "pc sp fp lr", "r4 r5 r6 r7 r8 r9 r10 fp"},
		{ident.ArchARM64e, 33, "pc sp fp lr", "x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 fp"},
		{ident.ArchMIPSel, 13, "pc sp fp ra", "gp sp fp s0 s1 s2 s3 s4 s5 s6 s7"},
		{ident.ArchMIPS64, 13, "pc sp fp ra", "gp sp fp s0 s1 s2 s3 s4 s5 s6 s7"},
		{ident.ArchPPC, 40, "srr0 r1 - lr", "r14 r15 r16 r17 r18 r19 r20 r21 r22 r23 r24 r25 r26 r27 r28 r29 r30 r31"},
		{ident.ArchPPC64le, 39, "srr0 r1 - lr", "r14 r15 r16 r17 r18 r19 r20 r21 r22 r23 r24 r25 r26 r27 r28 r29 r30 r31"},
		{ident.ArchRISCV64, 32, "pc sp s0 ra", "s0 s1 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11"},
		{ident.ArchSPARC64, 38, "pc g_r14 g_r30 g_r15", ""},
	} {
		cpu := rule.For(c.arch)
		var names, saved []string
		for _, r := range []rule.Reg{cpu.PC, cpu.SP, cpu.FP, cpu.LR} {
			if r == rule.None {
				names = append(names, "-")
			} else {
				names = append(names, cpu.RegName(r))
			}
		}
		for i := range cpu.Count() {
			if cpu.Saved>>i&1 != 0 {
				saved = append(saved, cpu.RegName(rule.Reg(i)))
			}
		}
		if got := strings.Join(names, " "); cpu.Count() != c.count || got != c.names {
			t.Errorf("%v: %d registers, %s, want %d, %s", c.arch, cpu.Count(), got, c.count, c.names)
		}
		if got := strings.Join(saved, " "); got != c.saved {
			t.Errorf("%v: saved %s, want %s", c.arch, got, c.saved)
		}
	}
	if rule.For(ident.ArchWasm32) != nil {
		t.Error("wasm32 has a CPU")
	}
	cpu := rule.For(ident.ArchARM64)
	for alias, name := range map[string]string{"x29": "fp", "x30": "lr", "$sp": "sp", "x5": "x5"} {
		if r, ok := cpu.Reg(alias); !ok || cpu.RegName(r) != name {
			t.Errorf("%s is not %s", alias, name)
		}
	}
}

func TestForgottenRegisterIsUnknown(t *testing.T) {
	var r rule.Registers
	r.Set(3, 7)
	if v, ok := r.Get(3); !ok || v != 7 {
		t.Error("a set register is unknown")
	}
	if r.Forget(3); r.Known != 0 {
		t.Error("a forgotten register is known")
	}
	if _, ok := r.Get(rule.None); ok {
		t.Error("None has a value")
	}
}

func TestEvalAllocatesNothing(t *testing.T) {
	cpu := rule.For(ident.ArchX86_64)
	row := one(t, cpu, "CFI INIT 10 10 .cfa: $rsp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^ $rbx: 0 ^")
	callee := registers(t, cpu, "rsp=1000")
	var mem rule.Memory = stack(8)
	if n := testing.AllocsPerRun(100, func() { row.Eval(cpu, &callee, mem, false, rule.Windows{}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestRememberedRecordsHaveTheSameRows(t *testing.T) {
	cpu := rule.For(ident.ArchX86_64)
	random := rand.New(rand.NewPCG(1, 2))
	rules := []string{
		".cfa: $rsp 16 +", ".cfa: $rbp 16 +", "$rbp: .cfa -16 + ^", "$rbx: .cfa -24 + ^", "$rbx: $rbx $rbp: $rbp", ".ra: .undef", ".cfa:",
		"$r12: .cfa " + strings.Repeat("1 + 1 * ", 40) + "^", "$r13: " + strings.Repeat("$rax ", 200),
	}
	all := rule.Compiler{CPU: cpu}
	for i := range 5000 {
		records := []sym.Unwind{{Size: 100, Rules: []byte(".cfa: $rsp 8 + .ra: .cfa -8 + ^")}}
		for addr := range uint64(random.IntN(6)) {
			records = append(records, sym.Unwind{Kind: sym.UnwindChange, Addr: addr + 1, Rules: []byte(rules[random.IntN(len(rules))])})
		}
		var got, want []piece
		one := rule.Compiler{CPU: cpu}
		for _, c := range []struct {
			c    *rule.Compiler
			list *[]piece
		}{{&all, &got}, {&one, &want}} {
			yield := func(start, end uint64, row rule.Row) error {
				*c.list = append(*c.list, piece{start, end, slices.Clone(row)})
				return nil
			}
			for _, u := range records {
				_ = c.c.Add(&u, yield)
			}
			_ = c.c.Flush(yield)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("piece %d: got\n%v\nwant\n%v", i, got, want)
		}
	}
}

func BenchmarkEval(b *testing.B) {
	cpu := rule.For(ident.ArchX86_64)
	var row rule.Row
	c := rule.Compiler{CPU: cpu}
	yield := func(_, _ uint64, r rule.Row) error { row = append(row, r...); return nil }
	_ = c.Add(&sym.Unwind{Size: 1, Rules: []byte(".cfa: $rsp 48 + .ra: .cfa -8 + ^ $rbx: .cfa -24 + ^ $rbp: .cfa -16 + ^")}, yield)
	_ = c.Flush(yield)
	var callee rule.Registers
	callee.Set(cpu.SP, 0x1000)
	var mem rule.Memory = stack(8)
	b.ReportAllocs()
	for b.Loop() {
		if _, o, why := row.Eval(cpu, &callee, mem, false, rule.Windows{}); o != rule.Found {
			b.Fatal(why)
		}
	}
}
