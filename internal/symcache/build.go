package symcache

import (
	"cmp"
	"hash/maphash"
	"math"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/sym"
	"symbolon/internal/symcache/set"
	"symbolon/internal/symcache/strtab"
)

// Options of a build. The zero value is fine.
type Options struct {
	// Memory limits the bytes that a Builder holds; zero means 256 MiB, and a
	// negative number no limit. It has no effect without a Scratch.
	Memory int64
	// Scratch takes the rows that exceed Memory. Names and functions must fit:
	// a build whose names and functions exceed Memory is Unsupported.
	Scratch bin.Scratch
	// Workers is the number of cores that the Builder may use; it uses at most
	// two. The table does not depend on it.
	Workers int
}

const defaultMemory = 256 << 20

// A Builder writes a table of blocks. It is not safe for concurrent use.
type Builder struct {
	err error // the first failure, which all later calls return

	texts     texts
	functions set.Set[function]
	triples   set.Set[triple]
	named     [sym.Langs]*aliases // names of functions in each language; nil: none yet
	origins   []origin            // of all languages
	files     aliases
	filed     []uint32 // the text of each file, by its number - 1
	calls     [recent]struct {
		triple triple
		number uint32 // + 1
	}

	budget   budget
	log      logWriter
	distance [33]uint64 // number of nodes by the bits of their distance to the parent
	flags    Flags
	started  bool   // the first row has been added
	first    uint64 // address of the first row
	last     uint64 // address of the last row
	most     place  // bitwise or of the lines and columns of all rows

	group uint64 // group of the last row
	base  int64  // number of nodes in the log before that group
	steps sizes  // distances of nodes from base
	lines sizes

	hole bool // the last row is a hole, or no row has been added

	infos []nodeInfo // of the current block
}

// nodeInfo has the builder's data of a node of a block.
type nodeInfo struct {
	number int64 // in the log; -1: not in the log yet
	origin uint32
	id     uint32 // of a function in Builder.functions
	depth  uint16
}

// handle is a handle of a name in the input.
type handle uint64

func (h handle) Hash(seed uint64) uint64 { return set.Mix(uint64(h)^seed, seed) }

// triple is an inlined call: the called function and the call site.
type triple struct{ origin, file, line, column uint32 }

func (t triple) Hash(seed uint64) uint64 {
	return set.Mix(uint64(t.origin)|uint64(t.file)<<32, set.Mix(uint64(t.line)|uint64(t.column)<<32, seed))
}

// function is a function or symbol.
type function struct {
	entry, size uint64
	origin      uint32
}

func (f function) Hash(seed uint64) uint64 {
	return set.Mix(f.entry^seed, set.Mix(f.size, uint64(f.origin)^seed))
}

// recent is the number of entries of a cache of recent look-ups. Names and
// calls come in clusters.
const recent = 1 << 10

// aliases numbers the names of functions or files, and maps the handles of the
// input to those numbers.
type aliases struct {
	handles set.Set[handle]
	ids     []uint32 // by number of a handle
	numbers []uint32 // number of a text + 1; zero: the text is not a name of this sort
	recent  [recent]struct {
		handle sym.Text
		id     uint32
	}
}

// sizes counts numbers by their bits.
type sizes [33]uint64

// best returns the number of bits, at most limit, that takes the least space if
// each number that does not fit takes the 64 bits of a spot.
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

// origin is the name and language of a function. File is the file of most of
// its code, by majority vote.
type origin struct {
	text  uint32
	file  uint32
	votes int32
	lang  sym.Lang
}

// NewBuilder returns a Builder. text appends the string of a handle to dst; it
// is called once for each handle of a function and of a file.
func NewBuilder(opt Options, text func(dst []byte, t sym.Text) []byte) *Builder {
	b := &Builder{texts: texts{names: strtab.NewBuilder(), source: text, workers: opt.Workers}, hole: true}
	b.budget.limit = cmp.Or(opt.Memory, defaultMemory)
	if opt.Memory >= 0 {
		b.budget.scratch = opt.Scratch
	}
	b.log.out.budget = &b.budget
	// Random seeds prevent that an input makes all hashes collide.
	b.functions.Seed, b.triples.Seed, b.files.handles.Seed = seed(), seed(), seed()
	return b
}

func seed() uint64 { return maphash.String(maphash.MakeSeed(), "") }

// Add adds the next block. Blocks must be in ascending order of addresses; a
// block without rows, which only has functions, may be added at any time. Add
// does not retain blk.
func (b *Builder) Add(blk *sym.Block) error {
	if b.err == nil {
		b.err = b.add(blk)
	}
	return b.err
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
			return invalid("row %d at %#x is not after %#x", i, r.Addr, b.last)
		}
		if r.Node < sym.Hole || int(r.Node) >= len(blk.Nodes) {
			return invalid("row %d refers to node %d of %d", i, r.Node, len(blk.Nodes))
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
		return fault.New(fault.Unsupported, "symcache, build", "more than 1<<31 nodes")
	}
	if err := b.checkMemory(); err != nil {
		return err
	}
	if b.budget.full() {
		b.log.out.spill()
	}
	return b.log.out.err
}

// checkMemory returns an error if the data that cannot be spilled exceed the
// limit.
func (b *Builder) checkMemory() error {
	b.budget.tables = b.tables()
	if b.budget.scratch != nil && b.budget.tables > b.budget.limit {
		return fault.New(fault.Unsupported, "symcache, build",
			"names and functions exceed the memory limit of %d bytes", b.budget.limit)
	}
	return b.texts.err
}

func (b *Builder) addNodes(blk *sym.Block) error {
	b.infos = b.infos[:0]
	for i := range blk.Nodes {
		n, own := &blk.Nodes[i], nodeInfo{number: -1}
		switch {
		case n.Parent < -1 || int(n.Parent) >= i:
			return invalid("node %d has parent %d", i, n.Parent)
		case n.Name == 0:
			return invalid("node %d has no name", i)
		case n.Lang >= sym.Langs:
			return invalid("node %d has unknown language %d", i, n.Lang)
		case n.Parent >= 0:
			own.depth = b.infos[n.Parent].depth + 1
		}
		if own.depth > MaxDepth {
			return invalid("node %d has more than %d inlined calls", i, MaxDepth)
		}
		own.origin = b.origin(n.Name, n.Lang)
		if n.Parent < 0 {
			own.id, _ = b.functions.Number(function{n.Entry, n.Size, own.origin})
		}
		b.infos = append(b.infos, own)
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
	b.origins[b.infos[r.Node].origin].vote(file)
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

// measure counts the bits that the line and node n of a row need. A quarter of
// the values of a node field is for nodes before base.
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

// use returns the number of a node in the log. It adds the node, after its
// parents, when the first row needs it.
func (b *Builder) use(blk *sym.Block, i int32) int64 {
	own := &b.infos[i]
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

// call returns the number of a call.
func (b *Builder) call(t triple) uint32 {
	b.flags |= HasInlines
	if t.column != 0 {
		b.flags |= HasColumns
	}
	c := &b.calls[t.Hash(0)%recent]
	if c.number == 0 || c.triple != t {
		id, _ := b.triples.Number(t)
		c.triple, c.number = t, id+1
	}
	return c.number - 1
}

// origin returns the number of a name of a function in a language.
func (b *Builder) origin(t sym.Text, lang sym.Lang) uint32 {
	a := b.named[lang]
	if a == nil {
		a = &aliases{}
		a.handles.Seed = seed()
		b.named[lang] = a
	}
	id, text := b.alias(a, t, len(b.origins))
	if int(id) == len(b.origins) {
		b.origins = append(set.Grow(b.origins, 1), origin{text: text, lang: lang})
	}
	return id
}

// file returns the number of a file, zero for no file.
func (b *Builder) file(t sym.Text) uint32 {
	if t == 0 {
		return 0
	}
	id, text := b.alias(&b.files, t, len(b.filed))
	if int(id) == len(b.filed) {
		b.filed = append(set.Grow(b.filed, 1), text)
	}
	return id + 1
}

// alias returns the number of the name of a handle. A new name gets the number
// next, and its text is returned.
func (b *Builder) alias(a *aliases, t sym.Text, next int) (id, text uint32) {
	c := &a.recent[handle(t).Hash(0)%recent]
	if c.handle != t {
		k, fresh := a.handles.Number(handle(t))
		if fresh {
			text = b.texts.number(t)
			a.ids = append(a.ids, a.number(text, uint32(next)))
		}
		c.handle, c.id = t, a.ids[k]
	}
	return c.id, text
}

// number returns the number of a text, next if it is new.
func (a *aliases) number(text, next uint32) uint32 {
	if missing := int(text) + 1 - len(a.numbers); missing > 0 {
		a.numbers = set.Grow(a.numbers, missing)[:text+1]
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

// tables returns the bytes of the data that cannot be spilled, including those
// that Finish needs to sort them.
func (b *Builder) tables() int64 {
	x := &b.texts
	n := x.held + x.seen.Held(16) + int64(cap(x.next.text)+cap(x.current.text)) +
		b.functions.Held(24+32) + b.triples.Held(16) +
		int64(cap(b.origins))*(16+8) + int64(cap(b.filed))*4 + b.files.held()
	for _, a := range b.named {
		if a != nil {
			n += a.held()
		}
	}
	return n
}

func (a *aliases) held() int64 {
	return a.handles.Held(8) + int64(cap(a.ids)+cap(a.numbers))*4
}

// Close removes the scratch files.
func (b *Builder) Close() error {
	if b.err == nil {
		b.err = invalid("the builder is closed")
	}
	b.texts.wait()
	return b.log.out.close()
}
