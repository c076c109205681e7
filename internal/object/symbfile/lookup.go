package symbfile

import (
	"fmt"
	"sort"

	"symbolon/internal/sym"
)

// symbAround is the ranges around an address, by depth.
type symbAround struct {
	of [maxSymbDepth + 1][maxRivals]uint32
	n  [maxSymbDepth + 1]uint8
}

const (
	// symbStep is how many ranges there are between two stops.
	symbStep = 256
	// symbSparse is how many there are for each one that is noted in a stop.
	symbSparse = 16
)

// drop removes the ranges of a depth that end at an address or before it.
func (a *symbAround) drop(v *view, depth uint16, at uint64) {
	n := uint8(0)
	for _, i := range a.of[depth][:a.n[depth]] {
		if v.ranges[i].end > at {
			a.of[depth][n] = i
			n++
		}
	}
	a.n[depth] = n
}

// add takes a range that begins, unless there are too many.
func (a *symbAround) add(v *view, i uint32) bool {
	r := &v.ranges[i]
	a.drop(v, r.depth, r.va)
	n := a.n[r.depth]
	if n == maxRivals {
		return false
	}
	a.of[r.depth][n] = i
	a.n[r.depth]++
	return true
}

// best returns the range that counts among rivals: the shortest, then the first.
func (v *view) best(rivals []uint32) uint32 {
	best := rivals[0]
	for _, i := range rivals[1:] {
		if v.better(i, best) {
			best = i
		}
	}
	return best
}

func (v *view) better(a, b uint32) bool {
	x, y := &v.ranges[a], &v.ranges[b]
	if n, m := x.end-x.va, y.end-y.va; n != m {
		return n < m
	}
	return x.at.off() < y.at.off()
}

// omit counts a range that is omitted.
func (v *view) omit(i uint32) {
	r := &v.ranges[i]
	v.found.Add("ranges left out", fmt.Sprintf("range at %#x of the file, of %#x: more than %d of one depth are around the address",
		r.at.off(), r.va, maxRivals))
}

// findStops finds the stops. In all they note few ranges, however deep those are.
func (v *view) findStops() []symbStop {
	v.joined()
	var a symbAround
	stops, root, last, look := []symbStop{}, int32(-1), 0, 0
	for i := range v.ranges {
		r := &v.ranges[i]
		if i == look {
			look += symbStep
			if list := a.list(v, r.va); i == 0 || len(list)*symbSparse <= i-last {
				stops, last = append(stops, symbStop{next: uint32(i), root: root, around: list}), i
			}
		}
		if r.depth == 0 {
			root = int32(i)
		}
		if !a.add(v, uint32(i)) {
			v.omit(uint32(i))
		}
	}
	v.in.Relax()
	return stops
}

// list returns all ranges around an address.
func (a *symbAround) list(v *view, at uint64) (list []uint32) {
	for depth := range uint16(len(a.n)) {
		a.drop(v, depth, at)
		list = append(list, a.of[depth][:a.n[depth]]...)
	}
	return list
}

// stopBefore returns the last stop before which all ranges begin at or before an
// address, or nil.
func (v *view) stopBefore(addr uint64) *symbStop {
	stops := v.stops()
	i := sort.Search(len(stops), func(i int) bool { return v.ranges[stops[i].next].va > addr })
	if i == 0 {
		return nil
	}
	return &stops[i-1]
}

// chain appends the ranges that count at an address, outermost first.
func (v *view) chain(dst []uint32, addr uint64) []uint32 {
	stop := v.stopBefore(addr)
	if stop == nil {
		return dst
	}
	var a symbAround
	for _, i := range stop.around {
		d := v.ranges[i].depth
		a.of[d][a.n[d]] = i
		a.n[d]++
	}
	for i := int(stop.next); i < len(v.ranges) && v.ranges[i].va <= addr; i++ {
		a.add(v, uint32(i))
	}
	for depth := range uint16(len(a.n)) {
		a.drop(v, depth, addr)
		if a.n[depth] == 0 {
			break
		}
		dst = append(dst, v.best(a.of[depth][:a.n[depth]]))
	}
	return dst
}

func (v *view) Lookup(dst []sym.Frame, addr uint64) []sym.Frame {
	var room [16]uint32
	chain := v.chain(room[:0], addr)
	if len(chain) == 0 {
		if p := v.padBefore(addr); p != nil && p.va == addr {
			return v.padFrames(dst, p)
		}
		return dst
	}
	entry, size := v.function(chain[0])
	inner := chain[len(chain)-1]
	r := &v.ranges[inner]
	file, line := r.file.text(), v.lineAt(inner, addr-r.va)
	for d := len(chain) - 1; d >= 0; d-- {
		r := &v.ranges[chain[d]]
		dst = append(dst, sym.Frame{Func: r.name.text(), File: file, Line: line, Entry: entry, Size: size, Inlined: d > 0})
		if d > 0 {
			file, line = r.place(&v.ranges[chain[d-1]]), r.callLine
		}
	}
	return dst
}

// padBefore returns the last pad at or before an address.
func (v *view) padBefore(addr uint64) *symbPad {
	i := sort.Search(len(v.pads), func(i int) bool { return v.pads[i].va > addr })
	if i == 0 {
		return nil
	}
	return &v.pads[i-1]
}

func (v *view) padFrames(dst []sym.Frame, p *symbPad) []sym.Frame {
	var room [16]symbFrame
	frames := v.frames(room[:0], p)
	for i := len(frames) - 1; i >= 0; i-- {
		f := &frames[i]
		dst = append(dst, sym.Frame{Func: f.name, File: f.file, Line: f.line, Entry: p.va, Size: 1, Inlined: i > 0})
	}
	return dst
}

// Nearest takes a function for known even if others hide all of it.
func (v *view) Nearest(addr uint64) (found sym.Frame, ok bool) {
	if i := v.rootBefore(addr); i >= 0 {
		// A piece of another function may begin where the last one of this does.
		i = v.rootAt(v.ranges[i].va)
		if entry, _ := v.function(uint32(i)); entry < v.ranges[i].va {
			i = v.rootAt(entry)
		}
		entry, size := v.function(uint32(i))
		found, ok = sym.Frame{Func: v.ranges[i].name.text(), Entry: entry, Size: size}, true
	}
	p := v.padBefore(addr)
	if p == nil || ok && p.va <= found.Entry {
		return found, ok
	}
	// If a range is around the last pad one is around all that are after found.
	var room [16]uint32
	if len(v.chain(room[:0], p.va)) > 0 {
		return found, ok
	}
	var frames [16]symbFrame
	return sym.Frame{Func: v.frames(frames[:0], p)[0].name, Entry: p.va, Size: 1}, true
}

// rootBefore returns the last range of depth 0 that begins at an address or before it, or
// -1.
func (v *view) rootBefore(addr uint64) int {
	stop := v.stopBefore(addr)
	if stop == nil {
		return -1
	}
	i := sort.Search(len(v.ranges), func(i int) bool { return v.ranges[i].va > addr }) - 1
	for ; i >= int(stop.next); i-- {
		if v.ranges[i].depth == 0 {
			return i
		}
	}
	return int(stop.root)
}

// rootAt returns the range of depth 0 to use of those that begin at an address, of which
// there is at least one: that of a function that begins there, if there is one.
func (v *view) rootAt(addr uint64) int {
	i := sort.Search(len(v.ranges), func(i int) bool { return v.ranges[i].va >= addr })
	best := i
	for k := i + 1; k < min(i+maxRivals, len(v.ranges)) && v.ranges[k].va == addr && v.ranges[k].depth == 0; k++ {
		if int(v.ranges[best].piece) < best || v.better(uint32(k), uint32(best)) {
			best = k
		}
	}
	return best
}
