package debugfile_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/format/breakpad"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// unwindPiece is a piece of code with its records as text.
type unwindPiece struct {
	class      int // by preference
	start, end uint64
	changes    []uint64
	text       string
}

func (p *unwindPiece) has(addr uint64) bool { return addr-p.start < p.end-p.start }

// unwindPieces collects the pieces that a method of an object yields.
func unwindPieces(t *testing.T, cfi func(yield func(*sym.Unwind) error) error) (all []*unwindPiece) {
	t.Helper()
	err := cfi(func(u *sym.Unwind) error {
		text := string(breakpad.AppendStack(nil, u))
		if u.Kind == sym.UnwindChange {
			if len(all) == 0 {
				t.Fatalf("%q is the first record", text)
			}
			last := all[len(all)-1]
			last.changes, last.text = append(last.changes, u.Addr), last.text+text
			return nil
		}
		p := &unwindPiece{start: u.Addr, end: u.Addr + u.Size, text: text}
		if u.Kind == sym.UnwindBegin {
			p.class = 2
		} else if !u.Windows.HasProgram {
			p.class = 1
		}
		all = append(all, p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// wantUnwind returns the text of the pieces that count at an address.
func wantUnwind(all []*unwindPiece, addr uint64) (text string) {
	for class := range 3 {
		var best *unwindPiece
		for _, p := range all {
			if p.class != class || p.start == p.end || p.start > addr {
				continue
			}
			isBetter := best == nil || p.start > best.start
			if class == 2 {
				isBetter = p.has(addr) && (best == nil || p.start < best.start)
			}
			if isBetter {
				best = p
			}
		}
		if best != nil && best.has(addr) {
			text += best.text
		}
	}
	return text
}

// checkUnwindAt compares the records for an address with those of the whole file. It
// returns how many addresses had some.
func checkUnwindAt(t *testing.T, o *object.Object) (found int) {
	t.Helper()
	all := unwindPieces(t, o.CFI)
	addrs := []uint64{0, 1 << 40}
	for _, p := range all {
		addrs = append(append(addrs, p.start-1, p.start, p.start+1, (p.start+p.end)/2, p.end-1, p.end), p.changes...)
	}
	slices.Sort(addrs)
	addrs = slices.Compact(addrs)
	step := 1 + len(addrs)*len(all)/2e7
	for i := 0; i < len(addrs); i += step {
		addr := addrs[i]
		got := ""
		for _, p := range unwindPieces(t, func(yield func(*sym.Unwind) error) error { return o.CFIAt(addr, yield) }) {
			got += p.text
		}
		if want := wantUnwind(all, addr); got != want {
			t.Fatalf("at %#x:\ngot\n%s\nwant\n%s", addr, got, want)
		}
		if got != "" {
			found++
		}
	}
	return found
}

func TestUnwindRecordsAtAnAddressAreThoseOfTheFile(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus, "*"))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // a folder
		}
		f, err := debugfile.Open(bin.Bytes(data), object.Options{})
		if err != nil {
			continue // not a debug file
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			for _, o := range f.Objects() {
				info := o.Info()
				kinds[info.Kind+" "+info.Module.Arch.String()] += checkUnwindAt(t, o)
			}
		})
	}
	for _, kind := range []string{"elf x86_64", "elf arm64", "macho x86_64", "pe x86_64", "pe x86", "pdb x86", "coff armv7"} {
		if kinds[kind] == 0 {
			t.Errorf("%s: no address has records", kind)
		}
	}
}

func TestUnwindRecordsOfSymFilesAtAnAddress(t *testing.T) {
	s := fixture.NewSym("x").CFIInit(0x1000, 0x100, "a: 1").CFI(0x1010, "b: 2").Raw("STACK CFI q").CFI(0x1020, "c: 3\r").
		CFIInit(0x1080, 0x100, "overlaps: 1").CFIInit(0x1000, 0x10, "repeated: 1").CFIInit(0x800, 0x10, "before: 1").
		Win(0x1000, 0x40, "$eip 4 +").Win(0x1004, 0x3c, "$eip 8 +").Win(0x1008, 0x10, "inner").Win(0x1008, 0x10, "repeated").
		Raw("STACK WIN 0 1002 20 0 0 4 0 8 0 0 1").Raw("STACK WIN 0 2002 20 0 0 4 0 8 0 0 0").
		Func(0x5000, 8, "f").Line(0x5000, 8, 1, 0).CFIInit(0x5000, 8, "after: 1").CFIInit(1<<64-0x20, 0x10, "last: 1")
	if n := checkUnwindAt(t, open(t, s.Bytes())); n < 20 {
		t.Errorf("%d addresses have records", n)
	}
	// The type of a record and its program must agree.
	o := open(t, fixture.NewSym("x").Raw("STACK WIN 0 1000 20 0 0 4 0 8 0 1 $eip").Raw("STACK WIN 4 1000 20 0 0 4 0 8 0 0 0").
		Raw("STACK WIN 1 1000 20 0 0 4 0 8 0 0 0").Bytes())
	if got := unwindPieces(t, func(yield func(*sym.Unwind) error) error { return o.CFIAt(0x1000, yield) }); got != nil {
		t.Errorf("got %q", got[0].text)
	}
}

func TestUnwindRecordsOfARM64AtAnAddress(t *testing.T) {
	p := fixture.NewPE(fixture.PEARM64)
	p.Section(fixture.PESection{Name: ".text", Addr: 0x1000, Size: 0x4000, Data: make([]byte, 0x400), Flags: fixture.PECode})
	p.Section(fixture.PESection{Name: ".xdata", Addr: 0x5000, Data: fixture.PEXdata(0x40, "\xe1\x83\xe4", 0)})
	packed := uint32(0x100/4<<2 | 1 | 2<<16 | 4<<23)
	p.Table(fixture.PEDirException, fixture.PESection{Name: ".pdata", Addr: 0x6000, Data: fixture.PEPack([]uint32{
		0x1000, 0x5000, 0x1200, packed, 0x1100, 0x5000, 0x1110, packed, 0x1400, 3})})
	if n := checkUnwindAt(t, open(t, p.Bytes())); n < 20 {
		t.Errorf("%d addresses have records", n)
	}
}

func TestRandomPiecesOfUnwindInformation(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := fixture.NewSym("x").Func(0x5000, 8, "f")
		for range 40 {
			start, size := uint64(r.IntN(200)), uint64(r.IntN(40))
			if r.IntN(2) == 0 {
				s.CFIInit(start, size, "r: "+strings.Repeat("x", r.IntN(5)+1))
			} else {
				s.Win(start, size, strings.Repeat("y", r.IntN(5)+1))
			}
		}
		checkUnwindAt(t, open(t, s.Bytes()))
	}
}
