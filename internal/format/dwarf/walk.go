package dwarf

import "symbolon/internal/fault"

// Walk reads the unit with this index, or the unit attached to it if it is a
// skeleton. The Tree is valid until the next Walk. With an error it has the
// parts before the damage.
func (w *Walker) Walk(d *Data, unit int) (*Tree, error) {
	u := d.Unit(unit)
	if u.split != nil {
		w.begin(u.split, u.splitUnit, d, u)
	} else {
		w.begin(d, unit, d, u)
	}
	w.run()
	w.spell()
	if w.reason == "" && w.exceeded {
		w.reason = "range lists exceed their limit"
	}
	if w.reason != "" {
		return &w.tree, fault.New(fault.Malformed, "dwarf, "+infoName(w.u.typed),
			"unit at offset %#x: at offset %#x: %s", w.u.Off, w.at, w.reason)
	}
	return &w.tree, nil
}

// spell formats and keeps the names of the unit that need its scopes while they
// are available: later the unit would have to be walked again. Names beyond the
// limit are formatted on request.
func (w *Walker) spell() {
	d := w.view.d
	own := outline{t: w.t, scopes: w.scopes}
	for _, n := range w.scoped {
		d.mu.Lock()
		_, known := d.spelled[n]
		full := d.spelledSize >= MaxSpelled
		d.mu.Unlock()
		if full || w.resolver.work < 0 {
			d.keepOutline(w.resolver.unit, w.makeOutline())
			return
		}
		if known {
			continue
		}
		near := resolver{d: d, unit: w.resolver.unit, t: w.t, outline: &own, work: maxNameWork}
		w.text = near.appendName(w.text[:0], place{d, w.resolver.unit, n.off()})
		w.resolver.work += near.work - maxNameWork
		d.mu.Lock()
		d.spelled[n] = string(w.text)
		d.spelledSize += len(w.text) + 64
		d.mu.Unlock()
	}
}
