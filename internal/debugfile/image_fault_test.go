//go:build unix

package debugfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// mapped is a file with a mapping, which faults where the file was truncated.
type mapped struct {
	*os.File
	size   int64
	memory []byte
}

func (m *mapped) Size() int64          { return m.size }
func (m *mapped) Map() ([]byte, error) { return m.memory, nil }

// mapFile maps a file with this content.
func mapFile(t *testing.T, text []byte) *mapped {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	memory, err := syscall.Mmap(int(f.Fd()), 0, len(text), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(memory); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return &mapped{f, int64(len(text)), memory}
}

// manyUnits is a program of several pages, with unwind information.
func manyUnits() []byte {
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "f0"}, fixture.ELFSymbol{Name: "symbol", Value: 0x1f00, Size: 8})
	p.Code[0][1] = 0x2000
	for i := range 400 {
		u := *p.Units[0]
		u.Funcs = []fixture.ProgramFunc{{Name: fmt.Sprintf("f%d_%0100d", i, i), Ranges: []span{{0x1200 + uint64(i)*4, 0x1204 + uint64(i)*4}}}}
		u.Sequences = nil
		p.Units = append(p.Units, &u)
	}
	f := fixture.NewFrame(false)
	c := f.CIE(fixture.FrameX8664(false))
	f.FDE(c, 0x1100, 0x40)
	p.More = []fixture.ELFSection{{Name: ".debug_frame", Type: 1, Data: f.Bytes()}}
	return p.Bytes()
}

func TestMappedFilesAreLikeOthers(t *testing.T) {
	f, err := debugfile.Open(mapFile(t, manyUnits()), object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wants(t, f.Objects()[0], map[uint64]string{0x108: "f0 /d/a.c:7 [100+40]", 0xf04: "symbol :0 [f00+8]"})
}

// A disk that fails under a mapping costs the answers, and not the process.
func TestAFaultOfMappedMemoryCostsTheAnswer(t *testing.T) {
	for name, text := range map[string][]byte{
		"ELF": manyUnits(), "ar": arGNU(t, member{"a.o", manyUnits()}), "zip": zipped(0)(t, member{"a.o", manyUnits()}),
	} {
		src := mapFile(t, text)
		f, err := debugfile.Open(src, object.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o := f.Objects()[0]
		before := o.Lookup(nil, 0x108)
		if len(before) != 1 {
			t.Fatalf("%s: %s", name, show(o, before))
		}
		if err := src.Truncate(0); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for a := uint64(0x200); a < 0x300; a += 4 {
					if frames := o.Lookup(nil, a); len(frames) != 0 {
						t.Errorf("%s, %#x: %d frames", name, a, len(frames))
					}
				}
			})
		}
		all.Wait()
		if s := o.AppendText([]byte("text "), before[0].Func); string(s) != "text " {
			t.Errorf("%s: name is %q", name, s)
		}
		if near, ok := o.Nearest(0x300); ok {
			t.Errorf("%s: nearest %+v", name, near)
		}
		for _, workers := range []int{1, 3} {
			err = o.Blocks(object.BlockOptions{Workers: workers}, discard)
			if fault.KindOf(err) != fault.Internal {
				t.Errorf("%s, %d workers: blocks end with %v", name, workers, err)
			}
		}
		if err := o.CFI(func(*sym.Unwind) error { return nil }); fault.KindOf(err) != fault.Internal {
			t.Errorf("%s: unwind information ends with %v", name, err)
		}
		_ = o.Info()
		_ = o.Needs()
		if f, err := debugfile.Open(src, object.Options{}); fault.KindOf(err) != fault.Internal {
			t.Errorf("%s: opened as %v with %v", name, f, err)
		}
	}
}

// The fault may come with the first question: it is the same for those after it.
func TestAFaultBeforeTheFirstQuestion(t *testing.T) {
	for name, first := range map[string]func(o *object.Object){
		"lookup":  func(o *object.Object) { o.Lookup(nil, 0x300) },
		"symbol":  func(o *object.Object) { o.Lookup(nil, 0xf04) },
		"nearest": func(o *object.Object) { o.Nearest(0x300) },
		"blocks":  func(o *object.Object) { _ = o.Blocks(object.BlockOptions{Workers: 2}, discard) },
		"info":    func(o *object.Object) { o.Info() },
		"needs":   func(o *object.Object) { o.Needs() },
	} {
		src := mapFile(t, manyUnits())
		f, err := debugfile.Open(src, object.Options{})
		if err == nil {
			err = src.Truncate(0)
		}
		if err != nil {
			t.Fatal(err)
		}
		o := f.Objects()[0]
		first(o)
		for range 2 {
			for _, a := range []uint64{0x108, 0x300, 0xf04} {
				if frames := o.Lookup(nil, a); len(frames) != 0 {
					t.Errorf("%s, then %#x: %d frames", name, a, len(frames))
				}
			}
			if near, ok := o.Nearest(0x300); ok {
				t.Errorf("%s, then nearest: %+v", name, near)
			}
			if err := o.Blocks(object.BlockOptions{}, discard); fault.KindOf(err) != fault.Internal {
				t.Errorf("%s, then blocks: %v", name, err)
			}
		}
	}
}

// A file that is supplied may fault too, while it is opened and later.
func TestAFaultOfASuppliedFile(t *testing.T) {
	const id = 0x1122334455667788
	src := mapFile(t, append(splitUnit(id, "split"), make([]byte, 1<<16)...))
	o := open(t, skeleton(id))
	need := o.Needs()[0]
	if fits, err := o.Supply(need, src); !fits || err != nil {
		t.Fatal(fits, err)
	}
	if err := src.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if frames := o.Lookup(nil, 0x112); len(frames) != 0 {
		t.Errorf("%d frames", len(frames))
	}
	if fits, err := open(t, skeleton(id)).Supply(need, src); fits || fault.KindOf(err) != fault.Internal {
		t.Errorf("fits %v, %v", fits, err)
	}
}

// Most pages of a mapped file are read once. They are released while the headers of
// units, their roots and their entries are read.
func TestPagesAreGivenBackWhileAFileIsRead(t *testing.T) {
	relaxed := 0
	f, err := debugfile.Open(bin.Bytes(manyUnits()), object.Options{Relax: func() { relaxed++ }})
	if err != nil {
		t.Fatal(err)
	}
	o, last := f.Objects()[0], 0
	told := func(when string) {
		t.Helper()
		if relaxed < last+10 {
			t.Errorf("released %d times %s", relaxed-last, when)
		}
		last = relaxed
	}
	told("at first")
	for i := range 20 { // .debug_aranges tells the units of the first
		o.Lookup(nil, uint64(i))
	}
	told("for an address")
	if err := o.Blocks(object.BlockOptions{}, func(*sym.Block) error { return nil }); err != nil {
		t.Fatal(err)
	}
	told("for all")
	if o.Relax(); relaxed != last+1 {
		t.Error("not released by Relax")
	}
}
