package elf

import (
	"bytes"
	"slices"

	"symbolon/internal/bin"
)

const (
	maxID    = 256     // bytes of an id; linkers write 8 to 20 by default
	maxNotes = 1 << 20 // bytes of notes that are searched in one place
)

// BuildID returns the id set by the linker, without a copy; nil without one.
func (f *File) BuildID() []byte {
	if id := f.note("GNU", 3, ".note.gnu.build-id"); id != nil {
		return id
	}
	for i := range f.Segments {
		s := &f.Segments[i]
		if s.Type == segmentSCE && s.Filesz >= 20 {
			if b := f.bytes(s.Off, 20); len(b) == 20 {
				return b
			}
		}
	}
	return nil
}

// GoBuildID returns the id set by the Go linker, "" without one.
func (f *File) GoBuildID() string { return string(f.note("Go", 4, ".note.go.buildid")) }

// note returns the first note of an owner and type: in the segments of notes,
// then in the sections of notes, then in the section of the given name,
// whatever its type.
func (f *File) note(owner string, kind uint32, section string) []byte {
	walked := 0 // bytes walked: headers may claim the same bytes repeatedly
	search := func(off, size, align uint64) (id []byte) {
		for _, align := range [...]int{int(align) & 8, 4} {
			if id == nil && align != 0 && int64(walked) <= 2*f.src.Size() {
				c := bin.NewCursor(f.bytes(off, min(size, maxNotes)), f.Order)
				id = noteIn(c, owner, kind, align)
				walked += c.Off()
			}
		}
		return id
	}
	var id []byte
	for i := 0; i < len(f.Segments) && id == nil; i++ {
		if s := &f.Segments[i]; s.Type == segmentNote {
			id = search(s.Off, s.Filesz, s.Align)
		}
	}
	for i := 0; i < len(f.Sections) && id == nil; i++ {
		if s := &f.Sections[i]; s.Type == SectionNote || s.Name == section && s.stored() {
			id = search(s.Off, s.Size, s.Align)
		}
	}
	return id
}

// noteIn searches notes whose parts are aligned.
func noteIn(c *bin.Cursor, owner string, kind uint32, align int) (id []byte) {
	eachNote(c, align, func(n Note) bool {
		if n.Type == kind && len(n.Desc) > 0 && len(n.Desc) <= maxID && string(n.Owner) == owner {
			id = n.Desc
		}
		return id == nil
	})
	return id
}

// A Note is a note of a segment. Its bytes may alias the source.
type Note struct {
	Owner, Desc []byte
	Type        uint32
	Off         int64 // of Desc in the file
}

// Notes calls yield for each note of the segments, until it returns false.
// Segments that claim the same bytes repeatedly end it.
func (f *File) Notes(yield func(Note) bool) {
	left := f.src.Size()
	for i := range f.Segments {
		s := &f.Segments[i]
		if s.Type != segmentNote || left < 0 {
			continue
		}
		c := bin.NewCursor(f.bytes(s.Off, s.Filesz), f.Order)
		left -= int64(c.Len())
		more := true
		eachNote(c, 4, func(n Note) bool {
			n.Off += int64(s.Off)
			more = yield(n)
			return more
		})
		if !more {
			return
		}
	}
}

// eachNote calls yield for each note, whose parts are aligned, until it returns
// false.
func eachNote(c *bin.Cursor, align int, yield func(Note) bool) {
	pad := func(n int) { c.Skip(min(-n&(align-1), c.Len())) }
	for c.Len() >= 12 {
		nameSize, size := c.U32(), c.U32()
		n := Note{Type: c.U32(), Owner: bytes.TrimRight(c.Bytes(int(nameSize)), "\x00")}
		pad(12 + int(nameSize))
		n.Off, n.Desc = int64(c.Off()), c.Bytes(int(size))
		pad(int(size))
		if c.Err() != nil || !yield(n) {
			return
		}
	}
}

// TextID returns an id computed from the first page of the code, for files
// without a build id, in the byte order of the file. ok is false if .text has
// no bytes in the file or is truncated, since the id would then be that of
// another file.
func (f *File) TextID() (id [16]byte, ok bool) {
	i := slices.IndexFunc(f.Sections, func(s Section) bool { return s.Name == ".text" && s.stored() && s.Off != 0 })
	if i < 0 {
		return id, false
	}
	size := min(f.Sections[i].Size, 4096)
	text := f.bytes(f.Sections[i].Off, size)
	for j, b := range text {
		id[j%16] ^= b
	}
	return id, uint64(len(text)) == size
}

// DebugLink returns the name of the separate debug file, and the CRC-32 of its
// content.
func (f *File) DebugLink() (name string, crc uint32, ok bool) {
	name, rest := f.readLink(".gnu_debuglink")
	if name == "" || len(rest) < 4 {
		return "", 0, false
	}
	return name, f.Order.Uint32(rest[len(rest)-4:]), true
}

// AltLink returns the name of the file with the common parts moved by dwz, and
// its build id; or the equivalent of DWARF 5.
func (f *File) AltLink() (name string, id []byte, ok bool) {
	if name, id = f.readLink(".gnu_debugaltlink"); name == "" {
		if sup, n, sum := f.supplement(); !sup {
			name, id = n, sum
		}
	}
	return name, id, name != "" && len(id) > 0 && len(id) <= maxID
}

// SharedID returns the id that other files use for this file of common
// parts, nil if it is not one.
func (f *File) SharedID() []byte {
	if sup, _, sum := f.supplement(); sup {
		return sum
	}
	return nil
}

// supplement reads .debug_sup: whether this is the file of common parts, and
// the name and checksum of that file.
func (f *File) supplement() (shared bool, name string, sum []byte) {
	s := f.Section(".debug_sup")
	if s == nil {
		return false, "", nil
	}
	b, err := f.Data(s)
	c := bin.NewCursor(b, f.Order)
	version := c.U16()
	shared = c.U8() != 0
	name = string(c.CString())
	sum = c.Bytes(int(min(c.Uleb(), maxID)))
	if err != nil || c.Err() != nil || version != 5 {
		return false, "", nil
	}
	return shared, name, sum
}

// readLink returns the name at the start of a section, and the bytes after it.
func (f *File) readLink(section string) (name string, rest []byte) {
	if s := f.Section(section); s != nil {
		if b, err := f.Data(s); err == nil {
			n := max(bytes.IndexByte(b[:min(len(b), maxSectionName)], 0), 0)
			return string(b[:n]), b[min(n+1, len(b)):]
		}
	}
	return "", nil
}
