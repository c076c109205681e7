package sentry

import (
	"cmp"
	"math/bits"
	"slices"

	"symbolon/internal/api/wire"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/symbolicate"
)

// query returns the request to the engine, with the module and the address of each
// frame.
func (q *request) query() *symbolicate.Request {
	req := &symbolicate.Request{
		Modules: make([]ident.Module, len(q.Modules)),
		Bases:   make([]uint64, len(q.Modules)),
		Frames:  make([]symbolicate.Frame, len(q.Frames)),
		Purpose: locate.Debug,
		Sources: q.Context,
	}
	for i := range q.Modules {
		m := &q.Modules[i]
		req.Modules[i] = ident.Module{
			Type: m.Kind, CodeFile: m.CodeFile.Text, CodeID: m.CodeID,
			DebugFile: m.DebugFile.Text, DebugID: m.DebugID, DebugChecksum: m.Checksum.Text,
		}
		req.Bases[i] = baseOf(m)
	}
	if q.firstName != "" {
		req.Modules[0].DebugFile = q.firstName
	}
	images := q.images()
	first := 0
	for s := range q.Stacks {
		st := &q.Stacks[s]
		for i := first; i < st.End; i++ {
			index := i - first
			if q.CallerFirst {
				index = st.End - 1 - i
			}
			req.Frames[i] = q.locate(images, i, q.step(st, index, &q.Frames[i]))
		}
		first = st.End
	}
	return req
}

// baseOf returns the load address of a module, 0 for .NET, whose frames have a method
// and an offset in it.
func baseOf(m *wire.Module) uint64 {
	if m.Kind == ident.TypeDotnet {
		return 0
	}
	return m.Addr
}

// images returns the modules in the order of their load addresses. A module without
// a size ends where the next one begins; the last one is not limited.
func (q *request) images() []int32 {
	order := make([]int32, len(q.Modules))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(q.Modules[a].Addr, q.Modules[b].Addr) })
	for i := 0; i+1 < len(order); i++ {
		if m := &q.Modules[order[i]]; m.Size == 0 {
			m.Size, m.HasSize = q.Modules[order[i+1]].Addr-m.Addr, true
		}
	}
	return order
}

// find returns the module of an address, or -1. The end of a module does not belong
// to it, except for a return address: its call is the last instruction.
func (q *request) find(images []int32, addr uint64, step symbolicate.Step) int32 {
	n, _ := slices.BinarySearchFunc(images, addr, func(m int32, addr uint64) int {
		if q.Modules[m].Addr <= addr {
			return -1
		}
		return 1
	})
	if n == 0 {
		return -1
	}
	m := &q.Modules[images[n-1]]
	if offset := addr - m.Addr; m.Size == 0 || offset < m.Size || offset == m.Size && step == symbolicate.Before {
		return images[n-1]
	}
	return -1
}

// locate returns the module and the address of frame i. If the address is not in
// the module, the module is still looked up.
func (q *request) locate(images []int32, i int, step symbolicate.Step) symbolicate.Frame {
	f := &q.Frames[i]
	var m int32
	switch {
	case !f.Relative:
		m = q.find(images, f.Addr, step)
	case f.Rel < uint64(len(q.Modules)):
		m = int32(f.Rel)
	default:
		m = -1
	}
	if m < 0 {
		return symbolicate.Frame{Module: -1}
	}
	mod := &q.Modules[m]
	out := symbolicate.Frame{Module: m, Step: symbolicate.Exact, Addr: f.Addr}
	switch {
	case mod.Kind == ident.TypeDotnet:
		out.Addr, f.Void = q.method(f)
	case mod.Addr == 0:
		f.Void = !f.Relative
	case f.Relative:
		addr, carry := bits.Add64(mod.Addr, f.Addr, 0)
		out.Step, out.Addr, f.Void = step, addr, carry != 0
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
func (q *request) method(f *wire.Frame) (addr uint64, void bool) {
	var x wire.Extras
	q.Record(*f, &x)
	id, ok := x.FunctionID()
	if !ok || id>>24 != 0 || f.Addr>>32 != 0 {
		return 0, true
	}
	return (methodTable<<24|uint64(id))<<32 | f.Addr, false
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
func (q *request) step(st *wire.Stack, index int, f *wire.Frame) symbolicate.Step {
	switch {
	case f.Adjust == wire.No:
		return symbolicate.Aligned
	case f.Adjust == wire.Yes || st.Adjusts || index > 0:
		return symbolicate.Before
	}
	if q.HasSignal && (q.Signal == sigill || q.Signal == sigbus || q.Signal == sigsegv) {
		if pc, ok := instruction(st); ok && pc != f.Addr {
			return symbolicate.Before
		}
	}
	return symbolicate.Aligned
}

// instruction returns the value of the program counter, under its name on any
// machine.
func instruction(st *wire.Stack) (pc uint64, ok bool) {
	for _, name := range [...]string{"rip", "eip", "pc", "srr0"} {
		i, found := slices.BinarySearchFunc(st.Registers, name, func(r wire.Register, name string) int { return cmp.Compare(r.Name, name) })
		if found {
			return st.Registers[i].Value, true
		}
	}
	return 0, false
}
