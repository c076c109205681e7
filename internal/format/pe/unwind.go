package pe

import (
	"strconv"

	"symbolon/internal/bin"
)

// stepsPerByte is how many steps of unwinding a file may have for each of its
// bytes. Functions that share what they say have more than there is room for.
const stepsPerByte = 16

// entry is a function, or a part of one, in the exception directory.
type entry struct {
	start, end uint32 // end is 0 where info tells it
	info       uint32
}

// entries gives those of the exception directory.
func (f *File) entries(yield func(entry) bool) {
	size := 12
	switch f.Machine {
	case machineX64:
	case machineARM64, machineEC, machineBoth:
		size = 8
	default:
		return
	}
	d := f.dirs[dirException]
	for c := bin.NewCursor(f.Mapped(d.addr, int64(d.size)), le); c.Len() >= size; {
		e := entry{start: c.U32()}
		if size == 12 {
			e.end = c.U32()
		}
		if e.info = c.U32(); e.start != 0 && !yield(e) {
			return
		}
	}
}

// HasUnwind says whether the exception directory has an entry.
func (f *File) HasUnwind() (has bool) {
	f.entries(func(entry) bool { has = true; return false })
	return has
}

// FunctionStarts appends the addresses of functions that the exception
// directory tells, in its order. Parts of functions are left out.
func (f *File) FunctionStarts(dst []uint32) []uint32 {
	f.entries(func(e entry) bool {
		part := f.partX64(e)
		if f.Machine != machineX64 {
			part = f.partARM64(e)
		}
		if !part {
			dst = append(dst, e.start)
		}
		return true
	})
	return dst
}

// UnwindRecords gives, for each function of the exception directory, its
// Breakpad STACK CFI records: one for its beginning, and one for each
// instruction behind which the rules are others. They are valid until yield
// returns. What is broken costs a function, and is told.
func (f *File) UnwindRecords(yield func(records []byte) bool) []Problem {
	u := unwinder{file: f, left: f.src.Size() * stepsPerByte}
	f.entries(func(e entry) bool {
		u.dst = u.dst[:0]
		write := u.x64
		if f.Machine != machineX64 {
			write = u.arm64
		}
		if why := write(e); why != "" {
			u.problem(e.start, why)
			return u.left > 0
		}
		u.dst = append(u.dst, '\n')
		return yield(u.dst)
	})
	return u.problems
}

// unwinder writes the records of one function after the other.
type unwinder struct {
	file     *File
	left     int64 // steps
	start    uint32
	end      uint32
	regs     *registers
	begun    bool
	now      frame
	last     frame  // of the record that was written last
	body     frame  // between prolog and epilog
	least    uint32 // what the next epilog must not be below
	dst      []byte
	problems []Problem
}

func (u *unwinder) problem(addr uint32, why string) {
	if len(u.problems) < maxProblems {
		u.problems = append(u.problems, Problem{"exception directory", int64(addr), why})
	}
}

// step counts a step. It is false when there were too many.
func (u *unwinder) step() bool {
	u.left--
	return u.left > 0
}

// begin is the frame at the first instruction of a function, with the return
// address above the stack pointer, or in a register.
func (u *unwinder) begin(e entry, regs *registers) {
	u.start, u.end, u.regs, u.begun = e.start, e.end, regs, false
	u.now = frame{base: regs.stack}
}

// row writes the frame as it is from an address on. The first row is that of
// the first instruction.
func (u *unwinder) row(addr uint32) {
	if !u.begun {
		u.dst = append(u.dst, "STACK CFI INIT "...)
		u.dst = strconv.AppendUint(u.dst, uint64(u.start), 16)
		u.dst = strconv.AppendUint(append(u.dst, ' '), uint64(u.end-u.start), 16)
		u.dst = u.regs.rules(u.dst, &u.now, &frame{base: maxRegisters})
		if bit := uint64(1) << u.regs.ret; u.now.saved&bit == 0 {
			u.dst = append(append(u.dst, " .ra: "...), u.regs.link...)
		}
		u.begun, u.last = true, u.now
		return
	}
	if addr >= u.end {
		return
	}
	from := len(u.dst)
	u.dst = append(u.dst, "\nSTACK CFI "...)
	u.dst = strconv.AppendUint(u.dst, uint64(addr), 16)
	head := len(u.dst)
	if u.dst = u.regs.rules(u.dst, &u.now, &u.last); len(u.dst) == head {
		u.dst = u.dst[:from]
		return
	}
	u.last = u.now
}
