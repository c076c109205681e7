package object_test

import (
	"errors"
	"strings"
	"testing"

	"symbolon/internal/bin"
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

// packedSections are files of which more than the heap may have is unpacked.
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

// A file is not said to have no debug information because there is no space to
// unpack it, and the heap does not take its place.
func TestSectionsThatFindNoSpaceCostNoMemory(t *testing.T) {
	for name, text := range packedSections(t) {
		var err error
		space := &noSpace{}
		_, peak := cost(func() { _, err = object.Open(bin.Bytes(text), object.Options{Space: space}) })
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

// Sections beyond what the heap may have are in the space.
func TestLargeSectionsAreUnpackedToTheSpace(t *testing.T) {
	for name, text := range packedSections(t) {
		var err error
		space := &pages{}
		_, peak := cost(func() { _, err = object.Open(bin.Bytes(text), object.Options{Space: space}) })
		if err != nil || space.taken != 80<<20 {
			t.Errorf("%s: %v, %d bytes of space", name, err, space.taken)
		}
		if most := uint64(80+48) << 20; peak > most && !trial.Race() {
			t.Errorf("%s: it took %d MiB beside the space", name, peak>>20-80)
		}
	}
}
