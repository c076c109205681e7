package symcache

import (
	"cmp"
	"hash/maphash"
	"math"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/sym"
)

// Options of a build. The zero value is fine.
type Options struct {
	// Memory bounds the bytes that a Builder keeps; zero is 256 MiB, less than
	// zero is no bound. Without a Scratch it does not count.
	Memory int64
	// Scratch takes the rows that do not fit. Names and functions must fit: a
	// build that cannot keep them is Unsupported.
	Scratch bin.Scratch
	// Workers is on how many cores the Builder may work; it has work for two.
	// The table does not depend on it.
	Workers int
}

const defaultMemory = 256 << 20

// A Builder makes a table out of blocks. It belongs to one goroutine.
type Builder struct {
	err error // sticks

	texts     texts
	functions set[function]
	triples   set[triple]
	named     [sym.Langs]*aliases // names of functions in each language; nil: none so far
	origins   []origin            // those of all languages
	files     aliases
	filed     []uint32 // the text of each file, which is its place + 1
	calls     [recent]struct {
		triple triple
		number uint32 // + 1
	}

	room     room
	log      logWriter
	distance [33]uint64 // nodes by the number of bits of the way to their parent
	flags    Flags
	started  bool   // a row came
	first    uint64 // address of the first row
	last     uint64 // address of the last row
	most     place  // lines and columns of rows, their bits in one

	group uint64 // the group of the last row
	base  int64  // nodes that the log had before it
	steps sizes  // of nodes from base on
	lines sizes

	hole bool // the last row is a hole, or there is none

	own []ownNode // of the block at work
}

// ownNode is what the builder knows of a node.
type ownNode struct {
	number int64 // in the log; -1: not used so far
	origin uint32
	id     uint32 // of a function
	depth  uint16
}

// recent is how many of the last questions are answered without a search.
// Names and calls come in clusters.
const recent = 1 << 10

// aliases know the numbers of the names of a sort, and which one the handles of
// the input stand for.
type aliases struct {
	handles set[handle]
	ids     []uint32 // by number of a handle
	numbers []uint32 // by number of the text, + 1; zero: it is of another sort
	recent  [recent]struct {
		handle sym.Text
		id     uint32
	}
}

// sizes counts numbers by their bits.
type sizes [33]uint64

// best is how many bits a field should have, up to a limit, if a number that
// does not fit takes the 64 of a spot.
func (s *sizes) best(limit uint8) (bits uint8) {
	total, least := uint64(0), uint64(math.MaxUint64)
	for _, n := range s {
		total += n
	}
	left := total
	for k, n := range s[:limit+1] {
		left -= n
		if cost := total*uint64(k) + left*64; cost < least {
			bits, least = uint8(k), cost
		}
	}
	return bits
}

// origin is a function as others know it: by its name and its language. File is
// where most of its code comes from, by majority vote.
type origin struct {
	text  uint32
	file  uint32
	votes int32
	lang  sym.Lang
}

// NewBuilder starts a table. text gives the strings behind the handles of the
// blocks; it is asked once for each handle of a function and of a file.
func NewBuilder(opt Options, text func(dst []byte, t sym.Text) []byte) *Builder {
	b := &Builder{texts: texts{names: newNames(), source: text, workers: opt.Workers}, hole: true}
	b.room.limit = cmp.Or(opt.Memory, defaultMemory)
	if opt.Memory >= 0 {
		b.room.scratch = opt.Scratch
	}
	b.log.out.room = &b.room
	// Where things are found differs from build to build, so that no input can
	// make everything collide.
	b.functions.seed, b.triples.seed, b.files.handles.seed = seed(), seed(), seed()
	return b
}

func seed() uint64 { return maphash.String(maphash.MakeSeed(), "") }

// Add takes the next block. Blocks come in rising address order; a block
// without rows, which only names functions, may come at any place. blk is not
// kept.
func (b *Builder) Add(blk *sym.Block) error {
	if b.err == nil {
		b.err = b.add(blk)
	}
	return b.err
}

func invalid(format string, args ...any) error {
	return fault.New(fault.Internal, "symcache, build", format, args...)
}

func (b *Builder) add(blk *sym.Block) error {
	if err := b.addNodes(blk); err != nil {
		return err
	}
	b.log.start = true
	var prev *sym.Row
	for i := range blk.Rows {
		r := &blk.Rows[i]
		if b.started && r.Addr <= b.last {
			return invalid("row %d is at %#x, behind %#x", i, r.Addr, b.last)
		}
		if r.Node < sym.Hole || int(r.Node) >= len(blk.Nodes) {
			return invalid("row %d has node %d of %d", i, r.Node, len(blk.Nodes))
		}
		if !b.started {
			b.started, b.first = true, r.Addr
		}
		b.last = r.Addr
		if r.Node == sym.Hole && b.hole {
			continue
		}
		if prev != nil && r.Node == prev.Node && r.File == prev.File && r.Line == prev.Line && r.Column == prev.Column {
			continue
		}
		b.addRow(blk, r)
		prev = r
	}
	if b.log.nodes >= 1<<31 {
		return fault.New(fault.Unsupported, "symcache, build", "more nodes than 32 bits can number")
	}
	if err := b.settle(); err != nil {
		return err
	}
	if b.room.full() {
		b.log.out.spill()
	}
	return b.log.out.err
}

// settle says whether what cannot be spilled fits into memory.
func (b *Builder) settle() error {
	b.room.tables = b.tables()
	if b.room.scratch != nil && b.room.tables > b.room.limit {
		return fault.New(fault.Unsupported, "symcache, build",
			"names and functions need more than %d bytes of memory", b.room.limit)
	}
	return b.texts.err
}

func (b *Builder) addNodes(blk *sym.Block) error {
	b.own = b.own[:0]
	for i := range blk.Nodes {
		n, own := &blk.Nodes[i], ownNode{number: -1}
		switch {
		case n.Parent < -1 || int(n.Parent) >= i:
			return invalid("node %d has parent %d", i, n.Parent)
		case n.Name == 0:
			return invalid("node %d has no name", i)
		case n.Lang >= sym.Langs:
			return invalid("node %d has language %d", i, n.Lang)
		case n.Parent >= 0:
			own.depth = b.own[n.Parent].depth + 1
		}
		if own.depth > MaxDepth {
			return invalid("node %d is inlined more than %d deep", i, MaxDepth)
		}
		own.origin = b.origin(n.Name, n.Lang)
		if n.Parent < 0 {
			own.id, _ = b.functions.number(function{n.Entry, n.Size, own.origin})
		}
		b.own = append(b.own, own)
	}
	return nil
}

func (b *Builder) addRow(blk *sym.Block, r *sym.Row) {
	if b.hole = r.Node == sym.Hole; b.hole {
		b.log.hole(r.Addr)
		return
	}
	n := b.use(blk, r.Node)
	file := b.file(r.File)
	b.origins[b.own[r.Node].origin].vote(file)
	b.most.line |= r.Line
	b.measure(r, n)
	b.most.column |= r.Column
	if r.File != 0 || r.Line != 0 {
		b.flags |= HasLines
	}
	if r.Column != 0 {
		b.flags |= HasColumns
	}
	b.log.row(r.Addr, n, place{file: file, line: r.Line, column: r.Column})
}

// measure takes down how many bits a row needs for its line, and for node n. A
// quarter of the numbers that bits hold is for nodes before base.
func (b *Builder) measure(r *sym.Row, n int64) {
	if group := r.Addr >> groupShift; group != b.group {
		b.group, b.base = group, b.log.nodes
	}
	step := n - b.base
	if step < 0 {
		step = -3 * step
	}
	b.steps[bitsOf(uint64(min(step+step/3, 1<<32-1)))]++
	b.lines[bitsOf(uint64(r.Line))]++
}

// use is the number of a node in the log, where it is written, behind its
// parents, when a row comes to need it.
func (b *Builder) use(blk *sym.Block, i int32) int64 {
	own := &b.own[i]
	if own.number >= 0 {
		return own.number
	}
	n := &blk.Nodes[i]
	away, id := int64(0), own.id
	if n.Parent >= 0 {
		parent := b.use(blk, n.Parent)
		away = b.log.nodes - parent
		id = b.call(triple{origin: own.origin, file: b.file(n.CallFile), line: n.CallLine, column: n.CallColumn})
	}
	b.distance[bitsOf(uint64(min(away, 1<<32-1)))]++
	own.number = b.log.addNode(away, id)
	return own.number
}

// call is the number of a call.
func (b *Builder) call(t triple) uint32 {
	b.flags |= HasInlines
	if t.column != 0 {
		b.flags |= HasColumns
	}
	c := &b.calls[t.hash(0)%recent]
	if c.number == 0 || c.triple != t {
		id, _ := b.triples.number(t)
		c.triple, c.number = t, id+1
	}
	return c.number - 1
}

// origin is the number of a function by its name and language.
func (b *Builder) origin(t sym.Text, lang sym.Lang) uint32 {
	a := b.named[lang]
	if a == nil {
		a = &aliases{}
		a.handles.seed = seed()
		b.named[lang] = a
	}
	id, text := b.alias(a, t, len(b.origins))
	if int(id) == len(b.origins) {
		b.origins = append(roomy(b.origins, 1), origin{text: text, lang: lang})
	}
	return id
}

// file is the number of a file, zero for none.
func (b *Builder) file(t sym.Text) uint32 {
	if t == 0 {
		return 0
	}
	id, text := b.alias(&b.files, t, len(b.filed))
	if int(id) == len(b.filed) {
		b.filed = append(roomy(b.filed, 1), text)
	}
	return id + 1
}

// alias is the number of the name behind a handle. One that is new gets the
// number next, and its text is told.
func (b *Builder) alias(a *aliases, t sym.Text, next int) (id, text uint32) {
	c := &a.recent[handle(t).hash(0)%recent]
	if c.handle != t {
		k, fresh := a.handles.number(handle(t))
		if fresh {
			text = b.texts.number(t)
			a.ids = append(a.ids, a.number(text, uint32(next)))
		}
		c.handle, c.id = t, a.ids[k]
	}
	return c.id, text
}

// number is the number of a text, next if it is new.
func (a *aliases) number(text, next uint32) uint32 {
	if missing := int(text) + 1 - len(a.numbers); missing > 0 {
		a.numbers = roomy(a.numbers, missing)[:text+1]
	}
	if a.numbers[text] == 0 {
		a.numbers[text] = next + 1
	}
	return a.numbers[text] - 1
}

func (u *origin) vote(file uint32) {
	switch {
	case u.votes == 0:
		u.file, u.votes = file, 1
	case file == u.file:
		u.votes++
	default:
		u.votes--
	}
}

// tables is how much memory is taken by what cannot be spilled, with what
// Finish needs to bring it in order.
func (b *Builder) tables() int64 {
	x := &b.texts
	n := x.held + held(&x.seen, 16) + int64(cap(x.next.text)+cap(x.work.text)) + held(&b.functions, 24+32) + held(&b.triples, 16) + int64(cap(b.origins))*(16+8) + int64(cap(b.filed))*4 + b.files.held()
	for _, a := range b.named {
		if a != nil {
			n += a.held()
		}
	}
	return n
}

func (a *aliases) held() int64 {
	return held(&a.handles, 8) + int64(cap(a.ids)+cap(a.numbers))*4
}

func held[K key](s *set[K], size int64) int64 {
	return int64(cap(s.items))*size + int64(cap(s.slots))*8
}

// Close gives the scratch files back.
func (b *Builder) Close() error {
	if b.err == nil {
		b.err = invalid("the builder is closed")
	}
	b.texts.wait()
	return b.log.out.close()
}
