package flate_test

import (
	"bytes"
	stdflate "compress/flate"
	"compress/zlib"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/fault"
	"symbolon/internal/format/flate"
)

// deflate returns data as a zlib stream.
func deflate(t testing.TB, data []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, level)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// samples returns data of several kinds: random, repetitive, with every short
// distance, and similar to debug information.
func samples() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	var short, records []byte
	for d := 1; d < 20; d++ {
		short = append(short, bytes.Repeat(noise[:d], 400/d)...)
	}
	for i := range 40_000 {
		records = append(records, byte(r.IntN(40)), byte(i), byte(i>>8), 0, byte(r.ExpFloat64()*20), 0, 1)
	}
	return map[string][]byte{
		"nothing": {}, "byte": {7}, "noise": noise, "zeros": make([]byte, 300_000), "short": short,
		"ones":    bytes.Repeat([]byte{0xff}, 100_000),
		"records": records, "text": []byte(strings.Repeat("the quick brown fox jumps over the lazy dog; ", 99)),
	}
}

// A caller that inflates to pages of a file releases them in tick.
func TestTickIsCalled(t *testing.T) {
	src := deflate(t, make([]byte, 40<<20), zlib.BestSpeed)
	dst := make([]byte, 40<<20)
	ticks := 0
	tick := func() { ticks++ }
	if _, err := flate.Zlib(dst, src, tick); err != nil || ticks != 2 {
		t.Errorf("%d calls of tick, %v", ticks, err)
	}
	if _, err := flate.Raw(dst, src[2:], tick); err != nil || ticks != 4 {
		t.Errorf("%d calls of tick, %v", ticks, err)
	}
}

func TestInflateEveryLevel(t *testing.T) {
	for name, want := range samples() {
		for level := zlib.HuffmanOnly; level <= zlib.BestCompression; level++ {
			src := deflate(t, want, level)
			got, err := flate.Zlib(make([]byte, len(want)), src, nil)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, level %d: %d of %d bytes, %v", name, level, len(got), len(want), err)
			}
			dst := make([]byte, len(want)+5)
			n, err := flate.Raw(dst, src[2:], nil)
			if err != nil || !bytes.Equal(dst[:n], want) {
				t.Errorf("%s, level %d, raw: %d of %d bytes, %v", name, level, n, len(want), err)
			}
		}
	}
}

func TestDamagedStreams(t *testing.T) {
	want := samples()["records"]
	src := deflate(t, want, 6)
	changed := func(at int, to byte) []byte {
		p := slices.Clone(src)
		p[(at+len(p))%len(p)] = to
		return p
	}
	for name, tc := range map[string]struct {
		src  []byte
		n    int
		kind fault.Kind
		text string
	}{
		"empty":        {nil, 0, fault.Malformed, "unexpected end of stream in the header"},
		"no zlib":      {changed(0, 0x79), len(want), fault.Malformed, "invalid zlib header"},
		"window":       {[]byte{0x88, 0x1c, 3, 0}, 0, fault.Malformed, "invalid zlib header"},
		"dictionary":   {[]byte{0x78, 0xbb, 0, 0, 0, 1, 3, 0, 0, 0, 0, 1}, 0, fault.Unsupported, "dictionary"},
		"one more":     {src, len(want) - 1, fault.Malformed, "more than 279999 bytes"},
		"one fewer":    {src, len(want) + 1, fault.Malformed, "fewer than 280001 bytes"},
		"more stored":  {deflate(t, want[:9], 0), 8, fault.Malformed, "more than 8 bytes"},
		"none fit":     {deflate(t, want[:9], 6), 0, fault.Malformed, "more than 0 bytes"},
		"checksum":     {changed(-1, src[len(src)-1]+1), len(want), fault.Malformed, "checksum"},
		"no checksum":  {src[:len(src)-1], len(want), fault.Malformed, "unexpected end of stream at offset"},
		"kind 3":       {[]byte{0x78, 0x9c, 7, 0}, 1, fault.Malformed, "invalid block type"},
		"stored check": {[]byte{0x78, 0x9c, 1, 1, 0, 0, 0, 9}, 1, fault.Malformed, "length check of stored block mismatch"},
		"stored short": {[]byte{0x78, 0x9c, 1, 2, 0, 0xfd, 0xff, 9}, 2, fault.Malformed, "unexpected end of stream in a stored block"},
		"far":          {[]byte{0x78, 0x9c, 0x4b, 0x04, 0x12, 0}, 9, fault.Malformed, "distance"},
	} {
		got, err := flate.Zlib(make([]byte, tc.n), tc.src, nil)
		if err == nil || fault.KindOf(err) != tc.kind || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%s: %v, want %q", name, err, tc.text)
		}
		if len(got) > tc.n || tc.n <= len(want) && len(got) > 8 && !bytes.Equal(got, want[:len(got)]) {
			t.Errorf("%s: %d bytes, which are not right", name, len(got))
		}
	}
}

func TestDistanceBeforeStartIsRejected(t *testing.T) {
	want := samples()["records"][:5000]
	var b bytes.Buffer
	w, err := stdflate.NewWriterDict(&b, 9, want)
	if err == nil {
		_, err = w.Write(want)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if n, err := flate.Raw(make([]byte, 9000), b.Bytes(), nil); n != 0 || err == nil || !strings.Contains(err.Error(), "invalid distance") {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// bits writes a stream of bits.
type bits struct {
	b []byte
	n int
}

func (w *bits) put(v, n int) *bits {
	for i := range n {
		if w.n%8 == 0 {
			w.b = append(w.b, 0)
		}
		w.b[w.n/8] |= byte(v>>i&1) << (w.n % 8)
		w.n++
	}
	return w
}

// dynamic writes an empty block whose literal code has the given number of
// lengths: the end of the block has length one, the symbols before it zero, and
// the others the given code length symbols. These have the codes 0: 00, 1: 01,
// 16: 10, 18: 11.
func dynamic(literals int, then ...int) *bits {
	w := new(bits).put(1, 1).put(2, 2).put(literals-257, 5).put(0, 5).put(15, 4)
	for _, s := range []int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15} {
		w.put(map[int]int{0: 2, 1: 2, 16: 2, 18: 2}[s], 3)
	}
	w.put(3, 2).put(127, 7).put(3, 2).put(118-11, 7).put(2, 2) // codes are stored highest bit first
	for _, s := range then {
		w.put(map[int]int{0: 0, 1: 2, 16: 1, 18: 3}[s], 2)
	}
	return w
}

// A stream may refer to the bytes before it, and not to earlier ones.
func TestFollow(t *testing.T) {
	before := []byte("the bytes before it ")
	text := []byte("it follows the bytes before it")
	var b bytes.Buffer
	w, err := stdflate.NewWriterDict(&b, 9, before)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	dst := append(bytes.Clone(before), make([]byte, len(text)+3)...)
	n, err := flate.Follow(dst, len(before), b.Bytes())
	if err != nil || string(dst[:n]) != string(before)+string(text) {
		t.Errorf("%q, %v", dst[:n], err)
	}
	if _, err := flate.Follow(dst, 3, b.Bytes()); err == nil {
		t.Error("a distance before the start is accepted")
	}
	if n, err := flate.Follow(dst[:len(before)+9], len(before), b.Bytes()); err == nil || n > len(before)+9 {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestCodesAreChecked(t *testing.T) {
	for name, tc := range map[string]struct {
		src  *bits
		text string
	}{
		"one word":       {dynamic(257, 0).put(0, 1), ""},
		"286 literals":   {dynamic(286, slices.Repeat([]int{0}, 30)...).put(0, 1), ""},
		"287 literals":   {dynamic(287, slices.Repeat([]int{0}, 31)...).put(0, 1), "287 literals"},
		"its other":      {dynamic(257, 0).put(1, 1), "invalid code"},
		"three words":    {dynamic(259, 1, 1, 0).put(0, 1), "incomplete literal code"},
		"no distance":    {dynamic(258, 1, 0).put(1, 1).put(0, 40), "invalid distance code"},
		"one distance":   {dynamic(257, 1).put(0, 1), ""},
		"many lengths":   {dynamic(257, 18).put(127, 7), "too many code lengths"},
		"repeated":       {dynamic(260, 16).put(0, 2).put(0, 9), "incomplete literal code"},
		"none to repeat": {new(bits).put(1, 1).put(2, 2).put(0, 14).put(1, 3).put(0, 3).put(1, 3).put(0, 3).put(0, 40), "without a previous one"},
		"no lengths":     {new(bits).put(5, 3).put(0, 14).put(0, 80), "invalid code length"},
	} {
		_, err := flate.Raw(make([]byte, 9), tc.src.b, nil)
		_, errStd := io.ReadAll(stdflate.NewReader(bytes.NewReader(tc.src.b)))
		if (err == nil) != (errStd == nil) || (err == nil) != (tc.text == "") || err != nil && !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%s: %v, the standard library: %v; want %q", name, err, errStd, tc.text)
		}
	}
}

func TestOutputBeforeDamageIsReturned(t *testing.T) {
	want := samples()["records"]
	src := deflate(t, want, 6)
	for cut := 2; cut < len(src); cut += 3001 {
		got, err := flate.Zlib(make([]byte, len(want)), src[:cut], nil)
		if err == nil || len(got) < cut-1000 || !bytes.Equal(got, want[:len(got)]) {
			t.Fatalf("inflated %[2]d bytes from %[1]d, %[3]v", cut, len(got), err)
		}
	}
}

func TestZlibDoesNotAllocate(t *testing.T) {
	want := samples()["records"]
	src, dst := deflate(t, want, 6), make([]byte, len(want))
	if n := testing.AllocsPerRun(20, func() {
		if _, err := flate.Zlib(dst, src, nil); err != nil {
			t.Error(err)
		}
	}); n > 0.5 { // a garbage collection may empty the pool
		t.Errorf("%v allocations", n)
	}
}

// guard follows the output in the fuzz targets, and must not change.
var guard = bytes.Repeat([]byte{0xa5}, 300)

// FuzzRaw checks that output and errors are those of the standard library.
func FuzzRaw(f *testing.F) {
	for _, data := range samples() {
		data = data[:min(len(data), 3000)]
		f.Add(deflate(f, data, 6)[2:])
		f.Add(deflate(f, data, 6))
		f.Add(deflate(f, data, zlib.HuffmanOnly)[2:])
		f.Add(deflate(f, data, zlib.NoCompression)[2:])
	}
	f.Add([]byte{0x4b, 0x04, 0x12, 0})
	f.Fuzz(func(t *testing.T, src []byte) {
		const most = 1 << 16
		var b bytes.Buffer
		r := stdflate.NewReader(bytes.NewReader(src))
		_, errStd := b.ReadFrom(&limited{r, most + 1})
		want := b.Bytes()
		if len(want) > most {
			want, errStd = want[:most], fault.New(fault.Malformed, "", "long")
		}
		for _, size := range []int{len(want), most, len(want) / 2} {
			dst := append(make([]byte, size), guard...)
			n, err := flate.Raw(dst[:size], src, nil)
			if common := min(n, len(want)); !bytes.Equal(dst[:common], want[:common]) {
				t.Fatal("output differs from the standard library")
			}
			if errStd == nil && size >= len(want) && (err != nil || n != len(want)) {
				t.Fatalf("%d of %d bytes, %v", n, len(want), err)
			}
			if (errStd != nil || size < len(want)) && err == nil {
				t.Fatalf("%d bytes without an error; the standard library: %d, %v", n, len(want), errStd)
			}
			r, errStd := zlib.NewReader(bytes.NewReader(src))
			if errStd == nil {
				_, errStd = io.ReadFull(r, dst[:size])
			}
			if got, err := flate.Zlib(dst[:size], src, nil); err == nil && (errStd != nil || len(got) != size) {
				t.Fatalf("%d of %d bytes of zlib without an error; the standard library: %v", len(got), size, errStd)
			}
			if !bytes.Equal(dst[size:], guard) {
				t.Fatal("bytes after the end of dst changed")
			}
		}
	})
}

// limited reads up to n bytes.
type limited struct {
	r interface{ Read([]byte) (int, error) }
	n int
}

func (l *limited) Read(p []byte) (int, error) {
	if len(p) > l.n {
		p = p[:l.n]
	}
	if l.n == 0 {
		return 0, bytes.ErrTooLarge
	}
	n, err := l.r.Read(p)
	l.n -= n
	return n, err
}

// FuzzZlib deflates and inflates the input.
func FuzzZlib(f *testing.F) {
	for _, data := range samples() {
		f.Add(data[:min(len(data), 3000)], uint8(6), uint8(1))
	}
	f.Fuzz(func(t *testing.T, want []byte, level, flip uint8) {
		src := deflate(t, want, int(level%12)-2)
		dst := append(make([]byte, len(want)), guard...)
		if _, err := flate.Zlib(dst[:len(want)], src, nil); err != nil || !bytes.Equal(dst[:len(want)], want) || !bytes.Equal(dst[len(want):], guard) {
			t.Fatal(err)
		}
		src[len(src)-1-int(flip)%4] ^= 1
		if _, err := flate.Zlib(dst[:len(want)], src, nil); err == nil {
			t.Fatal("a wrong checksum is accepted")
		}
	})
}
