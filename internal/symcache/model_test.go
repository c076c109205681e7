package symcache_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
)

// A model answers lookups by a scan of all blocks.
type model struct {
	texts  []string // by handle, from one
	blocks []*sym.Block
}

func (m *model) appendText(dst []byte, t sym.Text) []byte {
	if t == 0 {
		return dst
	}
	return append(dst, m.texts[t-1]...)
}

func (m *model) text(s string) sym.Text {
	m.texts = append(m.texts, s)
	return sym.Text(len(m.texts))
}

func (m *model) lookup(addr uint64) []sym.Frame {
	var blk *sym.Block
	row := 0
	for _, b := range m.blocks {
		for i := range b.Rows {
			if b.Rows[i].Addr <= addr {
				blk, row = b, i
			}
		}
	}
	if blk == nil {
		return nil
	}
	return blk.Frames(nil, row)
}

func (m *model) nearest(addr uint64) (best sym.Frame, found bool) {
	for _, b := range m.blocks {
		for i := range b.Nodes {
			n := &b.Nodes[i]
			if n.Parent >= 0 || n.Entry > addr {
				continue
			}
			if !found || n.Entry > best.Entry || n.Entry == best.Entry && best.Size == 0 && n.Size != 0 {
				best, found = sym.Frame{Func: n.Name, Entry: n.Entry, Size: n.Size, Lang: n.Lang}, true
			}
		}
	}
	return best, found
}

func (m *model) build(t testing.TB, opt symcache.Options) []byte {
	t.Helper()
	b := symcache.NewBuilder(opt, m.appendText)
	defer b.Close()
	for _, blk := range m.blocks {
		if err := b.Add(blk); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := b.Finish(&out, symcache.Info{Producer: "model"}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func open(t testing.TB, file []byte) *symcache.Table {
	t.Helper()
	table, err := symcache.Open(bin.Bytes(file))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

type texter interface {
	AppendText(dst []byte, t sym.Text) (out []byte, plain bool)
}

type textFunc func(dst []byte, t sym.Text) []byte

func (f textFunc) AppendText(dst []byte, t sym.Text) ([]byte, bool) { return f(dst, t), false }

func named(names texter, t sym.Text) []byte {
	name, _ := names.AppendText(nil, t)
	return name
}

// spell returns frames as text, so that handles are not compared.
func spell(names texter, frames []sym.Frame) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "%q", named(names, f.Func))
		if f.File != 0 {
			fmt.Fprintf(&b, " in %q", named(names, f.File))
		}
		fmt.Fprintf(&b, ":%d:%d %#x+%d %t %s\n", f.Line, f.Column, f.Entry, f.Size, f.Inlined, f.Lang)
	}
	return b.String()
}

// same reports whether two lists of frames are equal except for handles.
func same(names texter, frames []sym.Frame, others texter, wanted []sym.Frame) bool {
	if len(frames) != len(wanted) {
		return false
	}
	text := func(a, b sym.Text) bool {
		return (a == 0) == (b == 0) && bytes.Equal(named(names, a), named(others, b))
	}
	for i, f := range frames {
		w := wanted[i]
		if f.Func == 0 || !text(f.Func, w.Func) || !text(f.File, w.File) {
			return false
		}
		f.Func, f.File, w.Func, w.File = 0, 0, 0, 0
		if f != w {
			return false
		}
	}
	return true
}

// compare compares the results of table for addr with those of the model.
func (m *model) compare(t testing.TB, table *symcache.Table, addr uint64) {
	t.Helper()
	names := textFunc(m.appendText)
	got, want := table.Lookup(nil, addr), m.lookup(addr)
	if !same(table, got, names, want) {
		t.Fatalf("frames at %#x:\n%swant:\n%s%v", addr, spell(table, got), spell(names, want), table.Damaged())
	}
	gotFrame, gotOK := table.Nearest(addr)
	wantFrame, wantOK := m.nearest(addr)
	if gotOK != wantOK {
		t.Fatalf("nearest to %#x: %t, want %t", addr, gotOK, wantOK)
	}
	if !gotOK {
		return
	}
	got, want = []sym.Frame{gotFrame}, []sym.Frame{wantFrame}
	if !same(table, got, names, want) {
		t.Fatalf("nearest to %#x: %swant %s", addr, spell(table, got), spell(names, want))
	}
}

// probes returns the addresses of boundaries, and some others.
func (m *model) probes(r *rand.Rand) []uint64 {
	list := []uint64{0, 1, 1 << 32, 1<<64 - 1}
	add := func(addr uint64) { list = append(list, addr, addr-1, addr+1) }
	for _, b := range m.blocks {
		for i := range b.Rows {
			add(b.Rows[i].Addr)
			list = append(list, b.Rows[i].Addr+r.Uint64N(300), b.Rows[i].Addr|127, b.Rows[i].Addr|2047)
		}
		for i := range b.Nodes {
			if b.Nodes[i].Parent < 0 {
				add(b.Nodes[i].Entry)
			}
		}
	}
	r.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	return list[:min(len(list), 150)]
}

// A maker creates random models.
type maker struct {
	*rand.Rand
	m       *model
	names   []sym.Text
	files   []sym.Text
	columns bool
	langs   []sym.Lang
}

func newModel(from rand.Source) (*model, *rand.Rand) {
	r := rand.New(from)
	k := &maker{Rand: r, m: &model{}, columns: r.IntN(3) == 0}
	for range 1 + r.IntN(30) {
		k.names = append(k.names, k.m.text(k.name(0)))
	}
	for range 1 + r.IntN(6) {
		k.files = append(k.files, k.m.text(k.path()))
	}
	for range 1 + r.IntN(3)*r.IntN(3) {
		k.langs = append(k.langs, sym.Lang(r.IntN(int(sym.Langs))))
	}
	starts := []uint64{0, 1, 0x1000, 0x1000 + r.Uint64N(5000), 1<<32 - 300, 1 << 40, 0xffffffff81000000, 1<<64 - 1 - r.Uint64N(1<<16)}
	addr := starts[r.IntN(len(starts))]
	for range r.IntN(12) {
		if addr = k.block(addr); addr > 1<<64-1<<13 {
			break
		}
	}
	return k.m, r
}

var words = strings.Fields("std boost vector<int> map<std::string,std::vector<char>> detail operator< operator() " +
	"foo(int,unsigned_long) _ZN3fooEv unsigned_long_long basic_string<char,std::char_traits<char>> lambda(auto:1)#2 x ->*")

// letters are parts of mangled names.
var letters = strings.Fields("N I E E E Z X L F J Ul E0_ 3foo 10longer_one 6vector St S_ S1a_ T_ Sa C1 D2 Lb1E Li10E i v PK RN A5_c L_Z .isra.0 99x 0 é")

func (k *maker) mangled() string {
	b := strings.Builder{}
	b.WriteString("_Z")
	for range k.IntN(40) {
		b.WriteString(letters[k.IntN(len(letters))])
	}
	return b.String()
}

func (k *maker) name(depth int) string {
	switch k.IntN(13) {
	case 12:
		return k.mangled()
	case 0:
		return ""
	case 1:
		b := make([]byte, k.IntN(40))
		for i := range b {
			b[i] = byte(k.Uint32())
		}
		return string(b)
	case 2:
		return strings.Repeat(words[k.IntN(len(words))], k.IntN(60))
	}
	var b strings.Builder
	for range 1 + k.IntN(4) {
		b.WriteString(words[k.IntN(len(words))])
		switch k.IntN(6) {
		case 0, 1:
			b.WriteString("::")
		case 2:
			b.WriteString(", ")
		case 3:
			b.WriteByte("<({[>)}],"[k.IntN(9)])
		case 4:
			if depth < 4 {
				b.WriteString("<" + k.name(depth+1) + ", " + k.name(depth+1) + ">(" + k.name(depth+1) + ")")
			}
		}
	}
	return b.String()
}

func (k *maker) path() string {
	parts := []string{"/build/project/src/", "/usr/include/c++/12/bits/", `C:\src\a\`, "", "größe/"}
	return parts[k.IntN(len(parts))] + fmt.Sprintf("file%d.cc", k.IntN(8))
}

func (k *maker) lang() sym.Lang { return k.langs[k.IntN(len(k.langs))] }

func (k *maker) file() sym.Text {
	if k.IntN(8) == 0 {
		return 0
	}
	return k.files[k.IntN(1+k.IntN(len(k.files)))]
}

func (k *maker) line() uint32 {
	switch k.IntN(20) {
	case 0, 1:
		return 0
	case 2:
		return k.Uint32()
	}
	return 1 + k.Uint32N(300)
}

func (k *maker) column() uint32 {
	if !k.columns || k.IntN(3) == 0 {
		return 0
	}
	return k.Uint32() >> k.IntN(32)
}

// block adds a block that starts at addr or after it, and returns the start of
// the next one.
func (k *maker) block(addr uint64) uint64 {
	b := &sym.Block{}
	k.m.blocks = append(k.m.blocks, b)
	if k.IntN(3) == 0 {
		addr += min(k.gap(), 1<<64-1-addr)
	}
	for range 1 + k.IntN(3) {
		b.Nodes = append(b.Nodes, sym.Node{
			Parent: -1, Lang: k.lang(), Name: k.names[k.IntN(len(k.names))], Entry: addr - min(addr, k.Uint64N(3)*8), Size: k.Uint64N(3) * 32,
		})
	}
	deep := 1 + k.IntN(4)
	if k.IntN(100) == 0 {
		deep = symcache.MaxDepth
	}
	for range k.IntN(20 * deep) {
		n := sym.Node{Parent: int32(k.IntN(len(b.Nodes))), Lang: k.lang(), Name: k.names[k.IntN(len(k.names))]}
		if deep > 2 && k.IntN(2) == 0 {
			n.Parent = int32(len(b.Nodes) - 1)
		}
		if depthOf(b, n.Parent) >= symcache.MaxDepth {
			continue
		}
		n.CallFile, n.CallLine, n.CallColumn = k.file(), k.line(), k.column()
		b.Nodes = append(b.Nodes, n)
	}
	node := int32(0)
	for range k.IntN(60) {
		r := sym.Row{Addr: addr, Node: node, File: k.file(), Line: k.line(), Column: k.column()}
		switch k.IntN(8) {
		case 0:
			r = sym.Row{Addr: addr, Node: sym.Hole}
		case 1, 2, 3:
			node = k.Int32N(int32(len(b.Nodes)))
		}
		b.Rows = append(b.Rows, r)
		step := 1 + k.Uint64N(12)
		if k.IntN(20) == 0 {
			step = k.gap()
		}
		if addr+step < addr {
			return 1<<64 - 1
		}
		addr += step
	}
	return addr
}

func (k *maker) gap() uint64 { return 1 + k.Uint64N(1<<k.IntN(36)) }

func depthOf(b *sym.Block, i int32) int {
	depth := 0
	for b.Nodes[i].Parent >= 0 {
		i = b.Nodes[i].Parent
		depth++
	}
	return depth
}
