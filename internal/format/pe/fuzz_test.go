package pe_test

import (
	"bytes"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/format/pe"
	"symbolon/internal/sym"
)

// FuzzOpen checks that every reader terminates, returns only bytes of the file,
// and writes records that begin at their addresses.
func FuzzOpen(f *testing.F) {
	for _, machine := range []uint16{fixture.PEX86, fixture.PEX64, fixture.PEARM64} {
		p := library(machine)
		f.Add(p.Bytes())
		p.Base64 = true
		f.Add(p.Bytes())
	}
	chained := fixture.PEUnwind{Flags: 4, Frame: 5, Codes: []uint16{0x6405, 7, 0x0304, 0x5005, 0x1004, 0, 1, 0x0a00}, Parent: []uint32{0x1000, 0x1010, 0x5000}}
	f.Add(unwound(fixture.PEX64, append(fixture.PEUnwind{Codes: []uint16{0x4205, 0x3001}}.Bytes(), chained.Bytes()...), 0x1000, 0x1010, 0x5000, 0x1010, 0x1040, 0x5008, 0x1040, 0x1050, 0x6001).Bytes())
	for _, codes := range []string{"\xdc\x42\xd8\xc4\xda\x07\xd7\x08\xd6\x06\xd0\x05\xd4\x63\xc8\x82\xcc\x43\xde\x21\xe4", "\xe6\x26\xe2\x02\x41\xc0\x01\xe0\x00\x10\x00\xe3\xe5\xe1\x83\xe4", "\xe7\x08\x80\xe7\x46\x41\xe7\x60\x01\xe4"} {
		f.Add(unwound(fixture.PEARM64, fixture.PEXdata(0x80, codes, -1, fixture.PEScope{Off: 0x40}), 0x1000, 0x5000, 0x1100, packedWord(1, 2, 3, 1, 1, 0x100), 0x1200, packedWord(2, 1, 0, 0, 2, 4112)).Bytes())
	}
	debug, size := fixture.PEDebug(0x1000, 0x200, fixture.PEDebugEntry{Kind: 2, Data: fixture.PEPack("NB10", uint32(0), uint32(1), uint32(2), "a.pdb\x00")})
	old := fixture.NewPE(fixture.PEX86).Table(fixture.PEDirDebug, fixture.PESection{Name: ".rdata", Addr: 0x1000, Data: debug})
	old.Dirs[fixture.PEDirDebug][1] = size
	f.Add(old.Bytes())
	for _, big := range []bool{false, true} {
		x := object(fixture.PEX64, fixture.PEReloc{Off: 8, Symbol: 5, Type: 1}, fixture.PEReloc{Off: 16, Symbol: 7, Type: 10}, fixture.PEReloc{Off: 20, Symbol: 7, Type: 4})
		x.Sections[2].ManyRelocs = big
		f.Add(x.Object(big))
	}
	for _, machine := range []uint16{fixture.PEX86, fixture.PEX64, fixture.PEARM, fixture.PEARM64} {
		relocs := []fixture.PEReloc{{Off: 60, Symbol: 5, Type: 2}, {Off: 4, Symbol: 99, Type: 2}} // out of range, of no symbol
		for kind := range uint16(22) {
			relocs = append(relocs, fixture.PEReloc{Off: uint32(kind) * 2, Symbol: 5 + uint32(kind)%2*3, Type: kind})
		}
		f.Add(object(machine, relocs...).Object(false))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := pe.Open(bin.Bytes(b))
		if err != nil {
			is := pe.IsObject(b)
			if x, err = pe.OpenObject(bin.Bytes(b)); err != nil {
				if is {
					t.Fatal(err)
				}
				return
			}
			for i := range x.Sections {
				x.Sections[i].Addr = uint32(i) << 12
			}
		}
		x.Arch()
		x.Kind()
		x.PDB.Name()
		x.DebugLink()
		if packed, size, _ := x.EmbeddedPDB(); len(packed) > len(b) || size < 0 {
			t.Fatalf("%d packed bytes, %d unpacked", len(packed), size)
		}
		for i := range x.Sections[:min(len(x.Sections), 50)] {
			s := &x.Sections[i]
			if _, _, data, err := x.Packed(s); err != nil || len(data) > len(b) {
				t.Fatalf("section %+v: %d bytes, %v", s, len(data), err)
			} else if x.Object {
				x.Relocate(s, bytes.Clone(data))
			}
			x.Section(s.Name)
		}
		for s := range x.Symbols {
			if !bytes.Equal(x.SymbolName(s.Table, s.NameOff), s.Name) || len(s.Name) == 0 || x.At(s.Addr) == nil {
				t.Fatalf("symbol %+v is called %q", s, x.SymbolName(s.Table, s.NameOff))
			}
		}
		size := 0
		end := uint64(0)
		_, _ = x.UnwindRecords(func(u *sym.Unwind) error {
			size += len(u.Rules)
			if u.Kind == sym.UnwindBegin {
				end = u.Addr + u.Size
			}
			if u.Addr >= end {
				t.Fatalf("record at %#x after the end %#x", u.Addr, end)
			}
			return nil
		})
		if size > 2000*len(b) {
			t.Fatalf("%d bytes have %d of records", len(b), size)
		}
		if starts := x.FunctionStarts(nil); len(starts) > 0 != x.HasUnwind() && len(starts) > len(b) {
			t.Fatal("functions without unwind information")
		}
	})
}
