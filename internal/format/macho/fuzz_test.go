package macho_test

import (
	"bytes"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/format/macho"
)

// FuzzOpen checks that every reader terminates, returns only bytes of the file,
// and yields unwind entries in ascending order.
func FuzzOpen(f *testing.F) {
	for _, m := range layouts() {
		f.Add(m.Bytes())
	}
	f.Add(fixture.MachOFat(false, library(fixture.MachOX64, 3), library(fixture.MachOARM64, 2)))
	f.Add(fixture.MachOFat(true, library(fixture.MachOX86, 3), fileset()))
	f.Add(object(fixture.MachOX64, reloc(0, 0, 0, 3, 1, 0), reloc(8, 1, 0, 2, 1, 5)).Bytes())
	table := compactUnwind(true, [5]uint64{0, 0x18, 0x02000000, 0, 0}, [5]uint64{0, 0x20, 0x04000005, 0, 1})
	f.Add(fixture.NewMachO(fixture.MachOARM64, 0, fixture.MachOObject).Segment("", 0, 0x100,
		fixture.MachOSection{Name: "__compact_unwind", Segment: "__LD", Data: table}).Encrypted(0, 1).Bytes())
	for _, cpu := range []uint32{fixture.MachOARM, fixture.MachOX86, fixture.MachOX64} {
		m := unwound(fixture.UnwindInfo(0x109, nil, fixture.UnwindPage{Rows: []fixture.UnwindRow{{Start: 0x100, Encoding: 0x03044403}}}), "\x53\x48\x81\xec\x88\x13\x00\x00\xc3")
		m.CPU = cpu
		f.Add(m.Bytes())
	}
	f.Add([]byte(symbolMap))
	f.Add([]byte(plist))
	f.Fuzz(func(t *testing.T, b []byte) {
		texts(t, b)
		list, err := macho.Slices(bin.Bytes(b))
		if err != nil {
			return
		}
		for _, s := range list[:min(len(list), 8)] {
			if s.Off < 0 || s.Size < 0 || s.Off+s.Size > int64(len(b)) {
				t.Fatalf("slice %+v of %d bytes", s, len(b))
			}
			if x, err := macho.Open(bin.Bytes(b), s); err == nil {
				read(t, x, len(b))
			}
		}
	})
}

func texts(t *testing.T, b []byte) {
	if m, err := macho.ReadSymbolMap(b); err == nil {
		m.Name([]byte("__hidden#1_"))
		m.Symbol(b)
	}
	macho.ReadUUIDMap(b)
	if len(b) < 100 && len(macho.DSYMPaths(string(b))) == 0 {
		t.Fatal("no path")
	}
}

// read reads all parts of an image.
func read(t *testing.T, x *macho.File, size int) {
	for i := range x.Sections {
		s := &x.Sections[i]
		_, _, payload, err := x.Packed(s)
		if err != nil || len(payload) > size || uint64(len(payload)) > s.Size {
			t.Fatalf("section %+v: %d bytes, %v", s, len(payload), err)
		}
		if i < 8 {
			x.Relocate(s, payload)
		}
		x.Section(s.Segment, s.Name)
	}
	for s := range x.Symbols {
		if !bytes.HasPrefix(x.SymbolName(s.NameOff), s.Name) || len(s.Name) == 0 {
			t.Fatalf("symbol %+v is called %q", s, x.SymbolName(s.NameOff))
		}
	}
	x.FunctionStarts(nil)
	x.DebugMap()
	x.Labels()
	linked := x.Section("__LD", "__compact_unwind") == nil
	var last uint64
	var text []byte
	x.UnwindEntries(func(e macho.Entry) bool {
		if e.Start >= e.End || linked && e.Start < last {
			t.Fatalf("entry %+v after %#x", e, last)
		}
		last = e.End
		before := len(text)
		var ok bool
		if text, ok = macho.AppendCompact(text[:0], e, x.Arch()); !ok && len(text) != 0 {
			t.Fatalf("%q, which was %d bytes long, without rules", text, before)
		}
		return true
	})
	x.Kind()
}
