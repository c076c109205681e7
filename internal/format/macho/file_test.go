package macho_test

import (
	"bytes"
	"debug/macho"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	ours "symbolon/internal/format/macho"
)

var id = [16]byte{0x4c, 0x4c, 0x44, 0x15, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

// The types of symbols: in a section, external.
const (
	inSection = 0x0e
	external  = 0x01
)

// library returns a file with all the parts of an image.
func library(cpu, subCPU uint32) *fixture.MachO {
	common := []uint32{0x02010000, 0}
	unwind := fixture.UnwindInfo(0x1040, common,
		fixture.UnwindPage{Compressed: true, Rows: []fixture.UnwindRow{{Start: 0x1000, Encoding: 0x02010000}, {Start: 0x1010, Encoding: 0x41000001}}},
		fixture.UnwindPage{Rows: []fixture.UnwindRow{{Start: 0x1020, Encoding: 0x03040000}, {Start: 0x1030, Encoding: 0x04000020}}})
	code := bytes.Repeat([]byte{0x90}, 0x40)
	copy(code[0x20:], "\x48\x81\xec\x00\x88\x13\x00\x00")
	return fixture.NewMachO(cpu, subCPU, fixture.MachODylib).UUID(id).
		Segment("__PAGEZERO", 0, 0x1000).
		Segment("__TEXT", 0x10000, 0x4000,
			fixture.MachOSection{Name: "__text", Addr: 0x11000, Data: code, Flags: fixture.MachOCode},
			fixture.MachOSection{Name: "__unwind_info", Addr: 0x12000, Data: unwind}).
		Segment("__DATA", 0x14000, 0x1000,
			fixture.MachOSection{Name: "__data", Addr: 0x14000, Data: []byte("data")},
			fixture.MachOSection{Name: "__bss", Addr: 0x14800, Size: 0x100, Flags: fixture.MachOZeroFill, Off: 0x20}).
		Segment("__DWARF", 0x15000, 0x1000,
			fixture.MachOSection{Name: "__debug_info", Addr: 0x15000, Data: []byte("information")},
			fixture.MachOSection{Name: "__debug_str_offs", Addr: 0x15100, Data: []byte("offsets")},
			fixture.MachOSection{Name: "__zdebug_line", Addr: 0x15200, Data: []byte("ZLIB\x00\x00\x00\x00\x00\x00\x01\x00packed")}).
		Symbol("_first", inSection|external, 1, 0, 0x11000).
		Symbol("ltmp0", inSection, 1, 0, 0x11000).
		Symbol("__ZN6second4nameEv", inSection, 1, 0x80, 0x11010).
		Symbol("__hidden#7_", inSection, 1, 0, 0x11020).
		Symbol("-[Third method:]", inSection, 1, 0x8, 0x11031).
		Symbol("_data", inSection, 3, 0, 0x14000).
		Symbol("_elsewhere", external, 0, 0, 0).
		Symbol("_absolute", 2, 0, 0, 0x11000).
		Symbol("_nowhere", inSection, 200, 0, 0x11000).
		Symbol("Llabel", inSection, 1, 0, 0x11004).
		Symbol("_", inSection, 1, 0, 0x11008).
		Symbol("/src/a.c", 0x64, 0, 0, 0).
		Symbol("/obj/a.o", 0x66, 0, 1, 0x5f000000).
		Symbol("_first", 0x24, 1, 0, 0x11000).
		Symbol("", 0x24, 0, 0, 0x10).
		Symbol("", 0x24, 0, 0, 0x77).
		Symbol("_global", 0x20, 0, 0, 0).
		Symbol("_begin", 0x2e, 1, 0, 0x11000).
		Symbol("", 0x64, 1, 0, 0).
		Symbol("_stray", 0x24, 1, 0, 0x11000).
		Symbol("/obj/lib.a(b.o)", 0x66, 0, 1, 0x5f000001).
		Symbol("", 0x24, 0, 0, 0x99).
		Symbol("__ZN6second4nameEv", 0x24, 1, 0, 0x11010).
		Symtab().
		FunctionStarts(0x1000, 0x10, 0x10, 0x11)
}

func open(t *testing.T, b []byte) *ours.File {
	t.Helper()
	f, err := ours.Open(bin.Bytes(b), ours.Slice{Size: int64(len(b))})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func clean(t *testing.T, b []byte) *ours.File {
	t.Helper()
	f := open(t, b)
	if len(f.Problems) > 0 {
		t.Fatalf("problems: %v", f.Problems)
	}
	return f
}

// layouts lists every width and byte order.
func layouts() map[string]*fixture.MachO {
	big := library(fixture.MachOPPC, 0)
	big.Order = binary.BigEndian
	wide := library(fixture.MachOPPC|0x01000000, 0)
	wide.Order = binary.BigEndian
	return map[string]*fixture.MachO{
		"little 64": library(fixture.MachOX64, 3), "little 32": library(fixture.MachOARM, 9), "big 32": big, "big 64": wide,
	}
}

func TestEveryLayoutAgreesWithStandardLibrary(t *testing.T) {
	for name, m := range layouts() {
		b := m.Bytes()
		f := clean(t, b)
		std, err := macho.NewFile(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if f.CPU != uint32(std.Cpu) || f.SubCPU != std.SubCpu || f.FileType != uint32(std.Type) || f.Order != std.ByteOrder || f.UUID != id || !f.HasUUID || !f.HasSymtab {
			t.Errorf("%s: header %+v", name, f)
		}
		if len(f.Sections) != len(std.Sections) || len(f.Segments) != 4 || f.LoadAddress() != 0x10000 {
			t.Fatalf("%s: %d sections, %d segments, load address %#x", name, len(f.Sections), len(f.Segments), f.LoadAddress())
		}
		for i, want := range std.Sections {
			s := &f.Sections[i]
			if s.Name != want.Name || s.Segment != want.Seg || s.Addr != want.Addr || s.Size != want.Size || s.Flags != want.Flags {
				t.Errorf("%s: section %+v, want %+v", name, s, want.SectionHeader)
			}
			data, err := f.Data(s)
			if s.Name == "__bss" {
				if data != nil {
					t.Errorf("%s: __bss has bytes", name)
				}
				continue
			}
			wantData, _ := want.Data()
			if err != nil || !bytes.Equal(data, wantData) {
				t.Errorf("%s: %s is %q, %v; want %q", name, s.Name, data, err, wantData)
			}
			if &data[0] != &b[s.Off] {
				t.Errorf("%s: %s was copied", name, s.Name)
			}
		}
		if std.Symtab == nil || len(std.Symtab.Syms) != len(m.Symbols) {
			t.Errorf("%s: the oracle reads other symbols", name)
		}
	}
}

func TestSectionByFullName(t *testing.T) {
	f := clean(t, library(fixture.MachOX64, 3).Bytes())
	for want, names := range map[string][2]string{
		"offsets": {"__DWARF", "__debug_str_offsets"}, "information": {"", "__debug_info"}, "data": {"__DATA", "__data"},
	} {
		s := f.Section(names[0], names[1])
		if s == nil {
			t.Fatalf("%v is not found", names)
		}
		if data, err := f.Data(s); err != nil || string(data) != want {
			t.Errorf("%v is %q, %v", names, data, err)
		}
	}
	for _, names := range [][2]string{{"__TEXT", "__data"}, {"", "__debug_str"}, {"", "__nothing"}} {
		if s := f.Section(names[0], names[1]); s != nil {
			t.Errorf("%v finds %+v", names, s)
		}
	}
}

func TestPacked(t *testing.T) {
	f := clean(t, library(fixture.MachOX64, 3).Bytes())
	s := f.Section("__DWARF", "__debug_line")
	if s == nil {
		t.Fatal("__zdebug_line is not found")
	}
	if zlib, size, payload, err := f.Packed(s); !zlib || size != 256 || string(payload) != "packed" || err != nil {
		t.Errorf("packed %v, %d, %q, %v", zlib, size, payload, err)
	}
	if zlib, size, payload, err := f.Packed(f.Section("", "__data")); zlib || size != 4 || string(payload) != "data" || err != nil {
		t.Errorf("plain section: packed %v, %d, %q, %v", zlib, size, payload, err)
	}
}

// sparse is a large source of zeros except for its start and one range.
type sparse struct {
	head []byte
	at   int64
	text string
	size int64
}

func (s sparse) Size() int64 { return s.size }

func (s sparse) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	if off < int64(len(s.head)) {
		copy(p, s.head[off:])
	}
	if off == s.at {
		copy(p, s.text)
	}
	return len(p), nil
}

func TestSectionOffsetPast4GiB(t *testing.T) {
	le := binary.LittleEndian
	body := append([]byte("__DWARF\x00\x00\x00\x00\x00\x00\x00\x00\x00"), make([]byte, 48)...)
	le.PutUint64(body[16:], 0x100000)    // address
	le.PutUint64(body[24:], 0x300000000) // size
	le.PutUint64(body[32:], 0x1000)      // offset
	le.PutUint64(body[40:], 0x300000000) // size in the file
	le.PutUint32(body[56:], 1)           // sections
	section := make([]byte, 80)
	copy(section, "__debug_info")
	copy(section[16:], "__DWARF")
	le.PutUint64(section[32:], 0x100000+0x200000000)
	le.PutUint64(section[40:], 4)
	le.PutUint32(section[48:], 0x1000)
	m := fixture.NewMachO(fixture.MachOX64, 3, fixture.MachODSYM).Command(0x19, append(body, section...))
	src := sparse{m.Bytes(), 0x200001000, "here", 0x300001000}
	f, err := ours.Open(src, ours.Slice{Size: src.size})
	if err != nil {
		t.Fatal(err)
	}
	s := f.Section("__DWARF", "__debug_info")
	if data, err := f.Data(s); err != nil || string(data) != "here" || s.Off != 0x200001000 {
		t.Errorf("offset %#x, %q, %v", s.Off, data, err)
	}
}

func TestSectionOfDSYMWithoutBytesIsEmpty(t *testing.T) {
	m := fixture.NewMachO(fixture.MachOX64, 3, fixture.MachODSYM).Segment("__TEXT", 0x1000, 0x1000,
		fixture.MachOSection{Name: "__text", Addr: 0x1000, Size: 0x800, Flags: fixture.MachOCode},
		fixture.MachOSection{Name: "__eh_frame", Addr: 0x1900, Data: []byte("frames")})
	f := clean(t, m.Bytes())
	for name, want := range map[string]string{"__text": "", "__eh_frame": "frames"} {
		if data, err := f.Data(f.Section("__TEXT", name)); err != nil || string(data) != want || (want == "") != (data == nil) {
			t.Errorf("%s is %q, %v", name, data, err)
		}
	}
}

func TestEncryptedSectionHasNoBytes(t *testing.T) {
	b := library(fixture.MachOX64, 3).Bytes()
	text := clean(t, b).Section("__TEXT", "__text")
	f := open(t, library(fixture.MachOX64, 3).Encrypted(uint32(text.Off)+24, 16).Bytes())
	if data, err := f.Data(f.Section("__TEXT", "__text")); data != nil || err != nil {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if data, _ := f.Data(f.Section("__DATA", "__data")); string(data) != "data" {
		t.Errorf("__data is %q", data)
	}
	if len(f.Problems) != 1 || f.Problems[0].Place != "__TEXT,__text" {
		t.Errorf("problems %v", f.Problems)
	}
}

func TestDamagedFiles(t *testing.T) {
	le := binary.LittleEndian
	whole := library(fixture.MachOX64, 3).Bytes()
	cases := []struct {
		name   string
		change func(b []byte) []byte
		place  string
		reason string
	}{
		{"cut in the commands", func(b []byte) []byte { return b[:500] }, "load commands", "468 of"},
		{"cut in the data", func(b []byte) []byte { return b[:len(b)-400] }, "string table", "the file has"},
		{"too many commands", func(b []byte) []byte { le.PutUint32(b[16:], 1<<31); return b }, "load commands", "ends before the last command"},
		{"command without size", func(b []byte) []byte { le.PutUint32(b[32+24+72+4:], 0); return b }, "load commands", "invalid command size"},
		{"command beyond the others", func(b []byte) []byte { le.PutUint32(b[32+24+4:], 1<<30); return b }, "load commands", "invalid command size"},
		{"too many sections", func(b []byte) []byte { le.PutUint32(b[32+24+64:], 1<<31); return b }, "load commands", "has fewer than"},
		{"section beyond the end", func(b []byte) []byte { le.PutUint32(b[32+24+72+72+48:], 1<<30); return b }, "__TEXT,__text", "beyond the end of the file"},
		{"section longer than the file", func(b []byte) []byte { le.PutUint64(b[32+24+72+72+40:], 1<<63); return b }, "__TEXT,__text", "the file has"},
		{"short command", func(b []byte) []byte { le.PutUint32(b[32+24:], 0x2); return b[:len(b):len(b)] }, "symbol table", ""},
	}
	for _, c := range cases {
		f := open(t, c.change(slices.Clone(whole)))
		if f.UUID != id {
			t.Errorf("%s: the UUID is gone", c.name)
		}
		found := slices.ContainsFunc(f.Problems, func(p bin.Problem) bool {
			return p.Place == c.place && strings.Contains(p.Reason, c.reason)
		})
		if !found {
			t.Errorf("%s: problems %v", c.name, f.Problems)
		}
		for range f.Symbols {
		}
		f.UnwindEntries(func(ours.Entry) bool { return true })
	}
}

func TestShortCommandIsReported(t *testing.T) {
	f := open(t, fixture.NewMachO(fixture.MachOX64, 3, 2).Command(0x1b, []byte("short...")).UUID(id).Bytes())
	if len(f.Problems) != 1 || !strings.Contains(f.Problems[0].Reason, "command 0x1b is too short") || f.UUID != id {
		t.Errorf("problems %v, UUID %x", f.Problems, f.UUID)
	}
}

func TestTruncatedSegmentIsReported(t *testing.T) {
	body := append([]byte("__DWARF\x00\x00\x00\x00\x00\x00\x00\x00\x00"), make([]byte, 48+40)...)
	body[56] = 1
	f := open(t, fixture.NewMachO(fixture.MachOX64, 3, 2).Command(0x19, body).Command(0x19, body[:32]).UUID(id).Bytes())
	if len(f.Problems) != 2 || len(f.Segments) != 1 || len(f.Sections) != 0 || f.UUID != id {
		t.Errorf("%v, %d segments, %d sections", f.Problems, len(f.Segments), len(f.Sections))
	}
}

// broken is a source that fails after its first bytes.
type broken struct{ sparse }

func (b broken) ReadAt(p []byte, off int64) (int, error) {
	if off > 0x200 {
		return 0, errors.New("the disk is gone")
	}
	return b.sparse.ReadAt(p, off)
}

func TestUnreadableTablesAreReported(t *testing.T) {
	b := library(fixture.MachOX64, 3).Bytes()
	m := fixture.NewMachO(fixture.MachOX64, 3, 2).Segment("__TEXT", 0, 0x1000).
		Command(0x2, []byte{0, 4, 0, 0, 1, 0, 0, 0, 0, 5, 0, 0, 9, 0, 0, 0}).UUID(id)
	src := broken{sparse{m.Bytes(), 0, string(m.Bytes()), int64(len(b))}}
	f, err := ours.Open(src, ours.Slice{Size: src.size})
	if err != nil || len(f.Problems) != 2 || !strings.Contains(f.Problems[0].Reason, "disk is gone") || f.UUID != id {
		t.Fatalf("%+v, %v", f, err)
	}
	if list, err := ours.Slices(src); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	src.head = append([]byte("\xca\xfe\xba\xbe\x00\x00\x00\x01"), make([]byte, 0x200)...)
	src.text = string(src.head)
	if list, err := ours.Slices(src); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestFirstUUIDWins(t *testing.T) {
	f := clean(t, fixture.NewMachO(fixture.MachOX64, 3, 2).UUID(id).UUID([16]byte{9}).Bytes())
	if f.UUID != id {
		t.Errorf("%x", f.UUID)
	}
}

func TestOpenRejectsInvalidHeader(t *testing.T) {
	b := library(fixture.MachOX64, 3).Bytes()
	for name, c := range map[string]struct {
		b []byte
		s ours.Slice
	}{
		"empty":        {nil, ours.Slice{}},
		"text":         {[]byte("no such thing as a magic number, is it"), ours.Slice{Size: 38}},
		"cut header":   {b[:31], ours.Slice{Size: 31}},
		"no slice":     {b, ours.Slice{Off: 1 << 40, Size: 1}},
		"beyond":       {b, ours.Slice{Size: 8, Entry: 9}},
		"fat in a fat": {fixture.MachOFat(false, library(fixture.MachOX64, 3)), ours.Slice{Size: 100}},
	} {
		if _, err := ours.Open(bin.Bytes(c.b), c.s); fault.KindOf(err) != fault.Malformed {
			t.Errorf("%s: %v", name, err)
		}
	}
}
