package debugfile_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
	"symbolon/internal/trial"
)

// span is a range of addresses: the first one, and the first one after it.
type span = [2]uint64

// modelProgram is a program, and what the rules of the package say about it,
// worked out for each address by itself.
type modelProgram struct {
	fixture.Program
	columns bool
}

// base is what the addresses of the file have more than those of the object.
func (m *modelProgram) base(part int) uint64 {
	if m.Relocatable {
		return m.Code[part][0]
	}
	return m.Loads[0][0]
}

// answers returns the answers that an address may have: several where the rules do
// not choose between line programs.
func (m *modelProgram) answers(addr uint64) []string {
	parts := 1
	if m.Relocatable {
		parts = len(m.Code)
	}
	for part := range parts {
		place := addr + m.base(part)
		if m.Relocatable && !holds(m.Code[part], place) {
			continue
		}
		if f := m.function(place); f != nil {
			return []string{f.tell(m, place, m.base(part))}
		}
		if s := m.symbol(place); s != nil {
			return m.symbolAnswers(s, place, m.base(part))
		}
	}
	return []string{""}
}

func holds(s span, a uint64) bool { return s[0] <= a && a < s[1] }

func anyHolds(all []span, a uint64) bool {
	return slices.ContainsFunc(all, func(s span) bool { return holds(s, a) })
}

// modelPiece is one piece of a function, as far as its unit may speak of it.
type modelPiece struct {
	span
	unit *fixture.ProgramUnit
	fn   *fixture.ProgramFunc
}

// function is the piece of a function that has an address: the one that starts
// last, then the shorter one, then that of the first unit, and in a unit the
// last.
func (m *modelProgram) function(at uint64) (best *modelPiece) {
	for _, u := range m.Units {
		for i := range u.Funcs {
			for _, s := range m.piecesOf(u, &u.Funcs[i]) {
				better := best == nil || s[0] > best.span[0] || s[0] == best.span[0] && s[1] < best.span[1] || s == best.span && u == best.unit
				if holds(s, at) && better {
					best = &modelPiece{s, u, &u.Funcs[i]}
				}
			}
		}
	}
	return best
}

// piecesOf returns the contiguous ranges of a function that are in its unit and, in a
// relocatable file, in a section.
func (m *modelProgram) piecesOf(u *fixture.ProgramUnit, f *fixture.ProgramFunc) (out []span) {
	mine := func(a uint64) bool {
		return anyHolds(f.Ranges, a) && mayTell(u, a) && (!m.Relocatable || anyHolds(m.Code, a))
	}
	for _, r := range f.Ranges {
		for a := r[0]; a < r[1]; a++ {
			if !mine(a) || a > 0 && mine(a-1) {
				continue
			}
			end := a + 1
			for mine(end) {
				end++
			}
			if !slices.Contains(out, span{a, end}) {
				out = append(out, span{a, end})
			}
		}
	}
	return out
}

// mayTell reports whether a unit may have an address. In DWARF 2 it has one range at
// most.
func mayTell(u *fixture.ProgramUnit, at uint64) bool {
	return len(u.Ranges) == 0 || u.Version == 2 && len(u.Ranges) == 1 || anyHolds(u.Ranges, at)
}

// tell writes the frames of an address.
func (p *modelPiece) tell(m *modelProgram, at, base uint64) string {
	var chain []*fixture.ProgramCall
	for calls := p.fn.Calls; ; {
		c := callAt(p.unit, calls, at)
		if c == nil {
			break
		}
		chain = append(chain, c)
		calls = c.Calls
	}
	entry := p.span[0]
	if e := entryOf(p.fn); holds(p.span, e) {
		entry = e
	}
	var b strings.Builder
	where, _ := m.line(p.unit, at)
	for i := len(chain) - 1; i >= 0; i-- {
		lang := p.unit.Lang
		if chain[i].Lang != 0 {
			lang = chain[i].Lang
		}
		fmt.Fprintf(&b, "%s %s %s < ", m.scoped(p.unit, "", chain[i].Name), where, modelLangs[lang])
		where = m.where(p.unit, chain[i].File, chain[i].Line, chain[i].Column)
	}
	fmt.Fprintf(&b, "%s %s %s [%x+%x]", m.nameOf(p.unit, p.fn, entry), where, modelLangs[p.unit.Lang], entry-base, p.span[1]-p.span[0])
	return b.String()
}

func entryOf(f *fixture.ProgramFunc) uint64 {
	if f.Entry == 0 {
		return f.Ranges[0][0]
	}
	return f.Entry
}

// callAt is the call of some side by side that has an address: of several the
// first in the file.
func callAt(u *fixture.ProgramUnit, calls []*fixture.ProgramCall, at uint64) *fixture.ProgramCall {
	for _, c := range flat(calls) {
		if anyHolds(c.Ranges, at) || (len(c.Ranges) == 0 || u.Version == 2) && callAt(u, c.Calls, at) != nil {
			return c
		}
	}
	return nil
}

// flat puts in the place of each call whose ranges are empty those that are in
// it.
func flat(calls []*fixture.ProgramCall) (out []*fixture.ProgramCall) {
	for _, c := range calls {
		if len(c.Ranges) == 1 && c.Ranges[0][0] == c.Ranges[0][1] {
			out = append(out, flat(c.Calls)...)
		} else {
			out = append(out, c)
		}
	}
	return out
}

// line is what the line program of a unit says about an address.
func (m *modelProgram) line(u *fixture.ProgramUnit, at uint64) (where string, found bool) {
	for _, s := range u.Sequences {
		if u.NoLines || !holds(span{s.Rows[0].Addr, s.End}, at) {
			continue
		}
		for _, r := range s.Rows {
			if r.Addr <= at { // of rows at one address the last one counts
				where, found = m.where(u, r.File, r.Line, r.Column), true
			}
		}
	}
	if !found {
		where = ":0:0"
	}
	return where, found
}

// where writes a place in a source file.
func (m *modelProgram) where(u *fixture.ProgramUnit, file, line, column int) string {
	if !m.columns {
		column = 0
	}
	if u.Version < 5 {
		file--
	}
	path := ""
	if file >= 0 && file < len(u.Files) && !u.NoLines {
		path = u.Dir + "/" + u.Files[file]
	}
	return fmt.Sprintf("%s:%d:%d", path, line, column)
}

const modelC, modelCpp, modelRust, modelAssembler = 0x0c, 0x04, 0x1c, 0x8001 // DW_LANG

var modelLangs = map[int]string{modelC: "c", modelCpp: "cpp", modelRust: "rust"}

func (m *modelProgram) scoped(u *fixture.ProgramUnit, scope, name string) string {
	if scope != "" && u.Lang == modelCpp {
		return scope + "::" + name
	}
	return name
}

// nameOf is the name of a function: its own, unless a symbol says more.
func (m *modelProgram) nameOf(u *fixture.ProgramUnit, f *fixture.ProgramFunc, entry uint64) string {
	name := m.scoped(u, f.Scope, f.Name)
	if f.Linkage != "" {
		name = f.Linkage
	}
	all := m.symbolsAt(entry)
	if name == "" {
		if len(all) > 0 {
			return all[0].Name
		}
		return ""
	}
	says := name
	for _, s := range all {
		switch {
		case s.Name == name:
			return name
		case strings.HasPrefix(s.Name, name+"."):
			says = s.Name
		case f.Linkage == "" && s.Name == mangled(f):
			says = s.Name
		}
	}
	return says
}

// mangled is what a compiler makes of the name of a function in a namespace.
func mangled(f *fixture.ProgramFunc) string {
	return fmt.Sprintf("_ZN%d%s%d%sEv", len(f.Scope), f.Scope, len(f.Name), f.Name)
}

// symbolsAt are the symbols at an address, the best first: those with a size,
// functions, global before weak before local, fewer underscores.
func (m *modelProgram) symbolsAt(at uint64) (out []fixture.ELFSymbol) {
	for _, s := range m.Symbols {
		if s.Value == at {
			out = append(out, s)
		}
	}
	bind := [...]int{2, 0, 1}
	slices.SortStableFunc(out, func(a, b fixture.ELFSymbol) int {
		rank := func(s fixture.ELFSymbol) int {
			r := bind[s.Bind]<<4 + len(s.Name) - len(strings.TrimLeft(s.Name, "_."))
			if s.Size == 0 {
				r += 1 << 10
			}
			if s.Kind == 0 {
				r += 1 << 9
			}
			return r
		}
		return rank(a) - rank(b)
	})
	return out
}

// modelSymbol is a symbol with its extent.
type modelSymbol struct {
	span
	fixture.ELFSymbol
}

// extents are the symbols that count, by address.
func (m *modelProgram) extents() (out []modelSymbol) {
	var addrs []uint64
	for _, s := range m.Symbols {
		addrs = append(addrs, s.Value)
	}
	slices.Sort(addrs)
	addrs = slices.Compact(addrs)
	for i, a := range addrs {
		s := modelSymbol{span{a, a}, m.symbolsAt(a)[0]}
		around := symbolOf(out, a)
		if s.Size == 0 && s.Kind == 0 && around != nil {
			continue // a label
		}
		if s.span[1] += s.Size; s.Size == 0 {
			s.span[1] = m.loaded(a)
			if around != nil {
				s.span[1] = around.span[1]
			}
			if i+1 < len(addrs) {
				s.span[1] = min(s.span[1], addrs[i+1])
			}
		}
		out = append(out, s)
	}
	return out
}

// loaded is the end of what is loaded together with an address.
func (m *modelProgram) loaded(at uint64) uint64 {
	for _, s := range append(slices.Clone(m.Loads), m.Code...) {
		if holds(s, at) {
			return s[1]
		}
	}
	return at + 1
}

// symbolOf is the symbol that has an address and starts last.
func symbolOf(all []modelSymbol, at uint64) (best *modelSymbol) {
	for i := range all {
		if holds(all[i].span, at) {
			best = &all[i]
		}
	}
	return best
}

func (m *modelProgram) symbol(at uint64) *modelSymbol { return symbolOf(m.extents(), at) }

// symbolAnswers is a symbol with the row of a line program, if there is one.
func (m *modelProgram) symbolAnswers(s *modelSymbol, at, base uint64) (out []string) {
	tell := func(where string) {
		out = append(out, fmt.Sprintf("%s %s  [%x+%x]", s.Name, where, s.Value-base, s.Size))
	}
	for _, u := range m.Units {
		if !mayTell(u, at) {
			continue
		}
		if where, ok := m.line(u, at); ok {
			tell(where)
		}
	}
	if out == nil {
		tell(":0:0")
	}
	return out
}

// tellFrames writes frames as the model does.
func tellFrames(o *object.Object, frames []sym.Frame) string {
	var b strings.Builder
	for i, f := range frames {
		fmt.Fprintf(&b, "%s %s:%d:%d %s", str(o, f.Func), str(o, f.File), f.Line, f.Column, f.Lang)
		if f.Inlined != (i+1 < len(frames)) {
			b.WriteString(" (wrong Inlined)")
		}
		if f.Inlined {
			b.WriteString(" < ")
		} else {
			fmt.Fprintf(&b, " [%x+%x]", f.Entry, f.Size)
		}
	}
	return b.String()
}

func TestImagesAnswerAsTheRulesSay(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	n := 100
	if trial.Race() {
		n /= 4
	}
	for i := range n {
		compareImage(t, randomProgram(r), i)
	}
}

// compareImage asks for all addresses that anything can be at, in every way.
func compareImage(t *testing.T, m *modelProgram, n int) {
	t.Helper()
	f, err := debugfile.Open(bin.Bytes(m.Bytes()), object.Options{Columns: m.columns})
	if err != nil {
		t.Fatal(err)
	}
	o := f.Objects()[0]
	if info := o.Info(); info.BadRecords > 0 {
		t.Fatalf("damage %+v", info.Damage)
	}
	table, err := tableOf(o, symcache.Options{}, 1+n%3)
	if err != nil {
		t.Fatal(err)
	}
	addrs := m.addresses()
	var frames []sym.Frame
	for _, a := range addrs {
		frames = o.Lookup(frames[:0], a)
		if got, want := tellFrames(o, frames), m.answers(a); !slices.Contains(want, got) {
			t.Fatalf("program %d, address %#x:\n got %s\nwant %s\n%s", n, a, got, strings.Join(want, "\n  or "), m)
		}
	}
	agree(t, o, table, addrs, fmt.Sprintf("program %d\n%s", n, m))
	want := blocksOf(t, o, object.BlockOptions{})
	for _, opt := range []object.BlockOptions{{Workers: 2}, {Workers: 3, Memory: 1, Scratch: spill{t.TempDir()}}} {
		if got := blocksOf(t, o, opt); got != want {
			t.Fatalf("program %d, blocks of %+v:\n got %s\nwant %s", n, opt, got, want)
		}
	}
}

// blocksOf is all blocks as text.
func blocksOf(t *testing.T, o *object.Object, opt object.BlockOptions) string {
	t.Helper()
	var b strings.Builder
	err := o.Blocks(opt, func(k *sym.Block) error { fmt.Fprintln(&b, k.Nodes, k.Rows); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// addresses are those of the object at which something may be, and some around.
func (m *modelProgram) addresses() (out []uint64) {
	for i, c := range m.Code {
		from, to := c[0]-m.base(0), c[1]-m.base(0)
		if m.Relocatable {
			from, to = 0, c[1]-c[0]
			if i > 0 {
				continue
			}
			to += 0x20
		}
		for a := max(from, 0x20) - 0x20; a < to+0x20; a++ {
			out = append(out, a)
		}
	}
	return append(out, 0, 1, 1<<16, 1<<32, ^uint64(0))
}

// String is the program for people.
func (m *modelProgram) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "wide %v, big %v, relocatable %v, loads %x, code %x\n", m.Wide, m.Big, m.Relocatable, m.Loads, m.Code)
	for i, u := range m.Units {
		fmt.Fprintf(&b, "unit %d: version %d, ranges %x\n", i, u.Version, u.Ranges)
		for _, f := range u.Funcs {
			fmt.Fprintf(&b, "  %q %q %q %x entry %x\n", f.Scope, f.Name, f.Linkage, f.Ranges, f.Entry)
			tellCalls(&b, "    ", f.Calls)
		}
		for _, s := range u.Sequences {
			fmt.Fprintf(&b, "  lines up to %x %+v\n", s.End, s.Rows)
		}
	}
	for _, s := range m.Symbols {
		fmt.Fprintf(&b, "%x+%x %s kind %d bind %d\n", s.Value, s.Size, s.Name, s.Kind, s.Bind)
	}
	return b.String()
}

func tellCalls(b *strings.Builder, indent string, calls []*fixture.ProgramCall) {
	for _, c := range calls {
		fmt.Fprintf(b, "%s%s %x at %d:%d\n", indent, c.Name, c.Ranges, c.File, c.Line)
		tellCalls(b, indent+"  ", c.Calls)
	}
}

// show1 is what show says of one frame.
func show1(text string, entry, size uint64) string {
	return fmt.Sprintf("%s [%x+%x]", text, entry, size)
}
