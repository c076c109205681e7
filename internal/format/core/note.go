package core

import (
	"bytes"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/format/elf"
)

// Types of notes of the owner CORE.
const (
	notePRStatus = 1
	notePRPSInfo = 3
	noteAuxv     = 6
	noteFile     = 0x46494c45
	noteSigInfo  = 0x53494749
)

func (f *File) readNote(n elf.Note) {
	if string(n.Owner) != "CORE" {
		return
	}
	c := bin.NewCursor(n.Desc, f.order)
	switch n.Type {
	case notePRStatus:
		f.addThread(n.Desc)
	case notePRPSInfo:
		f.readProcess(n.Desc)
	case noteSigInfo:
		if len(f.Threads) == 1 && f.Signal.Number != 0 { // others stopped a thread for the dump
			f.readSignal(c)
		}
	case noteAuxv:
		for c.Len() > 0 && c.Err() == nil {
			if kind, v := c.Word(f.wide), c.Word(f.wide); kind != 0 && kind < maxAux {
				f.auxv[kind] = v
			}
		}
	case noteFile:
		f.readFiles(c)
	}
	if c.Err() != nil {
		f.Problems.Add("note", n.Off, "%d bytes of type %#x are too few", len(n.Desc), n.Type)
	}
}

// addThread adds the thread of a PRSTATUS: the signal, sets of signals, ids and
// times, then the registers.
func (f *File) addThread(b []byte) {
	if len(f.Threads) == maxThreads {
		f.isCropped = true
		return
	}
	id, registers := 24, 72
	if f.wide {
		id, registers = 32, 112
	}
	if len(b) < registers {
		return
	}
	if len(f.Threads) == 0 {
		f.Signal.Number = int32(f.order.Uint16(b[12:]))
	}
	f.Threads = append(f.Threads, Thread{f.order.Uint32(b[id:]), f.registers(b[registers:])})
}

// readProcess reads a PRPSINFO, whose first part depends on the processor. It
// ends with four ids, a name of 16 bytes and arguments of 80 bytes.
func (f *File) readProcess(b []byte) {
	if len(b) < 124 {
		return
	}
	b = b[len(b)-112:]
	name, _, _ := bytes.Cut(b[16:32], []byte{0})
	f.PID, f.Name = f.order.Uint32(b), strings.ToValidUTF8(string(name), "\ufffd")
}

// readSignal reads a siginfo_t.
func (f *File) readSignal(c *bin.Cursor) {
	s := &f.Signal
	s.Number = int32(c.U32())
	first, second := int32(c.U32()), int32(c.U32())
	if s.Code = second; strings.HasPrefix(f.Arch.String(), "mips") {
		s.Code = first // the other is an error number
	}
	if f.wide {
		c.Skip(4)
	}
	addr := c.Word(f.wide)
	switch s.Number {
	case 4, 5, 7, 8, 10, 11: // ILL, TRAP, BUS, FPE, BUS of MIPS, SEGV
		if s.Code > 0 { // from the kernel; others have the sender
			s.Address = addr
		}
	}
}

// readFiles reads a note of mapped files: their number, the unit of offsets,
// their addresses and offsets, and their paths.
func (f *File) readFiles(c *bin.Cursor) {
	count, unit := c.Word(f.wide), c.Word(f.wide)
	if count > uint64(c.Len())/12 {
		c.Skip(c.Len() + 1)
		return
	}
	if count > maxMappings {
		f.isCropped = true
		return
	}
	files := make([]mapping, count)
	for i := range files {
		files[i].start, files[i].end = c.Word(f.wide), c.Word(f.wide)
		files[i].off = c.Word(f.wide) * unit
	}
	for i := range files {
		files[i].name = c.CString()
	}
	f.files = files
}
