package macho

import "symbolon/internal/bin"

// Types of second-level pages.
const (
	pageRegular    = 2
	pageCompressed = 3
)

// Bits common to all encodings.
const (
	encodingModeMask = 0x0f000000
	encodingLSDA     = 0x40000000
	encodingFDE      = 0x00ffffff
)

// Entry is a range of code with one encoding. The Encoding is zero if nothing
// is known about the range.
type Entry struct {
	Start, End uint64
	Encoding   uint32
	LSDA       bool   // it has an exception table
	DWARF      bool   // it is described by an FDE
	FDE        uint32 // its offset in __eh_frame; 0: search for the one of Start
	Stack      uint32 // bytes of the frame, if the encoding refers to the code
}

// UnwindEntries yields the entries of __unwind_info in ascending order, or
// those of __compact_unwind in an object file, in the order of the file. Damage
// affects an entry or a page, and is returned.
func (f *File) UnwindEntries(yield func(Entry) bool) bin.Problems {
	u := unwindInfo{f: f, s: f.Section("__LD", "__compact_unwind"), yield: yield, family: familyOf(f.Arch())}
	read := u.object
	if u.s == nil {
		u.s, read = f.Section("", "__unwind_info"), u.image
	}
	if u.s == nil || u.s.Off == 0 {
		return nil
	}
	if text := f.Section("__TEXT", "__text"); text != nil {
		u.codeAt = text.Addr
		u.code, _ = f.Data(text)
	}
	var err error
	if u.data, err = f.Data(u.s); err != nil {
		u.problem(0, err.Error())
	} else if len(u.data) > 0 {
		read()
	}
	return u.problems
}

// unwindInfo is the state of reading a section of compact unwind information.
type unwindInfo struct {
	f        *File
	s        *Section
	data     []byte
	code     []byte // __text
	codeAt   uint64
	family   family
	common   []byte // encodings for all pages
	budget   int    // limit of further entries
	pending  bool   // last needs the address of the next one
	last     Entry
	minAddr  uint64 // smallest valid address of the next entry
	yield    func(Entry) bool
	done     bool
	problems bin.Problems
}

func (u *unwindInfo) problem(at int, why string) {
	u.problems.Add(u.s.Name, u.s.Off+int64(at), "%s", why)
}

// object reads the table that a compiler writes for the linker: address,
// length, encoding, personality, LSDA. The offset of an FDE is set only by the
// linker.
func (u *unwindInfo) object() {
	c := bin.NewCursor(u.f.Relocate(u.s, u.data), u.f.Order)
	for c.Len() > 0 && !u.done {
		e := Entry{Start: u.f.codeAddr(u.f.word(c))}
		e.End, e.Encoding = e.Start+uint64(c.U32()), c.U32()
		u.f.word(c)
		lsda := u.f.word(c)
		if c.Err() != nil {
			u.problem(c.Off(), "the section ends in an entry")
		} else if e.Start < e.End {
			e = u.decode(e)
			e.LSDA, e.FDE = e.LSDA || lsda != 0, 0
			u.done = !u.yield(e)
		}
	}
}

// decode decodes the parts of an encoding that need no names of registers.
func (u *unwindInfo) decode(e Entry) Entry {
	e.LSDA = e.Encoding&encodingLSDA != 0
	if mode := e.Encoding & encodingModeMask; mode != 0 && mode == u.family.dwarf {
		e.DWARF, e.FDE = true, e.Encoding&encodingFDE
	} else if u.family.word != 0 && mode == x86FrameInCode {
		// sub $size, %esp: the number is at this offset of the function.
		if at := e.Start + uint64(e.Encoding>>16&0xff) - u.codeAt; at < uint64(len(u.code)) && len(u.code)-int(at) >= 4 {
			e.Stack = u.f.Order.Uint32(u.code[at:]) + e.Encoding>>13&7*uint32(u.family.word)
		}
	}
	return e
}

// image reads the index of a linked file: {first address, page, LSDA} each. The
// last row has no page, and ends the entry before it.
func (u *unwindInfo) image() {
	c := u.cursor(0)
	version, commonAt, common := c.U32(), c.U32(), c.U32()
	c.Skip(8) // personalities
	index, count := u.cursor(c.U32()), c.U32()
	if c.Err() != nil || version != 1 {
		u.problem(0, "invalid header: must be version 1")
		return
	}
	u.common, u.budget = u.words(commonAt, common), len(u.data)/4
	base := u.f.LoadAddress()
	for range count {
		first, page := base+uint64(index.U32()), index.U32()
		index.Skip(4)
		if index.Err() != nil {
			u.problem(index.Off(), "the section ends in the index")
			break
		}
		u.flush(first)
		if page != 0 {
			u.page(page, base, first)
		}
		if u.done {
			return
		}
	}
	// Without an end in the index, the last entry ends with the code.
	if s := u.f.Section("__TEXT", "__text"); s != nil {
		u.flush(s.Addr + s.Size)
	}
}

// cursor returns a cursor at an offset of the section.
func (u *unwindInfo) cursor(at uint32) *bin.Cursor {
	c := bin.NewCursor(u.data, u.f.Order)
	c.Skip(int(min(int64(at), int64(len(u.data)))))
	return c
}

// words returns the bytes of n words at an offset, truncated to the section.
func (u *unwindInfo) words(at, n uint32) []byte {
	b := u.data[min(int64(at), int64(len(u.data))):]
	return b[:min(int64(n)*4, int64(len(b)))]
}

// page reads a second-level page, up to the first damaged row.
func (u *unwindInfo) page(at uint32, base, first uint64) {
	c := u.cursor(at)
	kind, rows, count := c.U32(), u.cursor(at+uint32(c.U16())), c.U16()
	var own []byte // encodings
	if kind == pageCompressed {
		own = u.words(at+uint32(c.U16()), uint32(c.U16()))
	}
	if c.Err() != nil || kind != pageRegular && kind != pageCompressed {
		u.problem(int(at), "unknown type of page")
		return
	}
	for range count {
		row, known := rows.U32(), true
		e := Entry{Start: base + uint64(row)}
		if kind == pageRegular {
			e.Encoding = rows.U32()
		} else {
			e.Start = first + uint64(row&0xffffff)
			e.Encoding, known = u.encoding(own, int(row>>24))
		}
		u.budget--
		switch {
		case u.budget < 0:
			u.problem(int(at), "pages overlap")
			u.done = true
		case rows.Err() != nil:
			u.problem(int(at), "the section ends in a page")
		case !known:
			u.problem(int(at), "a row of a page has an invalid encoding")
		case e.Start < u.minAddr:
			u.problem(int(at), "addresses are not in ascending order")
		default:
			u.flush(e.Start)
			e.Start = u.f.codeAddr(e.Start)
			u.last, u.pending, u.minAddr = e, true, e.Start
			if !u.done {
				continue
			}
		}
		return
	}
}

// encoding returns encoding n: one of the common ones, or of the page's own
// ones, which follow them.
func (u *unwindInfo) encoding(own []byte, n int) (uint32, bool) {
	words, n := u.common, 4*n
	if n >= len(words) {
		words, n = own, n-len(words)
	}
	if n+4 > len(words) {
		return 0, false
	}
	return u.f.Order.Uint32(words[n:]), true
}

// flush yields the pending entry, whose end is now known.
func (u *unwindInfo) flush(end uint64) {
	u.last.End = u.f.codeAddr(end)
	if u.pending && !u.done && u.last.Start < u.last.End {
		u.minAddr = u.last.End
		u.done = !u.yield(u.decode(u.last))
	}
	u.pending = false
}
