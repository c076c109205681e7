package debugfile_test

import (
	"archive/zip"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/object"
	"symbolon/internal/trial"
)

// noSpace is space on a disk that is full.
type noSpace struct{ asked []int }

func (s *noSpace) Take(n int) ([]byte, error) {
	s.asked = append(s.asked, n)
	return nil, errors.New("the disk is full")
}

func (s *noSpace) Close() error { return nil }

// packedSections returns files that unpack to more than the heap may have.
func packedSections(t *testing.T) map[string][]byte {
	zeros := make([]byte, 20<<20)
	files := map[string][]byte{}
	for name, section := range map[string]fixture.ELFSection{
		"zlib": {Type: 1, Flags: 0x800, Data: (&fixture.ELF{Wide: true}).Compressed(1, uint64(len(zeros)), deflated(t, zeros))},
		"zstd": {Type: 1, Flags: 0x800, Data: (&fixture.ELF{Wide: true}).Compressed(2, uint64(len(zeros)), zstandard(t, zeros))},
	} {
		e := symbolsOf(2, fixture.ELFSymbol{Name: "s", Value: 0x1100, Size: 0x40, Kind: 2, Section: 1})
		e.Add(fixture.ELFSection{Name: ".comment", Type: 1, Data: make([]byte, 1<<20)}) // so that so much may come out
		for _, section.Name = range []string{".debug_info", ".debug_abbrev", ".debug_line", ".debug_str"} {
			e.Add(section)
		}
		files[name] = e.Bytes()
	}
	return files
}

// Without space for unpacking a file is not taken for one without debug information,
// and the heap is not used instead.
func TestSectionsThatFindNoSpaceCostNoMemory(t *testing.T) {
	for name, text := range packedSections(t) {
		var err error
		space := &noSpace{}
		_, peak := cost(func() { _, err = debugfile.Open(bin.Bytes(text), object.Options{Space: space}) })
		if err == nil || fault.KindOf(err) != fault.Internal || !strings.Contains(err.Error(), "the disk is full") {
			t.Errorf("%s: %v; want an internal fault with the reason", name, err)
		}
		if len(space.asked) != 1 || space.asked[0] != 80<<20 {
			t.Errorf("%s: space for %v bytes was asked for; want all at once", name, space.asked)
		}
		if peak > 12<<20 && !trial.Race() {
			t.Errorf("%s: it took %d MiB", name, peak>>20)
		}
	}
}

// Unpacked files that exceed the heap are in the space, for each kind of packing.
func TestLargePackedFilesAreUnpackedToTheSpace(t *testing.T) {
	text := append(make([]byte, 0, 51<<20), fixture.NewSym("x").Func(0x100, 0x40, "f").Bytes()...)
	for i := 0; len(text) < 50<<20; i++ {
		text = fmt.Appendf(text, "INFO nothing of interest, for the %dth time, and so on, as in all others before it\n", i)
	}
	mini := symbolsOf(11)
	inner := symbolsOf(2, fixture.ELFSymbol{Name: "f", Value: 0x1100, Size: 0x40, Kind: 2, Bind: 1, Section: 1})
	inner.Add(fixture.ELFSection{Name: ".comment", Type: 1, Data: make([]byte, 50<<20)})
	debugdata := inner.Bytes()
	mini.Add(fixture.ELFSection{Name: ".gnu_debugdata", Type: 1, Data: xzipped(t, debugdata)})
	for name, c := range map[string]struct {
		packed []byte
		size   int
	}{
		"gzip": {gzipped(t, text), len(text)}, "zlib": {zlibbed(t, text), len(text)}, "zstd": {zstandard(t, text), len(text)}, "xz": {xzipped(t, text), len(text)},
		"zip": {zipped(zip.Deflate)(t, member{"x.sym", text}), len(text)}, "tar": {tarred(t, member{"x.sym", text}), len(text)},
		".gnu_debugdata": {mini.Bytes(), len(debugdata)},
	} {
		space := &pages{}
		f, err := debugfile.Open(bin.Bytes(c.packed), object.Options{Space: space})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		o := f.Objects()[0]
		if frames := o.Lookup(nil, 0x108); len(frames) != 1 || str(o, frames[0].Func) != "f" || space.taken != c.size {
			t.Errorf("%s: %s, %d bytes of space, want %d", name, show(o, frames), space.taken, c.size)
		}
		if _, err := debugfile.Open(bin.Bytes(c.packed), object.Options{Space: &noSpace{}}); err == nil || fault.KindOf(err) != fault.Internal {
			t.Errorf("%s without space: %v; want an internal fault", name, err)
		}
	}
}

// Sections beyond what the heap may have are in the space.
func TestLargeSectionsAreUnpackedToTheSpace(t *testing.T) {
	for name, text := range packedSections(t) {
		var err error
		space := &pages{}
		_, peak := cost(func() { _, err = debugfile.Open(bin.Bytes(text), object.Options{Space: space}) })
		if err != nil || space.taken != 80<<20 {
			t.Errorf("%s: %v, %d bytes of space", name, err, space.taken)
		}
		if most := uint64(80+48) << 20; peak > most && !trial.Race() {
			t.Errorf("%s: it took %d MiB beside the space", name, peak>>20-80)
		}
	}
}

// The window of a zstd stream is not counted, so a section with a large one is
// unpacked without.
func TestLargeWindowsOfSectionsTakeNoMemory(t *testing.T) {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(64<<20))
	if err != nil {
		t.Fatal(err)
	}
	const size = 60 << 20
	packed := w.EncodeAll(make([]byte, size), nil)
	var head zstd.Header
	if err := head.Decode(packed); err != nil || head.FrameContentSize != size || !head.SingleSegment {
		t.Fatalf("the stream has no large window: %+v, %v", head, err)
	}
	e := symbolsOf(2, fixture.ELFSymbol{Name: "s", Value: 0x1100, Size: 0x40, Kind: 2, Section: 1})
	e.Add(fixture.ELFSection{Name: ".comment", Type: 1, Data: make([]byte, 1<<20)}) // so that so much may come out
	e.Add(fixture.ELFSection{Name: ".debug_info", Type: 1, Flags: 0x800, Data: (&fixture.ELF{Wide: true}).Compressed(2, size, packed)})
	e.Add(fixture.ELFSection{Name: ".debug_abbrev", Type: 1, Data: []byte{0}})
	text := e.Bytes()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	space := &pages{}
	if _, err := debugfile.Open(bin.Bytes(text), object.Options{Space: space}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if space.taken != size {
		t.Errorf("%d bytes of space were taken, want %d", space.taken, size)
	}
	if took := int64(after.TotalAlloc-before.TotalAlloc) - size; took > 16<<20 {
		t.Errorf("%d MiB were allocated beside the space", took>>20)
	}
}
