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
	"symbolon/internal/unpack"
)

// Open makes an index of a symbfile.
func Open(src bin.Source, in object.Input) (*object.Object, error) {
	v := &view{in: in}
	v.joined, v.stops = sync.OnceFunc(v.joinPieces), sync.OnceValue(v.findStops)
	budget := in.Budget
	before := budget.Heap
	if err := v.load(src, budget); err != nil {
		return nil, err
	}
	if err := v.read(budget); err != nil {
		return nil, err
	}
	v.held = budget.Heap - before
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

// load reads the file into memory.
func (v *view) load(src bin.Source, budget *unpack.Budget) error {
	size := src.Size()
	if size > maxSymbFile {
		return fault.New(fault.Unsupported, "symbfile", "size of %v is above the limit of %v", bin.Size(size), bin.Size(maxSymbFile))
	}
	if whole, ok := bin.Whole(src); ok {
		v.file = whole
		return nil
	}
	var err error
	if v.file, err = budget.Memory(int(size)); err != nil {
		return err
	}
	if n, err := src.ReadAt(v.file, 0); n < len(v.file) {
		return object.ReadFault(int64(n), err)
	}
	return nil
}

// arrayOf returns an empty array with memory for n elements without pointers.
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
func (v *view) makeIndex(budget *unpack.Budget) error {
	ranges, pads := 0, 0
	for at := 0; at < len(v.file); {
		r, p, next := symbfile.Count(v.file, at, at+relaxAfter)
		ranges, pads, at = ranges+r, pads+p, next
		v.in.Relax()
	}
	if ranges+pads > maxSymbRecords {
		return fault.New(fault.Unsupported, "symbfile", "%d ranges and return pads are above the limit of %d", ranges+pads, maxSymbRecords)
	}
	var err error
	if v.ranges, err = arrayOf[symbRange](budget, ranges); err == nil {
		v.pads, err = arrayOf[symbPad](budget, pads)
	}
	return err
}

// read goes through all records, and notes where they are.
func (v *view) read(budget *unpack.Budget) error {
	if err := v.makeIndex(budget); err != nil {
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

// use returns the place of a text of a record.
func (v *view) use(text []byte, at int64) symbPlace {
	v.used += int64(min(len(text), maxSymbText))
	return placeOf(at)
}

// useFile is use for a file; the empty name means no file.
func (v *view) useFile(name []byte, at int64) symbPlace {
	if len(name) == 0 {
		return symbPlace{}
	}
	return v.use(name, at)
}

func (v *view) addRange(r *symbfile.Reader, x *symbfile.Range, number int) {
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

func (v *view) addPad(r *symbfile.Reader, x *symbfile.Pad) error {
	frames := x.Frames
	if len(frames) == 0 {
		return nil
	}
	if left := len(frames) - maxSymbPad; left > 0 {
		v.found.Add("return pads cut off", fmt.Sprintf("return pad at %#x: its %d outermost frames are left out, as %d are read",
			x.VA, left, maxSymbPad))
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
func (v *view) leaveOut(at symbPlace, frames int) {
	list := symbfile.FramesAt(v.file, at.off())
	for range frames {
		list.Next()
	}
	if v.deep == nil {
		v.deep = map[symbPlace]symbfile.Frames{}
	}
	v.deep[at] = list
}
