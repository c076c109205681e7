package cficache

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"

	"symbolon/internal/bin"
	"symbolon/internal/sym"
	"symbolon/internal/unwind/rule"
)

// A Table has the rows of a file. It is safe for concurrent use.
type Table struct {
	head *head
	cpu  *rule.CPU

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
	return &Table{
		head: h, cpu: rule.For(h.info.Module.Arch),
		extents: body[at[0]:at[1]], pages: body[at[1]:at[2]], ranges: body[at[2]:at[3]], ends: body[at[3]:at[4]], rows: body[at[4]:at[5]],
	}, nil
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
	// The last extent at or before the page.
	low, high := uint64(0), t.head.extents
	for low < high {
		if mid := (low + high) / 2; t.extent(mid) <= page {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == 0 {
		return nil
	}
	first, end := t.record(low-1), t.head.pages
	if low < t.head.extents {
		end = t.record(low)
	}
	// The last range at or before the address: in a gap after the extent the last one.
	from := t.first(end)
	to := from
	if n := first + page - t.extent(low-1); n < end {
		from, to = t.first(n), t.first(n+1)
	}
	offset := addr % pageSize
	for low, high = from, to; low < high; {
		if mid := (low + high) / 2; t.place(mid)%pageSize <= offset {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == 0 {
		return nil
	}
	return t.row(t.place(low-1) >> pageShift)
}

// extent returns the first page of an extent, and record the number of its
// record.
func (t *Table) extent(i uint64) uint64 { return binary.LittleEndian.Uint64(t.extents[i*extentSize:]) }

func (t *Table) record(i uint64) uint64 {
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
		first, end := t.record(e), t.head.pages
		if e+1 < t.head.extents {
			end = min(end, t.record(e+1))
		}
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
	if t.cpu == nil {
		return nil
	}
	return t.Ranges(func(start, end uint64, row rule.Row) error { return row.Records(t.cpu, start, end, yield) })
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
