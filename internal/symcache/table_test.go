package symcache_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"symbolon/internal/sym"
	"symbolon/internal/symcache"
)

func TestTableAgreesWithModel(t *testing.T) {
	for seed := range uint64(500) {
		m, r := newModel(rand.NewPCG(seed, 1))
		table := open(t, m.build(t, symcache.Options{}))
		for _, addr := range m.probes(r) {
			m.compare(t, table, addr)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		if err := table.Verify(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// The table has more rows than the reader of the log buffers.
func TestLargeTableAgreesWithModel(t *testing.T) {
	m := synthetic(700, 150)
	table := open(t, m.build(t, symcache.Options{}))
	names := textFunc(m.appendText)
	for _, b := range m.blocks {
		for i := 0; i < len(b.Rows); i += 5 {
			got, want := table.Lookup(nil, b.Rows[i].Addr), b.Frames(nil, i)
			if !same(table, got, names, want) {
				t.Fatalf("frames at %#x:\n%swant:\n%s", b.Rows[i].Addr, spell(table, got), spell(names, want))
			}
		}
	}
	if err := table.Verify(); err != nil {
		t.Error(err)
	}
}

// More names than references of two bytes, each split into pieces.
func TestManyLongNames(t *testing.T) {
	m := &model{}
	for i := range 9000 {
		name := m.text(strings.Repeat(fmt.Sprintf("é%dx", i), 80))
		m.blocks = append(m.blocks, &sym.Block{
			Nodes: []sym.Node{{Parent: -1, Name: name, Entry: uint64(i) * 4}},
			Rows:  []sym.Row{{Addr: uint64(i) * 4}},
		})
	}
	table := open(t, m.build(t, symcache.Options{}))
	for i, want := range m.texts {
		frames := table.Lookup(nil, uint64(i)*4+3)
		if len(frames) != 1 || textOf(table, frames[0].Func) != want {
			t.Fatalf("name %d is %q", i, spell(table, frames))
		}
	}
	if err := table.Verify(); err != nil {
		t.Error(err)
	}
}

func TestNamesRoundTrip(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	names := []string{
		"", "\x00", "\x80", "\xff\xfe", string(all), strings.Repeat(string(all), 50), "operator<", "operator->", "operator()(int)",
		"a<b, c>", "a<b,c>", "a<b , c>", "<>", "<<<<", ">>>>", ")(", "f(a < b, c)", "f<(a->b)>(int)", "::", "::::a", "a::", "/", `\\`, "/a/",
		strings.Repeat("<", 5000), strings.Repeat("(", 400_000) + strings.Repeat(">", 400_000), strings.Repeat("<", 300) + "shared text" + strings.Repeat(">", 300),
		strings.Repeat("std::vector<", 200) + "unsigned long" + strings.Repeat(">", 200), strings.Repeat("(longer),", 500),
		strings.Repeat("x", 254), strings.Repeat("x", 255), strings.Repeat("x", 256), strings.Repeat("é", 64), strings.Repeat("é", 4000),
		strings.Repeat("0123456789", symcache.MaxText/10+1)[:symcache.MaxText],
		"_Z", "_ZN", "_ZNNNNNNNNNEE", "_ZEEEEEEEEE", "_Z99999999999foo", "_ZN3fooéN3barEE", "_ZN4\xfe\xff\xfe\xff3barI6vectorEE", "_ZS", "_ZT", "_ZL", "_ZA5", "_ZC1", "_ZN1aE.cold",
		"_Z" + strings.Repeat("N", 5000), "_Z" + strings.Repeat("N8abcdefghI", 63) + strings.Repeat("E", 126), "_Z" + strings.Repeat("I8abcdefgh", 64) + strings.Repeat("E", 64),
		"_Z" + strings.Repeat("N8abcdefghE", 9000), "_Z" + strings.Repeat("9", 300),
	}
	for c := range 256 {
		names = append(names, strings.Repeat(string([]byte{byte(c), 'a'}), 30), string([]byte{byte(c)}))
	}
	m := &model{}
	b := &sym.Block{}
	for i, name := range names {
		b.Nodes = append(b.Nodes, sym.Node{Parent: -1, Name: m.text(name), Entry: uint64(i)})
		b.Rows = append(b.Rows, sym.Row{Addr: uint64(i), Node: int32(i), File: m.text(name + "/f")})
	}
	m.blocks = append(m.blocks, b)
	table := open(t, m.build(t, symcache.Options{}))
	for i, name := range names {
		f := table.Lookup(nil, uint64(i))[0]
		if got := textOf(table, f.Func); got != name {
			t.Errorf("name %d is %.100q, want %.100q", i, got, name)
		}
		want := name + "/f"
		if got := textOf(table, f.File); got != want[:min(len(want), symcache.MaxText)] {
			t.Errorf("file %d is %.100q, want %.100q", i, got, want)
		}
	}
	if err := table.Verify(); err != nil {
		t.Error(err)
	}
}

// The common part of mangled names is stored once in all contexts.
func TestMangledNamesShareParts(t *testing.T) {
	size := func(form string) int {
		m := &model{}
		b := &sym.Block{}
		for i := range 200 {
			b.Nodes = append(b.Nodes, sym.Node{Parent: -1, Name: m.text(fmt.Sprintf(form, 100+i)), Entry: uint64(i)})
		}
		m.blocks = append(m.blocks, b)
		file := m.build(t, symcache.Options{})
		table := open(t, file)
		for i := range b.Nodes {
			f, _ := table.Nearest(uint64(i))
			if got := textOf(table, f.Func); got != m.texts[i] {
				t.Fatalf("name %d is %q", i, got)
			}
		}
		return len(file)
	}
	plain := size("_Z5f_%dv")
	for what, form := range map[string]string{
		"the scope":                           "_ZN7company7project9subsystem5Class5f_%dEv",
		"a class with a template's arguments": "_ZN7company6HolderINS_3mapIiS0_vEELi10ELb0EE5f_%dEv",
		"an argument":                         "_Z5f_%dN7company7project9subsystem5ClassE",
		"the arguments of a template":         "_Z5f_%dI3mapIiNSt6vectorIjSaIjEEELN3one4enumE3EEEvT_",
		"the function around a lambda":        "_ZZN7company7project9subsystem3runEiENKUliE12_4f%dEv",
		"the type of a function":              "_Z5f_%dPFvN7company7project9subsystemEdfE",
	} {
		if got := size(form); got > plain+200*12+200 {
			t.Errorf("%s: each name takes %d bytes", what, (got-plain)/200)
		}
	}
}

// Names share all their parts, which are too long for one string, and are nested
// up to the limit of shared brackets and deeper.
func TestDeepLongNames(t *testing.T) {
	m := &model{}
	b := &sym.Block{}
	add := func(name string) {
		b.Nodes = append(b.Nodes, sym.Node{Parent: -1, Name: m.text(name), Entry: uint64(len(b.Nodes))})
	}
	inner := "x"
	for k := range 70 {
		pad := func(c byte) string { return strings.Repeat(fmt.Sprintf("%c%d", c, k), 150) }
		content := inner + ", " + pad('c')
		scope := pad('s') + "<" + content + ">::"
		add(scope + "other")
		add("other<" + content + ">")
		add("other<" + scope + "one, two>")
		inner = scope + pad('t')
		add(inner)
	}
	m.blocks = append(m.blocks, b)
	table := open(t, m.build(t, symcache.Options{}))
	for i := range b.Nodes {
		f, _ := table.Nearest(uint64(i))
		if got, want := textOf(table, f.Func), m.texts[i]; got != want {
			t.Fatalf("name %d of %d bytes is %.50q… of %d bytes: %v", i, len(want), got, len(got), table.Damaged())
		}
	}
	if err := table.Verify(); err != nil {
		t.Error(err)
	}
}

// Code starts, ends and starts again at all offsets of a bucket and group, with
// and without code before it.
func TestHolesAtEveryOffset(t *testing.T) {
	m := &model{}
	f, g, h, file := m.text("f"), m.text("g"), m.text("h"), m.text("f.c")
	for _, before := range []bool{false, true} {
		for start := uint64(0x10000); start < 0x10000+2048+130; start++ {
			m.blocks = m.blocks[:0]
			if before {
				m.blocks = append(m.blocks, &sym.Block{
					Nodes: []sym.Node{{Parent: -1, Name: f, Entry: 0xe7f3}},
					Rows:  []sym.Row{{Addr: 0xe7f3, File: file, Line: 7}},
				})
			}
			size := 1 + start%131
			m.blocks = append(m.blocks,
				&sym.Block{Nodes: []sym.Node{{Parent: -1, Name: g, Entry: start}}, Rows: []sym.Row{
					{Addr: start, File: file, Line: 3}, {Addr: start + size, Node: sym.Hole},
				}},
				&sym.Block{Nodes: []sym.Node{{Parent: -1, Name: h, Entry: start + size + 5}}, Rows: []sym.Row{
					{Addr: start + size + 5}, {Addr: start + 9000, Node: sym.Hole},
				}})
			table := open(t, m.build(t, symcache.Options{}))
			for _, addr := range []uint64{
				0xe7f2, 0xe7f3, 0xe800, 0xffff, start - 1, start, start + size - 1, start + size, start + size + 4, start + size + 5,
				(start + size + 5) | 127, (start + size + 5) | 2047, start + 8999, start + 9000, start | 2047, start | 127,
				start&^127 + 128, start &^ 127, start &^ 2047, start&^2047 + 2048, start + 20000,
			} {
				m.compare(t, table, addr)
			}
		}
	}
}

// A symbol without a size extends to the next block or to the end of all
// addresses, and takes no space for the range.
func TestOpenRangeExtendsToEnd(t *testing.T) {
	m := &model{}
	first, last := m.text("first"), m.text("last")
	m.blocks = []*sym.Block{
		{Nodes: []sym.Node{{Parent: -1, Name: first, Entry: 0x1001}}, Rows: []sym.Row{{Addr: 0x1001}}},
		{Nodes: []sym.Node{{Parent: -1, Name: last, Entry: 1<<63 + 77, Size: 1<<64 - 1}}, Rows: []sym.Row{{Addr: 1<<63 + 77}}},
	}
	file := m.build(t, symcache.Options{})
	if len(file) > 1000 {
		t.Errorf("%d bytes", len(file))
	}
	table := open(t, file)
	for _, addr := range []uint64{0, 0x1000, 0x1001, 0x17ff, 0x1800, 1 << 32, 1 << 62, 1<<63 + 76, 1<<63 + 77, 1<<64 - 1} {
		m.compare(t, table, addr)
	}
}

// Names are the same with every size of the memo, and while other goroutines
// start new generations.
func TestRemember(t *testing.T) {
	m := large(t, 300)
	for i := range m.texts {
		switch i % 5 {
		case 0:
			m.texts[i] += `"quoted"`
		case 1:
			m.texts[i] += "größe"
		}
	}
	file := m.build(t, symcache.Options{})
	good := open(t, file)
	type name struct {
		handle sym.Text
		text   string
	}
	var names []name
	for _, b := range m.blocks {
		for _, f := range good.Lookup(nil, b.Rows[0].Addr) {
			for _, h := range []sym.Text{f.Func, f.File} {
				names = append(names, name{h, textOf(good, h)})
			}
		}
	}
	for _, limit := range []int64{0, 1, 4_000, 20_000, 70_000, 200_000, 1 << 30} {
		table := open(t, file)
		table.Remember(limit)
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				room := []byte("before ")
				for i := range 3 * len(names) {
					n := names[(i*(2*g+1)+g*37)%len(names)]
					got, plain := table.AppendText(room, n.handle)
					want := !strings.ContainsAny(n.text, `"ö`)
					if string(got) != "before "+n.text || plain != want {
						t.Errorf("limit %d: name %q, plain %t, want %q, %t", limit, got, plain, n.text, want)
						return
					}
				}
			})
		}
		wg.Wait()
		if text, plain := table.AppendText(nil, 0); len(text) > 0 || !plain {
			t.Errorf("handle zero has name %q, plain %t", text, plain)
		}
	}
}

// textOf returns the name of a handle.
func textOf(table *symcache.Table, text sym.Text) string {
	name, _ := table.AppendText(nil, text)
	return string(name)
}
