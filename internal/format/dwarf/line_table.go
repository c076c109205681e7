package dwarf

import (
	"bytes"
	"fmt"
)

// lineTable has the offsets of the directories or files of a header.
type lineTable struct {
	fields []lineField // fields of an entry; version 5 only
	places []int       // offsets of the entries in the unit
}

func (t *lineTable) reset() { t.fields, t.places = t.fields[:0], t.places[:0] }

// lineField is a field of the entries of a version 5 table.
type lineField struct {
	kind uint64
	form uint8
	size int
}

// lineEntry is a directory or a file.
type lineEntry struct {
	name, source, md5 []byte
	dir               uint64
}

// Kinds of fields (DW_LNCT).
const (
	lnctPath      = 1
	lnctDirectory = 2
	lnctMD5       = 5
	lnctSource    = 0x2001 // of LLVM
)

// readTables reads the tables of directories and files from pos in the unit on.
func (p *Program) readTables(pos int) error {
	if p.Version >= 5 {
		pos, err := p.readTable(&p.dirs, pos)
		if err == nil {
			_, err = p.readTable(&p.files, pos)
		}
		return err
	}
	if pos = p.readOldTable(&p.dirs, pos, 0); pos >= 0 {
		pos = p.readOldTable(&p.files, pos, 3) // directory, time, size
	}
	if pos < 0 {
		return errLineTable
	}
	return nil
}

// readOldTable reads a table of a version before 5, whose entries are a name
// and some numbers, up to an empty name. It returns its end, or -1.
func (p *Program) readOldTable(t *lineTable, pos, numbers int) int {
	for head := p.unit[:p.code]; ; {
		next := p.r.skipForm(head, pos, formString, p.layout)
		if next == pos+1 {
			return next
		}
		for range numbers {
			_, next = uleb(head, next)
		}
		if next < 0 {
			return -1
		}
		t.places = append(t.places, pos)
		pos = next
	}
}

// readTable reads a version 5 table at pos and returns its end. Every entry has
// at least one byte, so that an invalid count is harmless.
func (p *Program) readTable(t *lineTable, pos int) (int, error) {
	head := p.unit[:p.code]
	n, pos := p.r.number(head, pos, 1)
	for ; n > 0; n-- {
		var kind, form uint64
		kind, pos = uleb(head, pos)
		form, pos = uleb(head, pos)
		f := lineField{kind: kind, form: formByte(form)}
		if f.size = p.layout.size(f.form); pos >= 0 && (f.size == sizeUnknown || f.form == formIndirect) {
			return 0, fmt.Errorf("has a table with unsupported form %#x", form)
		}
		t.fields = append(t.fields, f)
	}
	count, pos := uleb(head, pos)
	for ; count > 0 && pos >= 0; count-- {
		next := pos
		for i := range t.fields {
			if f := &t.fields[i]; f.size >= 0 {
				next = ahead(head, next, uint64(f.size))
			} else {
				next = p.r.skipForm(head, next, f.form, p.layout)
			}
		}
		if next <= pos {
			return 0, errLineTable
		}
		t.places = append(t.places, pos)
		pos = next
	}
	if pos < 0 {
		return 0, errLineTable
	}
	return pos, nil
}

// readEntry reads entry i of a table.
func (p *Program) readEntry(t *lineTable, i int) (e lineEntry) {
	pos := t.places[i]
	if p.Version < 5 {
		return p.readOldEntry(pos)
	}
	for _, f := range t.fields {
		var v uint64
		v, pos = p.r.value(p.unit, pos, f.form, p.layout)
		switch f.kind {
		case lnctPath:
			e.name = p.text(f.form, v)
		case lnctDirectory:
			e.dir = v
		case lnctMD5:
			if f.form == formData16 && pos >= 0 {
				e.md5 = p.unit[v:pos:pos]
			}
		case lnctSource:
			if text := p.text(f.form, v); len(text) > 0 {
				e.source = text
			}
		}
	}
	return e
}

// readOldEntry reads a file of a version before 5. A directory has the same
// format without numbers.
func (p *Program) readOldEntry(pos int) lineEntry {
	name := lineText(p.unit, uint64(pos))
	dir, _ := uleb(p.unit, pos+len(name)+1)
	return lineEntry{name: name, dir: dir}
}

// text returns the string that a field refers to by v.
func (p *Program) text(form uint8, v uint64) []byte {
	switch form {
	case formString:
		return lineText(p.unit, v)
	case formLineStrp:
		return lineText(p.s.LineStr, v)
	case formStrp:
		return lineText(p.s.Str, v)
	}
	return nil
}

// lineText returns the string at off up to its NUL, nil without a NUL.
func lineText(b []byte, off uint64) []byte {
	if off >= uint64(len(b)) {
		return nil
	}
	n := bytes.IndexByte(b[off:], 0)
	if n < 0 {
		return nil
	}
	return b[off : off+uint64(n) : off+uint64(n)]
}
