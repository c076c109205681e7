package redis

// These tests are about bytes that only the package sees.

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cache/remote"
	"symbolon/internal/fault"
)

func TestRecordsComeBackUnderTheirNameOnly(t *testing.T) {
	for _, r := range []*record{
		{form: small},
		{form: small, content: []byte("content")},
		{form: chunked, size: 1 << 40, sum: 7, chunks: 9},
		{form: failed, fault: fault.New(fault.Unsupported, "a place", "why “not”")},
	} {
		text := []byte(r.text("name"))
		again, ok := readRecord("name", text)
		if !ok || again.text("name") != string(text) {
			t.Errorf("%q came back as %+v", text, again)
		}
		if _, ok := readRecord("names", text); ok {
			t.Errorf("%q is taken under another name", text)
		}
		for i := range text {
			bad := bytes.Clone(text)
			bad[i] ^= 0x10
			if _, ok := readRecord("name", bad); ok {
				t.Errorf("byte %d of %q may change", i, text)
			}
			if _, ok := readRecord("name", text[:i]); ok {
				t.Errorf("%d bytes of %q are enough", i, text)
			}
		}
	}
	long := record{form: failed, fault: fault.New(fault.Denied, strings.Repeat("ä", 1<<20), "%s", strings.Repeat("x", 1<<20))}
	again, ok := readRecord("n", []byte(long.text("n")))
	if !ok || len(again.fault.Place) != cache.MaxText || len(again.fault.Detail) != cache.MaxText {
		t.Error("a long text is not cut")
	}
}

// TestEntriesOfEarlierVersionsAreRead has values that were written before the
// tiers shared their code.
func TestEntriesOfEarlierVersionsAreRead(t *testing.T) {
	read := func(text string) *record {
		t.Helper()
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		r, ok := readRecord("name", b)
		if !ok {
			t.Fatalf("%s is not a record", text)
		}
		return r
	}
	if r := read("0061207461626c658fb259b1"); r.form != small || string(r.content) != "a table" {
		t.Errorf("small entry: %+v", r)
	}
	if r := read("020207006120706c6163650300776879a556d122"); r.form != failed || r.fault.Error() != fault.New(fault.Denied, "a place", "why").Error() {
		t.Errorf("fault: %+v", r)
	}
	chunk, err := hex.DecodeString("28b52ffd64803d8d00004061207461626c650a0154080331757e01e04760cd")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := unpack(&out, read("01803e0000000000001db222b401000000bf09a8fb"), from([][]byte{chunk})); err != nil {
		t.Error(err)
	}
	if out.String() != strings.Repeat("a table\n", 2000) {
		t.Errorf("the content has %d bytes: %.20q", out.Len(), out.String())
	}
}

// packed is b as chunks, with their record.
func packed(t testing.TB, b []byte) (*record, [][]byte) {
	t.Helper()
	var chunks [][]byte
	n, err := pack(bin.Bytes(b), func(n int, part string) error {
		if n != len(chunks) || len(part) > chunkSize {
			t.Errorf("chunk %d after %d has %d bytes", n, len(chunks), len(part))
		}
		chunks = append(chunks, []byte(part))
		return nil
	})
	if err != nil || n != len(chunks) {
		t.Fatalf("%d chunks for %d: %v", n, len(chunks), err)
	}
	return &record{form: chunked, size: int64(len(b)), sum: crc32.Checksum(b, bin.Castagnoli), chunks: n}, chunks
}

func from(chunks [][]byte) func(int) ([]byte, error) {
	return func(n int) ([]byte, error) {
		if n >= len(chunks) {
			return nil, errGone
		}
		return chunks[n], nil
	}
}

func noise(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

func TestPackedContentComesBack(t *testing.T) {
	for _, b := range [][]byte{{}, {1}, make([]byte, 5<<20), noise(chunkSize - 20), noise(chunkSize), noise(3<<20 + 1)} {
		r, chunks := packed(t, b)
		var out bytes.Buffer
		if err := unpack(&out, r, from(chunks)); err != nil || !bytes.Equal(out.Bytes(), b) {
			t.Errorf("%d bytes came back as %d: %v", len(b), out.Len(), err)
		}
	}
}

func TestNothingElseIsUnpacked(t *testing.T) {
	b := noise(1 << 20)
	for name, change := range map[string]func(*record, [][]byte){
		"a smaller size":  func(r *record, _ [][]byte) { r.size-- },
		"a larger size":   func(r *record, _ [][]byte) { r.size++ },
		"another sum":     func(r *record, _ [][]byte) { r.sum++ },
		"fewer chunks":    func(r *record, _ [][]byte) { r.chunks-- },
		"no chunks":       func(r *record, _ [][]byte) { r.chunks = 0 },
		"a changed chunk": func(_ *record, c [][]byte) { c[1][99] ^= 1 },
		"chunks swapped":  func(_ *record, c [][]byte) { c[1], c[2] = c[2], c[1] },
		"bytes after it":  func(_ *record, c [][]byte) { c[len(c)-1] = append(c[len(c)-1], c[0]...) },
	} {
		r, chunks := packed(t, b)
		change(r, chunks)
		var out bytes.Buffer
		if err := unpack(&out, r, from(chunks)); !errors.Is(err, remote.ErrDamaged) || int64(out.Len()) > r.size {
			t.Errorf("%s: %d bytes, %v", name, out.Len(), err)
		}
	}
	r, chunks := packed(t, b)
	r.chunks++
	if err := unpack(io.Discard, r, from(chunks)); !errors.Is(err, errGone) {
		t.Errorf("a chunk is missing: %v", err)
	}
	full := errors.New("full")
	r, chunks = packed(t, b)
	if err := unpack(broken{full}, r, from(chunks)); err != full {
		t.Errorf("the destination is full: %v", err)
	}
	puts := 0
	if _, err := pack(bin.Bytes(b), func(int, string) error { puts++; return full }); !errors.Is(err, full) || puts != 1 {
		t.Errorf("the server is full: %v after %d chunks", err, puts)
	}
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestABombIsNotUnpacked(t *testing.T) {
	r, chunks := packed(t, make([]byte, 64<<20))
	if len(chunks) != 1 {
		t.Fatalf("%d chunks", len(chunks))
	}
	r.size = 1000
	var out bytes.Buffer
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := unpack(&out, r, from(chunks))
	runtime.ReadMemStats(&after)
	if !errors.Is(err, remote.ErrDamaged) || out.Len() > 1000 {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("it took %d bytes of memory", used)
	}
}

// FuzzEntry reads a record with the right checksum, and with it a stream in
// chunks, which is a changed one of ours more often than not.
func FuzzEntry(f *testing.F) {
	for _, b := range [][]byte{{}, []byte("small"), bytes.Repeat([]byte("0123456789abcdef"), 3000), noise(5000)} {
		r, chunks := packed(f, b)
		text := r.text("")
		f.Add([]byte(text[:len(text)-4]), bytes.Join(chunks, nil))
	}
	f.Add([]byte("\x00content"), []byte{})
	text := (&record{form: failed, fault: fault.New(fault.Denied, "place", "detail")}).text("")
	f.Add([]byte(text[:len(text)-4]), []byte{})
	f.Fuzz(func(t *testing.T, body, stream []byte) {
		sealed := binary.LittleEndian.AppendUint32(bytes.Clone(body), checksum("name", body))
		r, ok := readRecord("name", sealed)
		if !ok {
			return
		}
		if r.text("name") != string(sealed) && r.form != failed { // a fault's text may have been cut
			t.Fatalf("%x came back as %x", sealed, r.text("name"))
		}
		if r.form != chunked || r.size > 1<<24 || r.chunks == 0 {
			return
		}
		r.chunks = min(r.chunks, 4)
		size := (len(stream) + r.chunks - 1) / r.chunks
		sum := crc32.New(bin.Castagnoli)
		n := &counter{w: sum}
		err := unpack(n, r, func(i int) ([]byte, error) {
			return stream[min(i*size, len(stream)):min((i+1)*size, len(stream))], nil
		})
		if n.n > r.size || err == nil && (n.n != r.size || sum.Sum32() != r.sum) {
			t.Fatalf("%d of %d bytes, %v", n.n, r.size, err)
		}
	})
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return c.w.Write(p)
}
