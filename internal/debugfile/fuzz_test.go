package debugfile_test

import (
	"bytes"
	"slices"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/format/symbfile"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// FuzzOpen demands that a file gives the same answers in every way in which it
// can be read: at once and in pieces, from memory and from elsewhere, address
// by address and as blocks.
func FuzzOpen(f *testing.F) {
	f.Add(sample().Bytes(), uint64(0x1010))
	f.Add(symb(f,
		symbfile.Range{VA: 0x10, Length: 0x40, Func: []byte("f"), File: []byte("/f"), Lines: []symbfile.Line{{Offset: 0, Line: 1}, {Offset: 9, Line: 2}}},
		symbfile.Range{VA: 0x18, Length: 8, Depth: 1, Func: []byte("in"), CallLine: 4}, symbfile.Range{VA: 0x14, Length: 0x50, Func: []byte("over")},
		symbfile.Pad{VA: 0x70, Frames: []symbfile.PadFrame{{Func: []byte("f"), Line: 1}, {Func: []byte("in"), File: []byte("/f")}}},
	), uint64(0x19))
	f.Add(fixture.NewSym("x").Func(0x10, 0x40, "a").Func(0x20, 0x10, "b").Inline(0, 1, 0, 0, 0x20, 0x40).
		Line(0x20, 8, 1, 0).Public(0x28, "p").Public(0x50, "q").Bytes(), uint64(0x29))
	f.Add(fixture.NewSym("x").Raw("FUNC m ffffffffffffffff 1 0").Raw("PUBLIC ffffffffffffffff 0").Raw("INLINE 0 0 0 0 1 ffffffffffffffff").Bytes(), ^uint64(0))
	f.Add([]byte("MODULE a b 000102030405060708090A0B0C0D0E0F c\r\nFILE 0 ..\\x\nFUNC 0 ffffffffffffffff 0\nINLINE 0 1 0 0 0 9\n0 9 1 0"), uint64(5))
	f.Add(fixture.NewSym("x").Raw("INLINE_ORIGIN 0 1 old").Func(0, 9, "f").Raw("INLINE 0 1 0 0 9").Line(0, 9, 1, 1).Bytes(), uint64(1))
	f.Fuzz(func(t *testing.T, text []byte, addr uint64) {
		file, err := debugfile.Open(bin.Bytes(text), object.Options{})
		s := debugfile.NewStream()
		cut := int(addr % uint64(len(text)+1))
		_, _ = s.Write(text[:cut])
		_, _ = s.Write(text[cut:])
		again, errAgain := s.Finish(onDisk{bin.Bytes(text)}, object.Options{})
		if (err == nil) != (errAgain == nil) {
			t.Fatalf("%v, in pieces %v", err, errAgain)
		}
		if err != nil {
			return
		}
		o, p := file.Objects()[0], again.Objects()[0]
		blocks := copyBlocks(t, o, 1)
		copyBlocks(t, p, 2)
		if o.Info().BadRecords != p.Info().BadRecords {
			t.Fatalf("%d bad records, in pieces %d", o.Info().BadRecords, p.Info().BadRecords)
		}
		addrs := []uint64{0, addr, ^uint64(0)}
		for _, b := range blocks[:min(len(blocks), 8)] {
			for _, r := range b.Rows[:min(len(b.Rows), 16)] {
				addrs = append(addrs, r.Addr-1, r.Addr, r.Addr+1)
			}
		}
		var frames, other []sym.Frame
		for _, a := range addrs {
			frames, other = o.Lookup(frames[:0], a), p.Lookup(other[:0], a)
			if !slices.Equal(frames, other) || !slices.Equal(frames, framesOf(blocks, a)) {
				t.Fatalf("%#x: %s\nin pieces %s\nblocks %s", a, show(o, frames), show(p, other), show(o, framesOf(blocks, a)))
			}
			for _, fr := range frames {
				if !bytes.Equal(o.AppendText(nil, fr.Func), p.AppendText(nil, fr.Func)) || !bytes.Equal(o.AppendText(nil, fr.File), p.AppendText(nil, fr.File)) {
					t.Fatalf("%#x: other names", a)
				}
			}
			near, ok := o.Nearest(a)
			if root := nearestOf(blocks, a); ok != (root != nil) || ok && root.Name != near.Func {
				t.Fatalf("%#x: nearest %+v, by blocks %+v", a, near, root)
			}
		}
	})
}
