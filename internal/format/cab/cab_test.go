package cab_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/format/cab"
	"symbolon/internal/format/flate"
)

// enough exceeds the limits that tests reach.
const enough = 1 << 30

// samples returns data of several kinds: empty, random, repetitive at all
// distances, and code with calls.
func samples() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 70_001)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	var text []byte
	for len(text) < 300_000 {
		switch r.IntN(4) {
		case 0:
			text = fmt.Appendf(text, "symbol_%d@%x\x00", r.IntN(5000), r.Uint32()>>20)
		case 1:
			from := r.IntN(len(text) + 1)
			text = append(text, text[from:min(len(text), from+r.IntN(300))]...)
		case 2:
			text = append(text, bytes.Repeat([]byte{byte(r.IntN(3))}, r.IntN(400))...)
		default:
			text = append(text, 0xe8, byte(r.Uint32()), byte(r.Uint32()), byte(r.IntN(5)), []byte{0, 0, 0xff, 1}[r.IntN(4)])
		}
	}
	return map[string][]byte{"one": {7}, "noise": noise, "text": text, "zeros": make([]byte, 100_000), "block": text[:32<<10]}
}

func openCab(t testing.TB, src bin.Source, limit int64) *cab.Reader {
	t.Helper()
	r, err := cab.Open(src, limit)
	if err != nil {
		t.Fatal(err)
	}
	r.Inflate = flate.Follow
	return r
}

// onDisk is a source that is not in memory.
type onDisk struct{ bin.Source }

// unpack returns the files of a cabinet and their errors.
func unpack(r *cab.Reader) (names []string, contents [][]byte, errs []error) {
	for {
		f, err := r.Next()
		if err == io.EOF {
			return names, contents, errs
		}
		if err != nil {
			return append(names, ""), append(contents, nil), append(errs, err)
		}
		data, err := io.ReadAll(r)
		names, contents, errs = append(names, f.Name), append(contents, data), append(errs, err)
	}
}

// methods returns all compression methods.
func methods() map[string]func([]byte) (uint16, []fixture.CabBlock) {
	all := map[string]func([]byte) (uint16, []fixture.CabBlock){
		"stored": func(b []byte) (uint16, []fixture.CabBlock) { return fixture.CabStored, fixture.CabPlain(b) },
		"mszip":  func(b []byte) (uint16, []fixture.CabBlock) { return fixture.CabMSZIP, fixture.CabZip(b) },
	}
	for window := 15; window <= 21; window++ {
		for name, kinds := range map[string][]int{
			"verbatim": {fixture.LZXVerbatim}, "aligned": {fixture.LZXAligned}, "raw": {fixture.LZXRaw},
			"mixed": {fixture.LZXRaw, fixture.LZXVerbatim, fixture.LZXAligned, fixture.LZXAligned, fixture.LZXVerbatim},
		} {
			all[fmt.Sprint("lzx ", window, " ", name)] = func(b []byte) (uint16, []fixture.CabBlock) {
				z := fixture.NewLZX(window)
				z.Kinds = kinds
				z.Size = 1 << 20
				if name == "mixed" {
					z.Size, z.Calls = 12_345+window, 200_000
				}
				return fixture.CabLZX | uint16(window)<<8, z.Blocks(b)
			}
		}
	}
	return all
}

func TestEveryMethodRoundTrip(t *testing.T) {
	for what, data := range samples() {
		for name, pack := range methods() {
			method, blocks := pack(data)
			half := len(data) / 2
			b := new(fixture.Cab).Folder(method, blocks...).File(fixture.CabFile{Name: `d\first`, Size: uint32(half)}).
				File(fixture.CabFile{Name: "second", Size: uint32(len(data) - half), Off: uint32(half)}).Bytes()
			for _, src := range []bin.Source{bin.Bytes(b), onDisk{bin.Bytes(b)}} {
				names, got, errs := unpack(openCab(t, src, enough))
				if len(names) != 2 || names[0] != `d\first` || errors.Join(errs...) != nil || !bytes.Equal(bytes.Join(got, nil), data) {
					t.Fatalf("%s, %s: %q, %v", what, name, names, errs)
				}
			}
		}
	}
}

// Next returns files in the order of the folders, wherever they are listed;
// files that are not read are not unpacked.
func TestNextReturnsFilesInOrderOfFolders(t *testing.T) {
	c := &fixture.Cab{Reserve: [3]int{20, 3, 5}, NoSums: true}
	zip := fixture.CabZip([]byte("onetwothree"))
	c.Folder(fixture.CabMSZIP, zip...).Folder(fixture.CabLZX|16<<8, fixture.NewLZX(16).Blocks([]byte("fourfive"))...).Folder(fixture.CabStored)
	c.File(fixture.CabFile{Name: "five", Size: 4, Off: 4, Folder: 1}).File(fixture.CabFile{Name: "three", Size: 5, Off: 6}).
		File(fixture.CabFile{Name: "one", Size: 3}).File(fixture.CabFile{Name: "four", Size: 4, Folder: 1}).File(fixture.CabFile{Name: "none", Folder: 2})
	names, got, errs := unpack(openCab(t, bin.Bytes(c.Bytes()), enough))
	if fmt.Sprint(names) != "[one three four five none]" || fmt.Sprintf("%s", got) != "[one three four five ]" || errors.Join(errs...) != nil {
		t.Errorf("%q, %q, %v", names, got, errs)
	}
	r := openCab(t, bin.Bytes(c.Bytes()), enough)
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("%d, %v before the first file", n, err)
	}
	for range 4 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := io.ReadAll(r); string(all) != "five" || err != nil {
		t.Errorf("%q, %v", all, err)
	}
}

// want is the kind of an error and a part of its text.
type want struct {
	kind fault.Kind
	text string
}

func (w want) check(t *testing.T, name string, err error) {
	t.Helper()
	if err == nil || fault.KindOf(err) != w.kind || !strings.Contains(err.Error(), w.text) {
		t.Errorf("%s: %v, want %v with %q", name, err, w.kind, w.text)
	}
}

func TestErrorsOfBlocks(t *testing.T) {
	plain := func(method uint16, data string, size int) *fixture.Cab {
		return new(fixture.Cab).Folder(method, fixture.CabBlock{Packed: []byte(data), Size: size}).File(fixture.CabFile{Name: "f", Size: 4})
	}
	sum := new(fixture.Cab).Folder(0, fixture.CabBlock{Packed: []byte("data"), Size: 4, Sum: 7}).File(fixture.CabFile{Size: 4})
	short := new(fixture.Cab).Folder(0, fixture.CabPlain([]byte("data"))...).File(fixture.CabFile{Size: 5})
	other := new(fixture.Cab).Folder(0, fixture.CabPlain([]byte("data"))...).File(fixture.CabFile{Size: 4, Folder: 1})
	long := plain(0, "data", 4).Bytes()
	for name, c := range map[string]struct {
		data []byte
		want want
	}{
		"checksum":      {sum.Bytes(), want{fault.Malformed, "folder 0, block 0 at offset 0x3d: malformed: checksum mismatch: 61706160, expected 00000007"}},
		"folder":        {short.Bytes(), want{fault.Malformed, "the folder ends early, after 4 bytes"}},
		"other folder":  {other.Bytes(), want{fault.Malformed, "invalid folder 1 of 1"}},
		"quantum":       {plain(fixture.CabQuantum, "data", 4).Bytes(), want{fault.Unsupported, "compression method Quantum"}},
		"method":        {plain(9, "data", 4).Bytes(), want{fault.Unsupported, "unknown compression method 9"}},
		"window":        {plain(fixture.CabLZX|14<<8, "data", 4).Bytes(), want{fault.Malformed, "window of 2^14"}},
		"greater":       {plain(0, "data", 40_000).Bytes(), want{fault.Malformed, "unpacks to 40000 bytes"}},
		"stored":        {plain(0, "data", 5).Bytes(), want{fault.Malformed, "stored block of 4 bytes, expected 5"}},
		"elsewhere":     {plain(0, "data", 0).Bytes(), want{fault.Unsupported, "the block ends in another cabinet"}},
		"no MSZIP":      {plain(fixture.CabMSZIP, "CX\x03\x00", 4).Bytes(), want{fault.Malformed, "invalid MSZIP signature"}},
		"short MSZIP":   {plain(fixture.CabMSZIP, "CK\x03\x00", 4).Bytes(), want{fault.Malformed, "MSZIP block unpacks to 0 bytes, expected 4"}},
		"broken MSZIP":  {plain(fixture.CabMSZIP, "CK\x07\x00", 4).Bytes(), want{fault.Malformed, "deflate stream"}},
		"short":         {long[:len(long)-1], want{fault.Malformed, "the cabinet ends early, at offset"}},
		"without block": {long[:len(long)-9], want{fault.Malformed, "the cabinet ends early, at offset"}},
	} {
		for _, src := range []bin.Source{bin.Bytes(c.data), onDisk{bin.Bytes(c.data)}} {
			_, _, errs := unpack(openCab(t, src, enough))
			c.want.check(t, name, errs[0])
		}
	}
}

func TestErrorsOfHeads(t *testing.T) {
	b := fixture.CabOf(fixture.CabStored, []string{"f", "g"}, []byte("data"), []byte("more")).Bytes()
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":   {nil, "invalid magic"},
		"other":   {[]byte("MSCD"), "invalid magic"},
		"head":    {b[:30], "the cabinet ends early, at offset"},
		"folders": {b[:40], "the cabinet has 0 of 1 folders"},
	} {
		_, err := cab.Open(bin.Bytes(c.data), enough)
		want{fault.Malformed, c.want}.check(t, name, err)
	}
	_, _, errs := unpack(openCab(t, bin.Bytes(b[:70]), enough))
	want{fault.Malformed, "the cabinet has 1 of 2 files"}.check(t, "files", errs[len(errs)-1])
	b[16] = 0xff
	_, _, errs = unpack(openCab(t, bin.Bytes(b), enough))
	want{fault.Malformed, "files at offset 0xff"}.check(t, "place of files", errs[0])
}

func TestPartsInOtherCabinetsAreUnsupported(t *testing.T) {
	c := &fixture.Cab{Prev: "first.cab", Next: "third.cab"}
	c.Folder(0, fixture.CabPlain([]byte("12345678"))...).Folder(0, fixture.CabPlain([]byte("12345678"))...)
	c.File(fixture.CabFile{Name: "a", Size: 4, Folder: fixture.CabFromPrev}).File(fixture.CabFile{Name: "b", Size: 4, Off: 4}).
		File(fixture.CabFile{Name: "c", Size: 4, Folder: 1}).File(fixture.CabFile{Name: "d", Size: 9, Off: 4, Folder: fixture.CabToNext})
	names, got, errs := unpack(openCab(t, bin.Bytes(c.Bytes()), enough))
	if fmt.Sprint(names) != "[a b c d]" || string(got[2]) != "1234" || errs[2] != nil {
		t.Errorf("%q, %q, %v", names, got, errs)
	}
	want{fault.Unsupported, "the folder begins in first.cab of the set"}.check(t, "a", errs[0])
	want{fault.Unsupported, "the folder begins in first.cab of the set"}.check(t, "b", errs[1])
	want{fault.Unsupported, "the file ends in third.cab of the set"}.check(t, "d", errs[3])
	both := new(fixture.Cab).Folder(0).File(fixture.CabFile{Folder: fixture.CabBoth})
	_, _, errs = unpack(openCab(t, bin.Bytes(both.Bytes()), enough))
	want{fault.Unsupported, "the folder begins in another cabinet of the set"}.check(t, "both", errs[0])
}

// Each block is unpacked once, and at most up to the limit.
func TestUnpackHasLimit(t *testing.T) {
	b := fixture.CabOf(fixture.CabMSZIP, []string{"f"}, make([]byte, 100_000)).Bytes()
	_, got, errs := unpack(openCab(t, bin.Bytes(b), 70_000))
	if len(got[0]) != 65536 || !errors.Is(errs[0], bin.ErrLimit) {
		t.Errorf("%d bytes, %v", len(got[0]), errs)
	}
	over := new(fixture.Cab).Folder(0, fixture.CabPlain([]byte("12345678"))...).File(fixture.CabFile{Size: 6}).File(fixture.CabFile{Size: 4, Off: 2})
	_, _, errs = unpack(openCab(t, bin.Bytes(over.Bytes()), enough))
	want{fault.Malformed, "the file overlaps the one before it"}.check(t, "overlap", errs[1])
	same := new(fixture.Cab).Folder(0, fixture.CabPlain(make([]byte, 30_000))...).Again().Again()
	for i := range 3 {
		same.File(fixture.CabFile{Size: 30_000, Folder: uint16(i)})
	}
	_, _, errs = unpack(openCab(t, bin.Bytes(same.Bytes()), enough))
	if errs[0] != nil {
		t.Error(errs[0])
	}
	want{fault.Malformed, "folders share blocks"}.check(t, "shared", errs[1])
}

// A flipped bit of LZX data is an error or changes the output, never its size,
// and other folders are not affected.
func TestDamagedLZXAffectsOnlyItsFolder(t *testing.T) {
	data := samples()["text"][:50_000]
	b := fixture.CabOf(fixture.CabLZX|16<<8, []string{"a"}, data)
	b.NoSums = true
	b.Folder(0, fixture.CabPlain([]byte("safe"))...).File(fixture.CabFile{Name: "b", Size: 4, Folder: 1})
	whole := b.Bytes()
	failed := 0
	for at := 90; at < len(whole)-12; at += 7 {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1 << (at % 8)
		_, got, errs := unpack(openCab(t, bin.Bytes(damaged), enough))
		if errs[0] != nil {
			failed++
			if fault.KindOf(errs[0]) != fault.Malformed {
				t.Fatalf("offset %#x: %v", at, errs[0])
			}
		}
		if len(got[0]) > len(data) || string(got[1]) != "safe" && fault.KindOf(errs[1]) != fault.Malformed {
			t.Fatalf("offset %#x: %d bytes, %q, %v", at, len(got[0]), got[1], errs)
		}
	}
	if failed < 100 {
		t.Errorf("only %d failed", failed)
	}
}
