package symbfile

import (
	"bytes"
	"math"
	"slices"
	"sync"

	"symbolon/internal/format/symbfile"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// symbPlace is an offset in a symbfile, in little endian.
type symbPlace [5]byte

func placeOf(at int64) symbPlace {
	return symbPlace{byte(at), byte(at >> 8), byte(at >> 16), byte(at >> 24), byte(at >> 32)}
}

func (p *symbPlace) off() int64 {
	return int64(p[0]) | int64(p[1])<<8 | int64(p[2])<<16 | int64(p[3])<<24 | int64(p[4])<<32
}

// text returns the handle of the text at the place; 0: no text.
func (p *symbPlace) text() sym.Text { return sym.Text(p.off()) }

// symbRange is a range of a symbfile.
type symbRange struct {
	va, end  uint64
	callLine uint32
	piece    uint32 // of ranges: for the first piece of a function the last, for others the first
	at       symbPlace
	name     symbPlace
	file     symbPlace
	callFile symbPlace
	own      bool // callFile is written; else it is the caller's file
	depth    uint16
}

// symbPad is a return pad.
type symbPad struct {
	va    uint64
	table uint32 // that has its strings
	at    symbPlace
}

// symbFrame is a frame of a pad.
type symbFrame struct {
	name, file sym.Text
	line       uint32
}

// view is an open symbfile. Lines, frames and texts stay in the file.
type view struct {
	in     object.Input
	file   []byte
	ranges []symbRange                   // by address, depth and place
	pads   []symbPad                     // by address, one at each
	deep   map[symbPlace]symbfile.Frames // of pads with too many frames: those that count
	tables symbfile.Tables
	used   int64 // text of all names of ranges
	held   int64 // bytes of the heap
	found  object.Findings
	long   symbLong
	joined func()
	stops  func() []symbStop
}

// maxSymbDepth is the largest depth of nested ranges that is read. Those that are deeper
// are left out.
const maxSymbDepth = 256

const (
	// maxSymbFile is how large a file may be: places in it have 40 bits.
	maxSymbFile = int64(min(1<<40-1, math.MaxInt))
	// maxSymbRecords bounds the index, which takes 48 bytes for a range and 24 for
	// a pad.
	maxSymbRecords = 32 << 20
	// maxSymbText is where names are cut off.
	maxSymbText = 1 << 20
	// maxSymbPad is how many frames of a return pad are read, the innermost ones.
	maxSymbPad = 4096
	// maxSymbUse bounds the text of all names of ranges, each time when one is used, by
	// the bytes of the file: a file has each string once.
	maxSymbUse = 256
	// maxPadText bounds the text of one pad, likewise.
	maxPadText = 4 << 20
	// relaxAfter is after how many bytes of the file its pages are released.
	relaxAfter = 16 << 20
)

// frames appends the frames of a pad to dst, outermost first.
func (v *view) frames(dst []symbFrame, p *symbPad) []symbFrame {
	list, deep := v.deep[p.at]
	if !deep {
		list = symbfile.FramesAt(v.file, p.at.off())
	}
	for range maxSymbPad {
		name, file, line, ok := list.Next()
		if !ok {
			break
		}
		f := symbFrame{name: sym.Text(v.tables.Place(v.file, p.table, name)), line: line}
		if at := v.tables.Place(v.file, p.table, file); len(symbfile.Text(v.file, at)) > 0 {
			f.file = sym.Text(at)
		}
		dst = append(dst, f)
	}
	return dst
}

// joinPieces finds the functions that were written as several consecutive ranges.
func (v *view) joinPieces() {
	first, last := -1, -1 // of the function
	for i := range v.ranges {
		r := &v.ranges[i]
		if r.depth > 0 {
			continue
		}
		if first < 0 || v.ranges[last].end != r.va || !v.sameName(v.ranges[last].name.text(), r.name.text()) {
			first = i
		}
		last = i
		r.piece, v.ranges[first].piece = uint32(first), uint32(last)
	}
}

func (v *view) sameName(a, b sym.Text) bool {
	return a == b || bytes.Equal(v.text(a), v.text(b))
}

// function returns the start and the size of the function of a range of depth 0.
func (v *view) function(i uint32) (entry, size uint64) {
	first := &v.ranges[min(i, v.ranges[i].piece)]
	return first.va, v.ranges[first.piece].end - first.va
}

// place returns the file of a call, for the range around it.
func (r *symbRange) place(around *symbRange) sym.Text {
	if r.own {
		return r.callFile.text()
	}
	return around.file.text()
}

// Rebase subtracts base from all addresses and drops those below it.
func (v *view) Rebase(base uint64) {
	v.ranges = slices.DeleteFunc(v.ranges, func(r symbRange) bool { return r.va < base })
	v.pads = slices.DeleteFunc(v.pads, func(p symbPad) bool { return p.va < base })
	for i := range v.ranges {
		v.ranges[i].va -= base
		v.ranges[i].end -= base
	}
	for i := range v.pads {
		v.pads[i].va -= base
	}
}

// text returns a text truncated to its limit.
func (v *view) text(t sym.Text) []byte {
	if t == 0 || t >= sym.Text(len(v.file)) {
		return nil
	}
	text := symbfile.Text(v.file, int64(t))
	return text[:min(len(text), maxSymbText)]
}

func (v *view) AppendText(dst []byte, t sym.Text) []byte {
	return append(dst, v.text(t)...)
}

// Describe counts the stops as memory too: there are fewer than ranges.
func (v *view) Describe(info *object.Info) int64 {
	v.found.Describe(info)
	for i := range v.ranges {
		if v.ranges[i].depth == 0 {
			info.Counts.Functions++
		}
	}
	return v.held + v.tables.Footprint() + int64(len(v.ranges))
}

const (
	// maxRivals is how many ranges of one depth are held at one address. One is
	// all that a sound file has.
	maxRivals = 8
	// maxSymbRows is from how many rows or nodes on a block ends where a function
	// does, and fullSymbRows where it ends at any row.
	maxSymbRows  = 4096
	fullSymbRows = 64 << 10
)

// symbStop is where a search for the ranges around an address may begin.
type symbStop struct {
	next   uint32   // the first range that is not in around
	root   int32    // the last one of depth 0 before it, -1: none
	around []uint32 // those that reach to it
}

// symbRows is the lines of a range that were not passed so far.
type symbRows struct {
	lines symbfile.Lines
	ahead symbfile.Line
	more  bool   // there is ahead
	line  uint32 // in front of it
}

// symbLong remembers places among the lines of one range that has many: a request for one
// of its addresses is often followed by requests for others.
type symbLong struct {
	mu    sync.Mutex
	index uint32
	marks []symbRows
}
