package cfi_test

import (
	"bytes"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/frame"
	"symbolon/internal/ident"
	"symbolon/internal/object/cfi"
	"symbolon/internal/sym"
)

// FuzzText checks that records are in the range of their INIT record.
func FuzzText(f *testing.F) {
	s := fixture.NewFrame(false)
	c := s.CIE(fixture.FrameX8664(false))
	s.FDE(c, 0x1000, 0x100, 0x41, 0x0e, 16, 0x86, 2, 0x0a, 2, 3, 0x0d, 6, 3, 1, 0, 0x0b, 4, 1, 0, 0, 0, 0xc6, 0x2d, 0x41, 0x2e, 3)
	s.FDE(c, 0x2000, 0x100, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22, 0x10, 3, 2, 0x76, 8, 0x16, 6, 1, 0x96)
	s.FDE(c, 0x3000, 0x100, 5, 3, 1, 6, 3, 7, 3, 8, 4, 9, 5, 6, 0x11, 6, 1, 0x12, 7, 2, 0x13, 3, 0x14, 7, 1, 0x15, 8, 2, 0x2f, 9, 1, 0x1d)
	archs := []ident.Arch{ident.ArchX86_64, ident.ArchARM64, ident.ArchX86, ident.ArchMIPS}
	for i := range archs {
		f.Add(s.Bytes(), byte(i))
	}
	f.Fuzz(func(t *testing.T, b []byte, arch byte) {
		section := frameSection(s)
		section.Data = b
		text := cfi.Text{Registers: cfi.RegistersOf(archs[arch%4])}
		section.Each(func(f *frame.FDE) bool {
			end := uint64(0)
			_, _ = text.Each(f, func(u *sym.Unwind) error {
				switch {
				case u.Kind == sym.UnwindBegin:
					end = u.Addr + u.Size
					if !bytes.HasPrefix(u.Rules, []byte(".cfa: ")) {
						t.Fatalf("no frame address in %q", u.Rules)
					}
				case u.Addr >= end:
					t.Fatalf("record at %#x after the end %#x", u.Addr, end)
				}
				return nil
			})
			return true
		})
	})
}
