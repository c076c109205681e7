package symcache

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"

	"symbolon/internal/bin"
	"symbolon/internal/sym"
)

// Finish writes the table. The builder can only be closed then.
func (b *Builder) Finish(w io.Writer, info Info) error {
	if b.err != nil {
		return b.err
	}
	b.err = invalid("the table is finished")
	b.log.flush()
	b.texts.hand()
	b.texts.wait()
	if err := b.settle(); err != nil {
		return err
	}
	b.forget()
	f := &finisher{b: b, head: head{info: info}}
	for i := range f.body {
		f.body[i].room = &b.room
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
	if err := f.beside(); err != nil {
		return err
	}
	return f.write(w)
}

// forget drops what only says whether something is new.
func (b *Builder) forget() {
	b.functions.slots, b.triples.slots = nil, nil
	b.named, b.files = [sym.Langs]*aliases{}, aliases{}
	n := b.texts.names
	n.slots, n.parts, n.known = nil, set[sum]{}, nil
	b.texts = texts{names: n, workers: b.texts.workers, held: n.held()}
	b.room.tables = b.tables()
}

// beside makes names and rows, side by side if there are workers for it.
func (f *finisher) beside() (err error) {
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

// A finisher makes the sections of a table and puts them together.
type finisher struct {
	b    *Builder
	head head
	body [sections]spool

	functions []function // in the order of the table
	rank      []uint32   // where each function of the log is in it; nil: at its number

	origins []uint32 // those of the builder in the order of the table
	moved   []uint32 // where each of them is there
}

func (f *finisher) close() {
	for i := range f.body {
		f.body[i].close()
	}
}

// sortFunctions brings the functions in the order in which Nearest wants them:
// of several that start at one address the first is the best.
func (f *finisher) sortFunctions() {
	given := f.b.functions.items
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

// sortOrigins puts those of one language together, so that nothing has to say
// which one each of them has.
func (f *finisher) sortOrigins() {
	given := f.b.origins
	var next [sym.Langs + 1]uint32 // where those of each language begin
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

// strings writes the sections of names, and of all that no row changes.
func (f *finisher) strings() error {
	b := f.b
	n := b.texts.names
	p := n.plan()
	pieces := spool{room: &b.room}
	defer pieces.close()
	w := &stringWriter{index: &f.body[secIndex], text: &f.body[secText], pieces: &pieces}
	count, err := n.write(p, w)
	if err != nil {
		return err
	}
	f.shape(secIndex, (count+stringGroup-1)/stringGroup, width{32})
	f.shape(secText, uint64(f.body[secText].size), width{})
	list := func(section, size int, text func(i int) uint32) {
		out := f.packer(section, size, width{bitsOf(max(count, 1) - 1)})
		for i := range size {
			out.add(uint64(p.id[n.roots[text(i)]]))
		}
	}
	list(secOrigins, len(f.origins), func(i int) uint32 { return b.origins[f.origins[i]].text })
	list(secFiles, len(b.filed), func(i int) uint32 { return b.filed[i] })
	f.b.texts.names = nil
	f.packCalls()
	return nil
}

// rows writes the sections that the log becomes.
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
		origins: b.origins, triples: b.triples.items, functions: f.functions, rank: f.rank,
		distance: 1<<w[0] - 1, idShift: w[0], stride: w.stride(),
		groups: &f.body[secGroups], rows: &f.body[secRows], nodes: &f.body[secNodes],
		spots: spool{room: &b.room},
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

// nodeWidth chooses how many bytes a node has: more bytes let a node name a
// parent that is farther away, and so need fewer copies of parents.
func (f *finisher) nodeWidth() width {
	b := f.b
	id := bitsOf(uint64(max(len(b.triples.items), len(f.functions), 1) - 1))
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

func (f *finisher) packCalls() {
	calls := f.b.triples.items
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

// records writes a section whose fields are as wide as they have to be.
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

func (f *finisher) shape(section int, count uint64, w width) {
	f.head.shapes[section] = shape{count: count, stride: uint8(w.stride()), width: w}
}

// A packer writes the records of a section.
type packer struct {
	out    *spool
	width  width
	record []byte // and slack
}

func (f *finisher) packer(section, count int, w width) *packer {
	f.shape(section, uint64(count), w)
	return &packer{out: &f.body[section], width: w, record: make([]byte, w.stride()+slack)}
}

func (p *packer) add(fields ...uint64) {
	clear(p.record)
	p.width.pack(p.record, fields...)
	p.out.Write(p.record[:len(p.record)-slack])
}

// write puts the file together. The body is walked through twice, as its
// checksums stand before it.
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

// pageSums is a writer that makes the checksum of each page.
type pageSums struct {
	sums []byte
	sum  uint32
	fill int
}

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

func (p *pageSums) end() {
	p.sums = binary.LittleEndian.AppendUint32(p.sums, p.sum)
	p.sum, p.fill = 0, 0
}

func (p *pageSums) finish() []byte {
	if p.fill > 0 {
		p.end()
	}
	return p.sums
}
