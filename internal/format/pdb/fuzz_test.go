package pdb_test

import (
	"bytes"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/format/pdb"
	"symbolon/internal/sym"
)

// FuzzPDB opens PDBs, and objects as their sections of symbols and types.
func FuzzPDB(f *testing.F) {
	for _, scattered := range []bool{false, true} {
		p := fixture.SamplePDB()
		p.Scattered = scattered
		f.Add(p.Bytes())
		p.OldSections, p.NoOrder, p.NoSteps, p.OldParts = p.Sections, true, true, true
		p.FromSource = [][2]uint32{{0x1000, 0x2000}, {0x1040, 0x1800}}
		p.ToSource = [][2]uint32{{0x1800, 0x1040}, {0x2000, 0x1000}}
		program := p.String("$T0 $ebp = $eip $T0 4 + ^ = ")
		p.Frames = fixture.Fields(uint32(0x1010), uint32(0x80), uint32(8), uint32(12), uint32(0), program, uint16(3), uint16(4), uint32(4))
		p.FPO = fixture.Fields(uint32(0x1090), uint32(6), uint32(2), uint16(3), uint16(0x1205), make([]byte, 16))
		p.Named = [][2]string{{"srcsrv", "SRCSRV: ini ---\nVERSION=2\nVERCTRL=Perforce\nSRCSRV: variables ---\nHOST=a\nSRCSRVTRG=https://%host%/%fnbksl%(%var2%)/%fnfile%(%var1%)\n" +
			"SRCSRV: source files ---\nc:\\one.cc*depot*one.cc*77\nSRCSRV: end ---\n"}}
		f.Add(p.Bytes())
	}
	guid := fixture.SamplePDB().GUID
	for _, b := range fixture.SampleSymbols(0x1000, 0x2008) {
		f.Add(append(bytes.Clone(b), fixture.SampleTypes()...))
		for _, record := range [][]byte{
			fixture.PDBRecord(0x1515, guid[:], uint32(3), "vc140.pdb"), fixture.PDBRecord(0x1509, uint32(0x1000), uint32(20), uint32(7), "stdafx.obj"),
		} {
			f.Add(append(append(bytes.Clone(b), 4, 0, 0, 0), record...))
		}
	}
	server, err := pdb.Open(bin.Bytes(fixture.SamplePDB().Bytes()))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := pdb.Open(bin.Bytes(data))
		if err != nil {
			types := max(bytes.LastIndex(data, []byte("\x04\x00\x00\x00")), 0) // of an object
			file = openObject(data[types:], data[:types])
			file.SetTypes(server)
		}
		for i := range min(len(file.Modules), 20) {
			text(file, i)
		}
		n := 0
		_ = file.Publics(func(p pdb.Public) bool {
			file.PublicName(p.Record)
			file.PublicsAt(p.Addr)
			file.SectionEnd(p.Addr)
			n++
			return n < 100
		})
		file.HasPublics()
		file.HasCode()
		file.Parts(func(pdb.Part) bool { return true })
		checkFrames(t, file)
		if s := file.SourceServer(); s != nil {
			s.OnWeb()
			s.Target(`c:\one.cc`)
			s.Perforce(`c:\one.cc`)
		}
		if file.Footprint() < 0 {
			t.Fatal("negative footprint")
		}
	})
}

// checkFrames checks that the frame of each range yields a record of its start.
func checkFrames(t *testing.T, file *pdb.File) {
	_ = file.Frames(func(*sym.Unwind) error { return nil })
	left := 50
	_ = file.FrameRanges(func(start, _ uint64, _ uint32, ref uint64) {
		if left--; left < 0 {
			return
		}
		isThere := false
		err := file.FrameAt(ref, func(u *sym.Unwind) error {
			isThere = isThere || u.Addr == start
			return nil
		})
		if err != nil || !isThere {
			t.Fatalf("range at %#x: %v", start, err)
		}
	})
	if left < 50 && !file.HasFrames() {
		t.Fatal("frames in a file that has none")
	}
}
