package dwarf_test

import (
	"encoding/binary"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/dwarf"
)

// FuzzLine checks that rows are in order, that rows and files are bounded by the
// bytes of the program, and that paths are bounded.
func FuzzLine(f *testing.F) {
	for version := range uint16(4) {
		l := fixture.NewLine(version + 2)
		l.Wide, l.Big = version == 1, version == 2
		l.Dirs, l.Files = []string{"/d", `C:\e`}, []fixture.LineFile{{Name: "a", Sum: "0123456789abcdef", Source: "x"}, {Name: "b", Dir: 1}}
		l.Address(0x1000).Copy().Special(2, 3).AdvancePC(300).AdvanceLine(-5).ConstAddPC().File(2).FixedAdvancePC(7).Column(4)
		l.Copy().Raw(6, 12, 1).Extended(4, 1).DefineFile("c", 1).End().Address4(0).Copy().End().Address(1<<64 - 1).Copy()
		f.Add(l.Bytes(), l.Big, uint16(0))
		l.MaxOps, l.OpcodeBase = 4, 20
		f.Add(l.Bytes(), l.Big, uint16(3))
	}
	l := fixture.NewLine(5)
	l.Tables = []byte{2, 1, 0x1f, 1, 0x0e, 1, 0, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0x0a, 2, 0x0d, 5, 0x25, 1, 1, 2, 3, 4}
	f.Add(l.Copy().Bytes(), false, uint16(1))
	f.Fuzz(func(t *testing.T, b []byte, big bool, flags uint16) {
		s := &dwarf.LineSections{Line: b, LineStr: b, Str: b, Order: binary.LittleEndian}
		if big {
			s.Order = binary.BigEndian
		}
		opt := dwarf.RunOptions{Columns: flags&1 != 0, Relocatable: flags&2 != 0}
		var p dwarf.Program
		var out dwarf.Lines
		s.HasSources()
		for off := uint64(0); off < uint64(len(b)); off += p.Size {
			out.Reset()
			_ = p.Read(s, off)
			_ = p.Run(&out, opt)
			if p.Size == 0 {
				break
			}
			checkLines(t, &out, opt, int(p.Size))
			if p.NumFiles() > int(p.Size) {
				t.Fatalf("%d files in %d bytes", p.NumFiles(), p.Size)
			}
			for i := range uint32(min(p.NumFiles()+1, 50)) {
				p.AppendPath(nil, i, []byte("/comp"))
				if p.MD5(i) != nil && len(p.MD5(i)) != 16 {
					t.Fatalf("checksum of %d bytes", len(p.MD5(i)))
				}
				p.Source(i)
			}
		}
	})
}

func checkLines(t *testing.T, out *dwarf.Lines, opt dwarf.RunOptions, size int) {
	if len(out.Rows) > size || len(out.Sequences) > size {
		t.Fatalf("%d rows, %d sequences of %d bytes", len(out.Rows), len(out.Sequences), size)
	}
	next := 0
	for _, s := range out.Sequences {
		if s.First != next || s.N < 1 || s.Start != out.Rows[s.First].Addr || s.Start == 0 && !opt.Relocatable {
			t.Fatalf("%+v", s)
		}
		next += s.N
		for i, r := range out.Rows[s.First:next] {
			if r.Addr >= s.End || r.Column != 0 && !opt.Columns {
				t.Fatalf("%+v in %+v", r, s)
			}
			if i == 0 {
				continue
			}
			if was := out.Rows[s.First+i-1]; was.Addr >= r.Addr || was.File == r.File && was.Line == r.Line && was.Column == r.Column && was.Branch == r.Branch {
				t.Fatalf("%+v after %+v", r, was)
			}
		}
	}
	if next != len(out.Rows) {
		t.Fatalf("%d rows, %d in sequences", len(out.Rows), next)
	}
}
