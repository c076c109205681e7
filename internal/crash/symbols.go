package crash

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"symbolon/internal/format/minidump"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/sym"
	"symbolon/internal/table"
	"symbolon/internal/unwind"
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
	asked  atomic.Int64 // calls of at
}

// maxQuestions limits the addresses of modules that the walks of a dump check, which
// takes some seconds. A thread with usual frames has some hundreds; one with a stack
// of stale addresses has ten thousands.
const maxQuestions = 4 << 20

// module is a module of a dump that may be open.
type module struct {
	once sync.Once
	unwind.Module
	symbols Symbols
	names   *table.Handle      // nil: missing
	rules   *table.RulesHandle // nil: missing
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
	if i < 0 || m.asked.Add(1) > maxQuestions {
		return nil
	}
	x := &m.opened[i]
	x.once.Do(func() { m.open(x, i) })
	return &x.Module
}

// lookedUp returns the module to look up: its names have no folders, and the name of the
// code file replaces that of the debug file if MinGW left it empty. Code ids as on
// Windows, which old writers on Linux made and no server has, are removed.
func lookedUp(m *minidump.Module) ident.Module {
	out := m.Module
	if id := ident.BuildID(out.CodeID); out.Type == ident.TypeELF && !out.DebugID.IsZero() && !id.Fits(out.DebugID) {
		out.CodeID = ""
	}
	out.CodeFile = ident.FileName(out.CodeFile)
	out.DebugFile = cmp.Or(ident.FileName(out.DebugFile), out.CodeFile)
	return out
}

// open looks up the files of the module with an index.
func (m *modules) open(x *module, i int) {
	d := &m.dump.Modules[i]
	x.Module = unwind.Module{Name: ident.FileName(d.CodeFile), Base: d.Base, Size: d.Size}
	asked := lookedUp(d)
	h, report, known := m.deps.Tables.Ready(asked, m.names)
	if !known {
		h, report = m.deps.Tables.Symbols(m.ctx, asked, m.names)
	}
	x.symbols.Debug = Lookup{Asked: true, Found: h != nil, Report: report, Trail: report.Tried}
	if x.names = h; h != nil {
		x.Names = names{h}
		x.symbols.Debug.Features, x.symbols.Debug.Trail = h.Facts().Features, h.Facts().Trail
	}
	r, report := m.deps.Tables.Unwind(m.ctx, asked)
	x.symbols.Unwind = Lookup{Asked: true, Found: r != nil, Report: report, Trail: report.Tried}
	if x.rules = r; r != nil {
		x.Rules = r
		x.symbols.Unwind.Module = r.Facts().Module
		x.symbols.Unwind.Features, x.symbols.Unwind.Trail = r.Facts().Features, r.Facts().Trail
	}
}

func (m *modules) close() {
	for i := range m.opened {
		x := &m.opened[i]
		if x.names != nil {
			x.names.Close()
		}
		if x.rules != nil {
			x.rules.Close()
		}
	}
}

// names has the names of an open module. It implements unwind.Names.
type names struct{ *table.Handle }

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
