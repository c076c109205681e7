package unwind_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/unwind"
	"symbolon/internal/unwind/rule"
)

// Bases of the memory of a scene. The second stack is where signal handlers and
// coroutines run.
const (
	first       = 0x40000000 // modules, of 64 KiB each
	second      = 0x50000000
	stackBase   = 0x80000000
	otherStack  = 0x90000000
	anonymous   = 0x60000000 // executable memory without a module
	moduleBytes = 0x10000
)

// A scene is a process whose frames are known.
type scene struct {
	arch    ident.Arch
	system  string // windows, apple or empty
	regs    string // name=hex, separated by blanks
	stack   []uint64
	other   []uint64
	first   string // lines of Breakpad symbol files
	second  string
	name    string            // of the second module; empty: libc.so.6
	code    map[uint64]string // bytes by address
	top     uint64
	exec    uint64 // bytes of the first module that are executable, if the map of the memory is known
	options unwind.Options
}

// symbols are those of a Breakpad file.
type symbols struct {
	object *object.Object
	rows   []row
}

type row struct {
	start, end uint64
	rules      rule.Row
}

func openSymbols(t testing.TB, cpu *rule.CPU, text string) *symbols {
	t.Helper()
	f, err := debugfile.Open(bin.Bytes([]byte("MODULE Linux x86_64 000000000000000000000000000000010 a\n"+text)), object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &symbols{object: f.Objects()[0]}
	c := rule.Compiler{CPU: cpu}
	yield := func(start, end uint64, r rule.Row) error {
		s.rows = append(s.rows, row{start, end, slices.Clone(r)})
		return nil
	}
	if err := s.object.CFI(func(u *sym.Unwind) error { return c.Add(u, yield) }); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(yield); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *symbols) HasRules() bool { return len(s.rows) > 0 }

func (s *symbols) Row(addr uint64) rule.Row {
	for _, r := range s.rows {
		if r.start <= addr && addr < r.end {
			return r.rules
		}
	}
	return nil
}

func (s *symbols) Function(addr uint64) (start uint64, name string, ok bool) {
	frames := s.object.Lookup(nil, addr)
	if len(frames) == 0 {
		return 0, "", false
	}
	f := frames[len(frames)-1]
	return f.Entry, string(s.object.AppendText(nil, f.Func)), true
}

// memory has bytes by the address of the first one.
type memory map[uint64][]byte

func (m memory) ReadAt(dst []byte, addr uint64) int {
	for base, b := range m {
		if addr >= base && addr-base < uint64(len(b)) {
			return copy(dst, b[addr-base:])
		}
	}
	return 0
}

func words(cpu *rule.CPU, values []uint64) (b []byte) {
	for _, v := range values {
		if cpu.Word == 4 {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		} else {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
	}
	return b
}

// process returns the process and the registers of its thread.
func (s scene) process(t testing.TB) (*unwind.Process, rule.Registers) {
	t.Helper()
	cpu := rule.For(s.arch)
	mem := memory{stackBase: words(cpu, s.stack), otherStack: words(cpu, s.other)}
	for addr, code := range s.code {
		mem[addr] = []byte(code)
	}
	modules := []*unwind.Module{{Name: "libfirst.so", Base: first, Size: moduleBytes}, {Name: "libc.so.6", Base: second, Size: moduleBytes}}
	if s.name != "" {
		modules[1].Name = s.name
	}
	for i, text := range []string{s.first, s.second} {
		if text != "" {
			o := openSymbols(t, cpu, text)
			modules[i].Rules = o
			if c := o.object.Info().Counts; c.Functions+c.Publics > 0 {
				modules[i].Names = o
			}
		}
	}
	p := &unwind.Process{
		CPU: cpu, Memory: mem, Top: s.top, IsWindows: s.system == "windows", IsApple: s.system == "apple",
		Stack: func(addr uint64) (start, end uint64) {
			for base, b := range mem {
				if addr >= base && addr-base < uint64(len(b)) {
					return base, base + uint64(len(b))
				}
			}
			return 0, 0
		},
		Module: func(addr uint64) *unwind.Module {
			for _, m := range modules {
				if addr >= m.Base && addr-m.Base < m.Size {
					return m
				}
			}
			return nil
		},
		IsCode: func(addr uint64) (is, known bool) {
			is = addr-anonymous < moduleBytes
			return is || addr-first < s.exec, is || s.exec > 0
		},
	}
	var regs rule.Registers
	for r := range strings.FieldsSeq(s.regs) {
		name, value, _ := strings.Cut(r, "=")
		reg, ok := cpu.Reg(name)
		var v uint64
		if _, err := fmt.Sscanf(value, "%x", &v); !ok || err != nil {
			t.Fatalf("invalid register %q", r)
		}
		regs.Set(reg, v)
	}
	return p, regs
}

// walk returns the frames as text: program counter and trust.
func (s scene) walk(t testing.TB) string {
	t.Helper()
	p, regs := s.process(t)
	var b bytes.Buffer
	for _, f := range p.Walk(regs, s.options) {
		fmt.Fprintf(&b, "%x %v\n", f.PC, f.Trust)
	}
	return b.String()
}

// expect fails the test unless the frames are those in want, separated by
// commas.
func (s scene) expect(t *testing.T, want string) {
	t.Helper()
	got := strings.ReplaceAll(strings.TrimSpace(s.walk(t)), "\n", ", ")
	if got != want {
		s.options.Explain = true
		p, regs := s.process(t)
		var why []string
		for _, f := range p.Walk(regs, s.options) {
			why = append(why, fmt.Sprintf("%x %q", f.PC, f.Why))
		}
		t.Errorf("frames:\n got %s\nwant %s\n%s", got, want, strings.Join(why, "\n"))
	}
}

// at returns stack words: n zeros, and the given values at their indexes.
func at(n int, pairs ...uint64) []uint64 {
	w := make([]uint64, n)
	for i := 0; i < len(pairs); i += 2 {
		w[pairs[i]] = pairs[i+1]
	}
	return w
}

// slot returns the address of a word of the stack.
func slot64(i uint64) uint64 { return stackBase + 8*i }
func slot32(i uint64) uint64 { return stackBase + 4*i }

func hex(v uint64) string { return fmt.Sprintf("%x", v) }
