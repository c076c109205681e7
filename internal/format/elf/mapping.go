package elf

import (
	"cmp"
	"slices"
)

// flagBE8 marks a big-endian program for 32-bit ARM whose code is little endian
// (EF_ARM_BE8).
const flagBE8 = 0x00800000

// Mark is the kind of 32-bit ARM code from an address on.
type Mark struct {
	Addr uint64
	Kind byte // 'a': A32, 't': T32, 'd': data
}

// SwappedCode reports whether the instructions of a program for 32-bit ARM are
// big endian, as they were before version 6 of the architecture.
func (f *File) SwappedCode() bool { return f.big && f.Flags&flagBE8 == 0 }

// Marks returns the kinds of code of a linked file for 32-bit ARM in ascending order, one
// mark for each address. They come from the mapping symbols, which cover all code (mapped
// is true), or else from the functions, which describe only their first byte and not the
// data after them.
func (f *File) Marks() (marks []Mark, mapped bool) {
	if f.Machine != machineARM || f.Class != 32 || f.Type == TypeRel {
		return nil, false
	}
	var functions, ends []Mark
	for i := range f.tables {
		t := &f.tables[i]
		for n := 1; (n+1)*16 <= len(t.syms); n++ {
			s := f.symbol(t.syms[n*16:])
			switch section := f.sectionOf(t, s, n); s.info & 15 {
			case SymbolNoType:
				kind := mapping(t.strs, s.name)
				if kind != 0 && section > 0 && f.Sections[section].Flags&FlagExec != 0 {
					marks = append(marks, Mark{s.value, kind})
				}
			case SymbolFunc, SymbolIFunc:
				if section != 0 {
					functions = append(functions, Mark{s.value &^ 1, "at"[s.value&1]})
				}
			}
		}
	}
	if len(marks) > 0 {
		for i := range f.Sections { // code ends at the end of its section
			if s := &f.Sections[i]; s.Flags&FlagExec != 0 {
				ends = append(ends, Mark{s.Addr + s.Size, 'd'})
			}
		}
		return sortMarks(append(ends, marks...)), true
	}
	return sortMarks(functions), false
}

// sortMarks sorts marks. Of several at one address it keeps the last one in the
// file: the ranges of the others are empty.
func sortMarks(marks []Mark) []Mark {
	slices.SortStableFunc(marks, func(a, b Mark) int { return cmp.Compare(a.Addr, b.Addr) })
	out := marks[:0]
	for i, m := range marks {
		if i+1 == len(marks) || marks[i+1].Addr != m.Addr {
			out = append(out, m)
		}
	}
	return out
}

// mapping returns the letter of a mapping symbol of 32-bit ARM, 0 for other
// names.
func mapping(strs []byte, off uint32) byte {
	if int64(off)+3 > int64(len(strs)) {
		return 0
	}
	b := strs[off:][:3]
	if b[0] != '$' || b[1] != 'a' && b[1] != 't' && b[1] != 'd' || b[2] != 0 && b[2] != '.' {
		return 0
	}
	return b[1]
}
