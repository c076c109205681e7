package debugfile_test

import (
	"fmt"
	"slices"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/object"
)

// has demands features of the first object of a file, and what it is.
func has(t *testing.T, what string, text []byte, kind string, want object.Features) {
	t.Helper()
	if info := open(t, text).Info(); info.Features != want || info.Type != kind {
		t.Errorf("%s: got %q with %v, want %q with %v", what, info.Type, info.Features.Names(), kind, want.Names())
	}
}

// frameSection is a section of FDEs of some functions.
func frameSection(eh bool, addr uint64, starts ...uint64) []byte {
	f := fixture.NewFrame(eh)
	f.Addr = addr
	c := f.CIE(fixture.FrameX8664(eh))
	for _, at := range starts {
		f.FDE(c, at, 0x10, 0x44, 0x0e, 16)
	}
	return f.Raw(0, 0, 0, 0).Bytes()
}

func TestUnwindInformationIsThatOfCode(t *testing.T) {
	for _, c := range []struct {
		name   string
		data   []byte
		nobits bool
		unwind bool
	}{
		{"empty", nil, false, false},
		{"end", make([]byte, 16), false, false},
		{"nothing but what functions have in common", frameSection(true, 0x1400), false, false},
		{"a function", frameSection(true, 0x1400, 0x1100), false, true},
		{"a function of nowhere, and one of the image", frameSection(true, 0x1400, 0x100000, 0x1100), false, true},
		{"functions of nowhere", frameSection(true, 0x1400, 0x100000, 0x200000), false, false},
		{"no bytes", frameSection(true, 0x1400, 0x1100), true, false},
	} {
		e := symbolsOf(2)
		s := fixture.ELFSection{Name: ".eh_frame", Type: 1, Flags: 2, Addr: 0x1400, Data: c.data}
		if c.nobits {
			s.Type, s.Data, s.Size = 8, nil, uint64(len(c.data))
		}
		e.Add(s)
		var want object.Features
		if c.unwind {
			want |= object.HasUnwind
		}
		has(t, c.name, e.Bytes(), "lib", want)
	}
}

// The copy of __eh_frame in a dSYM has addresses of the image.
func TestUnwindInformationOfADSYMIsNone(t *testing.T) {
	for _, c := range []struct {
		start uint64
		want  object.Features
	}{{0x1100, object.HasSymbols | object.HasUnwind}, {0x9100, object.HasSymbols}} {
		m := fixture.NewMachO(fixture.MachOX64, 3, fixture.MachODSYM)
		m.Segment("__TEXT", 0x1000, 0x1000,
			fixture.MachOSection{Name: "__text", Addr: 0x1100, Size: 0x100, Flags: fixture.MachOCode},
			fixture.MachOSection{Name: "__eh_frame", Addr: 0x1300, Data: frameSection(true, 0x1300, c.start)})
		m.Symbol("_f", 0x0f, 1, 0, 0x1100).Symtab()
		has(t, fmt.Sprintf("frames of %#x", c.start), m.Bytes(), "dbg", c.want)
		if c.want&object.HasUnwind == 0 {
			if got := cfiOf(t, open(t, m.Bytes())); got != "" {
				t.Errorf("records %s", got)
			}
		}
	}
}

func TestASymbolTableWithoutCodeIsNone(t *testing.T) {
	m := fixture.NewMachO(fixture.MachOX64, 3, fixture.MachODylib)
	m.Segment("__TEXT", 0x1000, 0x1000, fixture.MachOSection{Name: "__text", Addr: 0x1100, Data: make([]byte, 0x100), Flags: fixture.MachOCode})
	m.Symbol("_imported", 0x01, 0, 0, 0).Symtab()
	has(t, "Mach-O", m.Bytes(), "lib", 0)
	p := fixture.SamplePDB()
	p.Publics = [][]byte{fixture.PDBRecord(0x110e, uint32(0), uint32(4), uint16(2), "data")}
	for range 2 {
		has(t, "PDB", p.Bytes(), "dbg", object.HasDebug)
		p.NoOrder = true
	}
}

// Records of the linker itself, and those left by stripping, do not count as debug
// information.
func TestAPDBWithoutProceduresHasNoDebugInformation(t *testing.T) {
	p := fixture.SamplePDB()
	p.Machine = 0x8664
	p.Frames = make([]byte, 64)
	full := p.Bytes()
	compiler := fixture.PDBRecord(0x113c, uint32(7), make([]byte, 20), "linker")
	thunk := fixture.PDBRecord(0x1102, uint32(0), uint32(0), uint32(0), uint32(0x90), uint16(1), uint16(6), uint8(0), "jump")
	p.Modules = []fixture.PDBModule{{Name: "* Linker *", Symbols: [][]byte{compiler}}, {Name: "Import:x.dll", Symbols: [][]byte{thunk, fixture.PDBRecord(6)}}, {Name: "empty"}}
	has(t, "stripped", p.Bytes(), "dbg", object.HasSymbols)
	has(t, "full", full, "dbg", object.HasSymbols|object.HasDebug)
	many := slices.Repeat([][]byte{thunk, fixture.PDBRecord(6)}, 3000) // more than is looked at first
	p.Modules = append(p.Modules, fixture.PDBModule{Name: "late", Symbols: append(many, fixture.PDBProc(0x1110, 0, 0x10, 0x20, "f"), fixture.PDBRecord(6))})
	has(t, "one procedure", p.Bytes(), "dbg", object.HasSymbols|object.HasDebug)
	p.Machine = 0x14c
	has(t, "x86", p.Bytes(), "dbg", object.HasSymbols|object.HasDebug|object.HasUnwind)
}

func TestTheSourceServerOfAPDBIsKnown(t *testing.T) {
	text := "SRCSRV: ini ---\nVERSION=2\nVERCTRL=%s\nSRCSRV: variables ---\nAT=https://host/\nSRCSRVTRG=%s\nSRCSRV: source files ---\nc:\\one.cc*x\nSRCSRV: end ---\n"
	const debug = object.HasSymbols | object.HasDebug
	for _, c := range []struct {
		name, content string
		want          string
		features      object.Features
	}{
		{"srcsrv", fmt.Sprintf(text, "Perforce", `%targ%\x`), "perforce", debug},
		{"srcsrv", fmt.Sprintf(text, "GIT", `%at%%var2%`), "git", debug | object.HasSources},
		{"srcsrv", fmt.Sprintf(text, "tfs", `%targ%`), "other", debug},
		{"srcsrv", "SRCSRV: ini ---\nVERSION=2\n", "", debug},
		{"sourcelink", `{"documents":{"c:\\*":"https://host/*"}}`, "", debug | object.HasSources},
		{"sourcelink", `{"documents":{}}`, "", debug},
	} {
		p := fixture.SamplePDB()
		p.Named = [][2]string{{c.name, c.content}}
		has(t, c.content, p.Bytes(), "dbg", c.features)
		if got := open(t, p.Bytes()).Info().SourceServer; got != c.want {
			t.Errorf("%s: got %q, want %q", c.content, got, c.want)
		}
	}
}

func TestACompanionOfAPEFileIsOne(t *testing.T) {
	x := fixture.NewPE(fixture.PEX64)
	x.Section(fixture.PESection{Name: ".text", Addr: 0x1000, Size: 0x400, Flags: fixture.PECode})
	x.Symbols = []fixture.PESymbol{{Name: "f", Section: 1, Value: 0x100, Class: 2, Type: 0x20}}
	has(t, "without code", x.Bytes(), "dbg", object.HasSymbols)
	x.Section(fixture.PESection{Name: ".more", Addr: 0x2000, Data: make([]byte, 16), Flags: fixture.PECode})
	has(t, "with code", x.Bytes(), "lib", object.HasSymbols)
}
