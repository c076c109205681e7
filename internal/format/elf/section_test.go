package elf_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/format/elf"
)

func TestSection(t *testing.T) {
	e := &fixture.ELF{}
	e.Add(fixture.ELFSection{Name: ".debug_line", Type: 8, Size: 5})
	e.Add(fixture.ELFSection{Name: ".debug_line", Type: 1, Data: []byte("second")})
	e.Add(fixture.ELFSection{Name: ".zdebug_line", Type: 1, Data: []byte("third")})
	e.Add(fixture.ELFSection{Name: ".zdebug_info", Type: 1, Data: []byte("fourth")})
	e.Add(fixture.ELFSection{Name: ".text", Type: 8, Size: 5})
	f := sound(t, e)
	for name, want := range map[string]int{".debug_line": 2, ".debug_info": 4, ".zdebug_info": 4, ".text": 5, ".shstrtab": 0, ".debug_str": -1, "": -1} {
		s := f.Section(name)
		switch {
		case name == ".shstrtab":
			if s == nil || s.Index != 6 {
				t.Errorf("%s: %+v", name, s)
			}
		case want < 0 && s != nil, want >= 0 && (s == nil || s.Index != want):
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestLongSectionNamesAreTruncated(t *testing.T) {
	e := &fixture.ELF{}
	e.Add(fixture.ELFSection{Name: strings.Repeat("n", 5000), Type: 1})
	f := open(t, e.Bytes())
	if n := len(f.Sections[1].Name); n != 4096 || !complains(f.Problems, "section names", "1 of 3") {
		t.Errorf("%d bytes, %v", n, f.Problems)
	}
}

func TestDataOfCompressedSections(t *testing.T) {
	kinds(t, func(t *testing.T, e *fixture.ELF) {
		zdebug := append([]byte("ZLIB"), 0, 0, 0, 0, 0, 0, 1, 2)
		for _, s := range []fixture.ELFSection{
			{Name: ".debug_zlib", Flags: 0x800, Data: e.Compressed(1, 10, []byte("abc"))},
			{Name: ".debug_zstd", Flags: 0x800, Data: e.Compressed(2, 20, []byte("def"))},
			{Name: ".zdebug_gnu", Data: append(zdebug, "ghi"...)},
			{Name: ".zdebug_plain", Data: []byte("not compressed at all")},
			{Name: ".debug_plain", Data: zdebug},
			{Name: ".debug_empty", Flags: 0x800, Data: e.Compressed(1, 0, nil)},
			{Name: ".debug_other", Flags: 0x800, Data: e.Compressed(3, 5, nil)},
			{Name: ".debug_cut", Flags: 0x800, Data: []byte("\x01\x00\x00\x00\x01")},
			{Name: ".debug_bad", Flags: 0x800, Data: e.Compressed(1, 99, nil)},
		} {
			s.Type = 1
			e.Add(s)
		}
		f := sound(t, e)
		for _, tc := range []struct {
			name    string
			kind    elf.Compression
			size    uint64
			payload string
			fault   string
		}{
			{".debug_zlib", elf.Zlib, 10, "abc", ""},
			{".debug_zstd", elf.Zstd, 20, "def", ""},
			{".debug_gnu", elf.Zlib, 258, "ghi", ""},
			{".zdebug_plain", elf.None, 21, "not compressed at all", ""},
			{".debug_plain", elf.None, 12, string(zdebug), ""},
			{".debug_other", elf.None, 0, "", "elf, section .debug_other: unsupported: unknown compression 3"},
			{".debug_cut", elf.None, 0, "", "elf, section .debug_cut: malformed"},
		} {
			kind, size, payload, err := f.Packed(f.Section(tc.name))
			if kind != tc.kind || size != tc.size || string(payload) != tc.payload || (err != nil) != (tc.fault != "") || err != nil && !strings.HasPrefix(err.Error(), tc.fault) {
				t.Errorf("%s: %v, %d, %q, %v", tc.name, kind, size, payload, err)
			}
		}
		if _, err := f.Data(f.Section(".debug_zlib")); fault.KindOf(err) != fault.Unsupported {
			t.Errorf("without Unpack: %v", err)
		}
		f.Unpack = func(kind elf.Compression, packed []byte, size uint64) ([]byte, error) {
			if size == 99 {
				return nil, fmt.Errorf("damaged")
			}
			return fmt.Appendf(nil, "%d %s %d", kind, packed, size), nil
		}
		for name, want := range map[string]string{
			".debug_zlib": "1 abc 10", ".debug_zstd": "2 def 20", ".debug_gnu": "1 ghi 258", ".debug_empty": "", ".zdebug_plain": "not compressed at all",
		} {
			if b, err := f.Data(f.Section(name)); string(b) != want || err != nil {
				t.Errorf("%s: %q, %v", name, b, err)
			}
		}
		if _, err := f.Data(f.Section(".debug_bad")); err == nil {
			t.Error("Data does not return the error of Unpack")
		}
	})
}

func TestBuildIDs(t *testing.T) {
	id := []byte("0123456789abcdefghij")
	note := func(e *fixture.ELF, align int) []byte {
		return bytes.Join([][]byte{e.Note("GNU", 1, []byte("abi!"), align), e.Note("Go", 4, []byte("go/id"), align), e.Note("GNU", 3, id, align)}, nil)
	}
	kinds(t, func(t *testing.T, e *fixture.ELF) {
		for name, build := range map[string]func(e *fixture.ELF, off uint64){
			"segment": func(e *fixture.ELF, off uint64) {
				e.Segment(fixture.ELFSegment{Type: 4, Off: off, Filesz: uint64(len(note(e, 4))), Align: 4})
			},
			"segment that claims 8": func(e *fixture.ELF, off uint64) {
				e.Segment(fixture.ELFSegment{Type: 4, Off: off, Filesz: uint64(len(note(e, 4))), Align: 8})
			},
			"section of notes": func(e *fixture.ELF, off uint64) { e.Add(fixture.ELFSection{Name: ".n", Type: 7, Data: note(e, 4)}) },
			"section aligned to 8": func(e *fixture.ELF, off uint64) {
				e.Add(fixture.ELFSection{Name: ".n", Type: 7, Align: 8, Data: note(e, 8)})
			},
			"named section": func(e *fixture.ELF, off uint64) {
				e.Add(fixture.ELFSection{Name: ".note.gnu.build-id", Type: 1, Data: e.Note("GNU", 3, id, 4)})
			},
			"wrong segment first": func(e *fixture.ELF, off uint64) {
				e.Segment(fixture.ELFSegment{Type: 4, Off: 0, Filesz: 1 << 40})
				e.Segment(fixture.ELFSegment{Type: 4, Off: off, Filesz: uint64(len(note(e, 4)))})
			},
		} {
			e := *e
			off := e.Next()
			e.Add(fixture.ELFSection{Name: ".x", Type: 1, Data: note(&e, 4)})
			build(&e, off)
			f := open(t, e.Bytes())
			if got := f.BuildID(); !bytes.Equal(got, id) {
				t.Errorf("%s: %x", name, got)
			}
			if got := f.GoBuildID(); got != "go/id" && name != "named section" {
				t.Errorf("%s: %q", name, got)
			}
		}
	})
	e := &fixture.ELF{Wide: true}
	off := e.Next()
	e.Add(fixture.ELFSection{Name: ".x", Type: 1, Data: append(id, "more"...)})
	e.Segment(fixture.ELFSegment{Type: 0x61000000, Off: off, Filesz: 19})
	if got := open(t, e.Bytes()).BuildID(); got != nil {
		t.Errorf("PlayStation, too short: %q", got)
	}
	e.Segment(fixture.ELFSegment{Type: 0x61000000, Off: off, Filesz: 24})
	if got := open(t, e.Bytes()).BuildID(); !bytes.Equal(got, id) {
		t.Errorf("PlayStation: %q", got)
	}
	e.Add(fixture.ELFSection{Name: ".n", Type: 7, Data: e.Note("GNU", 3, make([]byte, 257), 4)})
	e.Add(fixture.ELFSection{Name: ".n", Type: 7, Data: e.Note("GNU", 3, nil, 4)})
	if got := open(t, e.Bytes()).BuildID(); !bytes.Equal(got, id) {
		t.Errorf("ids of 257 and 0 bytes are accepted: %x", got)
	}
}

func TestTextIDUsesFirstPage(t *testing.T) {
	text := bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}, 300)
	want := [16]byte{}
	for i := range 4096 {
		want[i%16] ^= text[i]
	}
	e := &fixture.ELF{}
	e.Add(fixture.ELFSection{Name: ".text", Type: 8, Size: 100})
	if id, ok := sound(t, e).TextID(); ok {
		t.Errorf("NOBITS: %x", id)
	}
	e.Add(fixture.ELFSection{Name: ".text", Type: 1, Data: text})
	b := e.Bytes()
	if id, ok := open(t, b).TextID(); id != want || !ok {
		t.Errorf("%x, want %x", id, want)
	}
	e = &fixture.ELF{}
	e.Add(fixture.ELFSection{Name: ".text", Type: 1, Off: 600, Size: 4000})
	if id, ok := open(t, e.Bytes()).TextID(); ok {
		t.Errorf("truncated .text: %x", id)
	}
}

func TestLinks(t *testing.T) {
	kinds(t, func(t *testing.T, e *fixture.ELF) {
		e.Add(fixture.ELFSection{Name: ".gnu_debuglink", Type: 1, Data: e.Pack("app.debug", []byte{0, 0}, uint32(0xdeadbeef))})
		e.Add(fixture.ELFSection{Name: ".gnu_debugaltlink", Type: 1, Data: e.Pack("common.dwz", []byte("\x01\x02\x03"))})
		f := sound(t, e)
		if name, crc, ok := f.DebugLink(); name != "app.debug" || crc != 0xdeadbeef || !ok {
			t.Errorf("%q, %#x, %v", name, crc, ok)
		}
		if name, id, ok := f.AltLink(); name != "common.dwz" || hex.EncodeToString(id) != "010203" || !ok {
			t.Errorf("%q, %x, %v", name, id, ok)
		}
	})
	for _, data := range []string{"", "name", "name\x00", "name\x00abc", "\x00abcd", strings.Repeat("n", 5000) + "\x00abcd"} {
		e := &fixture.ELF{}
		e.Add(fixture.ELFSection{Name: ".gnu_debuglink", Type: 1, Data: []byte(data)})
		if name, _, ok := sound(t, e).DebugLink(); ok {
			t.Errorf("%.10q: %q", data, name)
		}
	}
	for _, data := range []string{"", "name", "name\x00", "\x00abcd", "name\x00" + strings.Repeat("n", 300)} {
		e := &fixture.ELF{}
		e.Add(fixture.ELFSection{Name: ".gnu_debugaltlink", Type: 1, Data: []byte(data)})
		if name, _, ok := sound(t, e).AltLink(); ok {
			t.Errorf("%.10q: %q", data, name)
		}
	}
}
