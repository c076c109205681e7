package frame_test

import (
	"encoding/binary"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/frame"
)

// FuzzFrame checks that rows have no gaps, and that the work is bounded.
func FuzzFrame(f *testing.F) {
	for form := range 16 {
		s := fixture.NewFrame(form&1 != 0)
		s.Big, s.Wide = form&2 != 0, form&4 != 0
		cie := fixture.FrameX8664(s.EH)
		if cie.Version = 3 + byte(form>>3); s.EH {
			cie.Augmentation, cie.Encoding = "zPLRSx", byte(form)*3&0x3f
		}
		s.Raw(0, 0, 0, 0)
		c := s.CIE(cie)
		s.FDE(c, 0x1000, 0x100, 0x41, 0x0e, 16, 0x86, 2, 0x0a, 2, 3, 0x0d, 6, 3, 1, 0, 0x0b, 4, 1, 0, 0, 0, 0xc6, 0x2d, 0x41, 0x2e, 3)
		s.FDE(c, 0x2000, 0x100, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22, 0x10, 3, 2, 0x76, 8, 0x16, 6, 1, 0x96)
		s.FDE(c, 0x3000, 0x100, 5, 3, 1, 6, 3, 7, 3, 8, 4, 9, 5, 6, 0x11, 6, 1, 0x12, 7, 2, 0x13, 3, 0x14, 7, 1, 0x15, 8, 2, 0x2f, 9, 1, 0x1d)
		f.Add(s.Bytes(), byte(form))
	}
	f.Fuzz(func(t *testing.T, b []byte, form byte) {
		s := &frame.Section{Data: b, Addr: 0x10000, EH: form&1 != 0, Order: binary.LittleEndian, AddrSize: 8, Text: 0x1000, Relocatable: form&16 != 0}
		if form&2 != 0 {
			s.Order = binary.BigEndian
		}
		if form&32 != 0 {
			s.AddrSize = 4
		}
		var m frame.Machine
		rows := 0
		has, found := s.HasFDE(func(uint64) bool { return true }), false
		s.Each(func(f *frame.FDE) bool {
			found = true
			at := f.Start
			err := f.Rows(&m, func(r *frame.Row) bool {
				if rows++; r.Start != at || r.End <= at || r.End > f.Start+f.Size || len(r.Regs) > 192 {
					t.Fatalf("%+v after %x in %+v", r, at, f)
				}
				for i := 1; i < len(r.Regs); i++ {
					if r.Regs[i-1].Reg >= r.Regs[i].Reg {
						t.Fatalf("%+v", r.Regs)
					}
				}
				at = r.End
				return true
			})
			if err == nil && at != f.Start+f.Size {
				t.Fatalf("rows of %+v end at %x", f, at)
			}
			return true
		})
		if rows > len(b) {
			t.Fatalf("%d rows of %d bytes", rows, len(b))
		}
		if has && !found {
			t.Fatal("HasFDE is false, but there are FDEs")
		}
	})
}
