package dwarf

import (
	"slices"
	"sort"
	"sync"
)

// makeOutline returns the outline of the unit that w has read.
func (w *Walker) makeOutline() *outline {
	o := &outline{t: w.t, scopes: slices.Clone(w.scopes)}
	if w.t == &w.own {
		o.t = &table{b: w.t.b, l: w.t.l, first: w.t.first, entries: slices.Clone(w.t.entries), sparse: w.t.sparse}
	}
	return o
}

// keepOutline stores the outline of a unit, and may replace an old one.
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

// outlineOf returns the outline of a unit.
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

// around returns the innermost scope of the DIE at off, or -1. A type in a
// function has none.
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

// AppendName appends the text of a Name returned by a Walk of d. A linkage name
// is not changed; other names are qualified by their scope, with "::".
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
	near := resolver{d: f, unit: i, t: f.outlineOf(i).t, work: maxNameWork}
	return near.appendName(dst, place{f, i, n.off()})
}

// appendName appends the name of the DIE at p.
func (n *resolver) appendName(dst []byte, p place) []byte {
	n.text = len(dst)
	o := n.chain(p)
	if o.name == 0 {
		return dst
	}
	text := p.d.string(o.name)
	if !isMethod(text) {
		dst = n.appendScopes(dst, o.end, maxScopes)
	}
	return append(dst, text...)
}

// isMethod reports whether a name is that of a method of Objective-C, -[Class name], which
// includes its class. Clang puts the methods of Objective-C++ into their class from
// DWARF 5 on.
func isMethod(name []byte) bool {
	return len(name) > 1 && (name[0] == '-' || name[0] == '+') && name[1] == '['
}

// appendScopes appends the scopes of the DIE at p, each with "::".
func (n *resolver) appendScopes(dst []byte, p place, left int) []byte {
	u := p.d.Unit(p.unit)
	o := n.outline
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

// appendScope appends the scope at p, after its enclosing ones. A type that is
// declared elsewhere, or is in a type unit, has its scopes there.
func (n *resolver) appendScope(dst []byte, p place, left int) []byte {
	var text []byte
	decl := p
	for range maxChain {
		a, tag := n.die(decl)
		var next attribute
		for a.next() {
			switch a.name {
			case attrName:
				if s := decl.d.stringName(decl.d.Unit(decl.unit), a.form, a.value); s != 0 && text == nil {
					text = decl.d.string(s)
				}
			case attrSpecification, attrSignature:
				next = a.attribute
			}
		}
		n.work -= a.n
		if text == nil && tag == tagNamespace && next.form == formNone {
			text = []byte("(anonymous namespace)")
		}
		to, ok := decl.refer(next)
		if !ok || to == decl {
			break
		}
		decl = to
	}
	dst = n.appendScopes(dst, decl, left)
	if text != nil && len(dst)-n.text < maxScopeText {
		dst = append(append(dst, text...), "::"...)
	}
	return dst
}
