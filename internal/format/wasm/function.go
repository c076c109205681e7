package wasm

import (
	"encoding/binary"

	"symbolon/internal/bin"
)

// nameFunctions is the id of the subsection with the names of functions.
const nameFunctions = 1

// Functions yields the functions of the code section in the order of the file,
// each with its name, nil if it has none, and the argument of Name for it. The
// range of a function is its body, without the size before it.
func (f *File) Functions(yield func(name []byte, nameOff uint32, start, end uint64) bool) (problems bin.Problems) {
	s := f.find(idCode, "")
	if s == nil {
		return nil
	}
	code, err := f.content(s)
	if err != nil {
		problems.Add("code section", s.Off, "%v", err)
		return problems
	}
	c := bin.NewCursor(code, binary.LittleEndian)
	count := c.Uleb()
	// A body has at least two bytes: its size and its end.
	names := f.functionNames(min(count, uint64(len(code)/2)), &problems)
	for i := range count {
		size := c.Uleb()
		if c.Err() != nil || size > uint64(c.Len()) {
			problems.Add("code section", s.Off+int64(c.Off()), "the section ends in a function")
			break
		}
		var off uint32
		if i < uint64(len(names)) {
			off = names[i]
		}
		start := uint64(s.Off) + uint64(c.Off())
		if !yield(f.Name(off), off, start, start+size) {
			break
		}
		c.Skip(int(size))
	}
	return problems
}

// functionNames returns the offsets in the name section of the names of the
// first count functions, 0 for those without one.
func (f *File) functionNames(count uint64, problems *bin.Problems) []uint32 {
	if len(f.names) == 0 || !f.importsValid {
		return nil
	}
	names := make([]uint32, count)
	if f.isLinking {
		if reason := f.linkedNames(names); reason != "" {
			problems.Add("linking section", f.Section(linking).Off, "%s", reason)
		}
		return names
	}
	damaged := func() []uint32 {
		problems.Add("name section", f.Section("name").Off, "cannot be read to its end")
		return names
	}
	for c := bin.NewCursor(f.names, binary.LittleEndian); c.Len() > 0; {
		part, size := c.U8(), c.Uleb()
		at := c.Off()
		if c.Err() != nil {
			return damaged()
		}
		body := c.Bytes(int(min(size, uint64(c.Len()))))
		if part != nameFunctions {
			continue
		}
		p := bin.NewCursor(body, binary.LittleEndian)
		for n := p.Uleb(); n > 0 && p.Err() == nil; n-- {
			index, off := p.Uleb()-uint64(f.imports), at+p.Off()
			text(p)
			if p.Err() == nil && index < count {
				names[index] = uint32(off)
			}
		}
		if p.Err() != nil || uint64(len(body)) < size {
			return damaged()
		}
	}
	return names
}

// Parts of the section for linkers.
const (
	linkingVersion = 2
	linkingSymbols = 8

	symbolFunction = 0
	symbolData     = 1
	symbolSection  = 3

	symbolUndefined = 0x10
	symbolExplicit  = 0x40 // it has a name although it is undefined
)

// linkedNames sets the offsets of the names of functions in the symbol table of an
// object. Of several symbols of a function the first counts. It returns the
// damage of the table, if there is any.
func (f *File) linkedNames(names []uint32) (problem string) {
	c := bin.NewCursor(f.names, binary.LittleEndian)
	if c.Uleb() != linkingVersion {
		return "unsupported version"
	}
	for c.Len() > 0 {
		part, size := c.U8(), c.Uleb()
		if c.Err() != nil || size > uint64(c.Len()) {
			return "cannot be read to its end"
		}
		if part != linkingSymbols {
			c.Skip(int(size))
			continue
		}
		end := c.Off() + int(size)
		n := c.Uleb()
		for ; n > 0 && c.Err() == nil && c.Off() < end; n-- {
			f.linkedName(c, names)
		}
		if c.Err() != nil || c.Off() != end || n > 0 {
			return "the symbol table cannot be read to its end"
		}
	}
	return ""
}

// linkedName reads a symbol, and sets the offset of its name if it is that of a
// function of the object.
func (f *File) linkedName(c *bin.Cursor, names []uint32) {
	kind, flags := c.U8(), c.Uleb()
	isDefined := flags&symbolUndefined == 0
	switch kind {
	case symbolData:
		text(c)
		if isDefined {
			c.Uleb()
			c.Uleb()
			c.Uleb()
		}
	case symbolSection:
		c.Uleb()
	default:
		index := c.Uleb() - uint64(f.imports)
		if !isDefined && flags&symbolExplicit == 0 {
			return
		}
		off := c.Off()
		text(c)
		if kind == symbolFunction && isDefined && c.Err() == nil && index < uint64(len(names)) && names[index] == 0 {
			names[index] = uint32(off)
		}
	}
}

// Name returns the name for a number that Functions yielded.
func (f *File) Name(off uint32) []byte {
	if off == 0 {
		return nil
	}
	c := bin.NewCursor(f.names, binary.LittleEndian)
	c.Skip(int(off))
	return text(c)
}
