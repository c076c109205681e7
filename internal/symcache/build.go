package symcache

import (
	"hash/maphash"

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
	Scratch Scratch
}

const defaultMemory = 256 << 20

// A Builder makes a table out of blocks. It belongs to one goroutine.
type Builder struct {
	opt    Options
	source func(dst []byte, t sym.Text) []byte
	err    error // sticks

	names     *names
	functions set[function]
	triples   set[triple]
	origins   set[nameID] // distinct names of functions
	files     set[nameID] // a file is its number + 1
	funcs     aliases     // handles of function names
	paths     aliases     // handles of file names
	usual     []usual     // by number of an origin
	text      []byte

	log      logWriter
	spools   []*spool   // all that there are
	distance [33]uint64 // nodes by the number of bits of the way to their parent
	nodes    uint64
	flags    Flags
	started  bool   // a row came
	first    uint64 // address of the first row
	last     uint64 // address of the last row
	hole     bool   // the last row is a hole, or there is none

	depth  []uint16 // of each node of the block at work
	number []int64  // of each node in the log; -1: not used so far
	origin []uint32 // of each node
}

// aliases are the numbers of the names that handles stand for.
type aliases struct {
	handles set[handle]
	ids     []uint32
}

// usual is where most of the code of an origin comes from, by majority vote.
type usual struct {
	file  uint32
	votes int32
	line  uint32 // the lowest one seen in file, zero: none
}

// NewBuilder starts a table. text gives the strings behind the handles of the
// blocks; it is asked once for each handle of a function and of a file.
func NewBuilder(opt Options, text func(dst []byte, t sym.Text) []byte) *Builder {
	switch {
	case opt.Memory == 0:
		opt.Memory = defaultMemory
	case opt.Memory < 0:
		opt.Scratch = nil
	}
	b := &Builder{opt: opt, source: text, names: newNames(), hole: true}
	b.adopt(&b.log.out)
	// Where things are found differs from build to build, so that no input can
	// make everything collide.
	seed := func() uint64 { return maphash.String(maphash.MakeSeed(), "") }
	b.functions.seed, b.triples.seed, b.origins.seed, b.files.seed = seed(), seed(), seed(), seed()
	b.funcs.handles.seed, b.paths.handles.seed = seed(), seed()
	return b
}

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
	if err := b.check(blk); err != nil {
		return err
	}
	b.number, b.origin = b.number[:0], b.origin[:0]
	for i := range blk.Nodes {
		n := &blk.Nodes[i]
		origin := b.originOf(n.Name)
		b.number, b.origin = append(b.number, -1), append(b.origin, origin)
		if n.Parent < 0 {
			b.functions.number(function{n.Entry, n.Size, origin})
		}
	}
	b.log.start = true
	var prev *sym.Row
	for i := range blk.Rows {
		r := &blk.Rows[i]
		if r.Node == sym.Hole && b.hole {
			continue
		}
		if prev != nil && r.Node == prev.Node && r.File == prev.File && r.Line == prev.Line && r.Column == prev.Column {
			continue
		}
		b.addRow(blk, r)
		prev = r
	}
	if len(blk.Rows) > 0 {
		b.last = blk.Rows[len(blk.Rows)-1].Addr
	}
	if uint64(len(b.names.arena)) >= 1<<32 || uint64(len(b.names.entries)) >= 1<<31 || b.nodes >= 1<<31 {
		return fault.New(fault.Unsupported, "symcache, build", "more than 32 bits can number")
	}
	return b.settle()
}

// check says what is wrong with a block.
func (b *Builder) check(blk *sym.Block) error {
	b.depth = b.depth[:0]
	for i := range blk.Nodes {
		n := &blk.Nodes[i]
		depth := uint16(0)
		switch {
		case n.Parent < -1 || int(n.Parent) >= i:
			return invalid("node %d has parent %d", i, n.Parent)
		case n.Name == 0:
			return invalid("node %d has no name", i)
		case n.Parent >= 0:
			depth = b.depth[n.Parent] + 1
		}
		if depth > MaxDepth {
			return invalid("node %d is inlined more than %d deep", i, MaxDepth)
		}
		b.depth = append(b.depth, depth)
	}
	last, started := b.last, b.started
	for i := range blk.Rows {
		r := &blk.Rows[i]
		if started && r.Addr <= last {
			return invalid("row %d is at %#x, behind %#x", i, r.Addr, last)
		}
		if r.Node < sym.Hole || int(r.Node) >= len(blk.Nodes) {
			return invalid("row %d has node %d of %d", i, r.Node, len(blk.Nodes))
		}
		last, started = r.Addr, true
	}
	return nil
}

func (b *Builder) addRow(blk *sym.Block, r *sym.Row) {
	if !b.started {
		b.started, b.first = true, r.Addr
	}
	if r.Node == sym.Hole {
		b.hole = true
		b.log.hole(r.Addr)
		return
	}
	b.hole = false
	n := b.use(blk, r.Node)
	file := b.fileOf(r.File)
	b.usual[b.origin[r.Node]].vote(file, r.Line)
	if r.File != 0 || r.Line != 0 {
		b.flags |= HasLines
	}
	if r.Column != 0 {
		b.flags |= HasColumns
	}
	b.log.row(r.Addr, n, place{file: file, line: r.Line, column: r.Column})
}

// use is the number of a node in the log, where it is written, behind its
// parents, when a row comes to need it.
func (b *Builder) use(blk *sym.Block, i int32) int64 {
	if n := b.number[i]; n >= 0 {
		return n
	}
	n := &blk.Nodes[i]
	if n.Parent < 0 {
		f, _ := b.functions.number(function{n.Entry, n.Size, b.origin[i]})
		b.number[i] = b.log.addNode(0, f)
		b.nodes++
		b.distance[0]++
		return b.number[i]
	}
	parent := b.use(blk, n.Parent)
	t := triple{origin: b.origin[i], file: b.fileOf(n.CallFile), line: n.CallLine, column: n.CallColumn}
	if t.column != 0 {
		b.flags |= HasColumns
	}
	b.flags |= HasInlines
	id, _ := b.triples.number(t)
	away := b.log.nodes - parent
	b.number[i] = b.log.addNode(away, id)
	b.nodes++
	b.distance[bitsOf(uint64(min(away, 1<<32-1)))]++
	return b.number[i]
}

func (b *Builder) originOf(t sym.Text) uint32 {
	id, fresh := b.alias(&b.funcs, &b.origins, t)
	if fresh {
		b.usual = append(b.usual, usual{})
	}
	return id
}

// fileOf is zero for no file.
func (b *Builder) fileOf(t sym.Text) uint32 {
	if t == 0 {
		return 0
	}
	id, _ := b.alias(&b.paths, &b.files, t)
	return id + 1
}

// alias is the number in ids of the name behind a handle, and whether it is
// new.
func (b *Builder) alias(a *aliases, ids *set[nameID], t sym.Text) (uint32, bool) {
	k, fresh := a.handles.number(handle(t))
	if !fresh {
		return a.ids[k], false
	}
	b.text = b.source(b.text[:0], t)
	id, fresh := ids.number(b.names.add(b.text))
	a.ids = append(a.ids, id)
	return id, fresh
}

func (u *usual) vote(file, line uint32) {
	switch {
	case u.votes == 0:
		if file != u.file {
			u.line = 0
		}
		u.file, u.votes = file, 1
	case file == u.file:
		u.votes++
	default:
		u.votes--
	}
	if file == u.file && line != 0 && (u.line == 0 || line < u.line) {
		u.line = line
	}
}

// tables is how much memory is taken by what cannot be spilled, with what
// Finish needs to bring it in order.
func (b *Builder) tables() int64 {
	n := b.names.held() + held(&b.functions, 24+32) + held(&b.triples, 16)
	n += held(&b.origins, 4) + held(&b.files, 4) + int64(cap(b.usual))*12
	n += held(&b.funcs.handles, 8) + held(&b.paths.handles, 8)
	n += int64(cap(b.funcs.ids)+cap(b.paths.ids)) * 4
	return n
}

func held[K key](s *set[K], size int64) int64 {
	return int64(cap(s.items))*size + int64(cap(s.slots))*4
}

// adopt makes a spool one that settle looks after.
func (b *Builder) adopt(s *spool) {
	s.scratch = b.opt.Scratch
	b.spools = append(b.spools, s)
}

// settle spills what may be spilled when memory runs out, and is the error of
// a spool that has one. Whoever writes to spools calls it now and then.
func (b *Builder) settle() error {
	sum := b.tables()
	if b.opt.Scratch != nil && sum > b.opt.Memory {
		return fault.New(fault.Unsupported, "symcache, build",
			"names and functions need more than %d bytes of memory", b.opt.Memory)
	}
	for _, s := range b.spools {
		sum += s.held()
	}
	for _, s := range b.spools {
		if b.opt.Scratch != nil && sum > b.opt.Memory {
			s.spill()
		}
		if s.err != nil {
			return s.err
		}
	}
	return nil
}

// Close gives the scratch files back.
func (b *Builder) Close() error {
	if b.err == nil {
		b.err = invalid("the builder is closed")
	}
	return b.log.out.close()
}
