package symcache

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/sym"
)

// Version is the version of the format, and of the answers in it: it also rises
// when the same file gets other frames, so that an old table never contradicts
// the file. A reader reads exactly its own: a table is cheap to build again, so
// none is ever converted.
//
//	1  first version
//	2  rows of one size, behind their offsets, instead of a stream for each bucket
//	3  languages
//	4  mangled names keep what they have in common once
//	5  the format of 4; names without the numbers of copies, files of inlined
//	   calls without a line, inlined calls of split units in object files
const Version = 5

// Numbers of the format. They are on disk and never change within a Version.
const (
	magic = "\x89symtab\n"

	pageShift = 14 // bytes under one checksum: 16 KiB
	pageSize  = 1 << pageShift

	groupShift  = 11 // bytes of address space under one group record: 2 KiB
	groupSize   = 1 << groupShift
	bucketShift = 6 // bytes of address space whose rows are searched: 64
	bucketSize  = 1 << bucketShift
	buckets     = groupSize / bucketSize
	groupEnds   = 12 // where the ends of the buckets are in a group record
	groupStride = groupEnds + 2*buckets
	bucketHead  = 8 // bytes of a bucket before its rows

	fixedHead  = 120     // bytes of the head before the section table
	descriptor = 16      // bytes of one entry of the section table
	maxHead    = 1 << 20 // bytes of the whole head
	maxField   = 1 << 16 // bytes of one text in the head

	slack = 8 // bytes behind every section, so that any record can be read as a whole word

	// MaxDepth is how many calls may be inlined into one another. A frame list
	// has at most one entry more.
	MaxDepth = 256
	// MaxText is the longest name that is kept whole; the rest is cut off.
	MaxText = 1 << 20
)

// The sections, in the order of the section table and of the body.
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

// widest is how many bits the fields of each section may have.
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

// A row is a record of a bit, a node, a line and a column. If the bit is set, it
// and the rest are one number: zero for a hole, or that of a spot in the group,
// counted from one.
const (
	rowSpot    = 1
	rowLeast   = 13 // bits, so that any spot of a group can be named
	rowColumns = 8  // bits of a column, if a table has any
)

// Flags say what a table has. The builder sets them, but for Mangled.
type Flags uint32

const (
	HasLines   Flags = 1 << iota // a row has a file or a line
	HasInlines                   // a call was inlined
	HasColumns                   // a row or a call has a column; every row then carries one
	Mangled                      // names are as linkers see them; whoever builds says so
)

// Info is what a table tells about itself and the file it was made of.
type Info struct {
	Module     ident.Module
	Producer   string // what wrote the file that the table was made of
	InputSize  int64
	InputHash  [32]byte
	BadRecords uint64 // records of the input that could not be used
	Flags      Flags
}

// width is the shape of packed records: fields of some bits, one behind the
// other from the lowest bit up, the whole padded to bytes.
type width [5]uint8

func (w width) bits() (n int) {
	for _, bits := range w {
		n += int(bits)
	}
	return n
}

func (w width) stride() int { return max(1, (w.bits()+7)/8) }

// valid says that each field can be read with one load of eight bytes.
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

// pack writes fields into p, which has slack bytes more than the stride and is
// zero.
func (w width) pack(p []byte, fields ...uint64) {
	at := 0
	for k, v := range fields {
		word := p[at/8:]
		binary.LittleEndian.PutUint64(word, binary.LittleEndian.Uint64(word)|v<<(at%8))
		at += int(w[k])
	}
}

// bitsOf is the width of a field that holds values up to most.
func bitsOf(most uint64) uint8 { return uint8(bits.Len64(most)) }

// bytesOf is bitsOf in whole bytes, for fields that may need more than 57
// bits.
func bytesOf(most uint64) uint8 { return (bitsOf(most) + 7) &^ 7 }

// shape is an entry of the section table. A section of plain bytes has stride
// 1 and no fields.
type shape struct {
	count  uint64
	stride uint8
	width  width
}

func (s *shape) size() uint64 { return s.count * uint64(s.stride) }

// head is everything before the checksums.
type head struct {
	info      Info
	base      uint64 // addresses are stored less this one
	bodySize  uint64
	sumsCheck uint32 // checksum of the checksums and their padding
	shapes    [sections]shape
	langs     []langOrigins
	size      int // bytes of the head itself
}

// langOrigins is how many origins are of a language. Those of the first one are
// the first.
type langOrigins struct {
	lang  sym.Lang
	count uint64
}

func (h *head) pages() int { return int((h.bodySize + pageSize - 1) >> pageShift) }

// bodyAt is where the body starts in the file.
func (h *head) bodyAt() int { return (h.size + 4*h.pages() + 7) &^ 7 }

// sectionAt is where each section starts in the body; the last number is the
// size of the body.
func sectionAt(shapes *[sections]shape) (at [sections + 1]uint64) {
	for i := range shapes {
		at[i+1] = (at[i] + shapes[i].size() + slack + 7) &^ 7
	}
	return at
}

func appendText(b []byte, text string) []byte {
	b = binary.AppendUvarint(b, uint64(len(text)))
	return append(b, text...)
}

const (
	debugIDNone = iota
	debugIDUUID
	debugIDPDB20
)

// append writes the head. It sets size.
func (h *head) append(b []byte) ([]byte, error) {
	m := &h.info.Module
	texts := [...]string{
		m.Type.String(), m.Arch.String(), m.CodeFile, string(m.CodeID), m.DebugFile, m.DebugIDText, h.info.Producer,
	}
	for _, text := range texts {
		if len(text) > maxField {
			return nil, fault.New(fault.Unsupported, "symcache, head", "a text of %d bytes", len(text))
		}
	}
	le := binary.LittleEndian
	start := len(b)
	b = append(b, magic...)
	b = le.AppendUint32(b, Version)
	b = le.AppendUint32(b, 0) // size, below
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

// parseHead reads the head out of b, which begins with a file.
func parseHead(b []byte) (*head, error) {
	if len(b) < fixedHead || string(b[:len(magic)]) != magic {
		return nil, malformed("head", "no table")
	}
	le := binary.LittleEndian
	if v := le.Uint32(b[8:]); v != Version {
		return nil, fault.New(fault.Unsupported, "symcache, head", "version %d, wanted is %d", v, Version)
	}
	size := le.Uint32(b[12:])
	if size < fixedHead+sections*descriptor+4 || size > maxHead || uint64(size) > uint64(len(b)) {
		return nil, malformed("head", "size %d", size)
	}
	b = b[:size]
	if crc32.Checksum(b[:size-4], bin.Castagnoli) != le.Uint32(b[size-4:]) {
		return nil, malformed("head", "checksum does not match")
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
		return nil, malformed("head", "%d bytes too many, %v", c.Len(), c.Err())
	}
	return h, nil
}

// textAt is the text that c is at.
func textAt(c *bin.Cursor) string { return string(c.Bytes(int(min(c.Uleb(), maxHead)))) }

// parseLangs reads how many origins there are of each language: all of them
// have one.
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

// parseShapes reads the section table and checks it: it fills the body to the
// byte, and every number that a record can name another one by has 32 bits.
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
		return malformed("head", "sections of %d bytes in a body of %d", at[sections], h.bodySize)
	}
	return nil
}

// check says whether section i may have the shape.
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

// String is the flags by name.
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
