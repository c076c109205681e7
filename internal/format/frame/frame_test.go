package frame_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/frame"
)

func frameSection(f *fixture.Frame) *frame.Section {
	s := &frame.Section{
		Data: f.Bytes(), Addr: f.Addr, EH: f.EH, Order: binary.LittleEndian, AddrSize: f.AddrSize,
		Text: f.Text, DataBase: f.Data,
	}
	if f.Big {
		s.Order = binary.BigEndian
	}
	return s
}

// showRule formats a rule as "r7+8", "@-16", "-16", "r3", "@[expr]" and so on.
func showRule(r frame.Rule) string {
	switch r.Kind {
	case frame.RuleUndefined:
		return "lost"
	case frame.RuleSameValue:
		return "same"
	case frame.RuleOffset:
		return fmt.Sprintf("@%+d", r.Offset)
	case frame.RuleValOffset:
		return fmt.Sprintf("%+d", r.Offset)
	case frame.RuleRegister:
		return fmt.Sprintf("r%d", r.Reg)
	case frame.RuleExpression:
		return fmt.Sprintf("@[%x]", r.Expr)
	case frame.RuleValExpression:
		return fmt.Sprintf("[%x]", r.Expr)
	case frame.RuleRegisterOffset:
		return fmt.Sprintf("r%d%+d", r.Reg, r.Offset)
	}
	return "none"
}

// showFrames formats all rows of a section as "start-end cfa reg:rule …".
func showFrames(s *frame.Section) (string, []string) {
	var b strings.Builder
	var bad []string
	var m frame.Machine
	problems := s.Each(func(f *frame.FDE) bool {
		err := f.Rows(&m, func(r *frame.Row) bool {
			fmt.Fprintf(&b, "%x-%x %s", r.Start, r.End, showRule(r.CFA))
			for _, x := range r.Regs {
				fmt.Fprintf(&b, " %d:%s", x.Reg, showRule(x.Rule))
			}
			if r.Signed {
				b.WriteString(" signed")
			}
			b.WriteByte('\n')
			return true
		})
		if err != nil {
			bad = append(bad, err.Error())
		}
		return true
	})
	for _, p := range problems {
		bad = append(bad, p.Error())
	}
	return strings.TrimSpace(b.String()), bad
}

func wantFrames(t *testing.T, s *frame.Section, want ...string) {
	t.Helper()
	got, bad := showFrames(s)
	if len(bad) > 0 || got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s\nproblems %q", got, strings.Join(want, "\n"), bad)
	}
}

// wantFrameProblem checks for the intact rows and one problem.
func wantFrameProblem(t *testing.T, s *frame.Section, problem string, want ...string) {
	t.Helper()
	got, bad := showFrames(s)
	if len(bad) != 1 || !strings.Contains(bad[0], problem) || got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s\nproblems %q\nwant %q", got, strings.Join(want, "\n"), bad, problem)
	}
}

func TestFrameInstructions(t *testing.T) {
	expr := []byte{2, 0x77, 8} // a block: breg7 8
	for _, c := range []struct {
		what  string
		instr []byte
		want  []string
	}{
		{"nothing", nil, []string{"1000-1100 r7+8 16:@-8"}},
		{"advance_loc", []byte{0x41, 0x0e, 16}, []string{"1000-1004 r7+8 16:@-8", "1004-1100 r7+16 16:@-8"}},
		{"advance_loc1", []byte{2, 8, 0x0e, 16}, []string{"1000-1020 r7+8 16:@-8", "1020-1100 r7+16 16:@-8"}},
		{"advance_loc2", []byte{3, 8, 0, 0x0e, 16}, []string{"1000-1020 r7+8 16:@-8", "1020-1100 r7+16 16:@-8"}},
		{"advance_loc4", []byte{4, 8, 0, 0, 0, 0x0e, 16}, []string{"1000-1020 r7+8 16:@-8", "1020-1100 r7+16 16:@-8"}},
		{"MIPS_advance_loc8", []byte{0x1d, 8, 0, 0, 0, 0, 0, 0, 0, 0x0e, 16}, []string{"1000-1020 r7+8 16:@-8", "1020-1100 r7+16 16:@-8"}},
		{"set_loc", []byte{1, 0x10, 0x10, 0, 0, 0, 0, 0, 0, 0x0e, 16}, []string{"1000-1010 r7+8 16:@-8", "1010-1100 r7+16 16:@-8"}},
		{"nop and steps of zero", []byte{0, 0x40, 0, 2, 0}, []string{"1000-1100 r7+8 16:@-8"}},
		{"steps over the end", []byte{0x41, 3, 0xff, 0xff, 0x0e, 16}, []string{"1000-1004 r7+8 16:@-8", "1004-1100 r7+8 16:@-8"}},
		{"a step to the end", []byte{2, 0x40, 0x0e, 16}, []string{"1000-1100 r7+8 16:@-8"}},
		{"offset", []byte{0x83, 2, 0x86, 3}, []string{"1000-1100 r7+8 3:@-16 6:@-24 16:@-8"}},
		{"offset_extended", []byte{5, 3, 2}, []string{"1000-1100 r7+8 3:@-16 16:@-8"}},
		{"offset_extended_sf", []byte{0x11, 3, 0x7e}, []string{"1000-1100 r7+8 3:@+16 16:@-8"}},
		{"GNU_negative_offset_extended", []byte{0x2f, 3, 2}, []string{"1000-1100 r7+8 3:@+16 16:@-8"}},
		{"val_offset", []byte{0x14, 3, 2}, []string{"1000-1100 r7+8 3:-16 16:@-8"}},
		{"val_offset_sf", []byte{0x15, 3, 0x7e}, []string{"1000-1100 r7+8 3:+16 16:@-8"}},
		{"undefined", []byte{7, 16}, []string{"1000-1100 r7+8 16:lost"}},
		{"same_value", []byte{8, 3}, []string{"1000-1100 r7+8 3:same 16:@-8"}},
		{"register", []byte{9, 3, 12}, []string{"1000-1100 r7+8 3:r12 16:@-8"}},
		{"expression", append([]byte{0x10, 3}, expr...), []string{"1000-1100 r7+8 3:@[7708] 16:@-8"}},
		{"val_expression", append([]byte{0x16, 3}, expr...), []string{"1000-1100 r7+8 3:[7708] 16:@-8"}},
		{"def_cfa", []byte{0x0c, 6, 16}, []string{"1000-1100 r6+16 16:@-8"}},
		{"def_cfa_sf", []byte{0x12, 6, 0x7e}, []string{"1000-1100 r6+16 16:@-8"}},
		{"def_cfa_register", []byte{0x0d, 6}, []string{"1000-1100 r6+8 16:@-8"}},
		{"def_cfa_offset", []byte{0x0e, 0x80, 1}, []string{"1000-1100 r7+128 16:@-8"}},
		{"def_cfa_offset_sf", []byte{0x13, 0x7e}, []string{"1000-1100 r7+16 16:@-8"}},
		{"def_cfa_expression", append([]byte{0x0f}, expr...), []string{"1000-1100 [7708] 16:@-8"}},
		{"GNU_args_size", []byte{0x2e, 0x80, 1}, []string{"1000-1100 r7+8 16:@-8"}},
		{"AARCH64_negate_ra_state", []byte{0x2d, 0x41, 0x2d, 0x41, 0x2c}, []string{
			"1000-1004 r7+8 16:@-8 signed", "1004-1008 r7+8 16:@-8", "1008-1100 r7+8 16:@-8 signed"}},
		{"restore", []byte{0x83, 2, 7, 16, 0x41, 0xc3, 0xd0}, []string{"1000-1004 r7+8 3:@-16 16:lost", "1004-1100 r7+8 16:@-8"}},
		{"restore_extended", []byte{0x83, 2, 7, 16, 0x41, 6, 3, 6, 16, 6, 9}, []string{"1000-1004 r7+8 3:@-16 16:lost", "1004-1100 r7+8 16:@-8"}},
		{"remember_state", []byte{0x0a, 0x0c, 6, 16, 0x83, 2, 0x2d, 0x0a, 0x41, 0x0e, 32, 0x41, 0x0b, 0x41, 0x0b}, []string{
			"1000-1004 r6+16 3:@-16 16:@-8 signed", "1004-1008 r6+32 3:@-16 16:@-8 signed",
			"1008-100c r6+16 3:@-16 16:@-8 signed", "100c-1100 r7+8 16:@-8"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			f := fixture.NewFrame(false)
			cie := fixture.FrameX8664(false)
			cie.CodeAlign = 4
			f.FDE(f.CIE(cie), 0x1000, 0x100, c.instr...)
			wantFrames(t, frameSection(f), c.want...)
		})
	}
}

func TestFormsOfFrameEntries(t *testing.T) {
	for _, eh := range []bool{false, true} {
		for _, version := range []byte{1, 3, 4} {
			for form := range 8 {
				f := fixture.NewFrame(eh)
				f.Big, f.Wide, f.Addr = form&1 != 0, form&2 != 0, 0x40_0000
				if form&4 != 0 {
					f.AddrSize = 4
				}
				cie := fixture.FrameX8664(eh)
				cie.Version = version
				f.Raw(0, 0, 0, 0) // ends of what was linked in front
				off := f.CIE(cie)
				f.FDE(off, 0x1000, 0x10, 0x44, 0x0e, 16).Raw(0, 0, 0, 0).FDE(off, 0x2000, 0x10)
				wantFrames(t, frameSection(f), "1000-1004 r7+8 16:@-8", "1004-1010 r7+16 16:@-8", "2000-2010 r7+8 16:@-8")
			}
		}
	}
}

func TestEncodingsOfAddresses(t *testing.T) {
	for _, encoding := range []byte{0x00, 0x01, 0x02, 0x03, 0x04, 0x08, 0x09, 0x0a, 0x0b, 0x0c} {
		for _, relative := range []byte{0, 0x10, 0x20, 0x30} {
			for _, addrSize := range []int{4, 8} {
				f := fixture.NewFrame(true)
				f.Addr, f.Text, f.Data, f.AddrSize = 0x3000, 0x800, 0x4000, addrSize
				cie := fixture.FrameX8664(true)
				cie.Encoding = encoding | relative
				if encoding == 1 && relative != 0 {
					continue // no negative numbers
				}
				f.FDE(f.CIE(cie), 0x1000, 0x10)
				if relative == 0x10 && (encoding == 2 || encoding == 3 && addrSize == 8) {
					continue // no negative distances
				}
				if relative == 0x30 && (encoding == 2 || encoding == 3 && addrSize == 8) {
					continue
				}
				t.Run(fmt.Sprintf("%#x/%d", encoding|relative, addrSize), func(t *testing.T) {
					wantFrames(t, frameSection(f), "1000-1010 r7+8 16:@-8")
				})
			}
		}
	}
}

func TestAugmentations(t *testing.T) {
	f := fixture.NewFrame(true)
	for i, c := range []fixture.FrameCIE{
		{Augmentation: "zPLRS", Personality: 0x9b, Encoding: 0x1b},
		{Augmentation: "zRB", Encoding: 0x0c, Tail: []byte{0x3f}},
		{Augmentation: "zRx?", Encoding: 0x03, Tail: []byte{1, 2, 3}}, // more than we know
		{Augmentation: "eh"},
		{Augmentation: ""},
	} {
		c.Version, c.CodeAlign, c.DataAlign, c.RA, c.Instructions = 1, 1, -8, 16, []byte{0x0c, 7, 8}
		f.FDE(f.CIE(c), 0x1000*uint64(i+1), 0x10)
	}
	s := frameSection(f)
	wantFrames(t, s, "1000-1010 r7+8", "2000-2010 r7+8", "3000-3010 r7+8", "4000-4010 r7+8", "5000-5010 r7+8")
	signals := 0
	s.Each(func(f *frame.FDE) bool {
		if f.CIE.Signal {
			signals++
		}
		return f.Start < 0x2000
	})
	if signals != 1 {
		t.Errorf("%d frames of signal handlers", signals)
	}
}

func TestFramesOfDroppedCodeAreSkipped(t *testing.T) {
	f := fixture.NewFrame(false)
	c := f.CIE(fixture.FrameX8664(false))
	f.FDE(c, 0, 0x10).FDE(c, 1<<64-1, 0).FDE(c, 1<<64-2, 1).FDE(c, 0x1000, 0).FDE(c, 0x2000, 8)
	s := frameSection(f)
	wantFrames(t, s, "2000-2008 r7+8 16:@-8")
	s.Relocatable = true
	wantFrames(t, s, "0-10 r7+8 16:@-8", "2000-2008 r7+8 16:@-8")
}

func TestDamagedFrameEntryIsSkipped(t *testing.T) {
	good := func(f *fixture.Frame) { f.FDE(f.CIE(fixture.FrameX8664(true)), 0x2000, 8) }
	rest := "2000-2008 r7+8 16:@-8"
	for _, c := range []struct {
		what string
		make func(f *fixture.Frame)
	}{
		{"missing CIE at offset 0x0", func(f *fixture.Frame) { f.Raw(0, 0, 0, 0).FDE(0, 0x1000, 8) }},
		{"version 2", func(f *fixture.Frame) { f.CIE(fixture.FrameCIE{Version: 2}) }},
		{`augmentation "armcc+"`, func(f *fixture.Frame) { f.CIE(fixture.FrameCIE{Version: 1, Augmentation: "armcc+"}) }},
		{"version 1, augmentation", func(f *fixture.Frame) {
			f.CIE(fixture.FrameCIE{Version: 1, Augmentation: strings.Repeat("z", 40)})
		}},
		{"return address 65536", func(f *fixture.Frame) { f.CIE(fixture.FrameCIE{Version: 3, RA: 65536}) }},
		{"unknown instruction", func(f *fixture.Frame) { f.CIE(fixture.FrameCIE{Version: 3, Instructions: []byte{0x3f}}) }},
		{"truncated instruction", func(f *fixture.Frame) { f.CIE(fixture.FrameCIE{Version: 3, Instructions: []byte{0x0c, 1}}) }},
		{"augmentation \"zR\"", func(f *fixture.Frame) { f.Raw(9, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1) }},
		{`augmentation ""`, func(f *fixture.Frame) { f.Raw(7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0x81) }},
		{"address size 3", func(f *fixture.Frame) { f.Raw(8, 0, 0, 0, 0, 0, 0, 0, 4, 0, 3, 0) }},
		{"encoding 0x9b", func(f *fixture.Frame) {
			c := fixture.FrameX8664(true)
			c.Encoding = 0x9b
			f.FDE(f.CIE(c), 0x1000, 8)
		}},
		{"encoding 0x17", func(f *fixture.Frame) {
			c := fixture.FrameX8664(true)
			c.Encoding = 0x17
			f.FDE(f.CIE(c), 0x1000, 8)
		}},
		{"encoding 0x50", func(f *fixture.Frame) {
			c := fixture.FrameX8664(true)
			c.Encoding = 0x50
			f.FDE(f.CIE(c), 0x1000, 8)
		}},
		{"0x1000 bytes", func(f *fixture.Frame) {
			c := fixture.FrameX8664(true)
			c.Encoding = 0
			f.FDE(f.CIE(c), 1<<64-0x800, 0x1000)
		}},
	} {
		f := fixture.NewFrame(true)
		c.make(f)
		good(f)
		t.Run(c.what, func(t *testing.T) { wantFrameProblem(t, frameSection(f), c.what, rest) })
	}
	f := fixture.NewFrame(true)
	good(f)
	f.Raw(40, 0, 0, 0, 1, 2, 3)
	wantFrameProblem(t, frameSection(f), "at offset 0x29: the entry exceeds", rest)
}

func TestDamagedFrameInstructionEndsTheRows(t *testing.T) {
	for _, c := range []struct {
		what  string
		instr []byte
	}{
		{"unknown instruction", []byte{0x3f}},
		{"restore_state without", []byte{0x0b}},
		{"too many remembered states", append(make([]byte, 65), []byte(strings.Repeat("\x0a", 65))...)},
		{"too many rules", manyRules()},
		{"truncated instruction", []byte{0x0e}},
		{"truncated instruction", []byte{0x07, 0x80, 0x80, 0x04}}, // register 65536
		{"truncated instruction", []byte{0x0f, 9, 1}},
		{"address decreases", []byte{1, 0, 0, 0, 0, 0, 0, 0, 0}},
	} {
		f := fixture.NewFrame(false)
		f.FDE(f.CIE(fixture.FrameX8664(false)), 0x1000, 0x100, append([]byte{0x44, 0x0e, 16, 0x44}, c.instr...)...)
		wantFrameProblem(t, frameSection(f), c.what, "1000-1004 r7+8 16:@-8", "1004-1008 r7+16 16:@-8")
	}
}

func TestRememberedStatesEndWithTheirFDE(t *testing.T) {
	f := fixture.NewFrame(false)
	c := f.CIE(fixture.FrameX8664(false))
	f.FDE(c, 0x1000, 8, 0x0a).FDE(c, 0x2000, 8, 0x0b)
	wantFrameProblem(t, frameSection(f), "restore_state without", "1000-1008 r7+8 16:@-8")
}

func manyRules() (b []byte) {
	for i := range 256 {
		b = append(b, 0x07, byte(i)|0x80, byte(i>>7))
	}
	return b
}

func TestProblemsOfFramesAreLimited(t *testing.T) {
	f := fixture.NewFrame(false)
	for range 1000 {
		f.FDE(99, 0x1000, 1)
	}
	if _, bad := showFrames(frameSection(f)); len(bad) == 0 || len(bad) > 200 {
		t.Errorf("%d problems", len(bad))
	}
}

func TestRowsDoNotAllocate(t *testing.T) {
	f := fixture.NewFrame(true)
	c := f.CIE(fixture.FrameX8664(true))
	for i := range 1000 {
		f.FDE(c, uint64(0x1000+i*16), 16, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x0a, 0x44, 0x0c, 7, 8, 0x41, 0x0b)
	}
	s := frameSection(f)
	var m frame.Machine
	rows := 0
	n := testing.AllocsPerRun(10, func() {
		s.Each(func(f *frame.FDE) bool {
			return f.Rows(&m, func(*frame.Row) bool { rows++; return true }) == nil
		})
	})
	if n > 20 || rows != 11*5000 {
		t.Errorf("%v allocations, %d rows", n, rows)
	}
}

func BenchmarkFrameRows(b *testing.B) {
	f := fixture.NewFrame(true)
	c := f.CIE(fixture.FrameX8664(true))
	for i := range 1000 {
		f.FDE(c, uint64(0x1000+i*16), 16, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x0a, 0x44, 0x0c, 7, 8, 0x41, 0x0b)
	}
	s := frameSection(f)
	var m frame.Machine
	b.SetBytes(int64(len(s.Data)))
	b.ReportAllocs()
	for b.Loop() {
		s.Each(func(f *frame.FDE) bool {
			return f.Rows(&m, func(*frame.Row) bool { return true }) == nil
		})
	}
}
