package object

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"sync"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/symbfile"
	"symbolon/internal/sym"
)

// symbRange is a range of a symbfile. Texts are handles.
type symbRange struct {
	va, end        uint64
	entry, size    uint64 // of the function, if depth is 0
	name, file     uint32
	callFile       uint32
	callLine       uint32
	depth          uint16
	own            bool // callFile is written; else it is the caller's file
	order          uint32
	lines, endLine uint32 // of the lines
}

type symbPad struct {
	va           uint64
	from, frames uint32
}

type symbFrame struct{ name, file, line uint32 }

// symbfiles is an open symbfile.
type symbfiles struct {
	ranges  []symbRange
	lines   []symbfile.Line // from the start of the range
	pads    []symbPad
	frames  []symbFrame
	text    []byte
	ends    []uint32 // of each text
	taken   uint32   // ranges of the file
	damaged problems
	flat    func() *sym.Block
	roots   func() []sym.Node
}

// maxSymbDepth is how deep ranges are nested in what is read. Those that are
// deeper are left out.
const maxSymbDepth = 256

const (
	// maxSymbMessage is how many strings, frames or lines one message adds at most.
	maxSymbMessage = 16 << 20
	// maxSymbText is where names are cut off.
	maxSymbText = 1 << 20
	// maxSymbPad is how many frames of a return pad are read.
	maxSymbPad = 4096
	// maxSymbUse bounds the text of all names, each time when one is used, by the
	// bytes of the file: in a file a string stands once.
	maxSymbUse = 256
)

// openSymbfile reads a symbfile.
func openSymbfile(src bin.Source) (*Object, error) {
	v := &symbfiles{ends: []uint32{0}}
	v.flat, v.roots = sync.OnceValue(v.flatten), sync.OnceValue(v.findRoots)
	if err := v.read(src); err != nil {
		return nil, err
	}
	slices.SortFunc(v.ranges, func(a, b symbRange) int {
		return cmp.Or(cmp.Compare(a.va, b.va), cmp.Compare(a.depth, b.depth), cmp.Compare(a.order, b.order))
	})
	v.joinPieces()
	slices.SortStableFunc(v.pads, func(a, b symbPad) int { return cmp.Compare(a.va, b.va) })
	v.pads = slices.CompactFunc(v.pads, func(a, b symbPad) bool { return a.va == b.va })
	info := Info{Kind: kindNames[kindSymbfile], Type: "dbg"}
	if len(v.ranges)+len(v.pads) > 0 {
		info.Features |= HasDebug
	}
	return &Object{info: info, view: v}, nil
}

// read takes all records.
func (v *symbfiles) read(src bin.Source) error {
	known, used, most := map[string]uint32{}, int64(0), maxSymbUse*src.Size()+1<<28
	number := func(text []byte) uint32 {
		if text == nil {
			return 0
		}
		text = text[:min(len(text), maxSymbText)]
		if used += int64(len(text)); used > most {
			return 0 // the file is refused
		}
		id, ok := known[string(text)]
		if !ok {
			v.text = append(v.text, text...)
			v.ends = append(v.ends, uint32(len(v.text)))
			id = uint32(len(v.ends) - 1)
			known[string(text)] = id
		}
		return id
	}
	r := symbfile.NewReader(io.NewSectionReader(src, 0, src.Size()))
	for {
		rec, err := r.Next()
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case used > most:
			return fault.New(fault.Unsupported, "symbfile", "its names are too long for how often they are used")
		case err != nil:
			return nil
		case uint64(max(len(v.text), len(v.lines), len(v.frames), len(v.ranges))) > math.MaxUint32-maxSymbMessage:
			return fault.New(fault.Unsupported, "symbfile", "more than 4 GiB of text, or as many records")
		case rec.Range != nil:
			v.addRange(rec.Range, number)
		case len(rec.Pad.Frames) > 0:
			frames := rec.Pad.Frames
			if len(frames) > maxSymbPad {
				v.damaged.add("return pads cut off", fmt.Sprintf("return pad at %#x: it has more than %d frames", rec.Pad.VA, maxSymbPad))
				frames = frames[:maxSymbPad]
			}
			v.pads = append(v.pads, symbPad{rec.Pad.VA, uint32(len(v.frames)), uint32(len(frames))})
			for _, f := range frames {
				v.frames = append(v.frames, symbFrame{number(f.Func), number(file(f.File)), f.Line})
			}
		}
	}
}

// file is nil for the empty name, which stands for no file.
func file(name []byte) []byte {
	if len(name) == 0 {
		return nil
	}
	return name
}

func (v *symbfiles) addRange(r *symbfile.Range, number func([]byte) uint32) {
	v.taken++
	if r.Length == 0 || r.Depth > maxSymbDepth {
		v.damaged.add("ranges left out", fmt.Sprintf("range %d, at %#x: it is empty, or deeper than %d", v.taken-1, r.VA, maxSymbDepth))
		return
	}
	s := symbRange{
		va: r.VA, end: r.VA + r.Length, name: number(r.Func), file: number(file(r.File)), callFile: number(file(r.CallFile)), callLine: r.CallLine,
		depth: uint16(r.Depth), own: r.CallFile != nil, order: v.taken - 1, lines: uint32(len(v.lines)),
	}
	if s.end < s.va {
		s.end = math.MaxUint64
	}
	v.lines = append(v.lines, r.Lines...)
	s.endLine = uint32(len(v.lines))
	v.ranges = append(v.ranges, s)
}

// joinPieces finds the functions that were written in several ranges, one behind
// the other.
func (v *symbfiles) joinPieces() {
	first, last := -1, -1 // of the function
	end := func() {
		for i := first; i >= 0 && i <= last; i++ {
			if r := &v.ranges[i]; r.depth == 0 {
				r.entry, r.size = v.ranges[first].va, v.ranges[last].end-v.ranges[first].va
			}
		}
	}
	for i := range v.ranges {
		r := &v.ranges[i]
		switch {
		case r.depth > 0:
			continue
		case first < 0 || v.ranges[last].end != r.va || v.ranges[last].name != r.name:
			end()
			first = i
		}
		last = i
	}
	end()
}

// place is the file of a call, seen from the range around it.
func (r *symbRange) place(around *symbRange) uint32 {
	if r.own {
		return r.callFile
	}
	return around.file
}

// Rebase makes addresses relative to base in a file that does not know what its
// addresses count from. It must come before the first question.
func (o *Object) Rebase(base uint64) {
	v, ok := o.view.(*symbfiles)
	if !ok {
		return
	}
	o.info.LoadAddress = base
	v.ranges = slices.DeleteFunc(v.ranges, func(r symbRange) bool { return r.va < base })
	v.pads = slices.DeleteFunc(v.pads, func(p symbPad) bool { return p.va < base })
	for i := range v.ranges {
		r := &v.ranges[i]
		if r.va, r.end = r.va-base, r.end-base; r.depth == 0 {
			r.entry -= base
		}
	}
	for i := range v.pads {
		v.pads[i].va -= base
	}
}

func (v *symbfiles) appendText(dst []byte, t sym.Text) []byte {
	if t == 0 || int(t) >= len(v.ends) {
		return dst
	}
	return append(dst, v.text[v.ends[t-1]:v.ends[t]]...)
}

// flatten is all blocks in one.
func (v *symbfiles) flatten() *sym.Block {
	all := &sym.Block{}
	_ = v.blocks(BlockOptions{}, func(b *sym.Block) error { // never fails
		shift := int32(len(all.Nodes))
		for _, n := range b.Nodes {
			if n.Parent >= 0 {
				n.Parent += shift
			}
			all.Nodes = append(all.Nodes, n)
		}
		for _, r := range b.Rows {
			if r.Node >= 0 {
				r.Node += shift
			}
			all.Rows = append(all.Rows, r)
		}
		return nil
	})
	return all
}

func (v *symbfiles) lookup(dst []sym.Frame, addr uint64) []sym.Frame {
	all := v.flat()
	i := sort.Search(len(all.Rows), func(i int) bool { return all.Rows[i].Addr > addr })
	if i == 0 {
		return dst
	}
	return all.Frames(dst, i-1)
}

func (v *symbfiles) nearest(addr uint64) (sym.Frame, bool) {
	roots := v.roots()
	i := sort.Search(len(roots), func(i int) bool { return roots[i].Entry > addr })
	if i == 0 {
		return sym.Frame{}, false
	}
	n := &roots[i-1]
	return sym.Frame{Func: n.Name, Entry: n.Entry, Size: n.Size}, true
}

// findRoots finds the functions, in the order of their starts.
func (v *symbfiles) findRoots() (roots []sym.Node) {
	for _, n := range v.flat().Nodes {
		if n.Parent < 0 {
			roots = append(roots, n)
		}
	}
	slices.SortStableFunc(roots, func(a, b sym.Node) int { return cmp.Compare(a.Entry, b.Entry) })
	return roots
}

func (v *symbfiles) blocks(_ BlockOptions, yield func(*sym.Block) error) error {
	f := flattener{symbfiles: v, yield: yield, room: 8*len(v.ranges) + 1<<16}
	return f.run()
}

func (v *symbfiles) tell(info *Info) {
	v.damaged.mu.Lock()
	v.damaged.tell(info)
	v.damaged.mu.Unlock()
	for i := range v.ranges {
		if v.ranges[i].depth == 0 {
			info.Counts.Functions++
		}
	}
}

func (v *symbfiles) footprint() int64 {
	// A range is 64 bytes, and becomes a node, two rows and maybe a function.
	flat := int64(len(v.ranges))*(64+48+2*32+48) + int64(len(v.lines))*(16+32)
	return flat + int64(len(v.pads))*(16+2*32) + int64(len(v.frames))*(12+48) + int64(len(v.text)) + int64(len(v.ends))*4
}
