package image

import (
	"math"

	"symbolon/internal/bin"
	"symbolon/internal/format/elf"
	"symbolon/internal/format/gopcln"
)

// openGo looks for the function table of a Go program without other debug
// information.
func (b *elfFile) openGo() {
	if b.dwarf != nil || b.addrs != nil {
		return
	}
	data := b.goTable()
	if data == nil {
		return
	}
	t, err := gopcln.Open(data)
	if err != nil {
		b.Found.Add("damaged section", err.Error())
		return
	}
	if err := t.Problem(); err != nil {
		b.Found.Add("damaged section", err.Error())
	}
	t.ReadAt = b.readAt
	for i := range b.f.Sections {
		s := &b.f.Sections[i]
		if s.Name != ".go.module" && s.Name != ".noptrdata" && s.Name != ".data" && s.Name != ".data.rel.ro" {
			continue
		}
		raw, err := b.f.Raw(s)
		if err != nil {
			continue
		}
		if m, ok := t.Module(raw); ok {
			t.Text, t.End, t.GoFunc = b.slot(s, m.Text), b.slot(s, m.End), b.slot(s, m.GoFunc)
			break
		}
	}
	if text := b.f.Section(".text"); text != nil {
		if t.Text == 0 {
			t.Text = text.Addr
		}
		if t.End == 0 || t.End == math.MaxUint64 {
			t.End = text.Addr + text.Size
		}
	}
	b.setGo(t)
}

// goTable returns the section of the function table, or the table that was found in a
// section with another name.
func (b *elfFile) goTable() []byte {
	for _, name := range [...]string{".gopclntab", ".data.rel.ro.gopclntab"} {
		if s := b.f.Section(name); s != nil {
			raw, _ := b.f.Raw(s)
			return raw
		}
	}
	if b.f.Section(".note.go.buildid") == nil && b.f.Section(".go.buildinfo") == nil && b.f.GoBuildID() == "" {
		return nil
	}
	for _, name := range [...]string{".data.rel.ro", ".rodata"} {
		s := b.f.Section(name)
		if s == nil {
			continue
		}
		if raw, err := b.f.Raw(s); err == nil {
			if off, ok := gopcln.Find(raw); ok {
				return raw[off:]
			}
		}
	}
	return nil
}

// readAt returns n bytes at an address.
func (b *elfFile) readAt(addr uint64, n int) []byte {
	for i := range b.f.Sections {
		s := &b.f.Sections[i]
		if s.Flags&elf.FlagAlloc == 0 || addr < s.Addr || addr-s.Addr >= s.Size || s.Size-(addr-s.Addr) < uint64(n) {
			continue
		}
		raw, err := b.f.Raw(s)
		if at := addr - s.Addr; err == nil && at+uint64(n) <= uint64(len(raw)) {
			return raw[at : at+uint64(n)]
		}
		return nil
	}
	return nil
}

// slot returns an address in a section after relocation by the loader.
func (b *elfFile) slot(s *elf.Section, at gopcln.Slot) uint64 {
	relocs := b.f.Section(".rela.dyn")
	if relocs == nil || b.f.Class != 64 {
		return at.Value
	}
	raw, err := b.f.Raw(relocs)
	if err != nil {
		return at.Value
	}
	const size = 24
	for c := bin.NewCursor(raw, b.f.Order); c.Len() >= size; {
		off, _, addend := c.U64(), c.U64(), c.U64()
		if off == s.Addr+uint64(at.Off) {
			return addend
		}
	}
	return at.Value
}
