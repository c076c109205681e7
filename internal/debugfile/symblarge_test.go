package debugfile_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/format/symbfile"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// lookupsAgree checks that lookups agree with the blocks, at some of their rows, and
// that all blocks are small.
func lookupsAgree(t *testing.T, o *object.Object, step int) {
	t.Helper()
	const most = 64<<10 + 4096 // rows or nodes
	if err := o.Blocks(object.BlockOptions{}, func(b *sym.Block) error {
		if max(len(b.Rows), len(b.Nodes)) > most {
			return fmt.Errorf("a block has %d rows and %d nodes", len(b.Rows), len(b.Nodes))
		}
		for i := 0; i < len(b.Rows); i += step {
			want, got := b.Frames(nil, i), o.Lookup(nil, b.Rows[i].Addr)
			if !slices.Equal(got, want) {
				return fmt.Errorf("%#x is %v, in the blocks %v", b.Rows[i].Addr, got, want)
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// The memory of an open file does not grow with its lines, frames and texts.
func TestLinesAndFramesStayInTheirFile(t *testing.T) {
	const length = 300_000
	rows := make([]symbfile.Line, length)
	for i := range rows {
		rows[i] = symbfile.Line{Offset: uint64(i), Line: uint32(i%5 + 1)}
	}
	frames := make([]symbfile.PadFrame, 250)
	for i := range frames {
		frames[i] = symbfile.PadFrame{Func: fmt.Appendf(nil, "frame %d", i), Line: uint32(i)}
	}
	var records []any
	for k := range uint64(4) {
		at := k * (length + 1000)
		records = append(records, symbfile.Range{VA: at, Length: length, Func: bytes.Repeat([]byte{'f'}, 100_000), Lines: rows},
			symbfile.Range{VA: at + 1000, Length: 100, Depth: 1, Func: []byte("in"), Lines: rows[:100]},
			symbfile.Range{VA: at + length - 200, Length: 100, Depth: 1, Func: []byte("in"), CallLine: 9})
		for i := range uint64(900) {
			records = append(records, symbfile.Pad{VA: at + length + i, Frames: frames})
		}
	}
	o := open(t, symb(t, records...))
	lookupsAgree(t, o, 777)
	if n := o.Footprint(); n > 200_000 {
		t.Errorf("it takes %d bytes", n)
	}
}

// The index of a file with very many ranges is in the space that there is.
func TestManyRangesAreIndexedOffTheHeap(t *testing.T) {
	file := fixture.NewSymbfile().Table("f", "g").Message(fixture.SymbfileRange, fixture.Proto{}.Num(12, 0).Num(2, 8).Num(9, 0))
	one := fixture.NewSymbfile().Message(fixture.SymbfileRange, fixture.Proto{}.Signed(1, 8).Num(2, 8).Num(9, 1)).Bytes()[len(fixture.NewSymbfile().Bytes()):]
	const n = 1_100_000
	file.Raw(bytes.Repeat(one, n)...)
	space := &pages{}
	f, err := debugfile.Open(bin.Bytes(file.Bytes()), object.Options{Space: space})
	if err != nil {
		t.Fatal(err)
	}
	o := f.Objects()[0]
	if got := trace(o, 8*n); got != "g :0" {
		t.Errorf("the last one is %q", got)
	}
	if near, ok := o.Nearest(1 << 40); !ok || near.Entry != 8 || near.Size != 8*n {
		t.Errorf("%+v", near)
	}
	if space.taken == 0 || o.Footprint() > 4<<20 {
		t.Errorf("%d bytes were taken, and the file takes %d", space.taken, o.Footprint())
	}
}
