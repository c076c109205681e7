package debugfile_test

import (
	"fmt"
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// declared is a program with a function of 0x1100 to 0x1140, a call that was inlined
// at 0x1110 to 0x1118, variables of both, and one at 0x2000.
func declared() []byte {
	type attrs = []fixture.DwarfAttr
	d := &fixture.Dwarf{Order: leastFirst}
	base := d.AddrTable(8, 0x1100, 0x1110, 0x2000)
	number := &fixture.DIE{Tag: 0x24, Attrs: attrs{{0x0b, 0x0b, 4}}}
	row := &fixture.DIE{Tag: 0x01, Attrs: attrs{{0x49, 0x13, number}}, Kids: []*fixture.DIE{
		{Tag: 0x21, Attrs: attrs{{0x37, 0x0b, 3}}}, {Tag: 0x21, Attrs: attrs{{0x22, 0x0b, 1}, {0x2f, 0x0b, 5}}},
	}}
	pointer := &fixture.DIE{Tag: 0x0f}
	x := &fixture.DIE{Tag: 0x05, Attrs: attrs{{0x03, 0x08, "x"}, {0x3a, 0x0b, 0}, {0x3b, 0x0b, 4}, {0x49, 0x13, pointer}}}
	inlined := &fixture.DIE{Tag: 0x2e, Attrs: attrs{{0x03, 0x08, "inlined"}, {0x3a, 0x0b, 0}, {0x3b, 0x0b, 3}}, Kids: []*fixture.DIE{x}}
	call := &fixture.DIE{Tag: 0x1d, Attrs: attrs{{0x31, 0x13, inlined}, {0x11, 0x1b, 1}, {0x12, 0x06, 8}, {0x58, 0x0b, 0}, {0x59, 0x0b, 9}, {0x2136, 0x0b, 6}}, Kids: []*fixture.DIE{
		{Tag: 0x05, Attrs: attrs{{0x31, 0x13, x}, {0x02, 0x18, []byte{0x91, 0x70}}}},
	}}
	f := &fixture.DIE{Tag: 0x2e, Attrs: attrs{{0x03, 0x08, "f"}, {0x3a, 0x0b, 0}, {0x3b, 0x0b, 7}, {0x11, 0x1b, 0}, {0x12, 0x06, 0x40}, {0x40, 0x18, []byte{0x56}}}, Kids: []*fixture.DIE{
		{Tag: 0x0b, Kids: []*fixture.DIE{
			{Tag: 0x34, Attrs: attrs{{0x03, 0x08, "row"}, {0x3a, 0x0b, 0}, {0x3b, 0x0b, 8}, {0x49, 0x13, row}, {0x02, 0x18, []byte{0x76, 8}}, {0x3e03, 0x0b, 2}}},
			call,
		}},
	}}
	global := &fixture.DIE{Tag: 0x34, Attrs: attrs{{0x3a, 0x0b, 0}, {0x3b, 0x0b, 2}, {0x49, 0x13, row}, {0x02, 0x18, []byte{0xa1, 2, 0x23, 4}}}}
	d.Unit(&fixture.DwarfUnit{Version: 5, AddrSize: 8, Root: &fixture.DIE{Tag: 0x11, Attrs: attrs{
		{0x73, 0x17, base}, {0x10, 0x17, 0}, {0x11, 0x1b, 0}, {0x12, 0x06, 0x100},
	}, Kids: []*fixture.DIE{number, row, pointer, inlined, f, global}}}, nil)
	line := fixture.NewLine(5)
	line.Dirs, line.Files = []string{"/d"}, []fixture.LineFile{{Name: "a.c"}}
	line.Address(0x1100).AdvanceLine(8).File(0).Copy().AdvancePC(0x80).End()
	return dwarfFile(d, "", fixture.ELFSection{Name: ".debug_line", Type: 1, Data: line.Bytes()})
}

// place is a file and a line as text.
func place(o *object.Object, file sym.Text, line uint32) string {
	return fmt.Sprintf("%s:%d", str(o, file), line)
}

func TestDeclarationsOfFunctionsAreInnermostFirst(t *testing.T) {
	o := open(t, declared())
	for addr, want := range map[uint64]string{0x114: "/d/a.c:3 110 6, /d/a.c:7 100 0", 0x104: "/d/a.c:7 100 0", 0x148: ""} {
		var got []string
		for _, s := range o.Starts(addr) {
			got = append(got, fmt.Sprintf("%s %x %d", place(o, s.File, s.Line), s.Addr, s.Discriminator))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%#x: got %q, want %s", addr, got, want)
		}
	}
}

func TestVariablesOfAFunctionAndItsCalls(t *testing.T) {
	o := open(t, declared())
	var got strings.Builder
	for _, l := range o.Locals(0x120) {
		fmt.Fprintf(&got, "%s %s %s %d %v %d %d %v\n", str(o, l.Function), str(o, l.Name), place(o, l.File, l.Line),
			l.Offset, l.HasOffset, l.Size, l.Tag, l.HasTag)
	}
	want := "f row /d/a.c:8 8 true 60 2 true\ninlined x /d/a.c:4 -16 true 8 0 false\n"
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", &got, want)
	}
	if l := o.Locals(0x150); len(l) != 0 {
		t.Errorf("outside of functions there are %+v", l)
	}
}

func TestVariableAtAnAddress(t *testing.T) {
	o := open(t, declared())
	for addr, want := range map[uint64]string{0x1003: ":0", 0x1004: "/d/a.c:2", 0x103f: "/d/a.c:2", 0x1040: ":0"} {
		d := o.Variable(addr)
		if got := place(o, d.File, d.Line); got != want {
			t.Errorf("%#x: got %s, want %s", addr, got, want)
		}
	}
}

func TestLineOfCodeOutsideOfFunctions(t *testing.T) {
	o := open(t, declared())
	if l := o.Line(0x150); place(o, l.File, l.Line) != "/d/a.c:9" {
		t.Errorf("got %+v", l)
	}
	if l := o.Line(0x200); l != (object.Line{}) {
		t.Errorf("after the end of lines: %+v", l)
	}
}

func TestTypesInCirclesHaveNoSize(t *testing.T) {
	type attrs = []fixture.DwarfAttr
	d := &fixture.Dwarf{Order: leastFirst}
	circle := &fixture.DIE{Tag: 0x26}
	circle.Attrs = attrs{{0x49, 0x13, circle}}
	f := &fixture.DIE{Tag: 0x2e, Attrs: attrs{{0x03, 0x08, "f"}, {0x11, 0x01, 0x1100}, {0x12, 0x06, 0x40}}, Kids: []*fixture.DIE{
		{Tag: 0x34, Attrs: attrs{{0x03, 0x08, "x"}, {0x49, 0x13, circle}, {0x02, 0x18, []byte{0x91, 0x70}}}},
	}}
	d.Unit(&fixture.DwarfUnit{Version: 5, AddrSize: 8, Root: &fixture.DIE{Tag: 0x11, Attrs: attrs{
		{0x11, 0x01, 0x1100}, {0x12, 0x06, 0x100},
	}, Kids: []*fixture.DIE{circle, f}}}, nil)
	o := open(t, dwarfFile(d, ""))
	list := o.Locals(0x110)
	if len(list) != 1 || str(o, list[0].Name) != "x" || list[0].HasSize {
		t.Errorf("got %+v", list)
	}
}

func TestVariablesAreThoseOfTheInnermostCall(t *testing.T) {
	type attrs = []fixture.DwarfAttr
	d := &fixture.Dwarf{Order: leastFirst}
	small := &fixture.DIE{Tag: 0x2e, Attrs: attrs{{0x03, 0x08, "small"}}}
	f := &fixture.DIE{Tag: 0x2e, Attrs: attrs{{0x03, 0x08, "f"}, {0x11, 0x01, 0x1100}, {0x12, 0x06, 0x40}}, Kids: []*fixture.DIE{
		{Tag: 0x34, Attrs: attrs{{0x03, 0x08, "outer"}}},
		{Tag: 0x1d, Attrs: attrs{{0x31, 0x13, small}, {0x11, 0x01, 0x1110}, {0x12, 0x06, 0x10}}, Kids: []*fixture.DIE{
			{Tag: 0x34, Attrs: attrs{{0x03, 0x08, "inner"}}},
			{Tag: 0x1d, Attrs: attrs{{0x31, 0x13, small}, {0x11, 0x01, 0x1130}, {0x12, 0x06, 4}}, Kids: []*fixture.DIE{
				{Tag: 0x34, Attrs: attrs{{0x03, 0x08, "outside"}}}, // of its caller, as in strict DWARF 2
			}},
			{Tag: 0x0b, Kids: []*fixture.DIE{
				{Tag: 0x1d, Attrs: attrs{{0x31, 0x13, small}, {0x11, 0x01, 0x1138}, {0x12, 0x06, 4}}, Kids: []*fixture.DIE{
					{Tag: 0x34, Attrs: attrs{{0x03, 0x08, "block"}}}, // in a block beside the other call
				}},
			}},
		}},
	}}
	d.Unit(&fixture.DwarfUnit{Version: 5, AddrSize: 8, Root: &fixture.DIE{Tag: 0x11, Attrs: attrs{
		{0x11, 0x01, 0x1100}, {0x12, 0x06, 0x100},
	}, Kids: []*fixture.DIE{small, f}}}, nil)
	o := open(t, dwarfFile(d, ""))
	for addr, want := range map[uint64]string{
		0x104: "f.outer small.inner small.outside small.block", 0x114: "small.inner small.outside small.block",
		0x132: "small.outside", 0x13a: "small.block",
	} {
		if starts := o.Starts(addr); len(starts) != map[uint64]int{0x104: 1, 0x114: 2, 0x132: 3, 0x13a: 3}[addr] {
			t.Errorf("starts at %#x: got %+v", addr, starts)
		}
		var got []string
		for _, l := range o.Locals(addr) {
			got = append(got, str(o, l.Function)+"."+str(o, l.Name))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("at %#x: got %v, want %s", addr, got, want)
		}
	}
}

func TestOffsetOfAVariableMayBeInAList(t *testing.T) {
	type attrs = []fixture.DwarfAttr
	d := &fixture.Dwarf{Order: leastFirst}
	f := &fixture.DIE{Tag: 0x2e, Attrs: attrs{{0x03, 0x08, "f"}, {0x11, 0x01, 0x1100}, {0x12, 0x06, 0x40}, {0x40, 0x18, []byte{0x56}}}, Kids: []*fixture.DIE{
		{Tag: 0x34, Attrs: attrs{{0x03, 0x08, "x"}, {0x02, 0x22, 0}}},
	}}
	d.Unit(&fixture.DwarfUnit{Version: 5, AddrSize: 8, Root: &fixture.DIE{Tag: 0x11, Attrs: attrs{
		{0x11, 0x01, 0x1100}, {0x12, 0x06, 0x100},
	}, Kids: []*fixture.DIE{f}}}, nil)
	lists := []byte{27, 0, 0, 0, 5, 0, 8, 0, 1, 0, 0, 0, 4, 0, 0, 0,
		4, 0, 8, 1, 0x50, // first in a register
		4, 8, 16, 2, 0x76, 0x78, 0} // then in the frame
	o := open(t, dwarfFile(d, "", fixture.ELFSection{Name: ".debug_loclists", Type: 1, Data: lists}))
	list := o.Locals(0x110)
	if len(list) != 1 || !list[0].HasOffset || list[0].Offset != -8 {
		t.Errorf("got %+v", list)
	}
}

func TestCallsOfAFunctionAreReadOnce(t *testing.T) {
	type attrs = []fixture.DwarfAttr
	const calls = 1000
	d := &fixture.Dwarf{Order: leastFirst}
	small := &fixture.DIE{Tag: 0x2e, Attrs: attrs{{0x03, 0x08, "small"}}}
	f := &fixture.DIE{Tag: 0x2e, Attrs: attrs{{0x03, 0x08, "f"}, {0x11, 0x01, 0x1100}, {0x12, 0x06, calls}}}
	for i := range calls {
		f.Kids = append(f.Kids, &fixture.DIE{Tag: 0x1d, Attrs: attrs{{0x31, 0x13, small}, {0x11, 0x01, 0x1100 + i}, {0x12, 0x06, 1}}})
	}
	d.Unit(&fixture.DwarfUnit{Version: 5, AddrSize: 8, Root: &fixture.DIE{Tag: 0x11, Attrs: attrs{
		{0x11, 0x01, 0x1100}, {0x12, 0x06, calls},
	}, Kids: []*fixture.DIE{small, f}}}, nil)
	o := open(t, dwarfFile(d, ""))
	allocs := testing.AllocsPerRun(10, func() { // the first run is not counted
		if starts := o.Starts(0x110); len(starts) != 2 {
			t.Fatalf("got %+v", starts)
		}
	})
	if allocs > calls/10 {
		t.Errorf("%.0f allocations for an address", allocs)
	}
}
