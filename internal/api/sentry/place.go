package sentry

import (
	"cmp"
	"math/bits"
	"slices"

	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/symbolicate"
)

// ask makes the question to the engine: which address of which module each
// frame means.
func (q *question) ask() *symbolicate.Request {
	req := &symbolicate.Request{
		Modules: make([]ident.Module, len(q.modules)),
		Bases:   make([]uint64, len(q.modules)),
		Frames:  make([]symbolicate.Frame, len(q.frames)),
		Purpose: locate.Debug,
		Sources: q.context,
	}
	for i := range q.modules {
		m := &q.modules[i]
		req.Modules[i] = ident.Module{
			Type: m.kind, CodeFile: m.codeFile.text, CodeID: m.codeID,
			DebugFile: m.debugFile.text, DebugID: m.debugID, DebugChecksum: m.checksum.text,
		}
		req.Bases[i] = m.base()
	}
	images := q.images()
	first := 0
	for s := range q.stacks {
		st := &q.stacks[s]
		for i := first; i < st.end; i++ {
			index := i - first
			if q.callerFirst {
				index = st.end - 1 - i
			}
			req.Frames[i] = q.place(images, i, q.step(st, index, &q.frames[i]))
		}
		first = st.end
	}
	return req
}

// base is the load address of a module. Those of .NET have none: their frames
// tell a method and an offset in it.
func (m *module) base() uint64 {
	if m.kind == ident.TypeDotnet {
		return 0
	}
	return m.addr
}

// images are the modules in the order of their load addresses. The sizes that
// are missing follow from where the next one begins; the last module without a
// size has no end.
func (q *question) images() []int32 {
	order := make([]int32, len(q.modules))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(q.modules[a].addr, q.modules[b].addr) })
	for i := 0; i+1 < len(order); i++ {
		if m := &q.modules[order[i]]; m.size == 0 {
			m.size, m.hasSize = q.modules[order[i+1]].addr-m.addr, true
		}
	}
	return order
}

// find is the module that an address is in: the one that begins next below it.
// The end of a module is not in it, but a return address may be there: its call
// is the last instruction.
func (q *question) find(images []int32, addr uint64, step symbolicate.Step) int32 {
	n, _ := slices.BinarySearchFunc(images, addr, func(m int32, addr uint64) int {
		if q.modules[m].addr <= addr {
			return -1
		}
		return 1
	})
	if n == 0 {
		return -1
	}
	m := &q.modules[images[n-1]]
	if offset := addr - m.addr; m.size == 0 || offset < m.size || offset == m.size && step == symbolicate.Before {
		return images[n-1]
	}
	return -1
}

// place says what frame i asks. A frame without a place in its module still
// has the module looked up.
func (q *question) place(images []int32, i int, step symbolicate.Step) symbolicate.Frame {
	f := &q.frames[i]
	var m int32
	switch {
	case !f.relative:
		m = q.find(images, f.addr, step)
	case f.rel < uint64(len(q.modules)):
		m = int32(f.rel)
	default:
		m = -1
	}
	if m < 0 {
		return symbolicate.Frame{Module: -1}
	}
	mod := &q.modules[m]
	out := symbolicate.Frame{Module: m, Step: symbolicate.Exact, Addr: f.addr}
	switch {
	case mod.kind == ident.TypeDotnet:
		out.Addr, f.void = q.method(f)
	case mod.addr == 0:
		f.void = !f.relative
	case f.relative:
		addr, carry := bits.Add64(mod.addr, f.addr, 0)
		out.Step, out.Addr, f.void = step, addr, carry != 0
	default:
		out.Step = step
	}
	return out
}

// methodTable is the upper byte of the token of a method, whose other bytes are
// its number.
const methodTable = 0x06

// method is the address of a .NET frame: the token of the method, and the
// offset of the instruction in it.
func (q *question) method(f *frame) (addr uint64, void bool) {
	var x extras
	q.record(*f, &x)
	id, ok := x.functionID()
	if !ok || id>>24 != 0 || f.addr>>32 != 0 {
		return 0, true
	}
	return (methodTable<<24|uint64(id))<<32 | f.addr, false
}

// The signals that come from the instruction that runs, which makes the first
// address of a stack trace one of its own.
const (
	sigill  = 4
	sigbus  = 10 // of BSD and macOS
	sigsegv = 11
)

// step says which address a frame means: its own, or that of the call before
// the one it returns to. index counts from the innermost frame.
func (q *question) step(st *stack, index int, f *frame) symbolicate.Step {
	switch {
	case f.adjust == no:
		return symbolicate.Aligned
	case f.adjust == yes || st.adjusts || index > 0:
		return symbolicate.Before
	}
	if q.hasSignal && (q.signal == sigill || q.signal == sigbus || q.signal == sigsegv) {
		if pc, ok := st.instruction(); ok && pc != f.addr {
			return symbolicate.Before
		}
	}
	return symbolicate.Aligned
}

// instruction is the register that points to the instruction, whatever the
// machine calls it.
func (st *stack) instruction() (pc uint64, ok bool) {
	for _, name := range [...]string{"rip", "eip", "pc", "srr0"} {
		if i, found := slices.BinarySearchFunc(st.registers, name, func(r register, name string) int { return cmp.Compare(r.name, name) }); found {
			return st.registers[i].value, true
		}
	}
	return 0, false
}
