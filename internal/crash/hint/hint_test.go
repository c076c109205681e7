package hint_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/crash/hint"
	"symbolon/internal/crash/reason"
	"symbolon/internal/ident"
	"symbolon/internal/unwind/rule"
)

// memory has ranges of memory by their addresses.
type memory map[uint64][]byte

func (m memory) ReadAt(dst []byte, addr uint64) int {
	for start, b := range m {
		if addr-start < uint64(len(b)) {
			return copy(dst, b[addr-start:])
		}
	}
	return 0
}

const (
	pc = 0x401000
	sp = 0x7ffd_0000_1000

	segv = 11
	av   = 0xc0000005
)

// at returns a crash of an amd64 program in an instruction. It has a page of code,
// one of data at 0x600000, and a stack of two pages that ends with sp.
func at(t *testing.T, code string, e reason.Exception, registers map[string]uint64) hint.Crash {
	t.Helper()
	bytes, err := hex.DecodeString(code)
	if err != nil {
		t.Fatal(err)
	}
	if e.Arch == ident.ArchUnknown {
		e.Arch = ident.ArchX86_64
	}
	cpu := rule.For(e.Arch)
	c := hint.Crash{CPU: cpu, Registers: &rule.Registers{}, Exception: &e, Regions: []hint.Region{
		{Start: 0x401000, End: 0x401fff, Protection: bin.Readable | bin.Executable},
		{Start: 0x600000, End: 0x600fff, Protection: bin.Readable | bin.Writable},
		{Start: sp - 0x2000, End: sp - 0x1001},
		{Start: sp - 0x1000, End: sp + 0xfff, Protection: bin.Readable | bin.Writable},
	}}
	c.Registers.Set(cpu.PC, pc)
	if cpu.Word == 8 {
		c.Registers.Set(cpu.SP, sp)
	}
	for name, v := range registers {
		r, ok := cpu.Reg(name)
		if !ok {
			t.Fatal(name)
		}
		c.Registers.Set(r, v)
	}
	start, _ := c.Registers.Get(cpu.PC)
	c.Memory = memory{start: bytes}
	return c
}

func linux(address uint64) reason.Exception {
	return reason.Exception{System: reason.Linux, Code: segv, Flags: 1, Address: address}
}

// violation returns an access violation of Windows: a read, write or fetch.
func violation(kind, address uint64) reason.Exception {
	return reason.Exception{System: reason.Windows, Code: av, Params: [15]uint64{kind, address}, Count: 2, Address: pc}
}

// text writes hints in one line.
func text(h hint.Hints) (s string) {
	for _, x := range h.Accesses {
		s += fmt.Sprintf("%s %d at %x, ", x.Kind, x.Size, x.Address)
		if x.Guard {
			s += "guard, "
		}
	}
	if h.Update != nil {
		s += fmt.Sprintf("to %x, ", *h.Update)
	}
	if h.Adjusted != "" {
		s += fmt.Sprintf("%s %x, ", h.Adjusted, h.Address)
	}
	for _, f := range h.Flips {
		s += fmt.Sprintf("flip %s %x, ", f.Register, f.Address)
	}
	for _, i := range h.Inconsistencies {
		s += string(i) + ", "
	}
	if h.StackOverflow {
		s += "stack overflow, "
	}
	if h.ExecutableStack {
		s += "executable stack, "
	}
	return s
}

func TestInstructionsAndTheirAccesses(t *testing.T) {
	registers := map[string]uint64{"rax": 0x1000, "rcx": 3, "rdi": 0x2000, "rsi": 0x3000, "rbp": 0x7000}
	for _, x := range []struct{ code, text, hints string }{
		{"8b10", "mov edx, dword [rax]", "read 4 at 1000, "},
		{"897828", "mov dword [rax + 0x28], edi", "write 4 at 1028, "},
		{"c60778", "mov byte [rdi], 0x78", "write 1 at 2000, "},
		{"48898d08fbffff", "mov qword [rbp - 0x4f8], rcx", "write 8 at 6b08, "},
		{"0fbe0406", "movsx eax, byte [rsi + rax * 1]", "read 1 at 4000, "},
		{"8b448810", "mov eax, dword [rax + rcx * 4 + 0x10]", "read 4 at 101c, "},
		{"0000", "add byte [rax], al", "readwrite 1 at 1000, "},
		{"4883082a", "or qword [rax], 0x2a", "readwrite 8 at 1000, "},
		{"803fff", "cmp byte [rdi], -0x1", "read 1 at 2000, "},
		{"488d4808", "lea rcx, qword [rax + 0x8]", ""},
		{"0f1f4000", "nop dword [rax]", ""},
		{"488b0510000000", "mov rax, qword [rip + 0x10]", "read 8 at 401017, "},
		{"c5fe6f06", "vmovdqu ymm0, ymmword [rsi]", "read 32 at 3000, "},
		{"c5fe7f07", "vmovdqu ymmword [rdi], ymm0", "write 32 at 2000, "},
		{"c5fb100d9cfc0100", "vmovsd xmm1, qword [rip + 0x1fc9c]", "read 8 at 420ca4, "},
		{"62f1fe486f4001", "vmovdqu64 zmm0, zmmword [rax + 0x40]", "read 64 at 1040, "},
		{"660f6f0f", "movdqa xmm1, xmmword [rdi]", "read 16 at 2000, "},
		{"f3a4", "rep movs byte es:[rdi], byte ds:[rsi]", "write 1 at 2000, read 1 at 3000, "},
		{"f348ab", "rep stos qword es:[rdi], rax", "write 8 at 2000, "},
		{"f0480fb10f", "lock cmpxchg qword [rdi], rcx", "readwrite 8 at 2000, "},
		{"db28", "fld mword [rax]", "read 10 at 1000, "},
		{"c9", "leave", "read 8 at 7000, "},
		{"9c", "pushf", "write 8 at 7ffd00000ff8, "},
		{"50", "push rax", "write 8 at 7ffd00000ff8, "},
		{"58", "pop rax", "read 8 at 7ffd00001000, "},
		{"e8e8ffffff", "call $-0x18", "write 8 at 7ffd00000ff8, "},
		{"ffd0", "call rax", "write 8 at 7ffd00000ff8, to 1000, "},
		{"ff20", "jmp qword [rax]", "read 8 at 1000, to 1122334455667788, "},
		{"ff10", "call qword [rax]", "read 8 at 1000, write 8 at 7ffd00000ff8, to 1122334455667788, "},
		{"ff27", "jmp qword [rdi]", "read 8 at 2000, "}, // not in the dump
		{"742a", "jz $+0x2a", ""},
		{"41b0de", "mov r8b, 0xde", ""},
		{"69c0b8000000", "imul eax, eax, 0xb8", ""},
		{"83c0ff", "add eax, -0x1", ""},
		{"f7f9", "idiv ecx", ""},
		{"0f0b", "ud2", ""},
		{"0f95c0", "setnz al", ""},
		{"480f44f8", "cmovz rdi, rax", ""},
		{"660f6e00", "movd xmm0, dword [rax]", "read 4 at 1000, "},
		{"678b08", "mov ecx, dword [eax]", "read 4 at 1000, "},
		{"4088f8", "mov al, dil", ""},
		{"d9c9", "fxch st(1)", ""},
		{"48a1887766554433ff11", "mov rax, qword [0x11ff334455667788]", "read 8 at 11ff334455667788, "},
		{"8b042588ffffff", "mov eax, dword [0xffffffffffffff88]", "read 4 at ffffffffffffff88, "},
		{"64488b042528000000", "mov rax, qword fs:[0x28]", ""}, // the base of FS is unknown
		{"498b03", "mov rax, qword [r11]", ""},                 // so is R11
		{"6e", "outs dx, byte [rsi]", "read 1 at 3000, "},
		{"8b", "", ""},
		{"", "", ""},
		{"06", "", ""},
	} {
		c := at(t, x.code, reason.Exception{System: reason.Linux, Code: 6}, registers)
		c.Memory.(memory)[0x1000] = binary.LittleEndian.AppendUint64(nil, 0x1122334455667788)
		h := hint.Analyze(c)
		if h.Instruction != x.text {
			t.Errorf("%s: %q, not %q", x.code, h.Instruction, x.text)
		}
		if got := text(h); got != x.hints {
			t.Errorf("%s, %s: %q, not %q", x.code, x.text, got, x.hints)
		}
	}
}

func TestUnknownAccessesAreNotNone(t *testing.T) {
	for code, isKnown := range map[string]bool{"8b10": false, "31c0": true} {
		if h := hint.Analyze(at(t, code, linux(8), nil)); (h.Accesses != nil) != isKnown {
			t.Errorf("%s: %v", h.Instruction, h.Accesses)
		}
	}
}

func TestUnknownCPUHasNoHints(t *testing.T) {
	e := linux(8)
	if h := hint.Analyze(hint.Crash{Registers: &rule.Registers{}, Exception: &e}); h.Flips != nil {
		t.Errorf("%+v", h)
	}
}

func TestX86IsAnalyzed(t *testing.T) {
	e := linux(0x18)
	e.Arch = ident.ArchX86
	h := hint.Analyze(at(t, "8b4118", e, map[string]uint64{"ecx": 0, "esp": 0xff000000}))
	if got := h.Instruction + ", " + text(h); got != "mov eax, dword [ecx + 0x18], read 4 at 18, null-pointer 18, " {
		t.Error(got)
	}
	h = hint.Analyze(at(t, "50", e, map[string]uint64{"esp": 0xff000000}))
	if got := text(h); got != "write 4 at fefffffc, " {
		t.Error(got)
	}
	h = hint.Analyze(at(t, "8b81f0ffffff", e, map[string]uint64{"ecx": 8}))
	if got := text(h); got != "read 4 at fffffff8, " {
		t.Error(got)
	}
}

func TestAddressesAreAdjusted(t *testing.T) {
	kernel := reason.Exception{System: reason.Linux, Code: segv, Flags: 0x80}
	gpf := reason.Exception{System: reason.Apple, Code: 1, Flags: 13}
	bad := map[string]uint64{"rax": 0xdead_0000_0000_beef}
	stack := binary.LittleEndian.AppendUint64(nil, 0xdead_0000_0000_0000)
	for name, x := range map[string]struct {
		code      string
		e         reason.Exception
		registers map[string]uint64
		want      hint.Adjusted
		address   uint64
	}{
		"null":               {"8b4028", linux(0x28), map[string]uint64{"rax": 0}, hint.NullPointer, 0x28},
		"null, Windows":      {"8b4028", violation(0, 0x28), map[string]uint64{"rax": 0}, hint.NullPointer, 0x28},
		"no null":            {"8b4028", linux(0x30), map[string]uint64{"rax": 8}, "", 0},
		"null in a division": {"8b4028", reason.Exception{System: reason.Linux, Code: 8, Flags: 1}, map[string]uint64{"rax": 0}, "", 0},
		"Linux":              {"8b00", kernel, bad, hint.NonCanonical, 0xdead_0000_0000_beef},
		"Windows":            {"8b00", violation(0, 1<<64-1), bad, hint.NonCanonical, 0xdead_0000_0000_beef},
		"Apple":              {"8b00", gpf, bad, hint.NonCanonical, 0xdead_0000_0000_beef},
		"return":             {"c3", kernel, nil, hint.NonCanonical, 0xdead_0000_0000_0000},
		"no fault":           {"8b00", linux(0x1234), bad, "", 0},
		"canonical":          {"8b00", kernel, map[string]uint64{"rax": 0xffff_8000_0000_0000}, "", 0},
		"highest":            {"8b00", kernel, map[string]uint64{"rax": 0xffff_7fff_ffff_ffff}, hint.NonCanonical, 0xffff_7fff_ffff_ffff},
		"lowest":             {"8b00", kernel, map[string]uint64{"rax": 0x8000_0000_0000}, hint.NonCanonical, 0x8000_0000_0000},
		"user":               {"8b00", kernel, map[string]uint64{"rax": 0x7fff_ffff_ffff}, "", 0},
		"fetch":              {"8b00", linux(pc), map[string]uint64{"rax": 0}, "", 0},
	} {
		c := at(t, x.code, x.e, x.registers)
		c.Memory.(memory)[sp] = stack
		if h := hint.Analyze(c); h.Adjusted != x.want || h.Address != x.address {
			t.Errorf("%s: %q %x, not %q %x", name, h.Adjusted, h.Address, x.want, x.address)
		}
	}
}

func TestBytesThatWereNotFetchedAreNoInstruction(t *testing.T) {
	for _, e := range []reason.Exception{linux(pc), violation(8, pc)} {
		if h := hint.Analyze(at(t, "0000", e, map[string]uint64{"rax": 0})); h.Instruction != "" || h.Accesses != nil {
			t.Errorf("%q %v", h.Instruction, h.Accesses)
		}
	}
}

func TestStacksThatOverflow(t *testing.T) {
	for name, x := range map[string]struct {
		code string
		e    reason.Exception
		sp   uint64
		want string
	}{
		"call":         {"e8e8ffffff", linux(sp - 0x1008), sp - 0x1000, "write 8 at 7ffcfffffff8, guard, stack overflow, "},
		"frame":        {"c6042400", linux(sp - 0x1800), sp - 0x1800, "write 1 at 7ffcfffff800, guard, stack overflow, "},
		"below":        {"c6042400", linux(sp - 0x3000), sp - 0x3000, "write 1 at 7ffcffffe000, stack overflow, "},
		"elsewhere":    {"c6042400", linux(0x6000_0000), 0x6000_0000, "write 1 at 60000000, "},
		"too far":      {"c6042400", linux(sp - 0x20000), sp - 0x20000, "write 1 at 7ffcfffe1000, "},
		"on the stack": {"c6042400", violation(1, sp), sp, "write 1 at 7ffd00001000, access_violation_when_access_allowed, "},
		"Windows": {"31c0", reason.Exception{System: reason.Windows, Code: 0xc00000fd, Address: pc}, sp,
			"crashing_access_not_found_in_memory_accesses, stack overflow, "},
	} {
		if got := text(hint.Analyze(at(t, x.code, x.e, map[string]uint64{"rsp": x.sp}))); got != x.want {
			t.Errorf("%s: %q, not %q", name, got, x.want)
		}
	}
}

func TestExecutableStack(t *testing.T) {
	c := at(t, "31c0", linux(0x30), nil)
	c.Regions[3].Protection |= bin.Executable
	if got := text(hint.Analyze(c)); got != "executable stack, " {
		t.Error(got)
	}
}

func TestFlippedBits(t *testing.T) {
	const far = 0x600010 ^ 1<<40
	for name, x := range map[string]struct {
		code      string
		e         reason.Exception
		registers map[string]uint64
		want      string
	}{
		"address and register": {"8b00", linux(far), map[string]uint64{"rax": far},
			"read 4 at 10000600010, flip  600010, flip rax 600010, "},
		"index": {"8b0403", linux(far), map[string]uint64{"rax": 0x10, "rbx": far - 0x10},
			"read 4 at 10000600010, flip  600010, flip rax 0, flip rbx 600000, "},
		"without an instruction": {"", linux(far), nil, "flip  600010, "},
		"not canonical": {"8b00", reason.Exception{System: reason.Linux, Code: segv, Flags: 0x80}, map[string]uint64{"rax": 0x600010 | 1<<60},
			"read 4 at 1000000000600010, non-canonical 1000000000600010, flip  600010, flip rax 600010, "},
		"a write to code":             {"8900", violation(1, pc), map[string]uint64{"rip": pc + 2, "rax": pc}, "write 4 at 401000, "},
		"a write, data near":          {"8900", violation(1, 0x600010^1<<21), map[string]uint64{"rax": 0x600010 ^ 1<<21}, "write 4 at 400010, flip  600010, flip rax 600010, "},
		"just behind":                 {"8b00", linux(0x601000), map[string]uint64{"rax": 0x601000}, "read 4 at 601000, "},
		"a fetch that is not a fault": {"", reason.Exception{System: reason.Linux, Code: 6, Address: 0x4000}, nil, ""},
	} {
		if got := text(hint.Analyze(at(t, x.code, x.e, x.registers))); got != x.want {
			t.Errorf("%s: %q, not %q", name, got, x.want)
		}
	}
	arm := linux(far)
	arm.Arch = ident.ArchARM64
	x86 := linux(0x600010 ^ 1<<30)
	x86.Arch = ident.ArchX86
	for _, e := range []reason.Exception{arm, x86} {
		if h := hint.Analyze(at(t, "", e, nil)); len(h.Flips) != 0 {
			t.Errorf("%v: %v", e.Arch, h.Flips)
		}
	}
	ppc := linux(0x600010 ^ 1<<62)
	ppc.Arch = ident.ArchPPC64
	if h := hint.Analyze(at(t, "", ppc, nil)); len(h.Flips) != 1 {
		t.Errorf("%v", h.Flips)
	}
}

func TestConfidenceGrowsWithTheEvidence(t *testing.T) {
	for name, x := range map[string]struct {
		address   uint64
		registers map[string]uint64
		want      float32
	}{
		"nothing":   {0x600010 ^ 1<<40, nil, 0.25},
		"one near":  {0x600010 ^ 1<<40, map[string]uint64{"rbx": 0x600100}, 0.625},
		"five near": {0x600010 ^ 1<<40, map[string]uint64{"rbx": 0x600100, "rcx": 0x600100, "rdx": 0x600100, "rsi": 0x600100, "rdi": 0x600100}, 0.7375},
		"poison":    {0x600010 ^ 1<<40, map[string]uint64{"rbx": 0xe5e5e5e5e5e5e5e5}, 0.125},
		"null":      {0x100000000, nil, 0.625},
		"low":       {0x10, nil, 0.4375},
	} {
		h := hint.Analyze(at(t, "", linux(x.address), x.registers))
		if len(h.Flips) != 1 || math.Abs(float64(h.Flips[0].Confidence-x.want)) > 1e-6 {
			t.Errorf("%s: %+v, not %v", name, h.Flips, x.want)
		}
	}
}

func TestInconsistencies(t *testing.T) {
	division := func(s reason.System, code, flags uint32) reason.Exception {
		return reason.Exception{System: s, Code: code, Flags: flags}
	}
	for name, x := range map[string]struct {
		code      string
		e         reason.Exception
		registers map[string]uint64
		want      []hint.Inconsistency
	}{
		"division":             {"f7f9", division(reason.Linux, 8, 1), nil, nil},
		"Linux":                {"31c0", division(reason.Linux, 8, 1), nil, []hint.Inconsistency{hint.NotDivision}},
		"Windows":              {"31c0", division(reason.Windows, 0xc0000094, 0), nil, []hint.Inconsistency{hint.NotDivision}},
		"Apple":                {"31c0", division(reason.Apple, 3, 1), nil, []hint.Inconsistency{hint.NotDivision}},
		"unknown instruction":  {"06", division(reason.Apple, 3, 1), nil, nil},
		"privileged":           {"f4", division(reason.Windows, 0xc0000096, 0), nil, nil},
		"control register":     {"0f20c0", division(reason.Windows, 0xc0000096, 0), nil, nil},
		"not privileged":       {"8b00", division(reason.Windows, 0xc0000096, 0), nil, []hint.Inconsistency{hint.NotPrivileged}},
		"read":                 {"8b00", violation(0, 0x1234), map[string]uint64{"rax": 0x1232}, nil},
		"read of a write":      {"8900", violation(0, 0x1234), map[string]uint64{"rax": 0x1234}, []hint.Inconsistency{hint.AccessNotOfCrash}},
		"update":               {"0100", violation(0, 0x1234), map[string]uint64{"rax": 0x1234}, nil},
		"elsewhere":            {"8b00", violation(0, 0x1236), map[string]uint64{"rax": 0x1232}, []hint.Inconsistency{hint.AccessNotOfCrash}},
		"unknown kind":         {"0fae00", violation(0, 0x9999), map[string]uint64{"rax": 0x1232}, nil}, // fxsave
		"allowed":              {"8b00", violation(0, 0x600000), map[string]uint64{"rax": 0x600000}, []hint.Inconsistency{hint.AccessAllowed}},
		"not allowed":          {"8900", violation(1, 0x401800), map[string]uint64{"rax": 0x401800}, nil},
		"not canonical":        {"8b00", violation(0, 1<<64-1), map[string]uint64{"rax": 1 << 60}, nil},
		"canonical":            {"8b00", violation(0, 1<<64-1), map[string]uint64{"rax": 1 << 30}, []hint.Inconsistency{hint.NotNonCanonical}},
		"not aligned":          {"0f2800", violation(0, 1<<64-1), map[string]uint64{"rax": 1 << 30}, nil},
		"unknown target":       {"ff20", violation(0, 1<<64-1), map[string]uint64{"rax": 1 << 30}, nil},
		"implicit access":      {"660ff7c1", violation(1, 0x9999), nil, nil}, // maskmovdqu
		"fetch":                {"31c0", violation(8, pc), nil, []hint.Inconsistency{hint.AccessAllowed}},
		"fetch from elsewhere": {"31c0", violation(8, 0x999000), nil, []hint.Inconsistency{hint.AccessNotOfCrash}},
	} {
		if h := hint.Analyze(at(t, x.code, x.e, x.registers)); !slices.Equal(h.Inconsistencies, x.want) {
			t.Errorf("%s: %v, not %v", name, h.Inconsistencies, x.want)
		}
	}
}

// Hints of any bytes are bounded, and the same each time.
func FuzzAnalyze(f *testing.F) {
	for _, code := range []string{"8b10", "f3a4", "c5fe6f06", "62f1fe486f4001", "ff10", "c3", "48a1887766554433ff11", "f0480fb10f"} {
		b, _ := hex.DecodeString(code)
		f.Add(b, uint64(0x1234), uint64(0), uint8(0))
		f.Add(b, uint64(1<<64-1), uint64(1<<60), uint8(3))
		f.Add(b, uint64(sp-0x1008), uint64(sp-0x1000), uint8(6))
	}
	f.Fuzz(func(t *testing.T, code []byte, address, value uint64, kind uint8) {
		e := []reason.Exception{
			linux(address), {System: reason.Linux, Code: segv, Flags: 0x80}, {System: reason.Apple, Code: 1, Flags: 13, Address: address},
			violation(0, address), violation(1, address), violation(8, address), {System: reason.Windows, Code: 0xc00000fd, Address: address},
			{System: reason.Windows, Code: 0xc0000096}, {System: reason.Windows, Code: 0xc0000094}, {System: reason.Linux, Code: 8, Flags: 1},
		}[kind%10]
		e.Arch = []ident.Arch{ident.ArchX86_64, ident.ArchX86, ident.ArchARM64, ident.ArchPPC64}[kind/10%4]
		cpu := rule.For(e.Arch)
		c := at(t, "", e, nil)
		for i := range cpu.Count() {
			c.Registers.Set(rule.Reg(i), value+uint64(i))
		}
		at, _ := c.Registers.Get(cpu.PC)
		c.Memory = memory{at: code, value - 1<<10: make([]byte, 1<<10)}
		h := hint.Analyze(c)
		if len(h.Accesses) > 3 || len(h.Flips) > 7*64 || len(h.Instruction) > 200 {
			t.Errorf("%d accesses, %d flips, %q", len(h.Accesses), len(h.Flips), h.Instruction)
		}
		if again := hint.Analyze(c); text(h) != text(again) {
			t.Errorf("%s, then %s", text(h), text(again))
		}
	})
}
