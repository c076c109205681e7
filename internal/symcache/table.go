package symcache

import (
	"encoding/binary"
	"hash/crc32"
	"sync/atomic"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// A Table answers what a file says about an address. It is safe for concurrent
// use. It stays valid as long as the source it was opened from, whose bytes
// must not change.
type Table struct {
	head   *head
	raw    []byte // of the head
	size   int64
	body   []byte
	sums   []byte // of the pages of body
	damage atomic.Pointer[fault.Error]
	memo   memo

	extents, groups, nodes, triples, functions, origins, files, index records
	rows, text                                                        span
	columns                                                           bool
}

// span is a part of the body.
type span struct{ at, size uint64 }

// records is a section of records of one shape.
type records struct {
	b      []byte // the section with its slack
	at     uint64 // of b in the body
	count  uint64
	stride uint64
	field  [4]field
}

type field struct {
	byte  uint64
	shift uint8
	mask  uint64
}

// get is field k of record i, which must exist.
func (r *records) get(i uint64, k int) uint64 {
	f := &r.field[k]
	return binary.LittleEndian.Uint64(r.b[i*r.stride+f.byte:]) >> (f.shift & 7) & f.mask
}

// Open opens a table and compares all of its checksums. If src is not in
// memory it is read into memory once.
func Open(src bin.Source) (*Table, error) {
	size := src.Size()
	if int64(int(size)) != size {
		return nil, fault.New(fault.Unsupported, "symcache", "%d bytes", size)
	}
	b, err := bin.Read(src, 0, int(size))
	if err != nil {
		return nil, fault.New(fault.Internal, "symcache", "read the file: %w", err)
	}
	h, err := parseHead(b)
	if err != nil {
		return nil, err
	}
	at := h.bodyAt()
	if h.bodySize > uint64(size) || uint64(at) > uint64(size) || uint64(size)-uint64(at) != h.bodySize {
		return nil, malformed("head", "%d bytes, wanted are %d and %d", size, at, h.bodySize)
	}
	sums := b[h.size:at]
	if crc32.Checksum(sums, castagnoli) != h.sumsCheck {
		return nil, malformed("checksums", "checksum does not match")
	}
	t := &Table{head: h, raw: b[:h.size], size: size, body: b[at:], sums: sums, columns: h.info.Flags&HasColumns != 0}
	for page := range uint64(h.pages()) {
		from := page << pageShift
		b := t.body[from:min(from+pageSize, uint64(len(t.body)))]
		if crc32.Checksum(b, castagnoli) != binary.LittleEndian.Uint32(sums[page*4:]) {
			return nil, malformed("body", "page %d, at %#x: checksum does not match", page, uint64(at)+from)
		}
	}
	t.slice()
	return t, nil
}

// slice finds the sections in the body.
func (t *Table) slice() {
	at := sectionAt(&t.head.shapes)
	into := [sections]*records{
		secExtents: &t.extents, secGroups: &t.groups, secNodes: &t.nodes, secTriples: &t.triples,
		secFunctions: &t.functions, secOrigins: &t.origins, secFiles: &t.files, secIndex: &t.index,
	}
	for i, r := range into {
		if r == nil {
			continue
		}
		s := &t.head.shapes[i]
		*r = records{b: t.body[at[i]:at[i+1]], at: at[i], count: s.count, stride: uint64(s.stride)}
		bit := uint64(0)
		for k, w := range s.width {
			r.field[k] = field{byte: bit / 8, shift: uint8(bit % 8), mask: 1<<w - 1}
			bit += uint64(w)
		}
	}
	t.rows = span{at[secRows], t.head.shapes[secRows].count}
	t.text = span{at[secText], t.head.shapes[secText].count}
}

// Info is what the table tells about itself.
func (t *Table) Info() Info { return t.head.info }

// Size is the size of the file.
func (t *Table) Size() int64 { return t.size }

// Damaged is the first damage that was met: a record that no Builder writes.
// What it touches is answered as if the table knew nothing about it.
func (t *Table) Damaged() error {
	if err := t.damage.Load(); err != nil {
		return err
	}
	return nil
}

// damaged remembers damage. It is always false.
func (t *Table) damaged(section int, format string, args ...any) bool {
	t.damage.CompareAndSwap(nil, malformed(sectionNames[section], format, args...))
	return false
}
