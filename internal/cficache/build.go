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
		err := records(func(u *sym.Unwind) error {
			if u.Kind == sym.UnwindChange {
				return c.Add(u, b.add)
			}
			err := c.Add(u, b.add)
			for i := range b.layers {
				b.layers[i].open = false
			}
			return cmp.Or(err, b.check())
		})
		if err == nil {
			err = c.Flush(b.add)
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

// ranges encodes the ranges of all layers. If there are rows of Windows and CFI,
// it first numbers the rows that have both, so that the size of a range is known.
func (b *builder) ranges() error {
	hasWindows := len(b.layers[0].pieces)+len(b.layers[1].pieces) > 0
	if hasWindows && len(b.layers[2].pieces) > 0 {
		if err := merge(&b.layers, func(_, _ uint64, rows [3]uint32) error { b.join(rows); return b.check() }); err != nil {
			return err
		}
	}
	w := &b.written
	w.stride = stride(uint64(len(b.ends)))
	about := int64(b.count+len(b.layers[2].pieces)/2) * int64(w.stride)
	w.ranges = make([]byte, 0, min(about, b.limit/4))
	end := uint64(0) // of the last range
	err := merge(&b.layers, func(start, to uint64, rows [3]uint32) error {
		if start > end && w.row != 0 {
			w.add(end, 0)
		}
		if row := b.join(rows); row != w.row {
			w.add(start, row)
		}
		if end = to; w.count%1024 != 0 {
			return nil
		}
		return b.check()
	})
	if err == nil && end != math.MaxUint64 && w.row != 0 {
		w.add(end, 0)
	}
	if w.count > math.MaxUint32 {
		return fault.New(fault.Unsupported, "cficache, build", "%d ranges exceed 32 bits", w.count)
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

// writer encodes ranges.
type writer struct {
	extents, pages, ranges []byte

	stride uint8
	count  uint64 // of ranges
	page   uint64 // of the last range
	row    uint32 // of the last range
}

func (w *writer) held() int64 { return int64(cap(w.extents) + cap(w.pages) + cap(w.ranges)) }

// add adds a range, which starts after the last one.
func (w *writer) add(addr uint64, row uint32) {
	le := binary.LittleEndian
	page := addr >> pageShift
	if w.count == 0 || page-w.page > maxGap {
		w.extents = le.AppendUint32(le.AppendUint64(w.extents, page), uint32(len(w.pages)/4))
		w.pages = le.AppendUint32(w.pages, uint32(w.count))
		w.page = page
	}
	for ; w.page < page; w.page++ {
		w.pages = le.AppendUint32(w.pages, uint32(w.count))
	}
	var b [8]byte
	le.PutUint64(b[:], addr%pageSize|uint64(row)<<pageShift)
	w.ranges = append(w.ranges, b[:w.stride]...)
	w.row = row
	w.count++
}

// write writes the table.
func (b *builder) write(w io.Writer, h *head) error {
	r := &b.written
	h.stride = r.stride
	h.extents, h.pages, h.ranges = uint64(len(r.extents)/extentSize), uint64(len(r.pages)/4), r.count
	h.rows, h.rowBytes = uint64(len(b.ends)), uint64(len(b.data))
	ends := make([]byte, 0, 4*len(b.ends))
	for _, end := range b.ends {
		ends = binary.LittleEndian.AppendUint32(ends, end)
	}
	body := [...][]byte{r.extents, r.pages, append(r.ranges, make([]byte, slack)...), ends, b.data}
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
