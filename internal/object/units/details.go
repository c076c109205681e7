package units

import (
	"cmp"
	"slices"
	"sync"

	"symbolon/internal/format/dwarf"
	"symbolon/internal/object"
)

// details are the parts of units that only Line, Starts, Locals and Variable need:
// the lines and functions of the unit that was used last, and all variables.
type details struct {
	mu        sync.Mutex
	lined     int // unit of lines, plus 1
	lines     dwarf.Lines
	cursor    lineCursor
	walked    int // unit of functions, plus 1
	functions []function
	calls     map[uint64][]*call // of the functions that were used, by their DIEs
	numCalls  int                // in calls; maxKept: they are of another unit
	variables []variable         // by address
	all       bool               // variables has all
}

// function is a range of the function whose DIE is at an offset.
type function struct {
	dwarf.Range
	die uint64
}

// eachUnit calls yield with the units that have code at an address of the object,
// and the address in the file, until yield returns true.
func (g *Image) eachUnit(addr uint64, yield func(u *DWARF, unit int, place uint64) bool) {
	units, ok := g.main.(*DWARF)
	if !ok {
		return
	}
	g.details.mu.Lock()
	defer g.details.mu.Unlock()
	isDone := false
	for part := g.first; part < g.end; part++ {
		place := addr + g.Bases[part]
		if !g.isIn(part, addr, place) {
			continue
		}
		g.unitsAt(place, func(u int) {
			isDone = isDone || u < units.NumUnits() && yield(units, u, place)
		})
		if isDone {
			return
		}
	}
}

// Line returns the row of the line program for an address.
func (g *Image) Line(addr uint64) (found object.Line) {
	d := &g.details
	g.eachUnit(addr, func(u *DWARF, unit int, place uint64) bool {
		if d.lined != unit+1 {
			w := workers.Get().(*Worker)
			u.readLines(w, unit)
			d.lines, w.lines = w.lines, d.lines
			workers.Put(w)
			d.lined = unit + 1
			d.cursor.reset(&d.lines)
		}
		row := d.cursor.at(place)
		if row != nil {
			found = object.Line{File: fileText(unit, row.File+1), Line: row.Line, Column: row.Column, Discriminator: row.Branch}
		}
		return row != nil
	})
	return found
}

// maxKept is how many inlined calls are kept, of some 300 bytes each.
const maxKept = 1 << 16

// at returns the innermost function of a unit at an address and the calls that were
// inlined there, outermost first, or none.
func (d *details) at(u *DWARF, unit int, place uint64) (c *dwarf.Nodes, list []dwarf.Node) {
	if d.walked != unit+1 {
		d.walked, d.functions, d.numCalls = 0, d.functions[:0], maxKept
		w := workers.Get().(*Worker)
		tree, _ := w.walker.Walk(u.data, unit) // damage is reported when the names are read
		for i := range tree.Funcs {
			f := &tree.Funcs[i]
			for _, r := range tree.Ranges[f.First : f.First+f.N] {
				d.functions = append(d.functions, function{r, f.Die})
			}
		}
		workers.Put(w)
		d.walked = unit + 1
		slices.SortStableFunc(d.functions, func(a, b function) int { return cmp.Compare(a.Start, b.Start) })
	}
	i, _ := slices.BinarySearchFunc(d.functions, place, func(f function, place uint64) int {
		if f.Start <= place {
			return -1
		}
		return 1
	})
	for i--; i >= 0; i-- {
		if d.functions[i].End > place {
			c = u.data.Nodes(unit)
			die := d.functions[i].die
			all := d.calls[die]
			if all == nil {
				n, ok := c.At(die)
				if !ok {
					return c, nil
				}
				all = callsIn(c, n)
				if d.numCalls += len(all); d.numCalls > maxKept {
					d.calls, d.numCalls = map[uint64][]*call{}, len(all)
				}
				d.calls[die] = all
			}
			return c, callsAt(all, place)
		}
	}
	return nil, nil
}

// Starts returns where the function at an address and the calls that were inlined
// there are declared, innermost first.
func (g *Image) Starts(addr uint64) (list []object.Start) {
	g.eachUnit(addr, func(u *DWARF, unit int, place uint64) bool {
		c, calls := g.details.at(u, unit, place)
		list = starts(c, calls, addr-place)
		return len(calls) > 0
	})
	return list
}

// Locals returns the variables of the innermost call at an address, or of the
// function if no call was inlined there.
func (g *Image) Locals(addr uint64) (list []object.Local) {
	g.eachUnit(addr, func(u *DWARF, unit int, place uint64) bool {
		c, calls := g.details.at(u, unit, place)
		if len(calls) > 0 {
			list = locals(c, &calls[len(calls)-1])
		}
		return len(calls) > 0
	})
	return list
}

// Variable returns where the variable at an address is declared. The variables of
// all units are read first.
func (g *Image) Variable(addr uint64) (found object.Decl) {
	units, ok := g.main.(*DWARF)
	if !ok || g.Lifted {
		return found
	}
	d := &g.details
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.all {
		d.variables = d.variables[:0] // if the file could not be read
		units.readUnits()
		for i := range units.NumUnits() {
			if hasCode(units.data.Unit(i)) {
				d.variables = appendVariables(d.variables, units.data.Nodes(i))
			}
		}
		slices.SortStableFunc(d.variables, func(a, b variable) int { return cmp.Compare(a.start, b.start) })
		d.all = true
	}
	for _, base := range g.Bases {
		place := addr + base
		i, _ := slices.BinarySearchFunc(d.variables, place, func(v variable, place uint64) int {
			if v.start <= place {
				return -1
			}
			return 1
		})
		if i > 0 && place-d.variables[i-1].start < d.variables[i-1].size {
			return d.variables[i-1].Decl
		}
	}
	return found
}
