package dwarf

import (
	"slices"
	"sort"
	"sync"
)

// scope is a namespace or type with what is below it. Offsets are those in the
// unit.
type scope struct {
	start, end uint32
	parent     int32 // scope that it is in, or -1
	local      bool  // there is a function between it and its parent
}

// outline is what is needed to name the DIEs of a unit by their scope. A unit
// in which names were given without linkage name has one for a while.
type outline struct {
	t      *table
	scopes []scope
}

const (
	recentUnits  = 64       // whose outlines are kept
	maxBuilt     = 4        // times an outline is built before it is kept for good
	maxScopes    = 64       // one in the other
	maxNameWork  = 1024     // attributes that are read for one name
	maxScopeText = 64 << 10 // bytes, after which no further scope is added
	MaxSpelled   = 4 << 20  // bytes of names that a Data keeps spelled out
)

// spell keeps the texts of the names of the unit that need its scopes, while
// these are at hand: to find them again later is to walk again. What does not
// fit waits until it is asked for.
func (w *Walker) spell() {
	d := w.view.d
	own := outline{t: w.t, scopes: w.scopes}
	for _, n := range w.scoped {
		d.mu.Lock()
		_, known := d.spelled[n]
		full := d.spelledSize >= MaxSpelled
		d.mu.Unlock()
		if full || w.near.work < 0 {
			d.keepOutline(w.near.unit, w.makeOutline())
			return
		}
		if known {
			continue
		}
		near := near{d: d, unit: w.near.unit, t: w.t, own: &own, work: maxNameWork}
		w.text = near.appendName(w.text[:0], place{d, w.near.unit, n.off()})
		w.near.work += near.work - maxNameWork
		d.mu.Lock()
		d.spelled[n] = string(w.text)
		d.spelledSize += len(w.text) + 64
		d.mu.Unlock()
	}
}

// makeOutline is the outline of the unit that w has read.
func (w *Walker) makeOutline() *outline {
	o := &outline{t: w.t, scopes: slices.Clone(w.scopes)}
	if w.t == &w.own {
		o.t = &table{b: w.t.b, l: w.t.l, first: w.t.first, entries: slices.Clone(w.t.entries), odd: w.t.odd}
	}
	return o
}

// keepOutline keeps the outline of a unit, in the place of an old one.
func (d *Data) keepOutline(unit int, o *outline) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.outline[unit].Store(o)
	if d.built[unit] >= maxBuilt {
		return
	}
	d.built[unit]++
	slot := &d.recent[d.recentN%recentUnits]
	d.recentN++
	if old := int(*slot) - 1; old >= 0 && old != unit && d.built[old] < maxBuilt {
		d.outline[old].Store(nil)
	}
	*slot = int32(unit) + 1
}

var walkers = sync.Pool{New: func() any { return new(Walker) }}

// outlineOf is the outline of a unit.
func (d *Data) outlineOf(unit int) *outline {
	if o := d.outline[unit].Load(); o != nil {
		return o
	}
	w := walkers.Get().(*Walker)
	w.begin(d, unit, d, d.Unit(unit))
	w.run()
	o := w.makeOutline()
	walkers.Put(w)
	d.keepOutline(unit, o)
	return o
}

// around is the innermost scope that the DIE at off is in, or -1. A type in a
// function is in none.
func (o *outline) around(off uint32) int32 {
	i := int32(sort.Search(len(o.scopes), func(i int) bool { return o.scopes[i].start > off })) - 1
	if i >= 0 && o.scopes[i].start == off {
		if o.scopes[i].local {
			return -1
		}
		return o.scopes[i].parent
	}
	for i >= 0 && o.scopes[i].end <= off {
		i = o.scopes[i].parent
	}
	return i
}

// AppendName appends the text of a Name that a Walk of d gave. A linkage name
// is given as it stands; what has none is named by its scope, with "::".
func (d *Data) AppendName(dst []byte, n Name) []byte {
	f := d.file(n.file())
	if f == nil {
		return dst
	}
	k := n.kind()
	if k != nameDie && k != nameTypeDie {
		return append(dst, f.string(n)...)
	}
	f.mu.Lock()
	text, ok := f.spelled[n]
	f.mu.Unlock()
	if ok {
		return append(dst, text...)
	}
	i := f.unitAt(n.off(), k == nameTypeDie)
	if i < 0 {
		return dst
	}
	near := near{d: f, unit: i, t: f.outlineOf(i).t, work: maxNameWork}
	return near.appendName(dst, place{f, i, n.off()})
}

// appendName appends the name of the DIE at p.
func (n *near) appendName(dst []byte, p place) []byte {
	n.text = len(dst)
	o := n.chain(p)
	if o.name == 0 {
		return dst
	}
	dst = n.appendScopes(dst, o.end, maxScopes)
	return append(dst, p.d.string(o.name)...)
}

// appendScopes appends the scopes that the DIE at p is in, each with "::".
func (n *near) appendScopes(dst []byte, p place, left int) []byte {
	u := p.d.Unit(p.unit)
	o := n.own
	if o == nil || p.d != n.d || p.unit != n.unit {
		o = p.d.outlineOf(p.unit)
	}
	i := o.around(uint32(p.off - u.Off))
	if i < 0 || left == 0 || n.work < 0 {
		return dst
	}
	at := place{p.d, p.unit, u.Off + uint64(o.scopes[i].start)}
	return n.appendScope(dst, at, left-1)
}

// appendScope appends the scope at p, behind those that it is in. A type that
// is declared elsewhere, or is in a unit of its own, has its scopes there.
func (n *near) appendScope(dst []byte, p place, left int) []byte {
	var text []byte
	home := p
	for range maxChain {
		a, tag := n.die(home)
		var next attribute
		for a.next() {
			switch a.name {
			case attrName:
				if s := home.d.stringName(home.d.Unit(home.unit), a.form, a.value); s != 0 && text == nil {
					text = home.d.string(s)
				}
			case attrSpecification, attrSignature:
				next = a.attribute
			}
		}
		n.work -= a.n
		if text == nil && tag == tagNamespace && next.form == formNone {
			text = []byte("(anonymous namespace)")
		}
		to, ok := home.refer(next)
		if !ok || to == home {
			break
		}
		home = to
	}
	dst = n.appendScopes(dst, home, left)
	if text != nil && len(dst)-n.text < maxScopeText {
		dst = append(append(dst, text...), "::"...)
	}
	return dst
}
