package shared

// These tests are about bytes that only the package sees.

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cache/remote"
	"symbolon/internal/fault"
)

var of = id{cache.Symcache, cache.KeyOf("a")}

// written is the object of an entry with this content.
func written(t testing.TB, h head, content []byte) []byte {
	t.Helper()
	h.size, h.sum = int64(len(content)), crc32.Checksum(content, bin.Castagnoli)
	return packedAs(t, h, content)
}

// packedAs is an object whose head need not be true.
func packedAs(t testing.TB, h head, content []byte) []byte {
	t.Helper()
	p, err := remote.NewPacker(h.bytes(of), bin.Bytes(content))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(p)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// read is the content of an object.
func read(text []byte) ([]byte, error) {
	h, err := readHead(text[:min(len(text), headSize)], of)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = remote.Unpack(&out, bytes.NewReader(text[headSize:]), h.size, h.sum)
	return out.Bytes(), err
}

// TestObjectsOfEarlierVersionsAreRead has objects that were written before the
// tiers shared their code.
func TestObjectsOfEarlierVersionsAreRead(t *testing.T) {
	const (
		begin = "73796d626f6c6f6e01000000"
		key   = "73796d63616368656a9960c7d65c78b67d9176fe3fdb1ea38680a864d2243e814adc63e1f5ba3635"
	)
	for text, want := range map[string]string{
		begin + "01000000" + key + "803e00000000000000000000000000001db222b491406d20" +
			"28b52ffd64803d8d00004061207461626c650a0154080331757e01e04760cd": strings.Repeat("a table\n", 2000),
		begin + "02000000" + key + "0f000000000000007b505c18a3010000d79319137b05f18d" +
			"28b52ffd04007900000207006120706c616365030077687937a92513": string(cache.AppendFault(nil, fault.New(fault.Denied, "a place", "why"))),
	} {
		object, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(object)
		if err != nil {
			t.Errorf("%.40s: %v", text, err)
		}
		if string(got) != want {
			t.Errorf("%.40s: the content has %d bytes: %.20q", text, len(got), got)
		}
	}
	object, err := hex.DecodeString(begin + "03000000" + key + "000000000000000000000000000000000000000064755346")
	if err != nil {
		t.Fatal(err)
	}
	if h, err := readHead(object, of); err != nil || h.form != deleted {
		t.Errorf("a deleted entry: %+v, %v", h, err)
	}
}

func TestObjectsComeBack(t *testing.T) {
	for _, size := range []int{0, 1, smallest - 1, smallest, smallest + 1, 3 << 20} {
		content := bytes.Repeat([]byte("content "), size/8+1)[:size]
		got, err := read(written(t, head{form: entry}, content))
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestFaultsComeBackAndAreCut(t *testing.T) {
	end := time.UnixMilli(1_800_000_000_123)
	long := fault.New(fault.Unsupported, strings.Repeat("ä", 1<<20), "%s", strings.Repeat("x", 1<<20))
	for _, f := range []*fault.Error{fault.New(fault.NotFound, "", ""), fault.New(fault.Denied, "a place", "why “not”"), long} {
		text := written(t, head{form: failed, end: end}, cache.AppendFault(nil, f))
		h, err := readHead(text[:headSize], of)
		if err != nil || !h.end.Equal(end) {
			t.Fatal(h, err)
		}
		content, err := read(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readFault(content)
		if err != nil || got.Kind != f.Kind || got.Place != cache.Clip(f.Place) || got.Detail != cache.Clip(f.Detail) {
			t.Errorf("%v came back as %v, %v", f.Kind, got, err)
		}
	}
	for _, wrong := range [][]byte{{}, {0, 0, 0, 0, 0}, {99, 0, 0, 0, 0}, {1, 9, 0, 0, 0}, {1, 0, 0, 0, 0, 0}} {
		if f, err := readFault(wrong); !errors.Is(err, remote.ErrDamaged) {
			t.Errorf("%v is %v", wrong, f)
		}
	}
}

func TestABombIsNotUnpacked(t *testing.T) {
	bomb := make([]byte, 256<<20)
	text := packedAs(t, head{form: entry, size: 1 << 10, sum: 7}, bomb)
	bomb = nil
	if len(text) > 1<<20 {
		t.Fatalf("%d bytes are not a bomb", len(text))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := read(text)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, remote.ErrDamaged) || len(got) > 1<<10 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("it took %d bytes of memory", used)
	}
	// A head may promise anything; memory is for what is there.
	for _, size := range []int64{1 << 40, 1<<63 - 1} {
		if _, err := read(packedAs(t, head{form: entry, size: size}, []byte("little"))); !errors.Is(err, remote.ErrDamaged) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestAnotherContentIsNotTaken(t *testing.T) {
	if got, err := read(packedAs(t, head{form: entry, size: 7, sum: 7}, []byte("a table"))); !errors.Is(err, remote.ErrDamaged) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestErrorsAreKeptApart(t *testing.T) {
	content := bytes.Repeat([]byte("a b c d"), 1<<15)
	text := written(t, head{form: entry}, content)
	h, err := readHead(text[:headSize], of)
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("gone")
	torn := io.MultiReader(bytes.NewReader(text[headSize:len(text)-1]), failing{gone})
	if err := remote.Unpack(io.Discard, torn, h.size, h.sum); err != (remote.ReadError{Err: gone}) {
		t.Errorf("a bucket that breaks: %v", err)
	}
	if err := remote.Unpack(failing{gone}, bytes.NewReader(text[headSize:]), h.size, h.sum); err != gone {
		t.Errorf("a spool that breaks: %v", err)
	}
	p, err := remote.NewPacker(nil, failing{gone})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(p); !errors.Is(err, gone) || !p.HasFailed() {
		t.Errorf("an entry that cannot be read: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error)          { return 0, f.err }
func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }
func (f failing) Write([]byte) (int, error)         { return 0, f.err }
func (f failing) Size() int64                       { return 100 }

// FuzzObject reads a head with the right checksum, and a stream after it.
func FuzzObject(f *testing.F) {
	for _, content := range [][]byte{nil, []byte("a table"), bytes.Repeat([]byte("abc"), 1000)} {
		text := written(f, head{form: entry}, content)
		f.Add(text[:headSize], text[headSize:])
		text = written(f, head{form: failed, end: time.UnixMilli(9)}, cache.AppendFault(nil, fault.New(fault.Denied, "p", "%s", content)))
		f.Add(text[:headSize], text[headSize:])
	}
	f.Add(head{form: deleted}.bytes(of), []byte{})
	f.Fuzz(func(t *testing.T, first, stream []byte) {
		if len(first) == headSize {
			binary.LittleEndian.PutUint32(first[headSize-4:], crc32.Checksum(first[:headSize-4], bin.Castagnoli))
		}
		h, err := readHead(first, of)
		if err != nil {
			if !errors.Is(err, remote.ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		if again, err := readHead(h.bytes(of), of); err != nil || again.form != h.form || again.size != h.size || again.sum != h.sum {
			t.Fatalf("%+v is written as %+v, %v", h, again, err)
		}
		var out bytes.Buffer
		err = remote.Unpack(&out, bytes.NewReader(stream), h.size, h.sum)
		if int64(out.Len()) > h.size {
			t.Fatalf("%d bytes of %d", out.Len(), h.size)
		}
		if err != nil {
			if !errors.Is(err, remote.ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		if int64(out.Len()) != h.size || crc32.Checksum(out.Bytes(), bin.Castagnoli) != h.sum {
			t.Fatal("something else was unpacked")
		}
		if got, err := readFault(out.Bytes()); err == nil && (got.Kind == fault.Internal || !bytes.Equal(cache.AppendFault(nil, got), out.Bytes()) && len(out.Bytes()) <= cache.MaxFault) {
			// Text that is not UTF-8 is cut, so it need not come back.
			if bytes.Equal(bytes.ToValidUTF8(out.Bytes(), nil), out.Bytes()) {
				t.Fatalf("%q is the fault %+v", out.Bytes(), got)
			}
		}
	})
}
