package symcache

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
)

// Finish writes the table. The builder can only be closed then.
func (b *Builder) Finish(w io.Writer, info Info) error {
	if b.err != nil {
		return b.err
	}
	b.err = invalid("the table is finished")
	f := &finisher{b: b, head: head{info: info}}
	defer f.close()
	f.head.info.Flags = b.flags
	for i := range f.body {
		b.adopt(&f.body[i])
	}
	if err := f.fill(); err != nil {
		return err
	}
	return f.write(w)
}

// A finisher makes the sections of a table and puts them together.
type finisher struct {
	b    *Builder
	head head
	body [sections]spool

	functions []function // in the order of the table
	rank      []uint32   // where each function of the log is in it; nil: at its number
}

func (f *finisher) close() {
	for i := range f.body {
		f.body[i].close()
	}
}

func (f *finisher) fill() error {
	b := f.b
	f.sortFunctions()
	f.head.base = b.first
	if len(f.functions) > 0 && (!b.started || f.functions[0].entry < b.first) {
		f.head.base = f.functions[0].entry
	}
	f.head.base &^= groupSize - 1
	origins, err := f.strings()
	if err != nil {
		return err
	}
	extents, err := f.rows(origins)
	if err != nil {
		return err
	}
	return f.pack(origins, extents)
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

// strings writes the sections of names, and is what rows need to know of each
// origin.
func (f *finisher) strings() ([]origin, error) {
	b := f.b
	p := b.names.plan()
	var pieces spool
	defer pieces.close()
	b.adopt(&pieces)
	w := &stringWriter{index: &f.body[secIndex], text: &f.body[secText], pieces: &pieces}
	count, err := b.names.write(p, w, b.settle)
	if err != nil {
		return nil, err
	}
	groups := (count + stringGroup - 1) / stringGroup
	f.shape(secIndex, groups, width{32})
	f.shape(secText, uint64(f.body[secText].size), width{})
	origins := make([]origin, len(b.origins.items))
	for i, name := range b.origins.items {
		u := &b.usual[i]
		origins[i] = origin{name: p.id[name], file: u.file, line: max(1, u.line)}
	}
	files := f.packer(secFiles, len(b.files.items), width{bitsOf(max(count, 1) - 1)})
	for _, name := range b.files.items {
		files.add(uint64(p.id[name]))
	}
	b.names = &names{}
	return origins, b.settle()
}

// rows writes the sections that the log becomes.
func (f *finisher) rows(origins []origin) ([]extent, error) {
	b := f.b
	w := f.nodeWidth()
	e := &encoder{
		log: logReader{r: newReader(&b.log.out)}, columns: b.flags&HasColumns != 0, base: f.head.base,
		origins: origins, triples: b.triples.items, functions: f.functions, rank: f.rank,
		distance: 1<<w[0] - 1, width: w,
		groups: &f.body[secGroups], rows: &f.body[secRows], nodes: &f.body[secNodes],
	}
	if err := e.run(b.settle); err != nil {
		return nil, err
	}
	f.shape(secGroups, e.count, width{32, 32})
	f.head.shapes[secGroups].stride = groupStride
	f.shape(secRows, uint64(e.rows.size), width{})
	f.shape(secNodes, uint64(e.next), w)
	return e.extents, b.log.out.close()
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
		count := b.nodes
		for _, far := range b.distance[way+1:] {
			count += far
		}
		if size := count * uint64(bytes); least == 0 || size < least {
			best, least = width{way, id}, size
		}
	}
	return best
}

// pack writes the sections of equal records.
func (f *finisher) pack(origins []origin, extents []extent) error {
	b := f.b
	most := [4]uint64{}
	for _, t := range b.triples.items {
		for k, v := range [...]uint32{t.origin, t.file, t.line, t.column} {
			most[k] = max(most[k], uint64(v))
		}
	}
	p := f.packer(secTriples, len(b.triples.items), width{bitsOf(most[0]), bitsOf(most[1]), bitsOf(most[2]), bitsOf(most[3])})
	for _, t := range b.triples.items {
		p.add(uint64(t.origin), uint64(t.file), uint64(t.line), uint64(t.column))
	}

	most = [4]uint64{}
	for _, fn := range f.functions {
		most[0] = max(most[0], fn.entry-f.head.base)
		most[1] = max(most[1], fn.size)
		most[2] = max(most[2], uint64(fn.origin))
	}
	p = f.packer(secFunctions, len(f.functions), width{bytesOf(most[0]), bytesOf(most[1]), bitsOf(most[2])})
	for _, fn := range f.functions {
		p.add(fn.entry-f.head.base, fn.size, uint64(fn.origin))
	}

	most = [4]uint64{}
	for _, o := range origins {
		for k, v := range [...]uint32{o.name, o.file, o.line} {
			most[k] = max(most[k], uint64(v))
		}
	}
	p = f.packer(secOrigins, len(origins), width{bitsOf(most[0]), bitsOf(most[1]), bitsOf(most[2])})
	for _, o := range origins {
		p.add(uint64(o.name), uint64(o.file), uint64(o.line))
	}

	most = [4]uint64{}
	for _, x := range extents {
		most[0], most[1] = max(most[0], x.group), max(most[1], x.index)
	}
	p = f.packer(secExtents, len(extents), width{bytesOf(most[0]), bitsOf(most[1])})
	for _, x := range extents {
		p.add(x.group, x.index)
	}
	return b.settle()
}

func (f *finisher) shape(section int, count uint64, w width) {
	f.head.shapes[section] = shape{count: count, stride: uint8(w.stride()), width: w}
}

// A packer writes the records of a section.
type packer struct {
	out    *spool
	width  width
	record []byte
}

func (f *finisher) packer(section, count int, w width) *packer {
	f.shape(section, uint64(count), w)
	return &packer{out: &f.body[section], width: w, record: make([]byte, w.stride())}
}

func (p *packer) add(fields ...uint64) {
	clear(p.record)
	p.width.pack(p.record, fields...)
	p.out.Write(p.record)
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
	h.sumsCheck = crc32.Checksum(padded, castagnoli)
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
		p.sum = crc32.Update(p.sum, castagnoli, b[:k])
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
