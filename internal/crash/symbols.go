package crash

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"sync"

	"symbolon/internal/format/minidump"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/sym"
	"symbolon/internal/table"
	"symbolon/internal/unwind"
	"symbolon/internal/unwind/rule"
)

// modules opens the modules of a dump that stacks touch, each once. It is safe for
// concurrent use.
type modules struct {
	ctx    context.Context
	deps   Deps
	names  locate.Purpose // of files with names
	dump   *Dump
	order  []int // of dump.Modules by address, without those that overlap one before
	opened []module
}

// module is a module of a dump that may be open.
type module struct {
	once sync.Once
	unwind.Module
	symbols Symbols
	names   *table.Handle // nil: missing
}

func newModules(ctx context.Context, deps Deps, d *Dump, names locate.Purpose) *modules {
	m := &modules{ctx: ctx, deps: deps, names: names, dump: d, order: make([]int, len(d.Modules)), opened: make([]module, len(d.Modules))}
	for i := range m.order {
		m.order[i] = i
	}
	slices.SortStableFunc(m.order, func(a, b int) int { return cmp.Compare(d.Modules[a].Base, d.Modules[b].Base) })
	end := uint64(0)
	m.order = slices.DeleteFunc(m.order, func(i int) bool {
		x := &d.Modules[i]
		isHidden := x.Base < end
		if !isHidden {
			end = x.Base + x.Size
		}
		return isHidden
	})
	return m
}

// find returns the index of the module that contains addr, or -1.
func (m *modules) find(addr uint64) int {
	k := sort.Search(len(m.order), func(k int) bool { return m.dump.Modules[m.order[k]].Base > addr }) - 1
	if k < 0 {
		return -1
	}
	if x := &m.dump.Modules[m.order[k]]; addr-x.Base < x.Size {
		return m.order[k]
	}
	return -1
}

// at returns the module that contains addr, with its symbols; nil without one.
func (m *modules) at(addr uint64) *unwind.Module {
	i := m.find(addr)
	if i < 0 {
		return nil
	}
	x := &m.opened[i]
	x.once.Do(func() { m.open(x, i) })
	return &x.Module
}

// lookedUp returns a module as it is looked up: with names without folders, and that of
// the code if the debug file has no name, as MinGW leaves it.
func lookedUp(m *minidump.Module) ident.Module {
	out := m.Module
	out.CodeFile = base(out.CodeFile)
	out.DebugFile = cmp.Or(base(out.DebugFile), out.CodeFile)
	return out
}

// open looks up the files of the module with an index.
func (m *modules) open(x *module, i int) {
	d := &m.dump.Modules[i]
	x.Module = unwind.Module{Name: base(d.CodeFile), Base: d.Base, Size: d.Size}
	asked := lookedUp(d)
	h, report, known := m.deps.Tables.Ready(asked, m.names)
	if !known {
		h, report = m.deps.Tables.Symbols(m.ctx, asked, m.names)
	}
	x.symbols.Debug = Lookup{Asked: true, Found: h != nil, Report: report}
	if x.names = h; h != nil {
		x.Names = names{h}
		x.symbols.Debug.Features, x.symbols.Debug.Trail = h.Facts().Features, h.Facts().Trail
	}
	x.symbols.Unwind = Lookup{Asked: true}
	r, trail, err := readRules(m.ctx, m.deps.Locator, asked, m.dump.System.CPU)
	if x.symbols.Unwind.Trail = trail; err != nil {
		return
	}
	x.symbols.Unwind.Found = true
	x.Rules = r
}

// close releases the open modules.
func (m *modules) close() {
	for i := range m.opened {
		if h := m.opened[i].names; h != nil {
			h.Close()
		}
	}
}

// names has the names of an open module. It implements unwind.Names.
type names struct{ *table.Handle }

func (n names) HasNames() bool { return true }

// Function returns the function that contains addr.
func (n names) Function(addr uint64) (start uint64, name string, ok bool) {
	var buf [8]sym.Frame
	found := n.Lookup(buf[:0], addr)
	if len(found) == 0 {
		return 0, "", false
	}
	f := &found[len(found)-1]
	text, _ := n.AppendText(nil, f.Func)
	return f.Entry, string(text), true
}

// rules are the rows of a module. It implements unwind.Rules.
type rules []ruleRow

type ruleRow struct {
	start, end uint64
	row        rule.Row
}

func (r rules) HasRules() bool { return len(r) > 0 }

func (r rules) Row(addr uint64) rule.Row {
	k := sort.Search(len(r), func(k int) bool { return r[k].start > addr }) - 1
	if k < 0 || addr >= r[k].end {
		return nil
	}
	return r[k].row
}

func readRules(ctx context.Context, l *locate.Locator, m ident.Module, cpu *rule.CPU) (rules, []locate.Tried, error) {
	found, trail, err := l.Best(ctx, m, locate.Unwind)
	if err != nil {
		return nil, trail, err
	}
	defer found.Close()
	obj, _, err := found.File(ctx)
	if err != nil {
		return nil, trail, err
	}
	var out rules
	c := rule.Compiler{CPU: cpu}
	add := func(start, end uint64, row rule.Row) error {
		out = append(out, ruleRow{start, end, slices.Clone(row)})
		return nil
	}
	if err = obj.CFI(func(u *sym.Unwind) error { return c.Add(u, add) }); err == nil {
		err = c.Flush(add)
	}
	slices.SortStableFunc(out, func(a, b ruleRow) int { return cmp.Compare(a.start, b.start) })
	return out, trail, err
}
