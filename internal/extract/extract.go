package extract

import (
	"context"
	"errors"
	"math"
	"slices"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/symbfile"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// Input is the input and output of Extract.
type Input struct {
	Debug  *object.Object   // the debug information
	Code   *object.Object   // the binary, whose addresses are used; may be Debug
	Ranges *symbfile.Writer // nil: not requested
	Pads   *symbfile.Writer // nil: not requested

	Workers int         // goroutines that read the debug information
	Scratch bin.Scratch // stores data that does not fit into memory; nil: unlimited memory
}

// Extract writes the symbfiles. It does not close the Writers.
func Extract(ctx context.Context, in Input) error {
	x := &extractor{in: in, names: newTexts(in.Debug), base: in.Code.Info().LoadAddress}
	if in.Debug.Info().Kind == "symbfile" {
		x.base = 0 // its addresses are absolute
	}
	if in.Pads != nil {
		sets, err := newSets(in.Debug, in.Code)
		if err != nil {
			return err
		}
		x.pads = &padder{code: in.Code, info: in.Code.Info(), sets: sets, base: x.base, w: in.Pads, names: x.names}
	}
	blocks := 0
	err := in.Debug.Blocks(object.BlockOptions{Workers: in.Workers, Scratch: in.Scratch}, func(b *sym.Block) error {
		if blocks++; blocks%8 == 0 {
			in.Debug.Relax()
			in.Code.Relax()
		}
		return x.block(ctx, b)
	})
	if err == nil {
		err = x.end(math.MaxUint64)
	}
	if err == nil && x.pads != nil && x.functions > 0 && !x.pads.seen {
		err = fault.New(fault.Unsupported, "binary", "no function has code; return pads need the binary, not the debug file")
	}
	return err
}

// extractor builds trees from blocks.
type extractor struct {
	tree
	in    Input
	names *texts
	pads  *padder
	base  uint64 // difference between file addresses and relative ones
	nodes []int32
	chain []int32
	out   symbfile.Range

	functions int // number of trees written
}

// block processes the rows of a block. An open tree ends with the first of
// them.
func (x *extractor) block(ctx context.Context, b *sym.Block) error {
	if len(b.Rows) == 0 {
		return nil
	}
	if err := x.end(b.Rows[0].Addr); err != nil {
		return err
	}
	if x.names.full() { // no tree is open, so that no number is in use
		x.names.forget()
	}
	for i := range b.Rows {
		if i%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := x.row(b, &b.Rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// row extends the open tree by a row, or starts another one.
func (x *extractor) row(b *sym.Block, r *sym.Row) error {
	if r.Node < 0 {
		return x.end(r.Addr)
	}
	file, line := x.locate(b, r)
	same := x.common()
	if same > 0 && same == len(x.chain) && !x.records[x.open[same-1]].fits(file, line) {
		same-- // another range continues it
	}
	if same == 0 || max(len(x.records), len(x.rows)) >= maxRecords || r.Addr-x.records[0].start > maxSize/2 {
		if err := x.end(r.Addr); err != nil {
			return err
		}
		same = 0
	}
	x.pop(same, r.Addr)
	x.nodes = x.nodes[:same]
	for _, node := range x.chain[same:] {
		n := &b.Nodes[node]
		x.push(record{
			start: r.Addr, begins: n.Parent < 0 && n.Entry == r.Addr, name: x.names.name(n.Name),
			callFile: x.names.path(n.CallFile), callLine: n.CallLine,
		})
		x.nodes = append(x.nodes, node)
	}
	x.starts = append(x.starts, r.Addr)
	x.addRow(r.Addr, file, line)
	return nil
}

// locate sets chain to the nodes of a row, outermost first, and returns its
// position.
func (x *extractor) locate(b *sym.Block, r *sym.Row) (file, line uint32) {
	place, line := r.File, r.Line
	x.chain = x.chain[:0]
	for n := r.Node; n >= 0; n = b.Nodes[n].Parent {
		x.chain = append(x.chain, n)
	}
	slices.Reverse(x.chain)
	if len(x.chain) > maxDepth {
		n := &b.Nodes[x.chain[maxDepth]]
		place, line = n.CallFile, n.CallLine
		x.chain = x.chain[:maxDepth]
	}
	return x.names.path(place), line
}

// common returns the number of open records that also contain the next row.
func (x *extractor) common() int {
	n := 0
	for n < len(x.nodes) && n < len(x.chain) && x.nodes[n] == x.chain[n] {
		n++
	}
	return n
}

// end ends the open tree, if any, at an address, and writes it.
func (x *extractor) end(addr uint64) error {
	if len(x.open) == 0 {
		return nil
	}
	if start := x.records[0].start; addr-start > maxSize {
		addr = start + maxSize
	}
	x.pop(0, addr)
	x.nodes = x.nodes[:0]
	x.functions++
	x.sortRows()
	var err error
	if x.in.Ranges != nil {
		err = x.write(x.in.Ranges, x.base, x.names, &x.out)
	}
	if x.pads != nil {
		err = errors.Join(err, x.pads.tree(&x.tree))
	}
	x.reset()
	return err
}
