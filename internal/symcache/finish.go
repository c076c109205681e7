package symcache

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"

	"symbolon/internal/bin"
	"symbolon/internal/sym"
	"symbolon/internal/symcache/strtab"
)

// Finish writes the table. After it only Close may be called.
func (b *Builder) Finish(w io.Writer, info Info) error {
	if b.err != nil {
		return b.err
	}
	b.err = invalid("the table is finished")
	b.log.flush()
	b.texts.submit()
	b.texts.wait()
	if err := b.checkMemory(); err != nil {
		return err
	}
	b.dropIndexes()
	f := &finisher{b: b, head: head{info: info}}
	for i := range f.body {
		f.body[i].budget = &b.budget
	}
	defer f.close()
	f.head.info.Flags = b.flags | info.Flags&Mangled
	f.sortFunctions()
	f.sortOrigins()
	f.head.base = b.first
	if len(f.functions) > 0 && (!b.started || f.functions[0].entry < b.first) {
		f.head.base = f.functions[0].entry
	}
	f.head.base &^= groupSize - 1
	if err := f.writeSections(); err != nil {
		return err
	}
	return f.write(w)
}

// dropIndexes drops the indexes that only Add needs.
func (b *Builder) dropIndexes() {
	b.functions.DropIndex()
	b.triples.DropIndex()
	b.named, b.files = [sym.Langs]*aliases{}, aliases{}
	n := b.texts.names
	n.DropIndexes()
	b.texts = texts{names: n, workers: b.texts.workers, held: n.Held()}
	b.budget.tables = b.tables()
}

// writeSections writes the sections of names and of rows, concurrently if there
// are two workers.
func (f *finisher) writeSections() (err error) {
	if f.b.texts.workers < 2 {
		if err = f.strings(); err != nil {
			return err
		}
		return f.rows()
	}
	done := spawn(f.strings)
	defer func() { err = cmp.Or(err, <-done) }()
	return f.rows()
}

// A finisher writes the sections of a table and joins them.
type finisher struct {
	b    *Builder
	head head
	body [sections]spool

	functions []function // in the order of the table
	rank      []uint32   // numbers in functions of those of the log; nil: they are equal

	origins []uint32 // numbers in the builder of the origins, in the order of the table
	moved   []uint32 // number in the table of each origin of the builder
}

func (f *finisher) close() {
	for i := range f.body {
		f.body[i].close()
	}
}

// sortFunctions sorts the functions by address. Of those at one address the
// first is the one that Nearest returns.
func (f *finisher) sortFunctions() {
	given := f.b.functions.Items
	compare := func(x, y uint32) int {
		a, b := &given[x], &given[y]
		if c := cmp.Compare(a.entry, b.entry); c != 0 {
			return c
		}
		if (a.size == 0) != (b.size == 0) {
			return cmp.Compare(b.size, a.size)
		}
		return cmp.Compare(x, y)
	}
	order := make([]uint32, len(given))
	for i := range order {
		order[i] = uint32(i)
	}
	if slices.IsSortedFunc(order, compare) {
		f.functions = given
		return
	}
	slices.SortFunc(order, compare)
	f.functions = make([]function, len(given))
	f.rank = make([]uint32, len(given))
	for k, i := range order {
		f.functions[k] = given[i]
		f.rank[i] = uint32(k)
	}
}

// sortOrigins groups the origins by language, so that records need no language.
func (f *finisher) sortOrigins() {
	given := f.b.origins
	var next [sym.Langs + 1]uint32 // first number of each language
	for i := range given {
		next[given[i].lang+1]++
	}
	for l := range sym.Langs {
		if n := next[l+1]; n > 0 {
			f.head.langs = append(f.head.langs, langOrigins{l, uint64(n)})
		}
		next[l+1] += next[l]
	}
	f.origins, f.moved = make([]uint32, len(given)), make([]uint32, len(given))
	for i := range given {
		at := &next[given[i].lang]
		f.origins[*at], f.moved[i] = uint32(i), *at
		*at++
	}
}

// strings writes the sections of names, and those that do not depend on rows.
func (f *finisher) strings() error {
	b := f.b
	p, err := b.texts.names.Write(&f.body[secIndex], &f.body[secText])
	if err != nil {
		return err
	}
	f.shape(secIndex, (p.Count+strtab.Group-1)/strtab.Group, width{32})
	f.shape(secText, uint64(f.body[secText].size), width{})
	list := func(section, size int, text func(i int) uint32) {
		out := f.packer(section, size, width{bitsOf(max(p.Count, 1) - 1)})
		for i := range size {
			out.add(uint64(p.String(text(i))))
		}
	}
	list(secOrigins, len(f.origins), func(i int) uint32 { return b.origins[f.origins[i]].text })
	list(secFiles, len(b.filed), func(i int) uint32 { return b.filed[i] })
	f.b.texts.names = nil
	f.packCalls()
	return nil
}

// rows writes the sections that depend on the log.
func (f *finisher) rows() error {
	b := f.b
	w := f.nodeWidth()
	row := width{1, b.steps.best(16), b.lines.best(32)}
	if b.flags&HasColumns != 0 {
		row[3] = rowColumns
	}
	if more := rowLeast - row.bits(); more > 0 {
		row[2] += uint8(more)
	}
	e := &encoder{
		log: logReader{r: newReader(&b.log.out)}, row: row, rowBits: uint64(row.bits()), base: f.head.base,
		origins: b.origins, triples: b.triples.Items, functions: f.functions, rank: f.rank,
		distance: 1<<w[0] - 1, idShift: w[0], stride: w.stride(),
		groups: &f.body[secGroups], rows: &f.body[secRows], nodes: &f.body[secNodes],
		spots: spool{budget: &b.budget},
	}
	defer e.spots.close()
	if err := e.run(); err != nil {
		return err
	}
	f.head.shapes[secGroups] = shape{count: e.count, stride: groupStride, width: width{32, 32, 32}}
	f.head.shapes[secRows] = shape{count: uint64(e.rows.size), stride: 1, width: row}
	f.shape(secNodes, uint64(e.next), w)
	f.records(secExtents, len(e.extents), func(i int) [5]uint64 {
		return [5]uint64{e.extents[i].group, e.extents[i].index}
	})
	if err := f.packSpots(e); err != nil {
		return err
	}
	return b.log.out.close()
}

// packSpots writes the spots of e, whose widths are known now.
func (f *finisher) packSpots(e *encoder) error {
	b, le := f.b, binary.LittleEndian
	out := f.packer(secSpots, int(e.spotCount), width{
		bitsOf(uint64(e.next)), bitsOf(uint64(len(b.filed))), bitsOf(uint64(b.most.line)), bitsOf(uint64(b.most.column)),
	})
	r := newReader(&e.spots)
	for range e.spotCount {
		s := r.peek(spotBytes)
		if r.err != nil {
			break
		}
		out.add(uint64(le.Uint32(s)), uint64(le.Uint32(s[4:])), uint64(le.Uint32(s[8:])), uint64(le.Uint32(s[12:])))
		r.skip(spotBytes)
	}
	return r.err
}

// nodeWidth chooses the size of a node: larger nodes can refer to more distant parents,
// and need fewer copies of them. For each number of bytes it computes the size of all
// nodes, where each one whose distance does not fit costs a copy of its parent. Copies of
// copies are not counted, as they are rare.
func (f *finisher) nodeWidth() width {
	b := f.b
	id := bitsOf(uint64(max(len(b.triples.Items), len(f.functions), 1) - 1))
	var best width
	least := uint64(0)
	for bytes := (id + 7) / 8; bytes <= 8; bytes++ {
		way := bytes*8 - id
		if way < 2 || way > 32 {
			continue
		}
		count := uint64(b.log.nodes)
		for _, far := range b.distance[way+1:] {
			count += far
		}
		if size := count * uint64(bytes); least == 0 || size < least {
			best, least = width{way, id}, size
		}
	}
	return best
}

// packCalls writes the sections of triples and functions.
func (f *finisher) packCalls() {
	calls := f.b.triples.Items
	usual := func(origin uint32) uint64 { return uint64(f.b.origins[origin].file) }
	f.records(secTriples, len(calls), func(i int) [5]uint64 {
		t := &calls[i]
		return [5]uint64{uint64(f.moved[t.origin]), usual(t.origin), uint64(t.file), uint64(t.line), uint64(t.column)}
	})
	f.records(secFunctions, len(f.functions), func(i int) [5]uint64 {
		fn := &f.functions[i]
		return [5]uint64{fn.entry - f.head.base, fn.size, uint64(f.moved[fn.origin]), usual(fn.origin)}
	})
}

// records writes a section whose fields have the least width.
func (f *finisher) records(section, count int, record func(i int) [5]uint64) {
	var most [5]uint64
	for i := range count {
		for k, v := range record(i) {
			most[k] = max(most[k], v)
		}
	}
	var w width
	for k := range w {
		w[k] = bitsOf(most[k])
	}
	if w[0]+w[1] > 64 {
		w[0], w[1] = bytesOf(most[0]), bytesOf(most[1])
	}
	p := f.packer(section, count, w)
	for i := range count {
		r := record(i)
		p.add(r[:]...)
	}
}

// shape sets the entry of a section in the section table.
func (f *finisher) shape(section int, count uint64, w width) {
	f.head.shapes[section] = shape{count: count, stride: uint8(w.stride()), width: w}
}

// A packer writes the records of a section.
type packer struct {
	out    *spool
	width  width
	record []byte // with slack bytes at the end
}

// packer returns a writer of count records of a section.
func (f *finisher) packer(section, count int, w width) *packer {
	f.shape(section, uint64(count), w)
	return &packer{out: &f.body[section], width: w, record: make([]byte, w.stride()+slack)}
}

func (p *packer) add(fields ...uint64) {
	clear(p.record)
	p.width.pack(p.record, fields...)
	p.out.Write(p.record[:len(p.record)-slack])
}

// write writes the file. It reads the body twice, as its checksums precede it.
func (f *finisher) write(w io.Writer) error {
	h := &f.head
	at := sectionAt(&h.shapes)
	h.bodySize = at[sections]
	sums := pageSums{}
	if err := f.copyBody(&sums, at); err != nil {
		return err
	}
	h.sumsCheck = 0
	head, err := h.append(nil)
	if err != nil {
		return err
	}
	padded := append(sums.finish(), make([]byte, h.bodyAt()-h.size-4*h.pages())...)
	h.sumsCheck = crc32.Checksum(padded, bin.Castagnoli)
	if head, err = h.append(head[:0]); err != nil {
		return err
	}
	for _, part := range [][]byte{head, padded} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return f.copyBody(w, at)
}

// copyBody writes the sections with their padding.
func (f *finisher) copyBody(w io.Writer, at [sections + 1]uint64) error {
	for i := range f.body {
		if err := f.body[i].copyTo(w); err != nil {
			return err
		}
		pad := at[i+1] - at[i] - uint64(f.body[i].size)
		if _, err := w.Write(make([]byte, pad)); err != nil {
			return err
		}
	}
	return nil
}

// pageSums computes the checksum of each page that is written.
type pageSums struct {
	sums []byte
	sum  uint32
	fill int
}

// Write implements [io.Writer]. It never fails.
func (p *pageSums) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		k := min(len(b), pageSize-p.fill)
		p.sum = crc32.Update(p.sum, bin.Castagnoli, b[:k])
		if p.fill += k; p.fill == pageSize {
			p.end()
		}
		b = b[k:]
	}
	return n, nil
}

// end ends a page.
func (p *pageSums) end() {
	p.sums = binary.LittleEndian.AppendUint32(p.sums, p.sum)
	p.sum, p.fill = 0, 0
}

// finish ends the last page and returns the checksums.
func (p *pageSums) finish() []byte {
	if p.fill > 0 {
		p.end()
	}
	return p.sums
}
