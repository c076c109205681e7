package symbfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"unsafe"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/symbfile"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/unpack"
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

// symbfiles is an open symbfile. Lines, frames and texts stay in the file.
type symbfiles struct {
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

// maxSymbDepth is how deep ranges are nested in what is read. Those that are
// deeper are left out.
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
	// maxSymbUse bounds the text of all names of ranges, each time when one is used,
	// by the bytes of the file: in a file a string stands once.
	maxSymbUse = 256
	// maxPadText bounds the text of one pad, likewise.
	maxPadText = 4 << 20
	// relaxAfter is after how many bytes of the file its pages are released.
	relaxAfter = 16 << 20
)

// Open makes an index of a symbfile.
func Open(src bin.Source, in object.Input) (*object.Object, error) {
	v := &symbfiles{in: in}
	v.joined, v.stops = sync.OnceFunc(v.joinPieces), sync.OnceValue(v.findStops)
	room := in.Room
	before := room.Heap
	if err := v.load(src, room); err != nil {
		return nil, err
	}
	if err := v.read(room); err != nil {
		return nil, err
	}
	v.held = room.Heap - before
	slices.SortFunc(v.ranges, func(a, b symbRange) int {
		return cmp.Or(cmp.Compare(a.va, b.va), cmp.Compare(a.depth, b.depth), cmp.Compare(a.at.off(), b.at.off()))
	})
	slices.SortFunc(v.pads, func(a, b symbPad) int { return cmp.Or(cmp.Compare(a.va, b.va), cmp.Compare(a.at.off(), b.at.off())) })
	v.pads = slices.CompactFunc(v.pads, func(a, b symbPad) bool { return a.va == b.va })
	info := object.Info{Kind: "symbfile", Type: "dbg"}
	if len(v.ranges)+len(v.pads) > 0 {
		info.Features |= object.HasDebug
	}
	in.Relax()
	return object.New(info, v, in), nil
}

// load has the file in memory.
func (v *symbfiles) load(src bin.Source, room *unpack.Budget) error {
	size := src.Size()
	if size > maxSymbFile {
		return fault.New(fault.Unsupported, "symbfile", "it has %v, which is more than the %v that are read", bin.Size(size), bin.Size(maxSymbFile))
	}
	if whole, ok := bin.Whole(src); ok {
		v.file = whole
		return nil
	}
	var err error
	if v.file, err = room.Memory(int(size)); err != nil {
		return err
	}
	if n, err := src.ReadAt(v.file, 0); n < len(v.file) {
		return object.ReadFault(int64(n), err)
	}
	return nil
}

// arrayOf is an empty array with memory for n of what has no pointers.
func arrayOf[T any](r *unpack.Budget, n int) ([]T, error) {
	if n == 0 {
		return nil, nil
	}
	b, err := r.Memory(n * int(unsafe.Sizeof(*new(T))))
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)[:0], nil
}

// makeIndex makes the index as long as it will be.
func (v *symbfiles) makeIndex(room *unpack.Budget) error {
	ranges, pads := 0, 0
	for at := 0; at < len(v.file); {
		r, p, next := symbfile.Count(v.file, at, at+relaxAfter)
		ranges, pads, at = ranges+r, pads+p, next
		v.in.Relax()
	}
	if ranges+pads > maxSymbRecords {
		return fault.New(fault.Unsupported, "symbfile", "it has %d ranges and return pads, which is more than the %d that are read", ranges+pads, maxSymbRecords)
	}
	var err error
	if v.ranges, err = arrayOf[symbRange](room, ranges); err == nil {
		v.pads, err = arrayOf[symbPad](room, pads)
	}
	return err
}

// read goes through all records, and notes where they are.
func (v *symbfiles) read(room *unpack.Budget) error {
	if err := v.makeIndex(room); err != nil {
		return err
	}
	most := maxSymbUse*int64(len(v.file)) + 1<<28
	r := symbfile.NewReader(&relaxing{Reader: bytes.NewReader(v.file), in: &v.in})
	for taken := 0; ; taken++ {
		rec, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err == nil && rec.Range != nil:
			v.addRange(r, rec.Range, taken)
		case err == nil:
			err = v.addPad(r, rec.Pad)
		}
		switch {
		case err != nil:
			return err
		case v.used > most:
			return fault.New(fault.Unsupported, "symbfile", "its names are too long for how often they are used")
		}
	}
}

// relaxing releases pages while it is read.
type relaxing struct {
	*bytes.Reader
	in *object.Input
	n  int
}

func (r *relaxing) Read(p []byte) (n int, err error) {
	if r.n > relaxAfter {
		r.n = 0
		r.in.Relax()
	}
	n, err = r.Reader.Read(p)
	r.n += n
	return n, err
}

// use is the place of a text that a record has.
func (v *symbfiles) use(text []byte, at int64) symbPlace {
	v.used += int64(min(len(text), maxSymbText))
	return placeOf(at)
}

// useFile is use for a file; the empty name means no file.
func (v *symbfiles) useFile(name []byte, at int64) symbPlace {
	if len(name) == 0 {
		return symbPlace{}
	}
	return v.use(name, at)
}

func (v *symbfiles) addRange(r *symbfile.Reader, x *symbfile.Range, number int) {
	if x.Length == 0 || x.Depth > maxSymbDepth {
		v.found.Add("ranges left out", fmt.Sprintf("record %d, at %#x: it is empty, or deeper than %d", number, x.VA, maxSymbDepth))
		return
	}
	at := r.Texts()
	s := symbRange{
		va: x.VA, end: x.VA + x.Length, name: v.use(x.Func, at.Func), file: v.useFile(x.File, at.File),
		callFile: v.useFile(x.CallFile, at.CallFile), callLine: x.CallLine,
		at: placeOf(r.Offset()), depth: uint16(x.Depth), own: x.CallFile != nil,
	}
	if s.end < s.va {
		s.end = math.MaxUint64
	}
	v.ranges = append(v.ranges, s)
}

func (v *symbfiles) addPad(r *symbfile.Reader, x *symbfile.Pad) error {
	frames := x.Frames
	if len(frames) == 0 {
		return nil
	}
	if left := len(frames) - maxSymbPad; left > 0 {
		v.found.Add("return pads cut off", fmt.Sprintf("return pad at %#x: its %d outermost frames are left out, as %d are read", x.VA, left, maxSymbPad))
		frames = frames[left:]
		v.leaveOut(placeOf(r.Offset()), left)
	}
	text := 0
	for _, f := range frames {
		text += len(f.Func) + len(f.File)
	}
	if text > maxPadText {
		return fault.New(fault.Unsupported, "symbfile", "the names in the return pad at %#x are longer than %v", x.VA, bin.Size(maxPadText))
	}
	table, err := v.tables.Add(r)
	v.pads = append(v.pads, symbPad{va: x.VA, at: placeOf(r.Offset()), table: table})
	return err
}

// leaveOut leaves the first frames of the pad at a place out.
func (v *symbfiles) leaveOut(at symbPlace, frames int) {
	list := symbfile.FramesAt(v.file, at.off())
	for range frames {
		list.Next()
	}
	if v.deep == nil {
		v.deep = map[symbPlace]symbfile.Frames{}
	}
	v.deep[at] = list
}

// frames appends the frames of a pad to dst, outermost first.
func (v *symbfiles) frames(dst []symbFrame, p *symbPad) []symbFrame {
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

// joinPieces finds the functions that were written in several ranges, one after
// the other.
func (v *symbfiles) joinPieces() {
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

func (v *symbfiles) sameName(a, b sym.Text) bool {
	return a == b || bytes.Equal(v.text(a), v.text(b))
}

// function is where the function of a range of depth 0 begins, and its size.
func (v *symbfiles) function(i uint32) (entry, size uint64) {
	first := &v.ranges[min(i, v.ranges[i].piece)]
	return first.va, v.ranges[first.piece].end - first.va
}

// place is the file of a call, seen from the range around it.
func (r *symbRange) place(around *symbRange) sym.Text {
	if r.own {
		return r.callFile.text()
	}
	return around.file.text()
}

// Rebase subtracts base from all addresses and drops those below it.
func (v *symbfiles) Rebase(base uint64) {
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

// text is a text without what is cut off.
func (v *symbfiles) text(t sym.Text) []byte {
	if t == 0 || t >= sym.Text(len(v.file)) {
		return nil
	}
	text := symbfile.Text(v.file, int64(t))
	return text[:min(len(text), maxSymbText)]
}

func (v *symbfiles) AppendText(dst []byte, t sym.Text) []byte {
	return append(dst, v.text(t)...)
}

// Describe counts the stops as memory too: there are fewer than ranges.
func (v *symbfiles) Describe(info *object.Info) int64 {
	v.found.Describe(info)
	for i := range v.ranges {
		if v.ranges[i].depth == 0 {
			info.Counts.Functions++
		}
	}
	return v.held + v.tables.Footprint() + int64(len(v.ranges))
}
