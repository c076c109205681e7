package symbfile_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/symbfile"
)

// again reads the records of a file by their offsets, one for each Next.
func again(b []byte) (list []any, err error) {
	var tables symbfile.Tables
	r := symbfile.NewReader(bytes.NewReader(b))
	text := func(at int64) []byte {
		if at == 0 {
			return nil
		}
		return bytes.Clone(symbfile.Text(b, at))
	}
	for {
		rec, err := r.Next()
		if err != nil {
			return list, err
		}
		if x := rec.Range; x != nil {
			c, at := *x, r.Texts()
			c.Func, c.File, c.CallFile, c.Lines = text(at.Func), text(at.File), text(at.CallFile), nil
			for lines := symbfile.LinesAt(b, r.Offset()); ; {
				l, ok := lines.Next()
				if !ok {
					break
				}
				c.Lines = append(c.Lines, l)
			}
			list = append(list, c)
			continue
		}
		number, err := tables.Add(r)
		if err != nil {
			return list, err
		}
		c := symbfile.Pad{VA: rec.Pad.VA}
		for frames := symbfile.FramesAt(b, r.Offset()); ; {
			fn, file, line, ok := frames.Next()
			if !ok {
				break
			}
			f := symbfile.PadFrame{Func: text(tables.Place(b, number, fn)), File: text(tables.Place(b, number, file)), Line: line}
			if len(f.File) == 0 {
				f.File = nil
			}
			c.Frames = append(c.Frames, f)
		}
		list = append(list, c)
	}
}

// counted counts ranges and pads, some bytes at a time.
func counted(b []byte, step int) (ranges, pads int) {
	for at := 0; at < len(b); {
		r, p, next := symbfile.Count(b, at, at+step)
		ranges, pads, at = ranges+r, pads+p, next
	}
	return ranges, pads
}

func checkPlaces(t *testing.T, what string, b []byte) {
	t.Helper()
	list, err := read(b)
	same, end := again(b)
	if (err == nil) != (end == io.EOF) || !reflect.DeepEqual(list, same) {
		t.Fatalf("%s: %v, %v; by places %v, %v", what, list, err, same, end)
	}
	if err != nil {
		return
	}
	want := [2]int{}
	for _, x := range list {
		if _, ok := x.(symbfile.Range); ok {
			want[0]++
		} else {
			want[1]++
		}
	}
	for _, step := range []int{1, 7, 1 << 30} {
		if ranges, pads := counted(b, step); [2]int{ranges, pads} != want {
			t.Fatalf("%s: counted %d ranges and %d pads, want %v", what, ranges, pads, want)
		}
	}
}

func TestRecordsByOffset(t *testing.T) {
	many, err := write(mixed(rand.New(rand.NewPCG(5, 5)), 3000))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range 1000 {
		names = append(names, strings.Repeat("x", i%200)+fmt.Sprint(i))
	}
	refs := fixture.Proto{}.Num(5, 9).Packed(2, 999, 63, 64, 65).Packed(3, 0, 128, 127).Num(3, 500).Num(4, 1).Num(4, 2).Packed(4, 3, 4)
	spread := fixture.Proto{}.Text(1, "a").Text(7, strings.Repeat("y", 500)).Text(1, "b").Num(9, 4).Text(1, "c")
	odd := fixture.NewSymbfile().Table(names...).Message(3, refs).Message(4, spread).Message(3, fixture.Proto{}.Signed(1, 1).Packed(2, 2, 1, 0).Packed(3, 0, 1, 2).Packed(4, 7, 8, 9)).
		Message(9, fixture.Proto("anything")).
		Message(2, fixture.Proto{}.Sub(8, fixture.Proto{}.Num(1, 3).Packed(1, 1, 300)).Num(12, 0x10).Text(3, "").Num(10, 1).Text(6, "call").
			Sub(8, fixture.Proto{}.Packed(2, 5, 6, 7).Num(2, 8).Num(1, 0)).Num(15, 2)).
		Raw(0x8a, 0, 0x82, 0).Raw(fixture.Proto{}.Num(12, 1).Text(3, "padded")...).Bytes()
	checkPlaces(t, "ranges", unhex(workedRanges))
	checkPlaces(t, "pads", unhex(workedPads))
	checkPlaces(t, "many", many)
	checkPlaces(t, "odd", odd)
	if list, err := read(odd); err != nil || len(list) != 4 {
		t.Errorf("%v, %v", list, err)
	}
}

// A file with needlessly many strings is rejected before they take much memory.
func TestMarksOfTablesAreLimited(t *testing.T) {
	table := fixture.Proto(bytes.Repeat([]byte{0x0a, 0}, 8<<20-100))
	file := fixture.NewSymbfile()
	pad := fixture.Proto{}.Num(5, 1).Num(2, 0).Num(3, 0).Num(4, 0)
	for range 5 {
		file.Message(4, table).Message(3, pad)
	}
	if _, err := again(file.Bytes()); err == nil || !strings.Contains(err.Error(), "string tables need more") {
		t.Error(err)
	}
}
