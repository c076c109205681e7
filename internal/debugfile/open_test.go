package debugfile_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/ident"
	"symbolon/internal/object"
)

func sample() *fixture.Sym {
	return fixture.NewSym("libsample.so").
		Info("CODE_ID", "4B3C2D1E5A69788796A5B4C3D2E1F00F").
		Info("GENERATOR", "hand 1.0").
		File(0, "/src/a.c").File(1, "/src/b.c").
		Origin(0, "small").
		Func(0x1000, 0x40, "main").
		Inline(0, 7, 0, 0, 0x1010, 0x10).
		Line(0x1000, 0x10, 3, 0).Line(0x1010, 0x10, 11, 1).Line(0x1020, 0x20, 8, 0).
		Public(0x2000, "helper").
		CFIInit(0x1000, 0x40, ".cfa: $rsp 8 + .ra: .cfa 8 - ^").CFI(0x1004, ".cfa: $rsp 16 +")
}

func TestInfoTellsWhatTheFileHas(t *testing.T) {
	f, err := debugfile.Open(bin.Bytes(sample().Bytes()), object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Kind() != "breakpad" || len(f.Objects()) != 1 {
		t.Fatalf("kind %q, %d objects", f.Kind(), len(f.Objects()))
	}
	id, _ := ident.ParseBreakpadID(fixture.SymID)
	want := object.Info{
		Module: ident.Module{
			Type: ident.TypeELF, Arch: ident.ArchX86_64, DebugFile: "libsample.so", DebugID: id,
			CodeID: "4b3c2d1e5a69788796a5b4c3d2e1f00f",
		},
		Kind: "breakpad", Type: "dbg", Features: object.HasSymbols | object.HasDebug | object.HasUnwind, Producer: "hand 1.0",
		Counts: object.Counts{Functions: 1, Publics: 1, Files: 2, InlineOrigins: 1, Unwind: 1},
	}
	if got := f.Objects()[0].Info(); !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
	if names := strings.Join(want.Features.Names(), " "); names != "symbols debug unwind" {
		t.Fatalf("features are called %q", names)
	}
}

func TestFeaturesNeedContent(t *testing.T) {
	o := open(t, fixture.NewSym("x").Func(0x10, 0, "empty").Bytes())
	if info := o.Info(); info.Features != 0 || info.Features.Names() != nil || info.Counts.Functions != 0 {
		t.Fatalf("a FUNC without size counts: %+v", info)
	}
}

func TestModuleIsUnderstood(t *testing.T) {
	for _, c := range []struct {
		head string
		want ident.Module
	}{
		{"MODULE windows x86 0F1E2D3C4B5A69788796A5B4C3D2E1F01a a b.pdb\nINFO CODE_ID 5E0C0FFEE000 my app.exe \n",
			ident.Module{Type: ident.TypePE, Arch: ident.ArchX86, DebugFile: "a b.pdb", CodeID: "5e0c0ffee000", CodeFile: "my app.exe"}},
		{"MODULE windows x86 0F1E2D3C4B5A69788796A5B4C3D2E1F01a b.pdb\nINFO GENERATOR x\nINFO CODE_ID 5E0C0FFEE000 second.dll\n",
			ident.Module{Type: ident.TypePE, Arch: ident.ArchX86, DebugFile: "b.pdb", CodeID: "5e0c0ffee000", CodeFile: "second.dll"}},
		{"MODULE mac arm64 0f1e2d3c4b5a69788796a5b4c3d2e1f01A lib\r\nINFO GENERATOR x y\r\n",
			ident.Module{Type: ident.TypeMachO, Arch: ident.ArchARM64, DebugFile: "lib"}},
		{"MODULE plan9 mips128 0F1E2D3C4B5A69788796A5B4C3D2E1F01A",
			ident.Module{DebugFile: "<unknown>"}},
		{"MODULE Android riscv64 0F1E2D3C4B5A69788796A5B4C3D2E1F01A lib\xff.so\nFILE 0 x\nINFO CODE_ID 12 late\n",
			ident.Module{Type: ident.TypeELF, Arch: ident.ArchRISCV64, DebugFile: "lib\uFFFD.so"}},
	} {
		got := open(t, []byte(c.head)).Info().Module
		if c.want.DebugID, _ = ident.ParseDebugID("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0-1a"); got != c.want {
			t.Errorf("%q:\n got %+v\nwant %+v", c.head, got, c.want)
		}
	}
	o := open(t, []byte("MODULE Linux x86_64 0F1E2D3C4B5A69788796A5B4C3D2E1F0 noage.so\n"))
	if id := o.Info().Module.DebugID.Breakpad(); id != "0F1E2D3C4B5A69788796A5B4C3D2E1F00" {
		t.Errorf("without an age the id is %s", id)
	}
}

func TestWhatIsNoFileIsRefused(t *testing.T) {
	good := fixture.NewSym("x").String()
	for name, c := range map[string]struct {
		text string
		kind fault.Kind
	}{
		"empty":                     {"", fault.Malformed},
		"two bytes":                 {"MO", fault.Unsupported},
		"a page":                    {"<!DOCTYPE html><title>Not here</title>", fault.Unsupported},
		"byte order mark":           {"\uFEFF" + good, fault.Unsupported},
		"blank line first":          {"\n" + good, fault.Unsupported},
		"short MODULE":              {"MODULE Linux\nFUNC 10 10 0 f\n", fault.Malformed},
		"invalid id":                {"MODULE Linux x86_64 ABCDE x\nFUNC 10 10 0 f\n", fault.Malformed},
		"id that is not hex":        {"MODULE Linux x86_64 " + strings.Repeat("g", 33) + " x\n", fault.Malformed},
		"nothing usable, some bad":  {good + "FUNC 0x10 10 0 f\n", fault.Malformed},
		"nothing usable, much bad":  {good + "PUBLIC zz 0 f\nSTACK WIN\nFILE a\nINLINE_ORIGIN\nINLINE_ORIGIN b c\n", fault.Malformed},
		"MODULE longer than a line": {"MODULE Linux x86_64 " + fixture.SymID + strings.Repeat(" x", 1<<20) + "\n", fault.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			for _, src := range []bin.Source{bin.Bytes([]byte(c.text)), onDisk{bin.Bytes([]byte(c.text))}} {
				f, err := debugfile.Open(src, object.Options{})
				if f != nil || fault.KindOf(err) != c.kind {
					t.Fatalf("got %v", err)
				}
			}
		})
	}
}

func TestABadRecordCostsOnlyItself(t *testing.T) {
	good := fixture.NewSym("x").String()
	for _, bad := range []string{
		"FUNC zz 10 0 f", "FUNC 1000", "FUNC 11112222333344445 10 0 f", "FUNC m10 10 0 f", "PUBLIC zz 0 p", "FILE x a.c",
		"INLINE_ORIGIN x i", "STACK NONSENSE 1 2", "INFO ", "\x00\x01\x02\x7f", "XYZ 1 2", "# c", "1000 10 5 0", "INLINE 0 1 0 0 1 1",
		"MODULE Linux x86_64 " + fixture.SymID + " again",
	} {
		o := open(t, []byte(good+"FUNC 500 10 0 before\n"+bad+"\nFUNC 900 10 0 after\n900 10 4 0\n"))
		if o.Lookup(nil, 0x505) == nil || o.Lookup(nil, 0x905) == nil {
			t.Errorf("%q: the functions beside it are lost", bad)
		}
		if err := o.Blocks(object.BlockOptions{Workers: 1}, discard); err != nil {
			t.Fatal(err)
		}
		if info := o.Info(); info.BadRecords > 1 || info.BadRecords == 0 && !strings.HasPrefix(bad, "1000") && !strings.HasPrefix(bad, "INLINE 0") {
			t.Errorf("%q: %d bad records", bad, info.BadRecords)
		} else if info.BadRecords == 1 && (len(info.Damage) != 1 || info.Damage[0].Count != 1 || info.Damage[0].Lines[0] != 3) {
			t.Errorf("%q: %+v", bad, info.Damage)
		}
	}
}

func TestDamageInsideOfFunctionsIsKnownAfterBlocks(t *testing.T) {
	text := fixture.NewSym("x").Func(0x10, 0x10, "f").Raw("10 q 1 0").Raw("INLINE 0 5 0").Line(0x18, 8, 2, 0).Bytes()
	for _, workers := range []int{1, 3} {
		o := open(t, text)
		if n := o.Info().BadRecords; n != 0 {
			t.Fatalf("%d bad records before anything was parsed", n)
		}
		if err := o.Blocks(object.BlockOptions{Workers: workers}, discard); err != nil {
			t.Fatal(err)
		}
		want := []object.Damage{{Kind: "INLINE", Count: 1, Lines: []uint32{4}}, {Kind: "line", Count: 1, Lines: []uint32{3}}}
		if info := o.Info(); info.BadRecords != 2 || !reflect.DeepEqual(info.Damage, want) {
			t.Fatalf("%d: %+v", info.BadRecords, info.Damage)
		}
		if err := o.Blocks(object.BlockOptions{Workers: workers}, discard); err != nil || o.Info().BadRecords != 2 {
			t.Fatalf("a second run counts again: %d, %v", o.Info().BadRecords, err)
		}
	}
}

func TestStreamIsTheSameAsOpen(t *testing.T) {
	text := sample().Bytes()
	want := open(t, text)
	for size := 1; size <= 64; size++ {
		s := debugfile.NewStream()
		for rest := text; len(rest) > 0; {
			n := min(size, len(rest))
			if got, err := s.Write(rest[:n]); got != n || err != nil {
				t.Fatal(got, err)
			}
			rest = rest[n:]
		}
		f, err := s.Finish(bin.Bytes(text), object.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o := f.Objects()[0]
		if !reflect.DeepEqual(o.Info(), want.Info()) {
			t.Fatalf("chunks of %d: %+v", size, o.Info())
		}
		for a := uint64(0xff0); a < 0x2010; a++ {
			if got, w := show(o, o.Lookup(nil, a)), show(want, want.Lookup(nil, a)); got != w {
				t.Fatalf("chunks of %d, %#x: got %s, want %s", size, a, got, w)
			}
		}
	}
}

func TestStreamWantsTheBytesThatPassed(t *testing.T) {
	s := debugfile.NewStream()
	_, _ = io.Copy(s, bytes.NewReader(sample().Bytes()))
	if _, err := s.Finish(bin.Bytes(sample().Bytes()[1:]), object.Options{}); fault.KindOf(err) != fault.Internal {
		t.Fatalf("got %v", err)
	}
}

// failing is a source that fails from an offset on.
type failing struct {
	bin.Source
	from int64
}

var errDisk = errors.New("disk on fire")

func (f *failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.from {
		return 0, errDisk
	}
	return f.Source.ReadAt(p, off)
}

func TestFailingSourceGivesNothing(t *testing.T) {
	text := sample().Bytes()
	src := &failing{onDisk{bin.Bytes(text)}, int64(len(text))}
	f, err := debugfile.Open(src, object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := f.Objects()[0]
	src.from = 100
	if frames := o.Lookup(nil, 0x1010); frames != nil {
		t.Errorf("lookup answers %v", frames)
	}
	near, ok := o.Nearest(0x1010)
	if name := o.AppendText(nil, near.Func); !ok || len(name) > 0 {
		t.Errorf("a name without bytes: %q", name)
	}
	for _, workers := range []int{1, 2} {
		if err := o.Blocks(object.BlockOptions{Workers: workers}, discard); !errors.Is(err, errDisk) || fault.KindOf(err) != fault.Internal {
			t.Errorf("blocks end with %v", err)
		}
	}
	src.from = int64(len(text))
	if frames := o.Lookup(nil, 0x1010); len(frames) != 2 {
		t.Errorf("the failure is remembered: %v", frames)
	}
	src.from = 3
	if _, err := debugfile.Open(src, object.Options{}); !errors.Is(err, errDisk) {
		t.Errorf("open ends with %v", err)
	}
}
