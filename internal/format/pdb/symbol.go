package pdb

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
)

// Kinds of symbol records. Names of those with ST have a length before them
// instead of a NUL after them, as written by compilers up to 2002.
const (
	symCompile      = 0x0001
	symEnd          = 0x0006
	symThunk        = 0x1102
	symThunkST      = 0x0206
	symBlock        = 0x1103
	symBlockST      = 0x0207
	symWith         = 0x1104
	symCompile2ST   = 0x1013
	symLocalProcST  = 0x100a
	symGlobalProcST = 0x100b
	symPublicST     = 0x1009
	symPublic       = 0x110e
	symLocalProc    = 0x110f
	symGlobalProc   = 0x1110
	symCompile2     = 0x1116
	symGlobalMan    = 0x112a
	symLocalMan     = 0x112b
	symSepCode      = 0x1132
	symCompile3     = 0x113c
	symLocalProcID  = 0x1146
	symGlobalProcID = 0x1147
	symInlineSite   = 0x114d
	symInlineEnd    = 0x114e
	symProcEnd      = 0x114f
	symLocalDPC     = 0x1155
	symLocalDPCID   = 0x1156
	symInlineSite2  = 0x115d
)

// record is a symbol or type record.
type record struct {
	at   int // offset
	kind uint16
	data []byte // bytes after the kind
}

// end returns the offset after the record.
func (r *record) end() int { return r.at + 4 + len(r.data) }

// records yields the records in data from off on, up to a truncated one.
func records(data []byte, off int) iter.Seq[record] {
	return func(yield func(record) bool) {
		for off+4 <= len(data) {
			size := int(binary.LittleEndian.Uint16(data[off:]))
			next := off + 2 + size
			if size < 2 || next > len(data) {
				return
			}
			if !yield(record{off, binary.LittleEndian.Uint16(data[off+2:]), data[off+4 : next]}) {
				return
			}
			off = next
		}
	}
}

// opensScope reports whether a record begins a scope.
func opensScope(kind uint16) bool {
	switch kind {
	case symThunk, symThunkST, symBlock, symBlockST, symWith, symLocalProcST, symGlobalProcST, symLocalProc,
		symGlobalProc, symGlobalMan, symLocalMan, symSepCode, symLocalProcID, symGlobalProcID, symInlineSite,
		symLocalDPC, symLocalDPCID, symInlineSite2:
		return true
	}
	return false
}

// closesScope reports whether a record ends a scope.
func closesScope(kind uint16) bool {
	return kind == symEnd || kind == symInlineEnd || kind == symProcEnd
}

// procedure has the fields common to all kinds of procedures.
type procedure struct {
	off, size uint32
	section   uint16
	typ       uint32
	item      bool // typ is the number of an item
	name      []byte
}

// procedure reads a procedure or a thunk.
func (r record) procedure() (p procedure, ok bool) {
	d := r.data
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(d[at:]) }
	name := 35
	switch r.kind {
	case symThunk, symThunkST:
		const size = 21
		if len(d) < size {
			return p, false
		}
		p = procedure{off: u32(12), section: binary.LittleEndian.Uint16(d[16:]), size: uint32(binary.LittleEndian.Uint16(d[18:]))}
		name = size
	case symGlobalMan, symLocalMan:
		name = 37
		if len(d) < name {
			return p, false
		}
		p = procedure{off: u32(28), section: binary.LittleEndian.Uint16(d[32:]), size: u32(12)}
	case symLocalProcST, symGlobalProcST, symLocalProc, symGlobalProc, symLocalDPC,
		symLocalProcID, symGlobalProcID, symLocalDPCID:
		if len(d) < name {
			return p, false
		}
		p = procedure{
			off: u32(28), section: binary.LittleEndian.Uint16(d[32:]), size: u32(12), typ: u32(24),
			item: r.kind == symLocalProcID || r.kind == symGlobalProcID || r.kind == symLocalDPCID,
		}
	default:
		return p, false
	}
	p.name = nameOf(d[name:], r.kind == symThunkST || r.kind == symLocalProcST || r.kind == symGlobalProcST)
	return p, true
}

// nameOf returns the name at the start of data.
func nameOf(data []byte, old bool) []byte {
	if old {
		if len(data) == 0 {
			return nil
		}
		return data[1:][:min(int(data[0]), len(data)-1)]
	}
	name, _, _ := bytes.Cut(data, []byte{0})
	return name
}

// Public is a public symbol.
type Public struct {
	Record uint32 // position, for PublicName
	Addr   uint32
}

// public reads a public symbol in a section of code.
func (f *File) public(at int64, r record) (p Public, ok bool) {
	const size = 10
	if r.kind != symPublic && r.kind != symPublicST || len(r.data) < size {
		return p, false
	}
	sect := binary.LittleEndian.Uint16(r.data[8:])
	if !f.isCode(sect) {
		return p, false
	}
	p = Public{Record: uint32(at)}
	p.Addr, ok = f.Addr(sect, binary.LittleEndian.Uint32(r.data[4:]))
	return p, ok
}

// publicPiece is the number of bytes of global symbols that are read at a time.
// A record is shorter than 64 KiB.
const publicPiece = 1 << 20

// Publics yields the public symbols of code in the order of the file.
func (f *File) Publics(yield func(p Public) bool) error {
	s := f.symbols
	var room []byte
	for off := int64(0); off < s.Size(); {
		data, err := s.Bytes(off, int(min(publicPiece, s.Size()-off)), room)
		if err != nil {
			return fmt.Errorf("global symbols, offset %#x: %w", off, err)
		}
		if f.msf.whole == nil {
			room = data
		}
		n := 0
		for r := range records(data, 0) {
			n = r.at + 4 + len(r.data)
			if p, ok := f.public(off+int64(r.at), r); ok && !yield(p) {
				return nil
			}
		}
		if n == 0 {
			return fmt.Errorf("global symbols, offset %#x: invalid record", off)
		}
		off += int64(n)
	}
	return nil
}

// publicAt reads public symbol i in the order by address.
func (f *File) publicAt(i int, buf []byte) (p Public, sect uint16, off uint32, ok bool) {
	const size = 14
	at := int64(binary.LittleEndian.Uint32(f.publics[4*i:]))
	b, err := f.symbols.Bytes(at, size, buf)
	if err != nil {
		return p, 0, 0, false
	}
	r := record{0, binary.LittleEndian.Uint16(b[2:]), b[4:]}
	p, ok = f.public(at, r)
	return p, binary.LittleEndian.Uint16(b[12:]), binary.LittleEndian.Uint32(b[8:]), ok
}

// HasOrder reports whether PublicsAt is worthwhile: with few symbols, reading
// all of them is fast.
func (f *File) HasOrder() bool {
	const many = 4 << 20
	return len(f.publics) > 0 && f.symbols.Size() >= many
}

// PublicsAt returns the public symbols of code at an address, or else those at
// the largest address before it in its section, in the order of the file. It
// uses binary search in the order by address.
func (f *File) PublicsAt(addr uint32) (list []Public) {
	sect, off, ok := f.place(addr)
	if !ok {
		return nil
	}
	var room [16]byte
	lo, hi := 0, len(f.publics)/4
	for lo < hi { // the first one after the address
		mid := int(uint(lo+hi) / 2)
		_, s, o, _ := f.publicAt(mid, room[:])
		if s > sect || s == sect && o > off {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	for i := lo - 1; i >= 0; i-- {
		p, s, o, ok := f.publicAt(i, room[:])
		if s != sect || len(list) > 0 && o != off {
			break
		}
		if ok {
			list, off = append(list, p), o
		}
	}
	slices.SortFunc(list, func(a, b Public) int { return cmp.Compare(a.Record, b.Record) })
	return list
}

// PublicName returns the name of a public symbol.
func (f *File) PublicName(rec uint32) []byte {
	const name = 14
	var room [4]byte
	head, err := f.symbols.Bytes(int64(rec), 4, room[:])
	if err != nil {
		return nil
	}
	size := int(binary.LittleEndian.Uint16(head)) + 2
	old := binary.LittleEndian.Uint16(head[2:]) == symPublicST
	data, err := f.symbols.Bytes(int64(rec)+name, size-name, nil)
	if err != nil {
		return nil
	}
	return nameOf(data, old)
}
