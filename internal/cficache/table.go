package cficache

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"sort"

	"symbolon/internal/bin"
	"symbolon/internal/sym"
	"symbolon/internal/unwind/rule"
)

// A Table has the rows of a file. It is safe for concurrent use.
type Table struct {
	head *head

	extents, pages, ranges, ends, rows []byte
}

// Open opens a table, whose bytes must not change while it is used.
func Open(data []byte) (*Table, error) {
	h, err := parseHead(data)
	if err != nil {
		return nil, err
	}
	body := data[h.size:]
	if uint64(len(body)) != h.body {
		return nil, malformed("body", "%d bytes, must be %d", len(body), h.body)
	}
	if crc32.Checksum(body, bin.Castagnoli) != h.check {
		return nil, malformed("body", "checksum mismatch")
	}
	at := h.sections()
	return &Table{h, body[at[0]:at[1]], body[at[1]:at[2]], body[at[2]:at[3]], body[at[3]:at[4]], body[at[4]:at[5]]}, nil
}

// Info returns the description of the table.
func (t *Table) Info() Info { return t.head.info }

// Counts returns the number of ranges, including those without a row, and of
// different rows.
func (t *Table) Counts() (ranges, rows int) { return int(t.head.ranges), int(t.head.rows) }

// Row returns the rules at an address, nothing if none are known. It is valid as
// long as the bytes of the table.
func (t *Table) Row(addr uint64) rule.Row {
	page := addr >> pageShift
	next := uint64(sort.Search(int(t.head.extents), func(i int) bool { return t.extent(uint64(i)) > page }))
	if next == 0 {
		return nil
	}
	first, end := t.record(next-1), t.record(next)
	// The last range at or before the address: in a gap after the extent the last one.
	from := t.first(end)
	to := from
	if n := first + page - t.extent(next-1); n < end {
		from, to = t.first(n), t.first(n+1)
	}
	after := from + uint64(sort.Search(int(to-from), func(i int) bool { return t.place(from+uint64(i))%pageSize > addr%pageSize }))
	if after == 0 {
		return nil
	}
	return t.row(t.place(after-1) >> pageShift)
}

// extent returns the first page of an extent.
func (t *Table) extent(i uint64) uint64 { return binary.LittleEndian.Uint64(t.extents[i*extentSize:]) }

// record returns the first page record of an extent, or of one after the last.
func (t *Table) record(i uint64) uint64 {
	if i >= t.head.extents {
		return t.head.pages
	}
	return uint64(binary.LittleEndian.Uint32(t.extents[i*extentSize+8:]))
}

// first returns the first range of a page record, or of one after the last.
func (t *Table) first(page uint64) uint64 {
	if page >= t.head.pages {
		return t.head.ranges
	}
	return min(uint64(binary.LittleEndian.Uint32(t.pages[page*4:])), t.head.ranges)
}

// place returns the offset in its page and the row of a range.
func (t *Table) place(i uint64) uint64 {
	shift := 64 - 8*t.head.stride
	return binary.LittleEndian.Uint64(t.ranges[i*uint64(t.head.stride):]) << shift >> shift
}

// row returns a row, nothing for zero or one that does not exist.
func (t *Table) row(n uint64) rule.Row {
	if n == 0 || n > t.head.rows {
		return nil
	}
	start := uint32(0)
	if n > 1 {
		start = binary.LittleEndian.Uint32(t.ends[(n-2)*4:])
	}
	end := binary.LittleEndian.Uint32(t.ends[(n-1)*4:])
	if start > end || uint64(end) > t.head.rowBytes {
		return nil
	}
	return t.rows[start:end:end]
}

// Ranges calls yield for each range of addresses with a row, in ascending order,
// until it returns an error.
func (t *Table) Ranges(yield func(start, end uint64, row rule.Row) error) error {
	var last uint64 // start of the range before
	var row rule.Row
	page, i := uint64(0), uint64(0)
	for e := range t.head.extents {
		first, end := t.record(e), min(t.record(e+1), t.head.pages)
		for page = max(page, first); page < end; page++ {
			for to := t.first(page + 1); i < to; i++ {
				v := t.place(i)
				start := (t.extent(e)+page-first)<<pageShift + v%pageSize
				if i > 0 && start <= last {
					continue // invalid
				}
				if len(row) > 0 {
					if err := yield(last, start, row); err != nil {
						return err
					}
				}
				last, row = start, t.row(v>>pageShift)
			}
		}
	}
	if len(row) > 0 {
		return yield(last, math.MaxUint64, row)
	}
	return nil
}

// Records calls yield with records from which Build makes the same table. Their
// text is valid until yield returns.
func (t *Table) Records(yield func(*sym.Unwind) error) error {
	cpu := rule.For(t.head.info.Module.Arch)
	if cpu == nil {
		return nil
	}
	return t.Ranges(func(start, end uint64, row rule.Row) error { return row.Records(cpu, start, end, yield) })
}

// Verify reads the whole table. It returns an error for everything that Build
// does not write.
func (t *Table) Verify() error {
	var b bytes.Buffer
	if err := Build(&b, t.head.info.Module.Arch, t.Records, Options{Info: t.head.info, Memory: math.MaxInt64}); err != nil {
		return err
	}
	if again, err := Open(b.Bytes()); err != nil || again.head.check != t.head.check || *again.head != *t.head {
		return malformed("body", "is not that of its records")
	}
	return nil
}
