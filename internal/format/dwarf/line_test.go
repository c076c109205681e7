package dwarf_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/dwarf"
)

func lineSections(l *fixture.Line) *dwarf.LineSections {
	s := &dwarf.LineSections{Line: l.Bytes(), Order: binary.LittleEndian}
	if l.Big {
		s.Order = binary.BigEndian
	}
	return s
}

// runLine reads and runs a program, which must be valid.
func runLine(t *testing.T, l *fixture.Line, opt dwarf.RunOptions) (*dwarf.Program, *dwarf.Lines) {
	t.Helper()
	p, out := new(dwarf.Program), new(dwarf.Lines)
	if err := p.Read(lineSections(l), 0); err != nil {
		t.Fatal(err)
	}
	if err := p.Run(out, opt); err != nil {
		t.Fatal(err)
	}
	return p, out
}

// showLines formats sequences as "[start end) addr:file:line:column …".
func showLines(l *dwarf.Lines) string {
	var b strings.Builder
	for _, s := range l.Sequences {
		fmt.Fprintf(&b, "[%x %x)", s.Start, s.End)
		for _, r := range l.Rows[s.First : s.First+s.N] {
			fmt.Fprintf(&b, " %x:%d:%d:%d", r.Addr, r.File, r.Line, r.Column)
		}
		b.WriteByte('\n')
	}
	return strings.TrimSpace(b.String())
}

func wantLines(t *testing.T, l *fixture.Line, opt dwarf.RunOptions, want ...string) {
	t.Helper()
	if _, got := runLine(t, l, opt); showLines(got) != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", showLines(got), strings.Join(want, "\n"))
	}
}

func TestLineOpcodes(t *testing.T) {
	for _, version := range []uint16{2, 3, 4, 5} {
		for _, big := range []bool{false, true} {
			l := fixture.NewLine(version)
			l.Big, l.Wide = big, version == 3
			l.Address(0x1000).AdvanceLine(9).Copy()
			l.Special(2, 3)                             // 1002, 13
			l.AdvancePC(300).AdvanceLine(-5).Copy()     // 112e, 8
			l.ConstAddPC().File(2).Copy()               // + (255-13)/14 = 113f
			l.FixedAdvancePC(0x101).Column(7).Copy()    // only the column changes
			l.AdvancePC(1).File(1).Raw(6, 7, 10, 11)    // statement, block, prologue, epilogue
			l.Raw(12, 0x81, 1).Copy()                   // instruction set
			l.Extended(4, 5).AdvancePC(1).Special(0, 1) // discriminator
			l.Extended(0x80, 1, 2, 3).Raw(0, 0)         // of a vendor; without opcode
			l.AdvancePC(0x10).End()
			wantLines(t, l, dwarf.RunOptions{}, "[1000 1252) 1000:1:10:0 1002:1:13:0 112e:1:8:0 113f:2:8:0 1241:1:8:0 1242:1:9:0")
			wantLines(t, l, dwarf.RunOptions{Columns: true},
				"[1000 1252) 1000:1:10:0 1002:1:13:0 112e:1:8:0 113f:2:8:0 1240:2:8:7 1241:1:8:7 1242:1:9:7")
		}
	}
}

func TestUnknownOpcodesAreSkipped(t *testing.T) {
	l := fixture.NewLine(4)
	l.OpcodeBase = 20
	l.Address(0x1000).Copy().Raw(13, 0x80, 1, 5).Raw(19, 1, 0x81, 0).Special(4, 2).AdvancePC(1).End()
	wantLines(t, l, dwarf.RunOptions{}, "[1000 1005) 1000:1:1:0 1004:1:3:0")
}

func TestOpcodesAboveASmallBaseAreSpecial(t *testing.T) {
	l := fixture.NewLine(2)
	l.OpcodeBase = 4
	l.Address(0x1000).Copy().Raw(9).AdvancePC(20).End() // 9 is (9-4)%14-5 lines
	wantLines(t, l, dwarf.RunOptions{}, "[1000 1014) 1000:1:1:0")
	l = fixture.NewLine(2)
	l.OpcodeBase = 4
	l.Address(0x1000).Copy().Raw(4 + 14 + 7).AdvancePC(20).End()
	wantLines(t, l, dwarf.RunOptions{}, "[1000 1015) 1000:1:1:0 1001:1:3:0")
}

func TestWideLineRange(t *testing.T) {
	l := fixture.NewLine(3)
	l.LineBase, l.LineRange = -10, 242
	l.Address(0x1000).Special(0, 200).Special(1, -10).AdvancePC(1).End()
	wantLines(t, l, dwarf.RunOptions{}, "[1000 1002) 1000:1:201:0 1001:1:191:0")
}

func TestSpecialOpcodesDependOnHeader(t *testing.T) {
	a, b := fixture.NewLine(4), fixture.NewLine(4)
	b.LineBase, b.LineRange, b.MinInst = -3, 12, 4
	for _, l := range []*fixture.Line{a, b} {
		l.Address(0x1000).Special(0, 4).Special(3, 2).AdvancePC(1).End()
	}
	s := &dwarf.LineSections{Line: append(a.Bytes(), b.Bytes()...), Order: binary.LittleEndian}
	var p dwarf.Program
	var out dwarf.Lines
	for off := uint64(0); off < uint64(len(s.Line)); off += p.Size {
		if err := errors.Join(p.Read(s, off), p.Run(&out, dwarf.RunOptions{})); err != nil {
			t.Fatal(err)
		}
	}
	if got := showLines(&out); got != "[1000 1004) 1000:1:5:0 1003:1:7:0\n[1000 1010) 1000:1:5:0 100c:1:7:0" {
		t.Error(got)
	}
}

func TestOperationsOfVLIW(t *testing.T) {
	l := fixture.NewLine(4)
	l.MaxOps, l.MinInst = 3, 16
	l.Address(0x1000).Copy()
	l.Special(2, 1)                      // operation 2 of the same instruction
	l.Special(2, 1)                      // 2+2: operation 1 of the next one
	l.AdvancePC(5).AdvanceLine(1).Copy() // 1+5: two more
	l.ConstAddPC().AdvanceLine(1).Copy() // 17: five more, operation 2
	l.FixedAdvancePC(1).AdvanceLine(1).Copy()
	l.Special(2, 1)                                      // the operation was set back
	l.Address(0x2000).AdvanceLine(1).Copy().AdvancePC(3) // and again
	l.AdvancePC(1).End()
	wantLines(t, l, dwarf.RunOptions{}, "[1000 2010) 1000:1:2:0 1010:1:3:0 1030:1:4:0 1080:1:5:0 1081:1:7:0 2000:1:8:0")

	l = fixture.NewLine(4)
	l.MaxOps = 0 // means 1
	l.Address(0x1000).Copy().Special(2, 1).AdvancePC(1).End()
	wantLines(t, l, dwarf.RunOptions{}, "[1000 1003) 1000:1:1:0 1002:1:2:0")
}

func TestRowsAscendStrictly(t *testing.T) {
	for _, c := range []struct {
		what string
		make func(l *fixture.Line)
		want string
	}{
		{"the last row of an address counts", func(l *fixture.Line) {
			l.Copy().Special(4, 1).Special(0, 5).Special(0, 2).Special(4, 1)
		}, "[1000 1009) 1000:1:1:0 1004:1:9:0 1008:1:10:0"},
		{"a replaced row that repeats the one before is dropped", func(l *fixture.Line) {
			l.Copy().Special(4, 1).Special(0, -1).Special(4, 0).Special(4, 3)
		}, "[1000 100d) 1000:1:1:0 100c:1:4:0"},
		{"a replaced first row stays first", func(l *fixture.Line) {
			l.Copy().Special(0, 5).Special(2, 1)
		}, "[1000 1003) 1000:1:6:0 1002:1:7:0"},
		{"a dropped row is replaced too", func(l *fixture.Line) {
			l.Copy().Special(4, 0).Special(0, 7).Special(4, 1)
		}, "[1000 1009) 1000:1:1:0 1004:1:8:0 1008:1:9:0"},
		{"a lower address is ignored", func(l *fixture.Line) {
			l.Special(8, 1).Address(0x1004).Special(0, 1).Address(0x1010).Special(0, 1)
		}, "[1008 1011) 1008:1:2:0 1010:1:4:0"},
		{"an address below a dropped row is ignored", func(l *fixture.Line) {
			l.Copy().AdvancePC(8).Copy().Address(0x1004).Special(0, 1).Address(0x1010).Special(0, 1)
		}, "[1000 1011) 1000:1:1:0 1010:1:3:0"},
		{"a row that goes back to the row before a dropped one", func(l *fixture.Line) {
			l.Copy().Special(4, 4).Special(4, 0).Special(0, -4).Special(4, 0).Special(4, 1)
		}, "[1000 1011) 1000:1:1:0 1004:1:5:0 1008:1:1:0 1010:1:2:0"},
		{"line 0 is kept", func(l *fixture.Line) {
			l.Copy().Special(1, -1).Special(1, 4)
		}, "[1000 1003) 1000:1:1:0 1001:1:0:0 1002:1:4:0"},
	} {
		l := fixture.NewLine(4)
		l.Address(0x1000)
		c.make(l)
		l.AdvancePC(1).End()
		t.Run(c.what, func(t *testing.T) { wantLines(t, l, dwarf.RunOptions{}, c.want) })
	}
}

func TestEndOfSequences(t *testing.T) {
	for _, c := range []struct {
		what string
		make func(l *fixture.Line)
		want []string
	}{
		{"an empty one is dropped", func(l *fixture.Line) {
			l.Address(0x1000).Copy().End().Address(0x2000).Copy().AdvancePC(2).End()
		}, []string{"[2000 2002) 2000:1:1:0"}},
		{"registers are reset", func(l *fixture.Line) {
			l.Address(0x1000).File(7).Column(9).Special(0, 5).AdvancePC(1).End().Address(0x2000).Copy().AdvancePC(1).End()
		}, []string{"[1000 1001) 1000:7:6:9", "[2000 2001) 2000:1:1:0"}},
		{"without an end the last row has one byte", func(l *fixture.Line) {
			l.Address(0x1000).Copy().Special(4, 1)
		}, []string{"[1000 1005) 1000:1:1:0 1004:1:2:0"}},
		{"an end below the last row is ignored", func(l *fixture.Line) {
			l.Address(0x1000).Copy().Special(4, 1).Address(0x1002).End()
		}, []string{"[1000 1005) 1000:1:1:0 1004:1:2:0"}},
		{"a row at the end is dropped", func(l *fixture.Line) {
			l.Address(0x1000).Copy().Special(4, 1).End()
		}, []string{"[1000 1004) 1000:1:1:0"}},
		{"an end without rows is nothing", func(l *fixture.Line) { l.End().Address(0x1000).End() }, nil},
	} {
		l := fixture.NewLine(4)
		c.make(l)
		t.Run(c.what, func(t *testing.T) { wantLines(t, l, dwarf.RunOptions{Columns: true}, c.want...) })
	}
}

func TestDroppedCodeIsOmitted(t *testing.T) {
	l := fixture.NewLine(4)
	for _, addr := range []uint64{0, 1<<64 - 1, 1<<64 - 2} {
		l.Address(addr).Copy().AdvancePC(1).Special(4, 1).Address(0x500).Special(0, 1).AdvancePC(1).End()
	}
	l.Address(0).AdvancePC(0x40).Copy().AdvancePC(4).End()
	l.Address4(1<<32 - 1).Copy().AdvancePC(4).End()
	l.Address4(1<<32 - 2).Copy().AdvancePC(4).End()
	l.Copy().AdvancePC(4).End() // no address at all
	l.Address4(0x1000).Copy().Special(2, 1).Address(1<<64-1).Special(0, 1).AdvancePC(4).End()
	wantLines(t, l, dwarf.RunOptions{}, "[1000 1003) 1000:1:1:0 1002:1:2:0")

	l = fixture.NewLine(4).Address(0).Copy().Special(4, 1).AdvancePC(1).End()
	wantLines(t, l, dwarf.RunOptions{Relocatable: true}, "[0 5) 0:1:1:0 4:1:2:0")
}

func TestAddressesOfAnySize(t *testing.T) {
	for _, big := range []bool{false, true} {
		l := fixture.NewLine(4)
		l.Big = big
		l.Extended(2, 0x12, 0x12).Copy().AdvancePC(1).End()
		l.Extended(2, 0x11, 0x11, 0x11).Copy().AdvancePC(1).End()
		l.Address4(0x20000000).Copy().AdvancePC(1).End()
		l.Address(0x123456789a).Extended(2).Extended(2, make([]byte, 9)...).Copy().AdvancePC(1).End()
		wantLines(t, l, dwarf.RunOptions{}, "[1212 1213) 1212:1:1:0", "[111111 111112) 111111:1:1:0",
			"[20000000 20000001) 20000000:1:1:0", "[123456789a 123456789b) 123456789a:1:1:0")
	}
}

func TestTruncatedInstruction(t *testing.T) {
	for _, tail := range [][]byte{{2}, {2, 0x80}, {3, 0xff}, {9, 1}, {0}, {0, 0x80}, {0, 9, 2, 1}, {12}, {4}, {5, 0x80}} {
		l := fixture.NewLine(4).Address(0x1000).Copy().Special(4, 1).Raw(tail...)
		var p dwarf.Program
		var out dwarf.Lines
		if err := p.Read(lineSections(l), 0); err != nil {
			t.Fatal(err)
		}
		err := p.Run(&out, dwarf.RunOptions{})
		if err == nil || !strings.Contains(err.Error(), ".debug_line: at offset 0x0: the line program ends inside") {
			t.Errorf("% x: %v", tail, err)
		}
		if got := showLines(&out); got != "[1000 1005) 1000:1:1:0 1004:1:2:0" {
			t.Errorf("% x: %s", tail, got)
		}
	}
}

func TestRunDoesNotAllocate(t *testing.T) {
	var section []byte
	for v := range uint16(4) {
		l := fixture.NewLine(v + 2)
		l.Dirs, l.Files = []string{"/a", "b"}, []fixture.LineFile{{Name: "x"}, {Name: "y", Dir: 1}}
		l.Address(0x1000).Copy().Special(4, 1).DefineFile("z", 1).AdvancePC(1).End()
		section = append(section, l.Bytes()...)
	}
	s := &dwarf.LineSections{Line: section, Order: binary.LittleEndian}
	var p dwarf.Program
	var out dwarf.Lines
	path := make([]byte, 0, 100)
	n := testing.AllocsPerRun(100, func() {
		out.Reset()
		for off := uint64(0); off < uint64(len(section)); off += p.Size {
			if p.Read(s, off) != nil || p.Run(&out, dwarf.RunOptions{}) != nil || len(p.AppendPath(path, 1, path)) == 0 {
				t.Fatal("not read")
			}
		}
	})
	if n != 0 || len(out.Sequences) != 4 {
		t.Errorf("%v allocations, %d sequences", n, len(out.Sequences))
	}
}

func TestRunTwice(t *testing.T) {
	l := fixture.NewLine(4).Address(0x1000).DefineFile("x", 0).Copy().AdvancePC(1).End()
	p, a := runLine(t, l, dwarf.RunOptions{})
	var b dwarf.Lines
	if err := p.Run(&b, dwarf.RunOptions{}); err != nil || !reflect.DeepEqual(*a, b) || p.NumFiles() != 2 {
		t.Error(err, a, b, p.NumFiles())
	}
}

func BenchmarkLineProgram(b *testing.B) {
	// As gas writes them for gcc: about four bytes for each row.
	l := fixture.NewLine(5)
	l.Dirs, l.Files = []string{"/build"}, []fixture.LineFile{{Name: "a.c"}, {Name: "a.c"}, {Name: "b.h"}}
	for i := range 200 {
		l.Address(0x10000 + uint64(i)<<12)
		for j := range 40 {
			l.Column(uint64(5+j%9)).Special(3+j%4, j%6-2).Raw(6).Special(1, 2).Special(j%5, 1)
			if j%8 == 0 {
				l.File(uint64(1 + j/8%2)).AdvanceLine(int64(j*20 - 390)).Column(1).Copy().AdvancePC(40)
			}
			if j%16 == 0 {
				l.Extended(4, 3)
			}
		}
		l.AdvancePC(8).End()
	}
	s := lineSections(l)
	var p dwarf.Program
	var out dwarf.Lines
	b.SetBytes(int64(len(s.Line)))
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		if err := errors.Join(p.Read(s, 0), p.Run(&out, dwarf.RunOptions{})); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(out.Rows))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
	b.ReportMetric(float64(len(s.Line))/float64(len(out.Rows)), "B/row")
}
