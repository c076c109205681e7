package breakpad_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"symbolon/internal/format/breakpad"
)

func scanAll(t *testing.T, text []byte) *breakpad.Index {
	t.Helper()
	var s breakpad.Scanner
	s.Write(text)
	ix, err := s.Finish()
	if err != nil || ix.Bad.Total() > 0 {
		t.Fatalf("%v, %v\n%s", err, ix, text)
	}
	return ix
}

func TestWriteRoundTrip(t *testing.T) {
	f := breakpad.Func{
		Addr: 0x1000, Size: 0x40, Params: 8, Multiple: true,
		Inlines: []breakpad.Inline{
			{Depth: 0, CallLine: 7, CallFile: 1, Origin: 2, First: 0, N: 2},
			{Depth: 1, CallLine: 4294967295, CallFile: 0, Origin: 0, First: 2, N: 1},
		},
		Ranges: []breakpad.Range{{0x1004, 8}, {0x1010, 0x10}, {0x1010, 4}},
		Lines:  []breakpad.Line{{0x1000, 4, 0, 10}, {0x1004, 0x3c, 1, 0}},
	}
	m := breakpad.Module{OS: "Linux", Arch: "x86_64", ID: "0F1E2D3C4B5A69788796A5B4C3D2E1F00", Name: "lib of mine.so"}
	var b []byte
	b = breakpad.AppendModule(b, m)
	b = breakpad.AppendInfo(b, "CODE_ID", "ABCDEF")
	b = breakpad.AppendFile(b, 3, []byte("/src/a file.c"))
	b = breakpad.AppendOrigin(b, 4, []byte("ns::f(int, char)"))
	b = breakpad.AppendFunc(b, &f, []byte("g<int>(long)"))
	b = breakpad.AppendPublic(b, breakpad.Public{Addr: 0x2000, Params: 4, Multiple: true}, []byte("m x"))
	ix := scanAll(t, b)
	if ix.Module != m || len(ix.Infos) != 1 || ix.Infos[0].Text != "ABCDEF" {
		t.Errorf("module %v, info %v", ix.Module, ix.Infos)
	}
	for name, got := range map[string][]byte{
		"/src/a file.c":    breakpad.FileName(b[ix.Files[0].Off:]),
		"ns::f(int, char)": breakpad.OriginName(b[ix.Origins[0].Off:], ix.Old),
		"g<int>(long)":     breakpad.FuncName(b[ix.Funcs[0].Off:]),
		"m x":              breakpad.PublicName(b[ix.Publics[0].Off:]),
	} {
		if string(got) != name {
			t.Errorf("%q was read as %q", name, got)
		}
	}
	var got breakpad.Func
	fn := ix.Funcs[0]
	if !ix.ParseFunc(fn, b[fn.Off:][:fn.Len], &got, nil) || !reflect.DeepEqual(got, f) {
		t.Errorf("got  %+v\nwant %+v", got, f)
	}
	line, _, _ := bytes.Cut(b[ix.Publics[0].Off:], []byte("\n"))
	if p, ok := breakpad.ParsePublic(line); !ok || p != (breakpad.Public{Addr: 0x2000, Params: 4, Multiple: true}) {
		t.Errorf("PUBLIC %+v", p)
	}
}

func TestControlCharactersInNamesAreReplaced(t *testing.T) {
	evil := []byte("a\nFUNC 5000 10 0 b\r\x00c")
	b := breakpad.AppendModule(nil, breakpad.Module{ID: "0F1E2D3C4B5A69788796A5B4C3D2E1F00", OS: "Li nux", Name: string(evil)})
	b = breakpad.AppendFile(b, 0, evil)
	b = breakpad.AppendOrigin(b, 0, nil)
	b = breakpad.AppendFunc(b, &breakpad.Func{Addr: 0x1000, Size: 1}, evil)
	b = breakpad.AppendPublic(b, breakpad.Public{Addr: 0x2000}, nil)
	ix := scanAll(t, b)
	if n := bytes.Count(b, []byte("\n")); n != 5 || len(ix.Funcs) != 1 || ix.Module.OS != "Li_nux" || ix.Module.Arch != "unknown" {
		t.Errorf("%d lines, %d functions, %+v", n, len(ix.Funcs), ix.Module)
	}
	if got := string(breakpad.FuncName(b[ix.Funcs[0].Off:])); got != "a FUNC 5000 10 0 b  c" {
		t.Errorf("%q", got)
	}
	if got := string(breakpad.OriginName(b[ix.Origins[0].Off:], false)); got != "<name omitted>" {
		t.Errorf("%q", got)
	}
}

func TestLongNameIsTruncated(t *testing.T) {
	b := breakpad.AppendModule(nil, breakpad.Module{ID: "0F1E2D3C4B5A69788796A5B4C3D2E1F00"})
	b = breakpad.AppendFunc(b, &breakpad.Func{Addr: 0x1000, Size: 1}, []byte(strings.Repeat("x", 1<<20)))
	ix := scanAll(t, b)
	if n := len(breakpad.FuncName(b[ix.Funcs[0].Off:])); n != breakpad.MaxName/2 {
		t.Errorf("%d characters", n)
	}
}
