package breakpad_test

import (
	"reflect"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/breakpad"
)

// FuzzScan checks that the index does not depend on the chunks, and that
// every record of the index can be parsed and agrees with it.
func FuzzScan(f *testing.F) {
	f.Add(everything().Bytes(), uint16(7))
	f.Add([]byte("MODULE a b c d\r\nFUNC 1 1 1\r\n1 1 1 1\rFILE 0 ..\nINLINE 0 0 0 1 1\nSTACK CFI INIT 1 1\nSTACK CFI 1"), uint16(1))
	f.Add(fixture.NewSym("x").Raw("FILE 18446744073709551615 x").Raw("INLINE_ORIGIN 1").Raw("PUBLIC m ffffffffffffffff 0").Bytes(), uint16(3))
	f.Fuzz(func(t *testing.T, text []byte, chunk uint16) {
		x, err := scan(text, int(chunk)+1)
		y, errWhole := scan(text, len(text)+1)
		if (err == nil) != (errWhole == nil) || !reflect.DeepEqual(x, y) {
			t.Fatalf("in chunks of %d: %+v, %v\nwhole: %+v, %v", chunk, x, err, y, errWhole)
		}
		if err != nil {
			return
		}
		if x.Footprint() > 12*int64(len(text))+8192 {
			t.Fatalf("%d bytes of text have an index of %d", len(text), x.Footprint())
		}
		walk(x, text)
		for _, s := range x.Funcs {
			var fn breakpad.Func
			if !x.ParseFunc(s, text[s.Off:s.Off+int64(s.Len)], &fn, nil) || fn.Addr != s.Addr || fn.Size != s.Size {
				t.Fatalf("%+v is %+v", s, fn)
			}
		}
		for _, p := range x.Publics {
			end := min(int64(len(text)), p.Off+breakpad.MaxName)
			line := text[p.Off:end]
			for i, c := range line {
				if c == '\n' {
					line = line[:i]
					break
				}
			}
			if got, ok := breakpad.ParsePublic(line); !ok || got.Addr != p.Addr {
				t.Fatalf("%+v is %+v", p, got)
			}
		}
	})
}

// FuzzFunc checks that a parsed Func is consistent.
func FuzzFunc(f *testing.F) {
	f.Add([]byte("FUNC m 1000 40 8 name\r\nINLINE 1 5 2 3 1000 10 1020 8\nINLINE 0 6 4 1000 10\n1000 10 1 0\n"), false)
	f.Add([]byte("FUNC 0 0 0\nINLINE 4294967296 1 1 1 1 1\nfff f -1 1\n\x00\n1 1 1 1 1"), false)
	f.Add([]byte("FUNC 1 1 1\nINLINE 0 1 2 3 4 5 6\nINLINE 0 1 2 3 4 5 6 7\n"), true)
	f.Fuzz(func(t *testing.T, text []byte, old bool) {
		x := breakpad.Index{Old: old}
		var fn, again breakpad.Func
		var bad breakpad.Report
		if !x.ParseFunc(breakpad.Span{}, text, &fn, &bad) {
			return
		}
		next := 0
		for _, in := range fn.Inlines {
			if in.First != next || in.N < 1 || old && in.CallFile != 0 {
				t.Fatalf("%+v", fn.Inlines)
			}
			next += in.N
		}
		if next != len(fn.Ranges) || len(fn.Lines)*8+len(fn.Ranges)*4 > len(text) {
			t.Fatalf("%d ranges, %d lines of %d bytes", len(fn.Ranges), len(fn.Lines), len(text))
		}
		if x.ParseFunc(breakpad.Span{}, text, &again, nil); len(again.Lines) != len(fn.Lines) || len(again.Ranges) != len(fn.Ranges) {
			t.Fatal("the result depends on the report")
		}
	})
}
