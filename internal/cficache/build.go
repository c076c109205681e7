package cficache

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"hash/maphash"
	"io"
	"math"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/sym"
	"symbolon/internal/unwind/rule"
)

// Options of a build. The zero value is fine.
type Options struct {
	// Info has the identity of the input; Build sets its Module.Arch, and adds the
	// records that it skips to BadRecords.
	Info Info
	// Memory limits the bytes that a build holds; zero means 256 MiB.
	Memory int64
}

const defaultMemory = 256 << 20

// builder collects the rows of all records.
type builder struct {
	interner
	layers  [3]layer // Windows with a program, without one, CFI
	limit   int64
	count   int // of rows that were added
	joined  rule.Row
	written writer
}

// Build writes the table of the records that records yields. An architecture
// without known registers has an empty table.
func Build(w io.Writer, arch ident.Arch, records func(yield func(*sym.Unwind) error) error, opt Options) error {
	b := builder{limit: cmp.Or(opt.Memory, defaultMemory)}
	b.interner = interner{numbers: map[string]uint32{}, seed: maphash.MakeSeed()}
	b.layers[0].cuts, b.layers[1].cuts = true, true
	h := head{info: opt.Info}
	h.info.Module.Arch = arch
	if cpu := rule.For(arch); cpu != nil {
		c := rule.Compiler{CPU: cpu}
		var last span // of the last UnwindBegin
		err := records(func(u *sym.Unwind) error {
			err := c.Add(u, b.add)
			if u.Kind == sym.UnwindChange {
				return err
			}
			own := span{start: u.Addr, end: u.Addr + u.Size}
			if own.end < own.start {
				own.end = math.MaxUint64
			}
			b.layers[2].close(last)
			if last = (span{}); u.Kind == sym.UnwindBegin {
				last = own
			} else if w := &u.Windows; w.Type == sym.WindowsProgram && w.HasProgram {
				b.layers[0].close(own)
			} else if w.Type == sym.WindowsPlain && !w.HasProgram {
				b.layers[1].close(own)
			}
			return cmp.Or(err, b.check())
		})
		if err == nil {
			err = c.Flush(b.add)
			b.layers[2].close(last)
		}
		if err != nil {
			return err
		}
		h.info.BadRecords += uint64(c.Bad)
	}
	if err := b.ranges(); err != nil {
		return err
	}
	return b.write(w, &h)
}

// add adds the row of a range.
func (b *builder) add(start, end uint64, row rule.Row) error {
	l := &b.layers[2]
	if isWindows, hasProgram := row.IsWindows(); hasProgram {
		l = &b.layers[0]
	} else if isWindows {
		l = &b.layers[1]
	}
	l.add(start, end, b.number(row))
	b.count++
	return nil
}

// check returns an error if the build holds too much memory.
func (b *builder) check() error {
	held := b.held() + b.written.held()
	for i := range b.layers {
		held += b.layers[i].held()
	}
	if held > b.limit || len(b.data) > math.MaxUint32 {
		return fault.New(fault.Unsupported, "cficache, build", "the records exceed the memory limit of %d bytes", b.limit)
	}
	return nil
}

// ranges appends the ranges of all layers to the written ones.
func (b *builder) ranges() error {
	w := &b.written
	about := int64(b.count + len(b.layers[2].pieces)/2)
	w.ranges = make([]uint64, 0, min(about, b.limit/32))
	end := uint64(0) // of the last range
	err := merge(&b.layers, func(start, to uint64, rows [3]uint32) error {
		if start > end && w.row != 0 {
			w.add(end, 0)
		}
		if row := b.join(rows); row != w.row {
			w.add(start, row)
		}
		if end = to; len(w.ranges)%1024 != 0 {
			return nil
		}
		return b.check()
	})
	if err == nil && end != math.MaxUint64 && w.row != 0 {
		w.add(end, 0)
	}
	if len(w.ranges) > math.MaxUint32 {
		return fault.New(fault.Unsupported, "cficache, build", "%d ranges exceed 32 bits", len(w.ranges))
	}
	return cmp.Or(err, b.check())
}

// join returns the number of the row for the rows of the layers.
func (b *builder) join(rows [3]uint32) uint32 {
	windows, cfi := cmp.Or(rows[0], rows[1]), rows[2]
	if windows == 0 || cfi == 0 {
		return windows + cfi
	}
	b.joined = append(append(b.joined[:0], b.row(windows)...), b.row(cfi)...)
	return b.number(b.joined)
}

// writer has the ranges that are written, and the directory of them.
type writer struct {
	extents, pages []byte
	ranges         []uint64

	page    uint64   // of the last range
	row     uint32   // of the last range, as interned
	numbers []uint32 // by number of an interned row: the one in the table
	used    []uint32 // interned numbers of the rows in the table, in the order of addresses
}

func (w *writer) held() int64 {
	return int64(cap(w.extents)+cap(w.pages)) + int64(cap(w.ranges))*8 + int64(cap(w.numbers)+cap(w.used))*4
}

// add adds a range, which starts after the last one.
func (w *writer) add(addr uint64, row uint32) {
	le := binary.LittleEndian
	page := addr >> pageShift
	if len(w.ranges) == 0 || page-w.page > maxGap {
		w.extents = le.AppendUint32(le.AppendUint64(w.extents, page), uint32(len(w.pages)/4))
		w.pages = le.AppendUint32(w.pages, uint32(len(w.ranges)))
		w.page = page
	}
	for ; w.page < page; w.page++ {
		w.pages = le.AppendUint32(w.pages, uint32(len(w.ranges)))
	}
	for int(row) >= len(w.numbers) {
		w.numbers = append(w.numbers, 0)
	}
	if row != 0 && w.numbers[row] == 0 {
		w.used = append(w.used, row)
		w.numbers[row] = uint32(len(w.used))
	}
	w.ranges = append(w.ranges, addr%pageSize|uint64(w.numbers[row])<<pageShift)
	w.row = row
}

// write writes the table.
func (b *builder) write(w io.Writer, h *head) error {
	le := binary.LittleEndian
	r := &b.written
	var ends, rows []byte
	for _, n := range r.used {
		rows = append(rows, b.row(n)...)
		ends = le.AppendUint32(ends, uint32(len(rows)))
	}
	h.extents, h.pages, h.ranges = uint64(len(r.extents)/extentSize), uint64(len(r.pages)/4), uint64(len(r.ranges))
	h.rows, h.rowBytes = uint64(len(r.used)), uint64(len(rows))
	h.stride = stride(h.rows)
	ranges := make([]byte, len(r.ranges)*int(h.stride)+slack)
	for i, v := range r.ranges { // each word overwrites the end of the one before, which is zero
		le.PutUint64(ranges[i*int(h.stride):], v)
	}
	body := [...][]byte{r.extents, r.pages, ranges, ends, rows}
	for _, part := range body {
		h.body += uint64(len(part))
		h.check = crc32.Update(h.check, bin.Castagnoli, part)
	}
	for _, part := range append([][]byte{h.append(nil)}, body[:]...) {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}
