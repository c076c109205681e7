package core

import (
	"encoding/binary"
	"math"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/elf"
	"symbolon/internal/ident"
)

// A File is an open core file.
type File struct {
	Arch      ident.Arch
	BigEndian bool
	PID       uint32   // of the process; 0 if unknown
	Name      string   // of the program, at most 15 bytes
	Threads   []Thread // the one that received Signal first
	Signal    Signal
	Modules   []Module // the program first, the others in the order of addresses
	Memory    *bin.Memory
	Problems  bin.Problems

	order     binary.ByteOrder
	wide      bool // addresses of 64 bits
	auxv      [maxAux]uint64
	files     []mapping // in the order of the note
	isCropped bool      // a list exceeds its limit
}

// A Thread is a thread of the process.
type Thread struct {
	ID        uint32
	Registers []bin.Register // nil if unknown
}

// A Signal is the reason why a core file was written. Number is 0 in one of a
// process that continued.
type Signal struct {
	Number, Code int32  // SIG*, si_code
	Address      uint64 // si_addr, if the signal has one
}

const (
	maxThreads  = 1 << 16
	maxMappings = 1 << 20
	maxModules  = 1 << 16
)

// Open reads the threads, modules and memory ranges of a core file. Memory is
// read from src in place, so src should be the result of bin.InPlace.
func Open(src bin.Source) (*File, error) {
	e, err := elf.OpenHeaders(src)
	if err != nil {
		return nil, err
	}
	if e.Type != elf.TypeCore {
		return nil, fault.New(fault.Malformed, "core file, header", "invalid type %d: must be %d", e.Type, elf.TypeCore)
	}
	f := &File{Arch: e.Arch(), BigEndian: e.Order == binary.BigEndian, order: e.Order, wide: e.Class == 64, Problems: e.Problems}
	f.readMemory(src, e)
	e.Notes(func(n elf.Note) bool {
		f.readNote(n)
		return true
	})
	f.readModules()
	switch {
	case len(f.Threads) == 0:
		f.Problems.Add("notes", 0, "the file has no threads")
	case f.Threads[0].Registers == nil:
		f.Problems.Add("notes", 0, "registers of %v are unknown, or truncated", f.Arch)
	}
	if f.isCropped {
		f.Problems.Add("notes", 0, "more than %d threads, %d files or %d modules", maxThreads, maxMappings, maxModules)
	}
	return f, nil
}

// readMemory reads the ranges of memory, and reports bytes that the file lacks.
func (f *File) readMemory(src bin.Source, e *elf.File) {
	var (
		ranges  = make([]bin.Range, 0, len(e.Segments))
		size    = uint64(src.Size())
		missing uint64
		invalid int
	)
	for _, s := range e.Segments {
		have := min(s.Filesz, size-min(s.Off, size))
		missing += min(s.Filesz-have, math.MaxUint64-missing)
		if s.Type != elf.SegmentLoad {
			continue
		}
		r := bin.Range{Addr: s.Vaddr, Size: max(s.Memsz, s.Filesz), Stored: have, Off: int64(min(s.Off, size)),
			Protection: bin.Protection(s.Flags & 7)}
		if r.Size > 0 && r.Addr+(r.Size-1) >= r.Addr {
			ranges = append(ranges, r)
		} else if r.Size > 0 {
			invalid++
		}
	}
	if missing > 0 {
		f.Problems.Add("segments", int64(size), "the file is truncated: %d bytes are missing", missing)
	}
	overlapping := 0
	if f.Memory, overlapping = bin.NewMemory(src, ranges); overlapping+invalid > 0 {
		f.Problems.Add("segments", 0, "%d segments overlap others or exceed the addresses", overlapping+invalid)
	}
}
