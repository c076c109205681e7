package pe

import (
	"symbolon/internal/bin"
	"symbolon/internal/sym"
)

// stepsPerByte limits the steps of unwinding for each byte of the file. Only
// functions with shared unwind information can exceed it.
const stepsPerByte = 16

// entry is a function, or a part of one, in the exception directory.
type entry struct {
	start, end uint32 // end is 0 if info has it
	info       uint32
}

// entries yields the entries of the exception directory.
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

// HasUnwind reports whether the exception directory has an entry.
func (f *File) HasUnwind() (has bool) {
	f.entries(func(entry) bool { has = true; return false })
	return has
}

// FunctionStarts appends the addresses of the functions in the exception
// directory, in its order. Parts of functions are skipped.
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

// UnwindRecords yields the records of each function of the exception directory,
// until yield returns an error: one for its start, and one for each instruction
// after which the rules differ. A damaged function is a problem and has no records.
// The functions that the directory omits follow.
func (f *File) UnwindRecords(yield func(*sym.Unwind) error) (_ bin.Problems, err error) {
	u := unwinder{file: f, budget: f.src.Size() * stepsPerByte}
	f.entries(func(e entry) bool {
		err = u.records(e, yield)
		return err == nil && u.budget > 0
	})
	if err == nil {
		f.leaves(f.ranges(), func(e entry) bool {
			err = u.records(e, yield)
			return err == nil
		})
	}
	return u.problems, err
}

// UnwindRanges yields the range of code of each entry of the exception directory, and
// its unwind information. The functions that the directory omits follow.
func (f *File) UnwindRanges(yield func(start, end, info uint32)) {
	all := f.ranges()
	for _, e := range all {
		yield(e.start, e.end, e.info)
	}
	f.leaves(all, func(e entry) bool {
		yield(e.start, e.end, e.info)
		return true
	})
}

// ranges returns the entries of the exception directory, with their ends.
func (f *File) ranges() (all []entry) {
	f.entries(func(e entry) bool {
		if f.Machine != machineX64 {
			x, _ := f.infoARM64(e)
			e.end = e.start + x.size
		}
		if e.start < e.end {
			all = append(all, e)
		}
		return true
	})
	return all
}

// UnwindRecordsOf yields the records of an entry.
func (f *File) UnwindRecordsOf(start, end, info uint32, yield func(*sym.Unwind) error) error {
	u := unwinder{file: f, budget: f.src.Size() * stepsPerByte}
	return u.records(entry{start, end, info}, yield)
}

// records yields the records of an entry. Damage is a problem.
func (u *unwinder) records(e entry, yield func(*sym.Unwind) error) error {
	u.buf.Reset()
	write := u.x64
	if u.file.Machine != machineX64 {
		write = u.arm64
	}
	if e.info == leafInfo {
		write = u.leaf
	}
	if why := write(e); why != "" {
		u.problem(e.start, why)
		return nil
	}
	return u.buf.Each(uint64(u.end), yield)
}

// unwinder makes the records of functions.
type unwinder struct {
	file     *File
	budget   int64 // steps
	start    uint32
	end      uint32
	regs     *registers
	started  bool
	now      frame
	last     frame  // of the last record written
	body     frame  // between prolog and epilog
	minAddr  uint32 // smallest valid address of the next epilog
	buf      sym.UnwindBuffer
	problems bin.Problems
}

func (u *unwinder) problem(addr uint32, why string) {
	u.problems.Add("exception directory", int64(addr), "%s", why)
}

// step counts a step. It returns false if there were too many.
func (u *unwinder) step() bool {
	u.budget--
	return u.budget > 0
}

// begin sets the frame at the first instruction of a function: the return
// address is above the stack pointer, or in a register.
func (u *unwinder) begin(e entry, regs *registers) {
	u.start, u.end, u.regs, u.started = e.start, e.end, regs, false
	u.now = frame{base: regs.stack}
}

// row adds a record of the current frame, which is valid from an address on. The
// first one is that of the first instruction.
func (u *unwinder) row(addr uint32) {
	if !u.started {
		u.buf.Rules = u.regs.rules(u.buf.Rules, &u.now, &frame{base: maxRegisters})
		if bit := uint64(1) << u.regs.ret; u.now.saved&bit == 0 {
			u.buf.Rules = append(append(u.buf.Rules, " .ra: "...), u.regs.link...)
		}
		u.buf.Add(uint64(u.start))
		u.started, u.last = true, u.now
		return
	}
	if addr >= u.end {
		return
	}
	if u.buf.Rules = u.regs.rules(u.buf.Rules, &u.now, &u.last); !u.buf.IsBare() {
		u.buf.Add(uint64(addr))
		u.last = u.now
	}
}
