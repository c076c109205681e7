package symcache

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/sym"
	"symbolon/internal/symcache/strtab"
)

// Version is the version of the format and of its content: it also increases when the
// frames of a file change, so that an old table never contradicts its file. Open rejects
// every other version: a table is cheap to build again.
//
//	1  first version
//	2  rows of one size, after their offsets, instead of a stream for each bucket
//	3  languages
//	4  mangled names keep what they have in common once
//	5  the format of 4; names without the numbers of copies, files of inlined
//	   calls without a line, inlined calls of split units in object files
//	6  the format of 4; paths of Breakpad files as written
//	7  the format of 4; methods of Objective-C++ without a scope, inlined calls of
//	   stripped Go programs in Mach-O files, lines of functions that were folded
const Version = 7

// Constants of the format, which do not change within a Version.
const (
	magic = "\x89symtab\n"

	pageShift = 14 // of the size of a page, which has one checksum: 16 KiB
	pageSize  = 1 << pageShift

	groupShift  = 11 // of the address space of a group record: 2 KiB
	groupSize   = 1 << groupShift
	bucketShift = 6 // of the address space of a bucket, whose rows are searched: 64 bytes
	bucketSize  = 1 << bucketShift
	buckets     = groupSize / bucketSize
	groupEnds   = 12 // offset of the ends of the buckets in a group record
	groupStride = groupEnds + 2*buckets
	bucketHead  = 8 // size of a bucket before its rows

	fixedHead  = 120     // size of the head before the section table
	descriptor = 16      // size of an entry of the section table
	maxHead    = 1 << 20 // limit of the size of the head
	maxField   = 1 << 16 // limit of a text in the head

	slack = 8 // bytes after every section, so that every record can be read as a whole word

	// MaxDepth is the limit of nested inlined calls. A frame list has at most
	// one entry more.
	MaxDepth = 256
	// MaxText is the limit of the length of a name; longer names are truncated.
	MaxText = strtab.MaxText
)

// Sections, in the order of the section table and of the body.
const (
	secExtents = iota
	secGroups
	secRows
	secSpots
	secNodes
	secTriples
	secFunctions
	secOrigins
	secFiles
	secIndex
	secText
	sections
)

var sectionNames = [sections]string{
	"extents", "groups", "rows", "spots", "nodes", "triples", "functions", "origins", "files", "string index", "strings",
}

// widest is the limit of bits of each field of a section.
var widest = [sections]width{
	secExtents:   {64, 32},
	secGroups:    {32, 32, 32},
	secRows:      {1, 16, 32, rowColumns},
	secSpots:     {32, 32, 32, 32},
	secNodes:     {32, 32},
	secTriples:   {32, 32, 32, 32, 32},
	secFunctions: {64, 64, 32, 32},
	secOrigins:   {32},
	secFiles:     {32},
	secIndex:     {32},
}

// A row is a record of a bit, a node, a line and a column. If the bit is set,
// the other fields are one number: zero for a hole, else the number of a spot
// in the group, plus one.
const (
	rowSpot    = 1
	rowLeast   = 13 // minimum of bits, so that every spot of a group has a number
	rowColumns = 8  // bits of a column, if a table has any
)

// Flags describes the content of a table. The builder sets all flags except
// Mangled.
type Flags uint32

const (
	HasLines   Flags = 1 << iota // a row has a file or a line
	HasInlines                   // there are inlined calls
	HasColumns                   // a row or a call has a column; every row then has the field
	Mangled                      // names are mangled; set by the caller
)

// Info describes a table and the file that it was built from.
type Info struct {
	Module     ident.Module
	Producer   string // the producer of that file
	InputSize  int64
	InputHash  [32]byte
	BadRecords uint64 // records of the input that could not be used
	Flags      Flags
}

// width is the shape of packed records: the number of bits of each field, from
// the lowest bit up. Records are padded to bytes.
type width [5]uint8

func (w width) bits() (n int) {
	for _, bits := range w {
		n += int(bits)
	}
	return n
}

func (w width) stride() int { return max(1, (w.bits()+7)/8) }

// valid reports whether each field can be read with one load of eight bytes.
func (w width) valid() bool {
	at := 0
	for _, bits := range w {
		if bits > 64 || at%8+int(bits) > 64 {
			return false
		}
		at += int(bits)
	}
	return true
}

// pack writes fields to p, which must be zero and have slack bytes more than
// the stride.
func (w width) pack(p []byte, fields ...uint64) {
	at := 0
	for k, v := range fields {
		word := p[at/8:]
		binary.LittleEndian.PutUint64(word, binary.LittleEndian.Uint64(word)|v<<(at%8))
		at += int(w[k])
	}
}

// bitsOf returns the width of a field for values up to most.
func bitsOf(most uint64) uint8 { return uint8(bits.Len64(most)) }

// bytesOf is like bitsOf, but rounds up to whole bytes, for fields that may
// need more than 57 bits.
func bytesOf(most uint64) uint8 { return (bitsOf(most) + 7) &^ 7 }

// shape is an entry of the section table. A section of bytes has stride 1 and
// no fields.
type shape struct {
	count  uint64
	stride uint8
	width  width
}

func (s *shape) size() uint64 { return s.count * uint64(s.stride) }

// head is the part of the file before the checksums.
type head struct {
	info      Info
	base      uint64 // subtracted from addresses in the table
	bodySize  uint64
	sumsCheck uint32 // checksum of the checksums with their padding
	shapes    [sections]shape
	langs     []langOrigins
	size      int // bytes of the encoded head
}

// langOrigins is the number of origins of a language. Origins are in the order
// of the languages.
type langOrigins struct {
	lang  sym.Lang
	count uint64
}

func (h *head) pages() int { return int((h.bodySize + pageSize - 1) >> pageShift) }

// bodyAt returns the offset of the body in the file.
func (h *head) bodyAt() int { return (h.size + 4*h.pages() + 7) &^ 7 }

// sectionAt returns the offset of each section in the body; the last element is
// the size of the body.
func sectionAt(shapes *[sections]shape) (at [sections + 1]uint64) {
	for i := range shapes {
		at[i+1] = (at[i] + shapes[i].size() + slack + 7) &^ 7
	}
	return at
}

// extent is a range of groups without a gap.
type extent struct{ group, index uint64 }

func appendText(b []byte, text string) []byte {
	b = binary.AppendUvarint(b, uint64(len(text)))
	return append(b, text...)
}

const (
	debugIDNone = iota
	debugIDUUID
	debugIDPDB20
)

// append appends the encoded head to b. It sets h.size.
func (h *head) append(b []byte) ([]byte, error) {
	m := &h.info.Module
	texts := [...]string{
		m.Type.String(), m.Arch.String(), m.CodeFile, string(m.CodeID), m.DebugFile, m.DebugIDText, h.info.Producer,
	}
	for _, text := range texts {
		if len(text) > maxField {
			return nil, fault.New(fault.Unsupported, "symcache, head", "text of %d bytes exceeds the limit", len(text))
		}
	}
	le := binary.LittleEndian
	start := len(b)
	b = append(b, magic...)
	b = le.AppendUint32(b, Version)
	b = le.AppendUint32(b, 0) // size, set below
	b = le.AppendUint64(b, h.bodySize)
	b = le.AppendUint32(b, h.sumsCheck)
	b = append(b, pageShift, bucketShift, sections, 0)
	b = le.AppendUint64(b, h.base)
	b = le.AppendUint64(b, uint64(h.info.InputSize))
	b = append(b, h.info.InputHash[:]...)
	b = le.AppendUint64(b, h.info.BadRecords)
	b = le.AppendUint32(b, uint32(h.info.Flags))
	kind, uuid, age := byte(debugIDNone), m.DebugID.UUID(), m.DebugID.Age()
	if _, ok := m.DebugID.PDB20(); ok {
		kind = debugIDPDB20
	} else if !m.DebugID.IsZero() {
		kind = debugIDUUID
	}
	b = append(b, uuid[:]...)
	b = le.AppendUint32(b, age)
	b = append(b, kind, 0, 0, 0, 0, 0, 0, 0)
	for i := range h.shapes {
		s := &h.shapes[i]
		b = le.AppendUint64(b, s.count)
		b = append(b, s.stride, s.width[0], s.width[1], s.width[2], s.width[3], s.width[4], 0, 0)
	}
	for _, text := range texts {
		b = appendText(b, text)
	}
	b = binary.AppendUvarint(b, uint64(len(h.langs)))
	for _, l := range h.langs {
		b = binary.AppendUvarint(appendText(b, l.lang.String()), l.count)
	}
	h.size = len(b) - start + 4
	le.PutUint32(b[start+12:], uint32(h.size))
	return le.AppendUint32(b, crc32.Checksum(b[start:], bin.Castagnoli)), nil
}

func malformed(place, format string, args ...any) *fault.Error {
	return fault.New(fault.Malformed, "symcache, "+place, format, args...)
}

// invalidSection returns an error for a section.
func invalidSection(section int, format string, args ...any) error {
	return malformed(sectionNames[section], format, args...)
}

// parseHead parses the head at the start of a file.
func parseHead(b []byte) (*head, error) {
	if len(b) < fixedHead || string(b[:len(magic)]) != magic {
		return nil, malformed("head", "not a table")
	}
	le := binary.LittleEndian
	if v := le.Uint32(b[8:]); v != Version {
		return nil, fault.New(fault.Unsupported, "symcache, head", "version %d is not supported, only %d", v, Version)
	}
	size := le.Uint32(b[12:])
	if size < fixedHead+sections*descriptor+4 || size > maxHead || uint64(size) > uint64(len(b)) {
		return nil, malformed("head", "invalid size %d", size)
	}
	b = b[:size]
	if crc32.Checksum(b[:size-4], bin.Castagnoli) != le.Uint32(b[size-4:]) {
		return nil, malformed("head", "checksum mismatch")
	}
	h := &head{size: int(size)}
	c := bin.NewCursor(b[:size-4], le)
	c.Skip(16)
	h.bodySize, h.sumsCheck = c.U64(), c.U32()
	if [3]byte(c.Bytes(3)) != [3]byte{pageShift, bucketShift, sections} {
		return nil, malformed("head", "unknown parameters")
	}
	c.Skip(1)
	h.base, h.info.InputSize = c.U64(), int64(c.U64())
	copy(h.info.InputHash[:], c.Bytes(32))
	h.info.BadRecords, h.info.Flags = c.U64(), Flags(c.U32())
	uuid, age, kind := [16]byte(c.Bytes(16)), c.U32(), c.U8()
	c.Skip(7)
	if err := h.parseShapes(c); err != nil {
		return nil, err
	}
	h.parseTexts(c)
	if err := h.parseLangs(c); err != nil {
		return nil, err
	}
	switch kind {
	case debugIDUUID:
		h.info.Module.DebugID = ident.NewDebugID(uuid, age)
	case debugIDPDB20:
		h.info.Module.DebugID = ident.NewPDB20(binary.BigEndian.Uint32(uuid[:]), age)
	}
	if c.Err() != nil || c.Len() != 0 {
		return nil, malformed("head", "%d extra bytes: %v", c.Len(), c.Err())
	}
	return h, nil
}

// textAt returns the text at c.
func textAt(c *bin.Cursor) string { return string(c.Bytes(int(min(c.Uleb(), maxHead)))) }

// parseLangs parses the number of origins of each language. Their sum must be
// the number of origins.
func (h *head) parseLangs(c *bin.Cursor) error {
	left := h.shapes[secOrigins].count
	for range min(c.Uleb(), uint64(sym.Langs)) {
		lang, ok := sym.ParseLang(textAt(c))
		l := langOrigins{lang, c.Uleb()}
		if !ok || l.count > left {
			return malformed("head", "%d origins of language %d, of %d", l.count, lang, left)
		}
		left -= l.count
		h.langs = append(h.langs, l)
	}
	if left > 0 {
		return malformed("head", "%d origins are of no language", left)
	}
	return nil
}

func (h *head) parseTexts(c *bin.Cursor) {
	text := func() string { return textAt(c) }
	m := &h.info.Module
	m.Type, m.Arch = ident.ParseType(text()), ident.ParseArch(text())
	m.CodeFile, m.CodeID = text(), ident.CodeID(text())
	m.DebugFile, m.DebugIDText = text(), text()
	h.info.Producer = text()
}

// parseShapes parses and checks the section table: the sections must fill the
// body, and the number of every record that others refer to must fit in 32
// bits.
func (h *head) parseShapes(c *bin.Cursor) error {
	for i := range h.shapes {
		s := &h.shapes[i]
		s.count, s.stride, s.width = c.U64(), c.U8(), width(c.Bytes(5))
		c.Skip(2)
		if err := s.check(i); err != nil {
			return err
		}
	}
	if at := sectionAt(&h.shapes); at[sections] != h.bodySize {
		return malformed("head", "sections have %d bytes, but the body %d", at[sections], h.bodySize)
	}
	return nil
}

// check checks the shape of section i.
func (s *shape) check(i int) error {
	stride := s.width.stride()
	switch i {
	case secGroups:
		stride = groupStride
	case secRows:
		stride = 1
	}
	ok := s.width.valid() && int(s.stride) == stride && s.count <= 1<<32
	for k, most := range widest[i] {
		ok = ok && s.width[k] <= most
	}
	if !ok {
		return malformed("head", "section %s: %d records of %d bytes with fields of %d bits",
			sectionNames[i], s.count, s.stride, s.width)
	}
	return nil
}

// String returns the names of the flags.
func (f Flags) String() string {
	text := ""
	for i, name := range [...]string{"lines", "inlines", "columns", "mangled names"} {
		if f&(1<<i) != 0 {
			text += " " + name
		}
	}
	if text == "" {
		return "none"
	}
	return text[1:]
}
