package rule_test

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symbolon/internal/format/breakpad"
	"symbolon/internal/ident"
	"symbolon/internal/sym"
	"symbolon/internal/unwind/rule"
)

var archs = []ident.Arch{
	ident.ArchX86, ident.ArchX86_64, ident.ArchARMv7, ident.ArchARM64, ident.ArchMIPS, ident.ArchMIPS64,
	ident.ArchPPC, ident.ArchPPC64, ident.ArchRISCV64, ident.ArchSPARC64,
}

// known returns registers whose values are near the stack; mask has those that
// are known.
func known(cpu *rule.CPU, mask uint64) (r rule.Registers) {
	for i := range cpu.Count() {
		if mask>>i&1 != 0 {
			r.Set(rule.Reg(i), 0x1000+uint64(i)*4)
		}
	}
	return r
}

// FuzzEval evaluates rows of any bytes.
func FuzzEval(f *testing.F) {
	for i, arch := range archs {
		for _, line := range []string{
			"CFI INIT 10 10 .cfa: $esp 8 + .ra: .cfa 4 - ^ $ebp: $ebx 2 * 3 / 4 % 8 @ ^ $esi: .undef $edi: 0 ^",
			"CFI INIT 10 10 .cfa: sp 8 + .ra: lr",
			"CFI INIT 10 10 .cfa: 1 .ra: 2",
			"WIN 4 10 10 0 0 c 4 8 0 1 $T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 16 @ = $ebx .undef =",
			"WIN 0 10 10 0 0 c 4 8 0 0 1",
		} {
			c := rule.Compiler{CPU: rule.For(arch)}
			u, _ := breakpad.ParseStack([]byte("STACK " + line))
			yield := func(_, _ uint64, row rule.Row) error {
				f.Add([]byte(row), uint8(i), ^uint64(0))
				f.Add(append([]byte(row), row...), uint8(i), uint64(6))
				return nil
			}
			_, _ = c.Add(&u, yield), c.Flush(yield)
		}
	}
	f.Add([]byte{1, 0, 5, 0, 0, 1, 5, 200, 0}, uint8(0), ^uint64(0))
	f.Add([]byte{1, 0, 1, 0, 0, 1, 1, 0, 0, 90, 1, 0, 0}, uint8(1), ^uint64(0))
	f.Fuzz(func(t *testing.T, b []byte, arch uint8, mask uint64) {
		cpu := rule.For(archs[int(arch)%len(archs)])
		callee, row := known(cpu, mask), rule.Row(b)
		_ = row.Records(cpu, 0, 1, func(*sym.Unwind) error { return nil })
		caller, o, why := row.Eval(cpu, &callee, stack(cpu.Word), mask>>60 == 1, rule.Windows{Params: row.Params(), IsFirst: mask>>61&1 != 0})
		_, hasPC := caller.Get(cpu.PC)
		_, hasSP := caller.Get(cpu.SP)
		switch {
		case o == rule.Found && (!hasPC || !hasSP || why != ""):
			t.Errorf("found a caller with registers %#x, and %q", caller.Known, why)
		case o == rule.Failed && why == "":
			t.Error("failed without a reason")
		case caller.Known>>cpu.Count() != 0:
			t.Errorf("registers %#x of %d", caller.Known, cpu.Count())
		}
	})
}

// FuzzCompile compiles STACK records. Rows of CFI must have the result of an
// evaluation of their text.
func FuzzCompile(f *testing.F) {
	for _, text := range []string{
		"CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nCFI 1001 .cfa: $rsp 16 + $rbp: .cfa -16 + ^\nCFI 1004 $rbx: $rbx\nCFI 1002 .cfa: 1",
		"CFI INIT 1000 100 .cfa: $rsp 8 + 4 - .ra: 5 3 * 2 / 4 % ^ $rbx: 64 16 @ 1 2 + + $rax: .undef $xmm0: 1 $rbp: .cfa\nCFI 1000 .cfa:",
		"WIN 4 10 10 0 0 c 4 8 0 1 $T0 $ebp = $eip $T0 4 + ^ =$ebp $T0 ^ = $esp $T0 16 @ = $ebx .undef = $20 1 = .raSearch .raSearchStart",
		"WIN 4 10 10 0 0 c 4 8 0 1 .cbParams .cbCalleeParams .cbSavedRegs .cbLocals -1 1x\nWIN 0 10 10 0 0 c 4 8 0 0 1\nCFI 10 .cfa: 1",
		"WIN 4 10 10 0 0 c 4 8 0 0 1\nCFI INIT fffffffffffffff0 100 .cfa: sp .ra: lr\nCFI 0 r9: r9",
		"CFI INIT 10 10 x .cfa:\nCFI INIT 10 10 .cfa: $rsp 8 - 8 + .ra: .cfa 8 + 8 - ^ + - .cfa .undef",
	} {
		for i := range archs[:4] {
			f.Add([]byte(text), uint8(i), ^uint64(0))
			f.Add([]byte(text+"\n"+text), uint8(130+i), ^uint64(0))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, arch uint8, mask uint64) {
		cpu := rule.For(archs[int(arch)%len(archs)])
		callee := known(cpu, mask)
		c := rule.Compiler{CPU: cpu}
		if arch >= 128 { // so many records that results are remembered
			ignore := func(uint64, uint64, rule.Row) error { return nil }
			for range 600 {
				_ = c.Add(&sym.Unwind{Size: 1}, ignore)
			}
			_ = c.Flush(ignore)
		}
		var lines [][]byte // of the piece
		records := 0
		yield := func(start, end uint64, row rule.Row) error {
			if start >= end || len(row) > 4<<10 {
				t.Fatalf("row of %d bytes from %#x to %#x", len(row), start, end)
			}
			if got := again(cpu, start, end, row); !bytes.Equal(got, row) {
				t.Fatalf("row %x has records with the row %x", row, got)
			}
			caller, o, why := row.Eval(cpu, &callee, stack(cpu.Word), false, rule.Windows{})
			if isWindows, _ := row.IsWindows(); !isWindows {
				e := oracle{t: t, cpu: cpu, callee: &callee}
				if want, got := e.eval(lines, start), outcome(cpu, &caller, o); want != got {
					t.Fatalf("%s at %#x: got %s %s, want %s", bytes.Join(lines, []byte("\n")), start, got, why, want)
				}
			}
			return nil
		}
		for line := range bytes.Lines(text) {
			u, ok := breakpad.ParseStack(append([]byte("STACK "), line...))
			if !ok {
				continue
			}
			records++
			_ = c.Add(&u, yield)
			if u.Kind != 1 {
				lines = lines[:0]
			}
			if u.Kind != 2 {
				lines = append(lines, slices.Concat([]byte("STACK "), line))
			}
		}
		if _ = c.Flush(yield); c.Bad > records {
			t.Errorf("%d bad records of %d", c.Bad, records)
		}
	})
}

// again returns the row that the records of a row have.
func again(cpu *rule.CPU, start, end uint64, row rule.Row) (again rule.Row) {
	c := rule.Compiler{CPU: cpu}
	yield := func(s, e uint64, r rule.Row) error {
		if s == start && e == end {
			again = append(again, r...)
		}
		return nil
	}
	_ = row.Records(cpu, start, end, func(u *sym.Unwind) error { return c.Add(u, yield) })
	_ = c.Flush(yield)
	return again
}

func outcome(cpu *rule.CPU, caller *rule.Caller, o rule.Outcome) string {
	if o == rule.Found {
		return text(cpu, &caller.Registers)
	}
	return o.String()
}

// oracle evaluates the text of rules, without compiling it.
type oracle struct {
	t      *testing.T
	cpu    *rule.CPU
	callee *rule.Registers
}

// eval returns the outcome of the records of a piece at an address.
func (o *oracle) eval(lines [][]byte, addr uint64) string {
	rules := map[string][]string{}
	var records []sym.Unwind
	for i, line := range lines {
		if u, _ := breakpad.ParseStack(line); i == 0 || u.Addr <= addr {
			records = append(records, u)
		}
	}
	slices.SortStableFunc(records[1:], func(a, b sym.Unwind) int { return cmp.Compare(a.Addr, b.Addr) })
	for _, u := range records {
		name := ""
		for _, word := range words(u.Rules) {
			if n := len(word); n > 1 && word[n-1] == ':' {
				name = word[:n-1]
				if r, ok := o.cpu.Reg(name); ok {
					name = o.cpu.RegName(r)
				}
				rules[name] = nil
			} else {
				rules[name] = append(rules[name], word)
			}
		}
	}
	cfa, hasCFA := rules[".cfa"]
	ra, hasRA := rules[".ra"]
	switch {
	case hasRA && len(ra) == 1 && ra[0] == ".undef":
		return "outermost"
	case !hasCFA:
		return "failed"
	case !hasRA && o.cpu.LR == rule.None:
		return "outermost"
	case !hasRA:
		return "failed"
	}
	frame, ok := o.value(cfa, nil)
	if !ok {
		return "failed"
	}
	pc, ok := o.value(ra, &frame)
	if !ok {
		return "failed"
	}
	caller := *o.callee
	caller.Known &= o.cpu.Saved
	caller.Set(o.cpu.SP, frame)
	caller.Set(o.cpu.PC, pc)
	for name, words := range rules {
		r, ok := o.cpu.Reg(name)
		if !ok || strings.HasPrefix(name, "$") {
			continue
		}
		if v, ok := o.value(words, &frame); ok {
			caller.Set(r, v)
		} else if caller.Forget(r); r == o.cpu.SP || r == o.cpu.PC {
			return "failed"
		}
	}
	return text(o.cpu, &caller)
}

// words splits text at blanks and control characters.
func words(text []byte) []string {
	return strings.FieldsFunc(string(latin(text)), func(r rune) bool { return r <= ' ' })
}

// latin makes every byte a rune.
func latin(b []byte) []rune {
	r := make([]rune, len(b))
	for i, c := range b {
		r[i] = rune(c)
	}
	return r
}

func (o *oracle) value(words []string, cfa *uint64) (uint64, bool) {
	var s []uint64
	for _, word := range words {
		if strings.Contains("+-*/%@", word) && len(word) == 1 {
			if len(s) < 2 {
				return 0, false
			}
			a, b := s[len(s)-2], s[len(s)-1]
			s = s[:len(s)-2]
			if strings.Contains("/%", word) && b == 0 || word == "@" && bits.OnesCount64(b) != 1 {
				return 0, false
			}
			switch word {
			case "+":
				a += b
			case "-":
				a -= b
			case "*":
				a *= b
			case "/":
				a /= b
			case "%":
				a %= b
			case "@":
				a &= -b
			}
			s = append(s, a)
			continue
		}
		if n, err := strconv.ParseInt(word, 10, 64); err == nil {
			s = append(s, uint64(n))
		} else if word == ".cfa" {
			if cfa == nil {
				return 0, false
			}
			s = append(s, *cfa)
		} else if word == "^" {
			if len(s) == 0 {
				return 0, false
			}
			var b [8]byte
			if stack(o.cpu.Word).ReadAt(b[:o.cpu.Word], s[len(s)-1]) < o.cpu.Word {
				return 0, false
			}
			v := uint64(0)
			for i, c := range b {
				v |= uint64(c) << (8 * i)
			}
			s[len(s)-1] = v
		} else {
			r, _ := o.cpu.Reg(word)
			v, ok := o.callee.Get(r)
			if _, known := o.cpu.Reg(word); !known || !ok {
				return 0, false
			}
			s = append(s, v)
		}
		if len(s) > 64 {
			return 0, false
		}
	}
	return s[len(s)-1], len(s) == 1 && (o.cpu.Word == 8 || s[0]>>32 == 0)
}
