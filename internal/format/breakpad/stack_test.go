package breakpad_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/breakpad"
	"symbolon/internal/sym"
)

func TestParseCFI(t *testing.T) {
	text := fixture.NewSym("x").CFIInit(0x10, 0x20, ".cfa: $rsp 8 + .ra: .cfa -8 + ^").CFI(0x14, ".cfa: $rsp 16 +").
		Raw("STACK CFI zz").Raw("unknown").Raw("STACK CFI 18").CFI(0x1c, "$rbx: x\r").CFIInit(0x30, 8, "y").Bytes()
	x := index(t, text)
	if len(x.CFI) != 2 || badKinds(&x.Bad) != "STACK 1, unknown 1" {
		t.Fatalf("%+v, %s", x.CFI, badKinds(&x.Bad))
	}
	var got []string
	for line := range bytes.Lines(text[x.CFI[0].Off:][:x.CFI[0].Len]) {
		if u, ok := breakpad.ParseStack(line); ok {
			got = append(got, fmt.Sprintf("%d %x %x %s", u.Kind, u.Addr, u.Size, u.Rules))
		}
	}
	want := []string{"0 10 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^", "1 14 0 .cfa: $rsp 16 +", "1 18 0 ", "1 1c 0 $rbx: x"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestParseWin(t *testing.T) {
	for line, want := range map[string]sym.Unwind{
		"STACK WIN 4 1000 20 1 2 8 4 10 30 1 $T0 .raSearch = \r": {
			Kind: sym.UnwindWindows, Addr: 0x1000, Size: 0x20, Rules: []byte("$T0 .raSearch ="),
			Windows: sym.WindowsFrame{Type: 4, Prolog: 1, Epilog: 2, Params: 8, Saved: 4, Locals: 16, Stack: 48, HasProgram: true},
		},
		"STACK WIN 0 ffffffff 1 0 0 0 0 0 0 0 1": {
			Kind: sym.UnwindWindows, Addr: 0xffffffff, Size: 1, Windows: sym.WindowsFrame{UsesBase: true},
		},
	} {
		if got, ok := breakpad.ParseStack([]byte(line)); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", line, got, ok)
		}
	}
}

func TestInvalidStackRecordsAreNotParsed(t *testing.T) {
	for _, bad := range []string{
		"", "STACK", "STACK CFI", "STACK CFI x", "STACK CFI INIT", "STACK CFI INIT 1", "STACK CFI INIT x 1 y", "FUNC 1 1 1",
		"STACK WIN", "STACK WIN 4 1 1", "STACK WIN 4 1 1 1 1 1 1 1 1", "STACK WIN 4 1 1 1 1 1 1 1 1 1", "STACK WIN 0 1 1 1 1 1 1 1 1 0",
		"STACK WIN 0 100000000 1 1 1 1 1 1 1 0 1",
	} {
		if u, ok := breakpad.ParseStack([]byte(bad)); ok {
			t.Errorf("%q: %+v", bad, u)
		}
	}
}

func TestStackRecordsAreWrittenAsTheyWereRead(t *testing.T) {
	for _, line := range []string{
		"STACK CFI INIT 10 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", "STACK CFI 14 .cfa: $rsp 16 +\n", "STACK CFI 18\n",
		"STACK WIN 4 1000 20 1 2 8 4 10 30 1 $T0 .raSearch =\n", "STACK WIN 0 ffffffff 1 0 0 0 0 0 0 0 1\n", "STACK WIN 0 1 1 0 0 0 0 0 0 0 0\n",
	} {
		u, ok := breakpad.ParseStack([]byte(line))
		if got := breakpad.AppendStack(nil, &u); !ok || string(got) != line {
			t.Errorf("got %q\nwant %q", got, line)
		}
	}
}

func TestStackRecordsEndFunc(t *testing.T) {
	x := index(t, fixture.NewSym("x").Func(0x10, 8, "f").CFIInit(0x10, 8, "a").Line(0x10, 8, 1, 0).Func(0x20, 8, "g").
		CFI(0x14, "b").CFIInit(0x20, 8, "c").Win(0x20, 8, "d").CFI(0x24, "e").CFIInit(0x30, 8, "f").Raw("STACK CFI "+strings.Repeat("x", 1<<20)).CFI(0x34, "g").Bytes())
	if got := badKinds(&x.Bad); got != "too long 1, orphan 4" {
		t.Error(got)
	}
	big := fixture.NewSym("x").CFIInit(0x10, 8, "a")
	for range 5 {
		big.CFI(0x14, strings.Repeat("x", 1<<20-100))
	}
	x = index(t, big.Bytes())
	if x.CFI[0].Len > 4<<20 || badKinds(&x.Bad) != "too long 1" {
		t.Errorf("%+v, %s", x.CFI, badKinds(&x.Bad))
	}
}
