package sentry

import (
	"cmp"
	"math/bits"
	"slices"

	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/symbolicate"
)

// query returns the request to the engine, with the module and the address of each
// frame.
func (q *request) query() *symbolicate.Request {
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
			req.Frames[i] = q.locate(images, i, q.step(st, index, &q.frames[i]))
		}
		first = st.end
	}
	return req
}

// base returns the load address of a module, 0 for .NET, whose frames have a method
// and an offset in it.
func (m *module) base() uint64 {
	if m.kind == ident.TypeDotnet {
		return 0
	}
	return m.addr
}

// images returns the modules in the order of their load addresses. A module without
// a size ends where the next one begins; the last one is not limited.
func (q *request) images() []int32 {
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

// find returns the module of an address, or -1. The end of a module does not belong
// to it, except for a return address: its call is the last instruction.
func (q *request) find(images []int32, addr uint64, step symbolicate.Step) int32 {
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

// locate returns the module and the address of frame i. If the address is not in
// the module, the module is still looked up.
func (q *request) locate(images []int32, i int, step symbolicate.Step) symbolicate.Frame {
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

// methodTable is the upper byte of the token of a method; the others have its
// number.
const methodTable = 0x06

// method returns the address of a .NET frame: the token of the method, and the
// offset of the instruction in it.
func (q *request) method(f *frame) (addr uint64, void bool) {
	var x extras
	q.record(*f, &x)
	id, ok := x.functionID()
	if !ok || id>>24 != 0 || f.addr>>32 != 0 {
		return 0, true
	}
	return (methodTable<<24|uint64(id))<<32 | f.addr, false
}

// Signals that the running instruction causes: the first address of the stack trace
// is that of the instruction.
const (
	sigill  = 4
	sigbus  = 10 // of BSD and macOS
	sigsegv = 11
)

// step returns the step from the address of a frame to the one that is looked up:
// a return address belongs to the call before it. index counts from the innermost
// frame.
func (q *request) step(st *stack, index int, f *frame) symbolicate.Step {
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

// instruction returns the value of the program counter, under its name on any
// machine.
func (st *stack) instruction() (pc uint64, ok bool) {
	for _, name := range [...]string{"rip", "eip", "pc", "srr0"} {
		i, found := slices.BinarySearchFunc(st.registers, name, func(r register, name string) int { return cmp.Compare(r.name, name) })
		if found {
			return st.registers[i].value, true
		}
	}
	return 0, false
}
