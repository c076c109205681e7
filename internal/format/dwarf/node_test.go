package dwarf_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/dwarf"
)

const (
	tVariable, tBase = 0x34, 0x24

	aLocation, aSize, aType, aFrame, aDeclLine = 0x02, 0x0b, 0x49, 0x40, 0x3b
)

// variables returns a file with variables in a frame and at addresses.
func variables() *fixture.Dwarf {
	d := little()
	addrs := d.AddrTable(8, 0x1000, 0x2000)
	number := &die{Tag: tBase, Attrs: attrs{{aName, fString, "int"}, {aSize, fData1, 4}}}
	at := func(name string, form int, x ...byte) *die {
		return &die{Tag: tVariable, Attrs: attrs{{aName, fString, name}, {aType, fRef4, number}, {aDeclLine, fData1, 7}, {aLocation, form, x}}}
	}
	f := fn("f", 0x1000, 0x1040, at("inFrame", fExprloc, 0x91, 0x7c), at("inRegister", fBlock1, 0x76, 0x10), at("behindPointer", fExprloc, 0x91, 8, 6),
		&die{Tag: tBlock, Kids: []*die{at("computed", fExprloc, 0x91, 8, 0x9f)}}, at("elsewhere", fExprloc, 0x75, 0))
	f.Attrs = append(f.Attrs, fixture.DwarfAttr{aFrame, fExprloc, []byte{0x56}})
	copied := &die{Tag: tVariable, Attrs: attrs{{aOrigin, fRef4, at("original", fExprloc, 0x91, 0)}}}
	u := cu(langC, number, f, at("fixed", fExprloc, 3, 0, 0x20, 0, 0, 0, 0, 0, 0), at("indexed", fExprloc, 0xa1, 1, 0x23, 8), at("other", fExprloc, 0xa1, 9),
		copied.Attrs[0][2].(*die), copied)
	d.Unit(based(u, fixture.DwarfAttr{aAddrBase, fSecOffset, addrs}), nil)
	return d
}

func TestNodesHaveLocations(t *testing.T) {
	c := dwarf.Open(sections(variables()), 0)
	nodes := c.Nodes(0)
	root, ok := nodes.Root()
	if !ok {
		t.Fatal("there is no root")
	}
	var got strings.Builder
	register := -1
	nodes.Walk(&root, func(n *dwarf.Node, depth int) bool {
		if n.Tag == dwarf.TagSubprogram {
			register = n.Expression(dwarf.AttrFrameBase).Register()
		}
		if n.Tag != dwarf.TagVariable {
			return true
		}
		x := n.Expression(dwarf.AttrLocation)
		off, inFrame := x.FrameOffset(register)
		addr, isFixed := nodes.Fixed(x)
		line, _ := nodes.Holder(n, dwarf.AttrDeclLine).Number(dwarf.AttrDeclLine)
		fmt.Fprintln(&got, depth, string(c.AppendName(nil, nodes.Name(n))), line, off, inFrame, addr, isFixed)
		return true
	})
	expect(t, got.String(), `
	2 inFrame 7 -4 true 0 false
	2 inRegister 7 16 true 0 false
	2 behindPointer 7 8 true 0 false
	3 computed 7 8 false 0 false
	2 elsewhere 7 0 false 0 false
	1 fixed 7 0 false 8192 true
	1 indexed 7 0 false 8200 true
	1 other 7 0 false 0 false
	1 original 7 0 true 0 false
	1 original 7 0 false 0 false
	`)
}

func TestNodesBelowARefusedOneAreSkipped(t *testing.T) {
	c := dwarf.Open(sections(one(cu(langC, named(tStruct, "s", fn("f", 0x10, 0x20, named(tParam, "x"))), named(tSpace, "n", named(tParam, "y"))))), 0)
	nodes := c.Nodes(0)
	root, _ := nodes.Root()
	var got []string
	nodes.Walk(&root, func(n *dwarf.Node, _ int) bool {
		got = append(got, string(c.AppendName(nil, nodes.Name(n))))
		return n.Tag != dwarf.TagStructure
	})
	if want := "s n y"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

// visited returns how many DIEs below the root of the first unit are read, and the
// size of the file.
func visited(d *fixture.Dwarf, also func(c *dwarf.Nodes, n *dwarf.Node)) (dies, bytes int) {
	s := sections(d)
	nodes := dwarf.Open(s, 0).Nodes(0)
	root, _ := nodes.Root()
	nodes.Walk(&root, func(n *dwarf.Node, _ int) bool {
		dies++
		also(nodes, n)
		return true
	})
	return dies, len(s.Info)
}

func TestNodesWithManyAttributesAreLimited(t *testing.T) {
	var many attrs
	for i := range 90 {
		many = append(many, fixture.DwarfAttr{0x2000 + i, fPresent, 1})
	}
	u := cu(langC)
	for range 4000 {
		u.Root.Kids = append(u.Root.Kids, &die{Tag: tVariable, Attrs: many})
	}
	dies, bytes := visited(one(u), func(*dwarf.Nodes, *dwarf.Node) {})
	if most := (1<<12+16*bytes)/len(many) + 1; dies == 0 || dies > most {
		t.Errorf("%d DIEs of %d attributes are read out of %d bytes, want at most %d", dies, len(many), bytes, most)
	}
}

func TestNodesThatReferInCirclesAreLimited(t *testing.T) {
	loop := &die{Tag: tVariable}
	loop.Attrs = attrs{{aOrigin, fRefUdata, loop}}
	u := cu(langC, loop)
	for range 4000 {
		u.Root.Kids = append(u.Root.Kids, &die{Tag: tVariable, Attrs: attrs{{aOrigin, fRefUdata, loop}}})
	}
	references := 0
	dies, bytes := visited(one(u), func(c *dwarf.Nodes, n *dwarf.Node) {
		for next, ok := *n, true; ok; references++ {
			next, ok = c.Refer(&next, dwarf.AttrOrigin)
		}
	})
	if most := 1<<12 + 16*bytes; dies == 0 || dies+references > most {
		t.Errorf("%d DIEs and %d references are read out of %d bytes, want at most %d", dies, references, bytes, most)
	}
}

func TestLocationLists(t *testing.T) {
	word := func(v ...uint64) (b []byte) {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint64(b, x)
		}
		return b
	}
	loc := append(append(word(1<<64-1, 0x1000, 0, 8), 2, 0, 0x91, 1), append(append(word(8, 16), 1, 0, 0x50), word(0, 0)...)...)
	loclists := append([]byte{0xff, 0, 0, 0, 5, 0, 8, 0, 1, 0, 0, 0, 4, 0, 0, 0}, // a header and one offset
		1, 0, 6, 1, 2, 3, 4, 5, 6, 7, 8, // base addresses
		9, 1, 1, // a pair of views
		4, 0, 8, 2, 0x91, 2, 5, 2, 0x91, 3, 2, 0, 1, 2, 0x91, 4, 3, 0, 1, 2, 0x91, 5)
	loclists = append(append(append(loclists, 7), word(1, 2)...), 2, 0x91, 6)
	loclists = append(append(append(loclists, 8), word(1)...), 2, 2, 0x91, 7, 0, 4, 0, 8, 2, 0x91, 8)
	for name, tc := range map[string]struct {
		version, form int
		value         any
		want          string
	}{
		"old":       {4, fSecOffset, 0, "9101 50"},
		"new":       {5, fSecOffset, 16, "9102 9103 9104 9105 9106 9107"},
		"index":     {5, 0x22, 0, "9102 9103 9104 9105 9106 9107"},
		"no list":   {5, fData1, 16, ""},
		"too far":   {5, fSecOffset, 1000, ""},
		"bad index": {5, 0x22, 1000, ""},
		"cut":       {4, fSecOffset, 48, ""},
	} {
		t.Run(name, func(t *testing.T) {
			u := &fixture.DwarfUnit{Version: tc.version, AddrSize: 8, Root: &die{Tag: tUnit, Kids: []*die{
				{Tag: tVariable, Attrs: attrs{{aLocation, tc.form, tc.value}}},
			}}}
			s := sections(one(u))
			s.Late = func(name string) []byte { return map[string][]byte{"loc": loc, "loclists": loclists}[name] }
			nodes := dwarf.Open(s, 0).Nodes(0)
			root, _ := nodes.Root()
			var got []string
			nodes.Walk(&root, func(n *dwarf.Node, _ int) bool {
				nodes.Locations(n, dwarf.AttrLocation, func(x dwarf.Expression) bool {
					got = append(got, fmt.Sprintf("%x", []byte(x)))
					return true
				})
				return true
			})
			if strings.Join(got, " ") != tc.want {
				t.Errorf("got %q, want %s", got, tc.want)
			}
		})
	}
}
