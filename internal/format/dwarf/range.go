package dwarf

import (
	"cmp"
	"slices"
)

// Range is a range of addresses. End is the first address after it.
type Range struct{ Start, End uint64 }

// Entries of range lists.
const (
	rleEnd, rleBaseAddressx, rleStartxEndx, rleStartxLength    = 0, 1, 2, 3
	rleOffsetPair, rleBaseAddress, rleStartEnd, rleStartLength = 4, 5, 6, 7
)

// view is a unit with the context to decode its addresses. For a split unit,
// that is in the file of its skeleton.
type view struct {
	d        *Data
	u        *Unit
	main     *Data // = d, or the file of the skeleton
	skel     *Unit // = u, or the skeleton
	b        []byte
	budget   int  // limit of further bytes of range lists
	exceeded bool // the limit was reached
	broken   bool // a list is damaged
}

func (d *Data) view(u *Unit) view {
	return view{d: d, u: u, main: d, skel: u, b: d.info(u)[:u.End]}
}

// mask returns the largest address of the unit.
func (v *view) mask() uint64 { return 1<<(8*v.u.l.addr) - 1 }

// dead reports whether a marks code that the linker dropped: it is the largest
// address or the one before it.
func (v *view) dead(a uint64) bool { return a >= v.mask()-1 }

// add appends a range unless it is invalid or of dropped code. If a length
// wraps around, the end is less than the start.
func (v *view) add(dst []Range, start, end uint64) []Range {
	if start >= end || end > v.mask() || v.dead(start) || start == 0 && !v.main.s.Relocatable {
		return dst
	}
	return append(dst, Range{start, end})
}

// address returns the address with an index in .debug_addr.
func (v *view) address(i uint64) (uint64, bool) {
	size, b := uint64(v.skel.l.addr), v.main.s.Addr
	if v.skel.addrBase > uint64(len(b)) || i >= (uint64(len(b))-v.skel.addrBase)/size {
		return 0, false
	}
	return v.main.uint(b, int(v.skel.addrBase+i*size), int(size)), true
}

// addrValue returns the address of a value of this form, false if the form is
// not one of addresses.
func (v *view) addrValue(form uint8, value uint64) (uint64, bool) {
	switch form {
	case formAddr:
		return value, true
	case formAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4:
		return v.address(value)
	case formAddrxOffset:
		a, ok := v.address(value & (1<<32 - 1))
		return (a + value>>32) & v.mask(), ok
	}
	return 0, false
}

func isAddr(form uint8) bool {
	return form == formAddr || form == formAddrx || form >= formAddrx1 && form <= formAddrx4 || form == formAddrxOffset
}

// pair appends the range of DW_AT_low_pc and DW_AT_high_pc, which is an address
// or a length.
func (v *view) pair(dst []Range, lowForm uint8, low uint64, highForm uint8, high uint64) []Range {
	start, ok := v.addrValue(lowForm, low)
	if !ok {
		return dst
	}
	if isAddr(highForm) {
		if high, ok = v.addrValue(highForm, high); !ok {
			return dst
		}
		return v.add(dst, start, high)
	}
	return v.add(dst, start, start+high)
}

// list appends the ranges of DW_AT_ranges. A damaged list ends at the damage.
func (v *view) list(dst []Range, form uint8, value uint64) []Range {
	if form == formImplicit { // its list would not be charged to the DIE
		return dst
	}
	if v.u.Version < 5 {
		b := v.main.s.Ranges
		if v.d.s.Split {
			value += v.skel.rangesBase
		}
		if value >= uint64(len(b)) {
			v.broken = v.broken || len(b) > 0
			return dst
		}
		return v.oldList(dst, b, int(value))
	}
	b := v.d.s.Rnglists
	if form == formRnglistx {
		size := uint64(v.u.l.off)
		if v.u.rnglistsBase > uint64(len(b)) || value >= (uint64(len(b))-v.u.rnglistsBase)/size {
			v.broken = v.broken || len(b) > 0
			return dst
		}
		value = v.d.uint(b, int(v.u.rnglistsBase+value*size), int(size)) + v.u.rnglistsBase
	} else {
		value += v.u.rnglists
	}
	if value >= uint64(len(b)) {
		v.broken = v.broken || len(b) > 0
		return dst
	}
	return v.newList(dst, b, int(value))
}

// charge takes n bytes of range lists from the limit of the unit.
func (v *view) charge(n int) bool {
	if v.budget < n {
		v.exceeded = true
		return false
	}
	v.budget -= n
	return true
}

// oldList reads a list of .debug_ranges at p.
func (v *view) oldList(dst []Range, b []byte, p int) []Range {
	size, base := int(v.u.l.addr), v.skel.lowPC
	var start, end uint64
	for v.charge(2 * size) {
		start, p = v.main.number(b, p, size)
		if end, p = v.main.number(b, p, size); p < 0 || start == 0 && end == 0 {
			v.broken = v.broken || p < 0
			break
		}
		switch {
		case start == v.mask():
			base = end
		case v.dead(base):
		default:
			dst = v.add(dst, (base+start)&v.mask(), (base+end)&v.mask())
		}
	}
	return dst
}

// newList reads a list of .debug_rnglists at p.
func (v *view) newList(dst []Range, b []byte, p int) []Range {
	size, base := int(v.u.l.addr), v.skel.lowPC
	for {
		if p >= len(b) || b[p] > rleStartLength {
			v.broken = true
			return dst
		}
		if b[p] == rleEnd {
			return dst
		}
		var x, y uint64
		from, kind := p, b[p]
		p++
		switch kind {
		case rleBaseAddress, rleStartEnd, rleStartLength:
			x, p = v.d.number(b, p, size)
		default:
			x, p = uleb(b, p)
		}
		switch kind {
		case rleBaseAddress, rleBaseAddressx:
		case rleStartEnd:
			y, p = v.d.number(b, p, size)
		default:
			y, p = uleb(b, p)
		}
		if p < 0 {
			v.broken = true
			return dst
		}
		if !v.charge(p - from) {
			return dst
		}
		okX, okY := true, true
		switch kind {
		case rleBaseAddressx, rleStartxEndx, rleStartxLength:
			x, okX = v.address(x)
		}
		if kind == rleStartxEndx {
			y, okY = v.address(y)
		}
		switch {
		case kind == rleBaseAddressx && !okX:
			base = v.mask() // its pairs are dropped
		case !okX || !okY || kind == rleOffsetPair && v.dead(base):
		case kind == rleBaseAddressx || kind == rleBaseAddress:
			base = x
		case kind == rleOffsetPair:
			dst = v.add(dst, (base+x)&v.mask(), (base+y)&v.mask())
		case kind == rleStartEnd || kind == rleStartxEndx:
			dst = v.add(dst, x, y)
		default:
			dst = v.add(dst, x, x+y)
		}
	}
}

// merge sorts ranges and merges adjacent and overlapping ones.
func merge(r []Range) []Range {
	byStart := func(a, b Range) int { return cmp.Compare(a.Start, b.Start) }
	if !slices.IsSortedFunc(r, byStart) {
		slices.SortFunc(r, byStart)
	}
	n := 0
	for _, x := range r {
		if n > 0 && x.Start <= r[n-1].End {
			r[n-1].End = max(r[n-1].End, x.End)
		} else {
			r[n] = x
			n++
		}
	}
	return r[:n]
}
