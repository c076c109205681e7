package xz_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/format/xz"
)

// content returns the content of the files in testdata: lines with small
// differences, records of small numbers, and random bytes.
func content() []byte {
	var b bytes.Buffer
	seed := uint32(1)
	for i := range 600 {
		seed = seed*1664525 + 1013904223
		fmt.Fprintf(&b, "%d: function_%x at line %d\n", i, seed>>20, i*i)
		b.Write([]byte{byte(i), 0, 0, byte(seed >> 28), 7, 0, 0, 0})
	}
	b.Write(bytes.Repeat([]byte{'='}, 5000))
	for range 1500 {
		seed = seed*1664525 + 1013904223
		b.WriteByte(byte(seed >> 24))
	}
	b.Write(b.Bytes()[3000:4000])
	return b.Bytes()
}

// The files in testdata were made by XZ Utils 5.4.1 from content, with
//
//	xz -6 · xz -0 -Ccrc32 · xz -9e -Csha256 · xz -Cnone --block-size=9000
//	xz --lzma2=lc=0,lp=4,pb=4 · xz --lzma2=lc=4,lp=0,pb=0,mode=fast
//	xz --x86 --lzma2
func TestUnpackFilesOfXZUtils(t *testing.T) {
	names, _ := filepath.Glob("testdata/*.xz")
	if len(names) != 7 {
		t.Fatalf("%d files", len(names))
	}
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := xz.Unpack(src, int64(len(content())))
		if filepath.Base(name) == "x86.xz" {
			if fault.KindOf(err) != fault.Unsupported || len(got) != 0 {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
			continue
		}
		if err != nil || !bytes.Equal(got, content()) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// two returns a file of two blocks with a check of the given kind.
func two(check byte) *fixture.XZ {
	a, b := []byte("the first block"), bytes.Repeat([]byte("the second "), 9000)
	return fixture.NewXZ(check).Block(fixture.XZStored(a), a, true).Block(fixture.XZStored(b), b, false)
}

func TestChecks(t *testing.T) {
	want := "the first block" + strings.Repeat("the second ", 9000)
	for check := range byte(16) {
		src := two(check).Bytes()
		got, err := xz.Unpack(src, 1<<20)
		if err != nil || string(got) != want {
			t.Errorf("check %d: %d bytes, %v", check, len(got), err)
		}
		src[bytes.LastIndexByte(src, 'd')] ^= 1
		_, err = xz.Unpack(src, 1<<20)
		known := check == 1 || check == 4 || check == 10
		if known != (err != nil && strings.Contains(err.Error(), "check mismatch at")) {
			t.Errorf("check %d, content changed: %v", check, err)
		}
	}
}

func TestSeveralStreams(t *testing.T) {
	one, padding := two(4).Bytes(), make([]byte, 8)
	src := append(append(append([]byte{}, one...), padding...), one...)
	got, err := xz.Unpack(append(src, padding...), 1<<20)
	if err != nil || len(got) != 2*(15+99000) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err = xz.Unpack(append(src, 0), 1<<20); err == nil {
		t.Error("padding of one byte is accepted")
	}
}

func TestUnpackHasLimit(t *testing.T) {
	six, err := os.ReadFile("testdata/six.xz")
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range [][]byte{six, two(1).Bytes()} {
		whole, err := xz.Unpack(src, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for _, limit := range []int{-1, 0, 1, 15, 16, len(whole) - 1} {
			got, err := xz.Unpack(src, int64(limit))
			if !errors.Is(err, bin.ErrLimit) || len(got) > max(0, limit) || cap(got) > 2*limit+1024 || !bytes.HasPrefix(whole, got) {
				t.Errorf("limit %d: %d bytes in %d, %v", limit, len(got), cap(got), err)
			}
		}
	}
}

func TestSize(t *testing.T) {
	names, err := filepath.Glob("testdata/*.xz")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := xz.Unpack(src, 1<<20)
		if fault.KindOf(err) == fault.Unsupported {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		size, err := xz.Size(src)
		if err != nil || size != int64(len(whole)) {
			t.Errorf("%s: a size of %d, %v; want %d", name, size, err, len(whole))
		}
		dst := make([]byte, len(whole))
		if err := xz.Into(dst, src); err != nil || !bytes.Equal(dst, whole) {
			t.Errorf("%s: %v, or content differs", name, err)
		}
		if err := xz.Into(make([]byte, len(whole)+1), src); err == nil {
			t.Errorf("%s: Into accepts a slice that is too short", name)
		}
		if err := xz.Into(dst[:len(whole)-1], src); !errors.Is(err, bin.ErrLimit) {
			t.Errorf("%s: Into a slice that is too long: %v", name, err)
		}
	}
}

func TestAllocationGrowsWithOutput(t *testing.T) {
	// A chunk of 2 MiB whose start is valid.
	chunk := append([]byte{0xff, 0xff, 0xff, 0, 9, 0x5d, 0}, make([]byte, 9)...)
	for i := range 9 {
		chunk[7+i] = 0xff
	}
	src := fixture.NewXZ(0).Block(chunk, nil, false).Bytes()
	got, err := xz.Unpack(src, 1<<40)
	if err == nil || cap(got) > 1<<18 {
		t.Errorf("capacity of %d bytes, %v", cap(got), err)
	}
}

func TestDamagedFiles(t *testing.T) {
	stored := fixture.XZStored([]byte("abcd"))
	block := func(data []byte) []byte { return fixture.NewXZ(1).Block(data, []byte("abcd"), false).Bytes() }
	header := func(p ...byte) []byte { return fixture.NewXZ(1).BlockOf(p, stored, []byte("abcd")).Bytes() }
	changed := func(at int) []byte {
		p := block(stored)
		p[(at+len(p))%len(p)] ^= 0x41
		return p
	}
	flagged := fixture.NewXZ(0x41).Bytes()
	for name, tc := range map[string]struct {
		src  []byte
		text string
	}{
		"nothing":         {nil, "xz, stream header: malformed: invalid magic at offset 0x0"},
		"magic":           {changed(1), "stream header: malformed: invalid magic"},
		"header sum":      {changed(8), "stream header: malformed: checksum mismatch"},
		"header flags":    {flagged, "stream header: unsupported: unknown flags"},
		"block sum":       {changed(15), "block header: malformed: checksum mismatch at offset 0xc"},
		"block cut":       {block(stored)[:20], "block header: malformed: unexpected end of file"},
		"delta":           {header(0, 0, 3, 1, 0), "block header: unsupported: flags 0x0, filter 0x3"},
		"two filters":     {header(0, 1, 3, 1, 0, 0x21, 1, 0), "block header: unsupported: flags 0x1"},
		"dictionary":      {header(0, 0, 0x21, 1, 41), "filter properties"},
		"block padding":   {header(0, 0, 0x21, 1, 0, 1), "filter properties or padding"},
		"short header":    {header(0, 0, 0x21, 9), "block header: malformed: data ends early"},
		"packed size":     {header(0, 0x40, 9, 0x21, 1, 0), "block: malformed: size differs"},
		"unpacked size":   {header(0, 0x80, 9, 0x21, 1, 0), "block: malformed: size differs"},
		"no check":        {block(stored)[:32], "block: malformed: unexpected end of file"},
		"data padding":    {fixture.NewXZ(1).Block(append(fixture.XZStored([]byte("abc")), 1), []byte("abc"), false).Bytes(), "padding is not zero"},
		"index sum":       {changed(-16), "index: malformed: checksum mismatch"},
		"index":           {changed(-18), "index: malformed: index differs"},
		"index cut":       {block(stored)[:38], "index: malformed: data ends early"},
		"no footer":       {block(stored)[:44], "stream footer: malformed: invalid magic"},
		"footer sum":      {changed(-11), "stream footer: malformed: checksum mismatch"},
		"no data":         {block(stored)[:24], "data: malformed: unexpected end of file"},
		"stored cut":      {block(stored)[:29], "data: malformed: unexpected end of file"},
		"kind 3":          {block([]byte{3, 0, 0, 0}), "invalid chunk type 0x3"},
		"no reset":        {block([]byte{2, 0, 0, 'a'}), "invalid chunk type 0x2"},
		"no properties":   {block([]byte{1, 0, 0, 'a', 0xa0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0}), "invalid chunk type 0xa0"},
		"properties":      {block([]byte{0xe0, 0, 0, 0, 5, 0xff}), "properties 0xff"},
		"start":           {block([]byte{0xe0, 0, 0, 0, 5, 0x5d, 1, 0, 0, 0, 0, 0}), "invalid start of LZMA data"},
		"first is match":  {block([]byte{0xe0, 0, 9, 0, 5, 0x5d, 0, 0xff, 0xff, 0xff, 0xff, 0xff}), "invalid LZMA data"},
		"data left":       {block([]byte{0xe0, 0, 0, 0, 9, 0x5d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), "does not end with its chunk"},
		"nothing is left": {block([]byte{0xe0, 1, 0, 0, 5, 0x5d, 0, 0, 0, 0, 0, 0}), "data"},
	} {
		got, err := xz.Unpack(tc.src, 1<<20)
		if err == nil || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%s: %d bytes, %v; want %q", name, len(got), err, tc.text)
		}
	}
}

func TestChunkEndsWithItsData(t *testing.T) {
	src, err := os.ReadFile("testdata/six.xz")
	if err != nil {
		t.Fatal(err)
	}
	run := bytes.Index(content(), []byte("====")) + 1000 // inside a match
	short := bytes.Clone(src)
	short[24] = short[24]&0xe0 | byte((run-1)>>16)
	short[25], short[26] = byte((run-1)>>8), byte(run-1)
	got, err := xz.Unpack(short, 1<<20)
	if err == nil || len(got) > run || !strings.Contains(err.Error(), "invalid LZMA data") {
		t.Errorf("%d bytes of %d, %v", len(got), run, err)
	}
	last := 24 + 6 + int(src[27])<<8 + int(src[28])
	src[last] ^= 1
	got, err = xz.Unpack(src, 1<<20)
	if err == nil || !bytes.Equal(got, content()) || !strings.Contains(err.Error(), "does not end with its chunk") {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// FuzzUnpack checks that the output respects its limit, and does not depend on
// it otherwise.
func FuzzUnpack(f *testing.F) {
	names, _ := filepath.Glob("testdata/*.xz")
	for _, name := range names {
		if src, err := os.ReadFile(name); err == nil {
			f.Add(src)
		}
	}
	f.Add(two(1).Bytes())
	f.Add(two(10).Bytes())
	f.Fuzz(func(t *testing.T, src []byte) {
		got, err := xz.Unpack(src, 1<<20)
		if len(got) > 1<<20 {
			t.Fatalf("%d bytes", len(got))
		}
		if size, errSize := xz.Size(src); err == nil && (errSize != nil || size != int64(len(got))) {
			t.Fatalf("a size of %d, %v; want %d", size, errSize, len(got))
		}
		if into := make([]byte, len(got)); err == nil && (xz.Into(into, src) != nil || !bytes.Equal(into, got)) {
			t.Fatal("Into results in another content")
		}
		less, errLess := xz.Unpack(src, int64(len(got)/2))
		if len(got) > 0 && errLess == nil || !bytes.HasPrefix(got, less) {
			t.Fatalf("%d bytes, %v; with a lower limit %d bytes, %v", len(got), err, len(less), errLess)
		}
	})
}

// FuzzData checks that valid data of a block results in a valid file.
func FuzzData(f *testing.F) {
	names, _ := filepath.Glob("testdata/*.xz")
	for _, name := range names {
		if src, err := os.ReadFile(name); err == nil {
			f.Add(src[24 : len(src)-40])
		}
	}
	f.Add(fixture.XZStored([]byte("abcd")))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := fixture.NewXZ(0).Block(data, nil, false).Bytes()
		got, err := xz.Unpack(file[:24+len(data)], 1<<20) // no bytes after the data
		if err == nil {
			t.Fatal("the index is not checked")
		}
		if strings.Contains(err.Error(), "xz, data") {
			return
		}
		again, err := xz.Unpack(fixture.NewXZ(4).Block(data, got, true).Bytes(), 1<<20)
		// The block may end before the data does.
		ok := err == nil && len(again) == len(got) || err != nil && strings.Contains(err.Error(), "block")
		if !ok || !bytes.HasPrefix(got, again) {
			t.Fatalf("%d bytes, %v; want %d", len(again), err, len(got))
		}
	})
}

func BenchmarkUnpack(b *testing.B) {
	src, err := os.ReadFile("testdata/nine.xz")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(content())))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := xz.Unpack(src, 1<<20); err != nil {
			b.Fatal(err)
		}
	}
}
