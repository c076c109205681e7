package symcache

import (
	"encoding/binary"
	"hash/crc32"
	"sync/atomic"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/sym"
)

// A Table looks up addresses. It is safe for concurrent use. It is valid as
// long as the source that it was opened from, whose bytes must not change.
type Table struct {
	head   *head
	raw    []byte // of the head
	size   int64
	body   []byte
	sums   []byte // of the pages of the body
	damage atomic.Pointer[fault.Error]
	memo   memo

	extents, groups, rows, spots, nodes, triples, functions, origins, files, index records
	text                                                                           span

	starts  []extent // the content of extents
	langs   []langEnd
	rowBits uint64
}

// langEnd is a language and the end of its origins, which start at the end of
// the language before.
type langEnd struct {
	end  uint64
	lang sym.Lang
}

// span is a part of the body.
type span struct{ at, size uint64 }

// records is a section of records of one shape.
type records struct {
	b      []byte // the section with its slack
	at     uint64 // offset of b in the body
	count  uint64
	stride uint64
	second uint64 // offset in a record of the word of field 2
	wide   bool   // the fields do not fit in the words at 0 and second
	field  [5]field
}

// field is the position of a field: a bit offset in the word at a byte of the
// record.
type field struct {
	byte  uint64
	shift uint8
	mask  uint64
}

// of returns the value of a field in its word.
func (f *field) of(word uint64) uint64 { return word >> (f.shift & 63) & f.mask }

// word returns the word at a byte of record i, which must exist.
func (r *records) word(i, byte uint64) uint64 {
	at := i*r.stride + byte
	return binary.LittleEndian.Uint64(r.b[at : at+8]) // the end removes a bounds check
}

// get returns field k of record i, which must exist.
func (r *records) get(i uint64, k int) uint64 {
	return r.field[k].of(r.word(i, r.field[k].byte))
}

// read returns all fields of record i, which must exist.
func (r *records) read(i uint64) (a, b, c, d, e uint64) {
	if r.wide {
		return r.get(i, 0), r.get(i, 1), r.get(i, 2), r.get(i, 3), r.get(i, 4)
	}
	v, w := r.word(i, 0), r.word(i, r.second)
	return r.field[0].of(v), r.field[1].of(v), r.field[2].of(w), r.field[3].of(w), r.field[4].of(w)
}

// place finds the fields of a record: all in the first word, or the fields from
// the third on in a second word, or each in its own word.
func (r *records) place(w width) {
	if !r.fits(w, len(w)) && !r.fits(w, 2) {
		r.wide = true
		at := uint64(0)
		for k, bits := range w {
			r.field[k] = field{at / 8, uint8(at % 8), 1<<bits - 1}
			at += uint64(bits)
		}
	}
}

// fits reports whether the fields fit if field second starts the second word.
func (r *records) fits(w width, second int) bool {
	at, from := uint64(0), uint64(0)
	for k, bits := range w {
		if k == second {
			from = at &^ 7
		}
		r.field[k] = field{from / 8, uint8(at - from), 1<<bits - 1}
		if at += uint64(bits); at-from > 64 {
			return false
		}
	}
	r.second = from / 8
	return true
}

// Open opens a table and verifies all checksums. A source that is not in memory
// is read into memory once.
func Open(src bin.Source) (*Table, error) {
	size := src.Size()
	if int64(int(size)) != size {
		return nil, fault.New(fault.Unsupported, "symcache", "%d bytes exceed the address space", size)
	}
	b, err := bin.Read(src, 0, int(size))
	if err != nil {
		return nil, fault.New(fault.Internal, "symcache", "read the table: %w", err)
	}
	h, err := parseHead(b)
	if err != nil {
		return nil, err
	}
	at := h.bodyAt()
	if h.bodySize > uint64(size) || uint64(at) > uint64(size) || uint64(size)-uint64(at) != h.bodySize {
		return nil, malformed("head", "size is %d bytes, must be %d and %d of the body", size, at, h.bodySize)
	}
	sums := b[h.size:at]
	if crc32.Checksum(sums, bin.Castagnoli) != h.sumsCheck {
		return nil, malformed("checksums", "checksum mismatch")
	}
	t := &Table{head: h, raw: b[:h.size], size: size, body: b[at:], sums: sums}
	for page := range uint64(h.pages()) {
		from := page << pageShift
		b := t.body[from:min(from+pageSize, uint64(len(t.body)))]
		if crc32.Checksum(b, bin.Castagnoli) != binary.LittleEndian.Uint32(sums[page*4:]) {
			return nil, malformed("body", "page %d at %#x: checksum mismatch", page, uint64(at)+from)
		}
	}
	t.slice()
	return t, t.readExtents()
}

// slice finds the sections in the body.
func (t *Table) slice() {
	at := sectionAt(&t.head.shapes)
	into := [sections]*records{
		secExtents: &t.extents, secGroups: &t.groups, secRows: &t.rows, secSpots: &t.spots, secNodes: &t.nodes,
		secTriples: &t.triples, secFunctions: &t.functions, secOrigins: &t.origins, secFiles: &t.files, secIndex: &t.index,
	}
	for i, r := range into {
		if r == nil {
			continue
		}
		s := &t.head.shapes[i]
		*r = records{b: t.body[at[i]:at[i+1]], at: at[i], count: s.count, stride: uint64(s.stride)}
		r.place(s.width)
	}
	t.rowBits = uint64(t.head.shapes[secRows].width.bits())
	t.text = span{at[secText], t.head.shapes[secText].count}
	end := uint64(0)
	for _, l := range t.head.langs {
		end += l.count
		t.langs = append(t.langs, langEnd{end, l.lang})
	}
}

// readExtents reads and checks the extents.
func (t *Table) readExtents() error {
	if (t.extents.count == 0) != (t.groups.count == 0) {
		return invalidSection(secExtents, "no extents for %d groups", t.groups.count)
	}
	t.starts = make([]extent, t.extents.count)
	for i := range t.starts {
		x := extent{t.extents.get(uint64(i), 0), t.extents.get(uint64(i), 1)}
		if i == 0 && x.index != 0 || x.index >= t.groups.count {
			return invalidSection(secExtents, "extent %d starts at invalid group %d of %d", i, x.index, t.groups.count)
		}
		if i > 0 {
			if p := t.starts[i-1]; x.index <= p.index || x.group <= p.group+x.index-p.index {
				return invalidSection(secExtents, "extent %d overlaps the one before", i)
			}
		}
		t.starts[i] = x
	}
	return nil
}

// Remember caches decoded names in at most the given number of bytes. It must
// be called at most once, before the first lookup.
func (t *Table) Remember(bytes int64) { t.memo.limit = bytes }

// Info describes the table.
func (t *Table) Info() Info { return t.head.info }

// Size returns the size of the file.
func (t *Table) Size() int64 { return t.size }

// Damaged returns an error for the first invalid record that a lookup read, or
// nil. Such lookups have no result.
func (t *Table) Damaged() error {
	if err := t.damage.Load(); err != nil {
		return err
	}
	return nil
}

// damaged records damage. It returns false.
func (t *Table) damaged(section int, format string, args ...any) bool {
	t.damage.CompareAndSwap(nil, malformed(sectionNames[section], format, args...))
	return false
}
