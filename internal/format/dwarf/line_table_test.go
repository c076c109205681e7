package dwarf_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/dwarf"
)

func TestAppendPath(t *testing.T) {
	for _, c := range []struct{ comp, dir, name, want string }{
		{"/build", "src", "a.c", "/build/src/a.c"},
		{"/build", "/usr/include", "a.h", "/usr/include/a.h"},
		{"/build", "src", "/abs/a.c", "/abs/a.c"},
		{"/build", "../src/.", "./a.c", "/build/../src/././a.c"},
		{"/build/", "src/", "a.c", "/build/src/a.c"},
		{"/", "", "a.c", "/a.c"},
		{"", "", "a.c", "a.c"},
		{"", "src", "a.c", "src/a.c"},
		{"", "/", "a.c", "/a.c"},
		{`C:\build`, "src", "a.c", `C:\build\src\a.c`},
		{`C:\build\`, `sub\dir`, "a.c", `C:\build\sub\dir\a.c`},
		{"c:/build", "src", "a.c", `c:/build\src\a.c`},
		{"/build", `D:\src`, "a.c", `D:\src\a.c`},
		{`C:\build`, `\src`, "a.c", `C:\src\a.c`},
		{"/build", `\src`, "a.c", `\src\a.c`},
		{`C:\build`, `\\server\share`, "a.c", `\\server\share\a.c`},
		{`sub\dir`, "", "a.c", `sub\dir\a.c`},
		{"/build", "src", "<stdin>", "<stdin>"},
		{"/build", "src", "<half", "/build/src/<half"},
		{"/build", "src", "hg:hg.example.org/x:a.c:0123", "hg:hg.example.org/x:a.c:0123"},
		{"/build", "git:github.com/x/y", "a.c", "git:github.com/x/y/a.c"},
		{"/build", "src", "s3:bucket:0123/a.c:", "s3:bucket:0123/a.c:"},
		{"/build", "c:", "a.c", "/build/c:/a.c"},
	} {
		for _, version := range []uint16{4, 5} {
			l := fixture.NewLine(version)
			l.Dirs, l.Files = []string{c.comp, c.dir}, []fixture.LineFile{{Name: c.name, Dir: 1}, {Name: c.name}}
			number := uint32(0)
			if version < 5 {
				l.Dirs, number = l.Dirs[1:], 1
				if c.dir == "" {
					l.Dirs, l.Files[0].Dir = nil, 0
				}
			}
			p, _ := runLine(t, l, dwarf.RunOptions{})
			if got := string(p.AppendPath([]byte("at "), number, []byte(c.comp))); got != "at "+c.want {
				t.Errorf("version %d: %q %q %q: %q, want %q", version, c.comp, c.dir, c.name, got, c.want)
			}
		}
	}
}

func TestDirectoryZeroOfUnit(t *testing.T) {
	for _, c := range []struct{ dir, comp, want string }{
		{"/build", "/build", "/build/a.c"},
		{"/elsewhere", "/build", "/elsewhere/a.c"},
		{".", "/build", "/build/a.c"},
		{"/build", "", "/build/a.c"},
	} {
		l := fixture.NewLine(5)
		l.Dirs, l.Files = []string{c.dir}, []fixture.LineFile{{Name: "a.c"}}
		p, _ := runLine(t, l, dwarf.RunOptions{})
		if got := string(p.AppendPath(nil, 0, []byte(c.comp))); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestWrittenDirectoryZeroIsRepeatedUnlessOnce(t *testing.T) {
	for _, c := range []struct{ dir, comp, twice, once string }{
		{"./", "./", "././a.c", "./a.c"},
		{"/build", "/build", "/build/a.c", "/build/a.c"},
	} {
		l := fixture.NewLine(5)
		l.Dirs, l.Files = []string{c.dir}, []fixture.LineFile{{Name: "a.c"}}
		p, _ := runLine(t, l, dwarf.RunOptions{})
		if got := string(p.AppendWritten(nil, 0, []byte(c.comp), false)); got != c.twice {
			t.Errorf("%s: got %s, want %s", c.dir, got, c.twice)
		}
		if got := string(p.AppendWritten(nil, 0, []byte(c.comp), true)); got != c.once {
			t.Errorf("%s, once: got %s, want %s", c.dir, got, c.once)
		}
	}
}

func TestSeparatorsAreDoubledAsByGNU(t *testing.T) {
	l := fixture.NewLine(4)
	l.Dirs, l.Files = []string{"src/", "/"}, []fixture.LineFile{{Name: "a.c", Dir: 1}, {Name: "usr/a.c", Dir: 2}, {Name: "a.c"}, {Name: "/a.c", Dir: 1}}
	p, _ := runLine(t, l, dwarf.RunOptions{})
	for file, want := range map[uint32][2]string{
		1: {"/build//src//a.c", "/build/src/a.c"}, 2: {"//usr/a.c", "/usr/a.c"}, 3: {"/build//a.c", "/build/a.c"}, 4: {"/a.c", "/a.c"},
	} {
		if got := string(p.AppendGNU(nil, file, []byte("/build/"))); got != want[0] {
			t.Errorf("%d: got %s, want %s", file, got, want[0])
		}
		if got := string(p.AppendWritten(nil, file, []byte("/build/"), false)); got != want[1] {
			t.Errorf("%d, as by LLVM: got %s, want %s", file, got, want[1])
		}
	}
}

func TestAppendRelative(t *testing.T) {
	for _, version := range []uint16{4, 5} {
		l := fixture.NewLine(version)
		l.Dirs = []string{"/build", "src", "/usr/include"}[5-version:]
		l.Files = []fixture.LineFile{{Name: "a.c"}, {Name: "b.c", Dir: 1}, {Name: "c.h", Dir: 2}, {Name: "/d.h"}}
		p, _ := runLine(t, l, dwarf.RunOptions{})
		for i, want := range []string{"a.c", "src/b.c", "/usr/include/c.h", "/d.h"} {
			number := uint32(i) + uint32(5-version)
			if got := string(p.AppendRelative(nil, number)); got != want {
				t.Errorf("version %d, file %d: %q, want %q", version, number, got, want)
			}
		}
	}
}

func TestFileNumbersOfVersions(t *testing.T) {
	for _, c := range []struct {
		version uint16
		count   int
		paths   string
	}{
		{4, 4, "|a.c|d/b.c|c.c|"},
		{5, 3, "a.c|d/b.c|c.c|"},
	} {
		l := fixture.NewLine(c.version)
		l.Dirs, l.Files = []string{"", "d"}[5-c.version:], []fixture.LineFile{{Name: "a.c"}, {Name: "b.c", Dir: 1}}
		p, _ := runLine(t, l.DefineFile("c.c", 0), dwarf.RunOptions{})
		var paths strings.Builder
		for i := range p.NumFiles() + 1 {
			paths.Write(p.AppendPath(nil, uint32(i), nil))
			if i < p.NumFiles() {
				paths.WriteByte('|')
			}
		}
		if p.NumFiles() != c.count || paths.String() != c.paths || p.AppendPath(nil, 1<<32-1, nil) != nil {
			t.Errorf("version %d: %d files: %s", c.version, p.NumFiles(), paths.String())
		}
	}
	if p, _ := runLine(t, fixture.NewLine(4), dwarf.RunOptions{}); p.NumFiles() != 0 {
		t.Error("a file in an empty table")
	}
}

func TestChecksumsAndEmbeddedSources(t *testing.T) {
	l := fixture.NewLine(5)
	l.Dirs = []string{"/d"}
	l.Files = []fixture.LineFile{{Name: "a", Sum: "0123456789abcdef", Source: "int a;"}, {Name: "b", Sum: "fedcba9876543210"}}
	p, _ := runLine(t, l, dwarf.RunOptions{})
	if string(p.MD5(0)) != "0123456789abcdef" || string(p.MD5(1)) != "fedcba9876543210" || p.MD5(2) != nil {
		t.Errorf("%q %q", p.MD5(0), p.MD5(1))
	}
	if string(p.Source(0)) != "int a;" || p.Source(1) != nil || p.Source(2) != nil {
		t.Errorf("%q %q", p.Source(0), p.Source(1))
	}
	l.Files[0].Sum, l.Files[0].Source = "", ""
	if p, _ = runLine(t, l, dwarf.RunOptions{}); p.MD5(0) != nil || p.Source(0) != nil {
		t.Error("HasFDE accepts missing code")
	}
}

func TestTablesWithAnyForm(t *testing.T) {
	le, text := binary.LittleEndian, []byte("\x00/dir\x00a.c\x00")
	for _, wide := range []bool{false, true} {
		l := fixture.NewLine(5)
		l.Wide = wide
		off := func(n uint64) []byte {
			if wide {
				return le.AppendUint64(nil, n)
			}
			return le.AppendUint32(nil, uint32(n))
		}
		for _, c := range []struct {
			form byte // of the directory number
			dir  []byte
		}{{0x0b, []byte{1}}, {0x05, []byte{1, 0}}, {0x06, []byte{1, 0, 0, 0}}, {0x07, []byte{1, 0, 0, 0, 0, 0, 0, 0}}, {0x0f, []byte{0x81, 0}}} {
			l.Tables = append([]byte{1, 1, 0x0e, 2}, append(off(0), off(1)...)...) // directories as strp
			// The path as line_strp, the directory, a size as block, a time as data16, an owner as block1.
			l.Tables = append(l.Tables, 5, 1, 0x1f, 2, c.form, 4, 9, 3, 0x1e, 0x80, 0x40, 0x0a, 1)
			l.Tables = append(append(append(l.Tables, off(6)...), c.dir...), 2, 7, 7)
			l.Tables = append(append(l.Tables, make([]byte, 16)...), 1, 9)
			s := lineSections(l)
			s.Str, s.LineStr = text, text
			var p dwarf.Program
			if err := p.Read(s, 0); err != nil {
				t.Fatal(err)
			}
			if got := string(p.AppendPath(nil, 0, nil)); got != "/dir/a.c" {
				t.Errorf("form %#x: %q", c.form, got)
			}
			s.Str, s.LineStr = text[:4], nil
			if err := p.Read(s, 0); err != nil || p.AppendPath(nil, 0, []byte("/x")) != nil || p.NumFiles() != 1 {
				t.Errorf("form %#x without strings: %v", c.form, err)
			}
		}
	}
}

func TestDamagedHeaderIsReported(t *testing.T) {
	for _, c := range []struct {
		what string
		rows bool // the instructions can be run
		make func(l *fixture.Line)
	}{
		{"has unsupported version 6", false, func(l *fixture.Line) { l.Version = 6 }},
		{"has unsupported version 1", false, func(l *fixture.Line) { l.Version = 1 }},
		{"exceeds the section", true, func(l *fixture.Line) { l.ProgramLength = 1000 }},
		{"ends inside its header", false, func(l *fixture.Line) { l.ProgramLength = 1 }},
		{"ends inside its header", false, func(l *fixture.Line) { l.ProgramLength = 12 }},
		{"ends inside its header", false, func(l *fixture.Line) { l.HeaderLength = 9 }},
		{"ends inside its tables", true, func(l *fixture.Line) { l.Tables = []byte{1, 1, 8, 1, 'a'} }},
		{"ends inside its tables", true, func(l *fixture.Line) { l.Tables = []byte{0, 9} }},
		{"ends inside its tables", true, func(l *fixture.Line) { l.Tables = []byte{9, 1, 8} }},
		{"ends inside its tables", true, func(l *fixture.Line) { l.Tables = []byte{1, 1, 0x19, 0x80, 0x80, 0x80, 1, 0, 0} }}, // nothing each
		{"ends inside its tables", true, func(l *fixture.Line) { l.Tables = []byte{1, 1, 8, 0xff, 0xff, 0xff, 0x7f, 0} }},
		{"has a table with unsupported form 0x5555", true, func(l *fixture.Line) { l.Tables = []byte{1, 1, 0xd5, 0xaa, 1, 1, 0} }},
		{"ends inside its tables", true, func(l *fixture.Line) { l.Version, l.Tables = 4, []byte{'a', 0} }},
		{"ends inside its tables", true, func(l *fixture.Line) { l.Version, l.Tables = 4, []byte{0, 'a', 0, 1, 2} }},
	} {
		l := fixture.NewLine(5)
		c.make(l)
		l.Address(0x1000).Copy().AdvancePC(1).End()
		t.Run(c.what, func(t *testing.T) {
			var p dwarf.Program
			var out dwarf.Lines
			s := lineSections(l)
			s.Line = append(make([]byte, 8), s.Line...)
			if err := p.Read(s, 8); err == nil || !strings.Contains(err.Error(), "dwarf, .debug_line: at offset 0x8: the line program "+c.what) {
				t.Error(err)
			}
			if err := p.Run(&out, dwarf.RunOptions{}); err != nil || len(out.Rows) > 0 != c.rows {
				t.Errorf("%v, %d rows", err, len(out.Rows))
			}
			p.AppendPath(nil, 0, nil)
		})
	}
	for _, head := range [][]byte{nil, {1, 2}, {0xf0, 0xff, 0xff, 0xff, 1, 2}, {0xff, 0xff, 0xff, 0xff, 1, 2}} {
		var p dwarf.Program
		var out dwarf.Lines
		if err := p.Read(&dwarf.LineSections{Line: head, Order: binary.LittleEndian}, 0); err == nil || p.Run(&out, dwarf.RunOptions{}) != nil {
			t.Errorf("% x: %v", head, err)
		}
	}
}

func TestHeaderLongerThanTheProgramIsReported(t *testing.T) {
	l := fixture.NewLine(4).Address(0x1000).Copy()
	l.HeaderLength = 500
	var p dwarf.Program
	if err := p.Read(lineSections(l), 0); err == nil || !strings.Contains(err.Error(), "has a header of 0x1f4 bytes") {
		t.Error(err)
	}
}
