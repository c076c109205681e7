package breakpad

import (
	"math"
	"slices"

	"symbolon/internal/format/breakpad"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

const (
	// maxRun is how many PUBLICs make one block.
	maxRun = 512
	// maxUnit is from how many bytes of text on a unit is cut.
	maxUnit = 4 << 20
	// batchText and batchUnits limit the batch of a worker.
	batchText  = 256 << 10
	batchUnits = 256
)

// unit is the input of one block: FUNC records that overlap, and the PUBLICs among them;
// or a run of PUBLICs without a FUNC.
//
// In some files everything overlaps. Their unit is cut at the beginning of a FUNC, and
// FUNCs that extend beyond that are part of the next unit too.
type unit struct {
	lo, hi   int    // of funcs
	plo, phi int    // of publics
	next     uint64 // where the next unit begins
	last     bool   // the next unit does not exist
	cut      bool   // something reaches into the next unit
}

// after returns the unit that follows u. It is empty at the end.
func (f *file) after(u unit) unit {
	u = unit{lo: u.hi, hi: u.hi, plo: u.phi, phi: u.phi}
	fn, pub := f.starts(u.hi, u.phi)
	if u.lo < len(f.funcs) && fn <= pub {
		end := f.takeFuncs(&u)
		for u.phi < len(f.publics) && f.publics[u.phi].Addr < end {
			u.phi++
		}
	} else {
		for u.phi < len(f.publics) && u.phi-u.plo < maxRun && (u.lo == len(f.funcs) || f.publics[u.phi].Addr < fn) {
			u.phi++
		}
	}
	fn, pub = f.starts(u.hi, u.phi)
	u.next, u.last = min(fn, pub), u.hi == len(f.funcs) && u.phi == len(f.publics)
	return u
}

// takeFuncs takes FUNC records into u, and returns where they end or are cut.
func (f *file) takeFuncs(u *unit) (end uint64) {
	text := 0
	for u.hi++; u.hi < len(f.funcs); u.hi++ {
		end, next := f.end(u.hi-1), &f.funcs[u.hi]
		if next.Addr >= end {
			return end
		}
		text += int(f.funcs[u.hi-1].Len)
		if text >= maxUnit && next.Addr > f.funcs[u.hi-1].Addr {
			u.cut = true
			return next.Addr
		}
	}
	return f.end(u.hi - 1)
}

// starts returns the addresses of a FUNC and a PUBLIC, or the greatest address.
func (f *file) starts(fn, pub int) (fnAddr, pubAddr uint64) {
	fnAddr, pubAddr = math.MaxUint64, math.MaxUint64
	if fn < len(f.funcs) {
		fnAddr = f.funcs[fn].Addr
	}
	if pub < len(f.publics) {
		pubAddr = f.publics[pub].Addr
	}
	return fnAddr, pubAddr
}

// batch has some units and their blocks.
type batch struct {
	units []unit
	made  []resolved // one for each unit
	bad   breakpad.Report
	err   error

	s    scratch
	buf  []byte      // memory of text, which must outlive the reads of s
	text []byte      // of all its functions, if it was read at once
	off  int64       // where text begins in the file
	part resolved    // a FUNC of a unit of several
	rows []contender // of a unit of several
}

// contender is a row that may have to give way to another.
type contender struct {
	claim
	row sym.Row
}

// fill takes the units that follow u, and returns the last one.
func (f *file) fill(b *batch, u unit) unit {
	b.units, b.bad, b.err = b.units[:0], breakpad.Report{}, nil
	text := 0
	for text < batchText && len(b.units) < batchUnits {
		next := f.after(u)
		if next.hi == next.lo && next.phi == next.plo {
			break
		}
		u = next
		b.units = append(b.units, u)
		for _, fn := range f.funcs[u.lo:u.hi] {
			text += int(fn.Len)
		}
	}
	return u
}

// work makes the blocks of a batch.
func (f *file) work(b *batch) {
	for len(b.made) < len(b.units) {
		b.made = append(b.made, resolved{})
	}
	f.stretch(b)
	for i, u := range b.units {
		if b.err = f.make(b, u, &b.made[i]); b.err != nil {
			return
		}
	}
}

// stretch reads the text of all units at once, if they are contiguous in the file.
func (f *file) stretch(b *batch) {
	from, to, sum := int64(math.MaxInt64), int64(0), int64(0)
	for _, u := range b.units {
		for _, fn := range f.funcs[u.lo:u.hi] {
			from, to, sum = min(from, fn.Off), max(to, fn.Off+int64(fn.Len)), sum+int64(fn.Len)
		}
	}
	b.text, b.off = nil, from
	if f.whole != nil || sum == 0 || to-from > 2*sum {
		return
	}
	var err error
	if b.buf, err = readInto(b.buf, f.src, from, int(to-from)); err == nil { // else reading one by one will tell
		b.text = b.buf
	}
}

// make makes the block of a unit. It ends with a hole, unless the next one
// begins there, or something reaches up to that.
func (f *file) make(b *batch, u unit, r *resolved) error {
	r.block.Reset()
	around := u.hi > u.lo && u.lo > 0 && f.end(u.lo-1) > f.funcs[u.lo].Addr
	if u.hi-u.lo == 1 && u.plo == u.phi && !around && !u.cut {
		if err := f.makePart(b, r, u.lo, &b.bad); err != nil {
			return err
		}
	} else {
		b.rows = b.rows[:0]
		join := func(i int, bad *breakpad.Report) error {
			err := f.makePart(b, &b.part, i, bad)
			if err == nil {
				b.join(&r.block, f.funcs[i].Off)
			}
			return err
		}
		if around { // and counted in the unit before
			err := f.reaching(u.lo-1, f.funcs[u.lo].Addr, func(i int) error { return join(i, nil) })
			if err != nil {
				return err
			}
		}
		for i := u.lo; i < u.hi; i++ {
			if err := join(i, &b.bad); err != nil {
				return err
			}
		}
		f.joinPublics(b, &r.block, u)
		f.settle(b, &r.block, u)
	}
	compact(&r.block)
	end := &r.block.Rows[len(r.block.Rows)-1]
	switch {
	case !u.last && end.Node < 0 && end.Addr == u.next:
		r.block.Rows = r.block.Rows[:len(r.block.Rows)-1]
	case u.last && end.Node >= 0 && reach(end.Addr) < math.MaxUint64:
		r.block.Rows = append(r.block.Rows, sym.Row{Addr: reach(end.Addr) + 1, Node: sym.Hole})
	}
	return nil
}

// makePart resolves FUNC i.
func (f *file) makePart(b *batch, r *resolved, i int, bad *breakpad.Report) error {
	fn := f.funcs[i]
	var text []byte
	if at := fn.Off - b.off; b.text != nil && at >= 0 && at+int64(fn.Len) <= int64(len(b.text)) {
		text = b.text[at : at+int64(fn.Len)]
	} else {
		var err error
		if text, err = f.text(&b.s, fn); err != nil {
			return err
		}
	}
	f.resolve(&b.s, r, fn, text, bad)
	return nil
}

// join adds the part to a block. Its rows wait to be settled.
func (b *batch) join(blk *sym.Block, off int64) {
	shift := int32(len(blk.Nodes))
	for _, n := range b.part.block.Nodes {
		if n.Parent >= 0 {
			n.Parent += shift
		}
		blk.Nodes = append(blk.Nodes, n)
	}
	for i, row := range b.part.block.Rows {
		if row.Node >= 0 {
			row.Node += shift
		}
		b.rows = append(b.rows, contender{claim{row.Addr, off, b.part.rank(i)}, row})
	}
}

func (f *file) joinPublics(b *batch, blk *sym.Block, u unit) {
	for _, p := range f.publics[u.plo:u.phi] {
		b.rows = append(b.rows, contender{claim{p.Addr, p.Off, rankPublic}, sym.Row{Addr: p.Addr, Node: int32(len(blk.Nodes))}})
		blk.Nodes = append(blk.Nodes, sym.Node{Parent: -1, Name: textOf(textPublic, p.Off), Entry: p.Addr})
	}
}

// settle keeps one row for each address of the unit.
func (f *file) settle(b *batch, blk *sym.Block, u unit) {
	slices.SortFunc(b.rows, func(a, b contender) int { return a.compare(b.claim) })
	for i, c := range b.rows {
		switch {
		case i+1 < len(b.rows) && b.rows[i+1].addr == c.addr:
		case u.lo < u.hi && c.addr < f.funcs[u.lo].Addr: // of the unit before
		case u.cut && c.addr >= u.next: // of the next unit
		default:
			blk.Rows = append(blk.Rows, c.row)
		}
	}
}

// compact removes rows that repeat the row before.
func compact(blk *sym.Block) {
	blk.Rows = slices.CompactFunc(blk.Rows, func(a, b sym.Row) bool {
		return a.Node == b.Node && a.File == b.File && a.Line == b.Line
	})
}

func (f *file) Blocks(opt object.BlockOptions, yield func(*sym.Block) error) error {
	var sum breakpad.Report
	deliver := func(b *batch) error {
		for i := range b.units {
			if b.err != nil {
				return b.err
			}
			if err := yield(&b.made[i].block); err != nil {
				return err
			}
		}
		sum.Merge(&b.bad)
		return nil
	}
	if err := f.emptyBlock(yield); err != nil {
		return err
	}
	var u unit
	start := func(b *batch) bool {
		u = f.fill(b, u)
		return len(b.units) > 0
	}
	if err := object.InOrder(opt.Workers, start, f.work, deliver, func() *batch { return new(batch) }); err != nil {
		return err
	}
	f.mu.Lock()
	f.inside = &sum
	f.mu.Unlock()
	return nil
}

// emptyBlock returns a block with the functions without size, which contain no address.
func (f *file) emptyBlock(yield func(*sym.Block) error) error {
	if len(f.empty) == 0 {
		return nil
	}
	var b sym.Block
	for _, e := range f.empty {
		b.Nodes = append(b.Nodes, sym.Node{Parent: -1, Name: textOf(textFunc, e.Off), Entry: e.Addr})
	}
	return yield(&b)
}
