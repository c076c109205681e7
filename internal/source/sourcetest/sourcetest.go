// Package sourcetest holds the tests that every source of files must pass.
package sourcetest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

// Make returns a source with these files, by their paths in the native layout. The bytes
// are stored unchanged. A source without paths finds each file by the id in it, which is
// unique.
type Make func(t *testing.T, files map[string][]byte) source.Source

const (
	lowerID = "0f1e2d3c4b5a69788796a5b4c3d2e1f0a"
	upperID = "0F1E2D3C4B5A69788796A5B4C3D2E1F0a" // canonical: the age stays in lower case
)

// text is compressible and long enough for a decoder to have work.
var text = bytes.Repeat([]byte("FUNC 1000 10 0 a_function(int, char**)\n1000 10 7 1\n"), 4000)

// Run runs the tests for sources that go by paths.
func Run(t *testing.T, newSource Make) {
	run(t, newSource, map[string]func(*testing.T, Make){
		"CanonicalIDIsAskedSecond": secondID,
		"OddNamesAreFound":         oddNames,
		"UnusableNamesAreNotAsked": unusableNames,
	})
	Files(t, newSource)
}

// Files runs the tests that are about files, regardless of how they are found. A file
// that is not there may be named all the same.
func Files(t *testing.T, newSource Make) {
	run(t, newSource, map[string]func(*testing.T, Make){
		"FileIsDelivered":            delivered,
		"MissIsNotFound":             missing,
		"StoredGzipIsDecoded":        func(t *testing.T, m Make) { decoded(t, m, Gzip(text)) },
		"StoredZstdIsDecoded":        func(t *testing.T, m Make) { decoded(t, m, Zstd(text)) },
		"DamagedGzipIsMalformed":     damaged,
		"EmptyFileIsDelivered":       empty,
		"CanceledBeforeItBegins":     canceledBefore,
		"CanceledOnTheWay":           canceledMidway,
		"BigFileComesInLargePieces":  big,
		"ManyAtOnce":                 concurrent,
		"FailureOfTheWriterIsOurs":   brokenWriter,
		"FaultOfTheWriterIsRetained": faultyWriter,
	})
}

func run(t *testing.T, newSource Make, tests map[string]func(*testing.T, Make)) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, newSource) })
	}
}

// Gzip returns data as gzip.
func Gzip(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		panic(err) // memory cannot refuse
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Zstd returns data as one zstd frame of uncompressed blocks.
func Zstd(data []byte) []byte {
	const block = 64 << 10
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 6 << 3} // magic, no options, window of 64 KiB
	for {
		n := min(len(data), block)
		header := uint32(n) << 3
		if n == len(data) {
			header |= 1 // the last one
		}
		var le [4]byte
		binary.LittleEndian.PutUint32(le[:], header)
		frame = append(append(frame, le[:3]...), data[:n]...)
		if data = data[n:]; len(data) == 0 {
			return frame
		}
	}
}

func module(name, id string) ident.Module {
	m := ident.Module{DebugFile: name, DebugIDText: id}
	if parsed, err := ident.ParseDebugID(id); err == nil {
		m.DebugID = parsed
	}
	return m
}

// idOf returns a unique id of a file.
func idOf(name string) string {
	h := fnv.New128a()
	_, _ = h.Write([]byte(name)) // it never fails
	return fmt.Sprintf("%Xa", h.Sum(nil))
}

func path(name, id string) string { return name + "/" + id + "/" + ident.SymName(name) }

// candidates returns the places of Breakpad files; all that are named must be
// complete.
func candidates(t *testing.T, s source.Source, m ident.Module) (symbols []source.Candidate) {
	t.Helper()
	list, err := s.Candidates(t.Context(), m, []string{source.Breakpad, source.PDB, source.PE, source.ELFDebug, source.ELFCode})
	if err != nil {
		t.Fatalf("candidates of %q: %v", m.DebugFile, err)
	}
	keys := map[string]bool{}
	for _, c := range list {
		if c.Source == "" || c.Kind == "" || c.Location == "" || c.Key == "" || c.Path == "" {
			t.Errorf("incomplete candidate %+v", c)
		}
		if keys[c.Key] {
			t.Errorf("two candidates with key %q", c.Key)
		}
		keys[c.Key] = true
		if c.Kind == source.Breakpad {
			symbols = append(symbols, c)
		}
	}
	return symbols
}

// first returns the only candidate, or the first of two.
func first(t *testing.T, s source.Source, m ident.Module) source.Candidate {
	t.Helper()
	list := candidates(t, s, m)
	if len(list) == 0 {
		t.Fatalf("no candidate for %+v", m)
	}
	return list[0]
}

func fetch(t *testing.T, s source.Source, c source.Candidate, want []byte) source.Attempt {
	t.Helper()
	var got bytes.Buffer
	a, err := s.Fetch(t.Context(), c, &got)
	if err != nil {
		t.Fatalf("fetch %s: %v", c.Location, err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Fatalf("fetch %s: got %d bytes that are not the %d stored ones", c.Location, got.Len(), len(want))
	}
	if a.Bytes != int64(len(want)) || a.URL == "" || a.Time < 0 {
		t.Errorf("attempt %+v for %d bytes", a, len(want))
	}
	return a
}

func wantFault(t *testing.T, err error, kind fault.Kind) *fault.Error {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Fatalf("got %v, want a fault", err)
	}
	if f.Kind != kind || f.Place == "" || f.Detail == "" {
		t.Errorf("got %v (kind %v), want %v with a place and a detail", f, f.Kind, kind)
	}
	return f
}

func delivered(t *testing.T, newSource Make) {
	s := newSource(t, map[string][]byte{path("a.so", idOf("a.so")): text})
	a := fetch(t, s, first(t, s, module("a.so", idOf("a.so"))), text)
	if a.Wire != int64(len(text)) {
		t.Errorf("%d bytes received, want %d", a.Wire, len(text))
	}
}

func missing(t *testing.T, newSource Make) {
	s := newSource(t, map[string][]byte{path("a.so", idOf("a.so")): text})
	var got bytes.Buffer
	_, err := s.Fetch(t.Context(), first(t, s, module("b.so", idOf("b.so"))), &got)
	wantFault(t, err, fault.NotFound)
	if got.Len() > 0 {
		t.Errorf("%d bytes of a file that is not there", got.Len())
	}
}

func decoded(t *testing.T, newSource Make, stored []byte) {
	s := newSource(t, map[string][]byte{path("a.so", idOf("a.so")): stored})
	a := fetch(t, s, first(t, s, module("a.so", idOf("a.so"))), text)
	if a.Wire != int64(len(stored)) {
		t.Errorf("%d bytes received, want %d", a.Wire, len(stored))
	}
}

func damaged(t *testing.T, newSource Make) {
	flipped := Gzip(text)
	flipped[len(flipped)-5] ^= 1 // in the checksum
	cut := Gzip(text)
	s := newSource(t, map[string][]byte{
		path("flipped.so", idOf("flipped.so")): flipped,
		path("cut.so", idOf("cut.so")):         cut[:len(cut)/2],
	})
	for _, name := range []string{"flipped.so", "cut.so"} {
		_, err := s.Fetch(t.Context(), first(t, s, module(name, idOf(name))), &bytes.Buffer{})
		wantFault(t, err, fault.Malformed)
	}
}

func empty(t *testing.T, newSource Make) {
	s := newSource(t, map[string][]byte{path("a.so", idOf("a.so")): {}})
	fetch(t, s, first(t, s, module("a.so", idOf("a.so"))), nil)
}

func secondID(t *testing.T, newSource Make) {
	s := newSource(t, map[string][]byte{path("a.so", upperID): text})
	list := candidates(t, s, module("a.so", lowerID))
	if len(list) != 2 {
		t.Fatalf("%d candidates for an id in lower case, want 2", len(list))
	}
	fetch(t, s, list[1], text)
	if same := candidates(t, s, module("a.so", upperID)); len(same) != 1 {
		t.Errorf("%d candidates for a canonical id, want 1", len(same))
	}
}

func oddNames(t *testing.T, newSource Make) {
	names := []string{
		"two words.pdb", "a+b.so", "50%.so", "%41.so", "hash#tag.so", "what?.so", "größe_名前.so", "a&b=c;d.so",
		"{11aa22bb}.xpi", "<unknown>", "~", "-dash.so", "a@b.so", "a:b.so", "...", "'\"`.so", "[vdso]", "x,y!$*().so",
		"[kernel.kallsyms]", "Chrome Helper (Renderer)", "\ufffd",
	}
	files := map[string][]byte{}
	for _, name := range names {
		files[path(name, upperID)] = []byte("file of " + name)
	}
	s := newSource(t, files)
	for _, name := range names {
		fetch(t, s, first(t, s, module(name, upperID)), []byte("file of "+name))
	}
}

func unusableNames(t *testing.T, newSource Make) {
	s := newSource(t, nil)
	for _, name := range []string{"", ".", "..", "a/..", `C:\`, "a\x00b", "a\nb", "a\x7f", "a\u0085b"} {
		if list := candidates(t, s, module(name, upperID)); len(list) > 0 {
			t.Errorf("name %q is asked for at %s", name, list[0].Location)
		}
	}
	for _, id := range []string{"", "000000000000000000000000000000000", "../../x", "a/b", "12\x00"} {
		if list := candidates(t, s, module("a.so", id)); len(list) > 0 {
			t.Errorf("id %q is asked for at %s", id, list[0].Location)
		}
	}
}

func canceledBefore(t *testing.T, newSource Make) {
	s := newSource(t, map[string][]byte{path("a.so", idOf("a.so")): text})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Fetch(ctx, first(t, s, module("a.so", idOf("a.so"))), &bytes.Buffer{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want one that is context.Canceled", err)
	}
	wantFault(t, err, fault.Internal) // which no cache remembers
}

// noise returns size bytes that do not compress.
func noise(size int) []byte {
	data := make([]byte, size)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(data) // it never fails
	return data
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func canceledMidway(t *testing.T, newSource Make) {
	s := newSource(t, map[string][]byte{path("a.so", idOf("a.so")): noise(6 << 20)})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	start := time.Now()
	_, err := s.Fetch(ctx, first(t, s, module("a.so", idOf("a.so"))), writer(func(p []byte) (int, error) {
		cancel()
		return len(p), nil
	}))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want one that is context.Canceled", err)
	}
	if spent := time.Since(start); spent > 5*time.Second {
		t.Errorf("it took %v to give up", spent)
	}
}

func big(t *testing.T, newSource Make) {
	const least = 256 << 10 // bytes in a write, but the last
	data := noise(3<<20 + 7)
	s := newSource(t, map[string][]byte{path("a.so", idOf("a.so")): data, path("z.so", idOf("z.so")): Zstd(data)})
	for _, name := range []string{"a.so", "z.so"} {
		var got bytes.Buffer
		writes := 0
		_, err := s.Fetch(t.Context(), first(t, s, module(name, idOf(name))), writer(func(p []byte) (int, error) {
			writes++
			return got.Write(p)
		}))
		if err != nil || !bytes.Equal(got.Bytes(), data) {
			t.Fatalf("%s: got %d of %d bytes, error %v", name, got.Len(), len(data), err)
		}
		if most := len(data)/least + 1; writes > most {
			t.Errorf("%s: %d writes, want at most %d", name, writes, most)
		}
	}
}

func concurrent(t *testing.T, newSource Make) {
	files := map[string][]byte{}
	name := func(i int) string { return fmt.Sprintf("lib%d.so", i) }
	for i := range 8 {
		files[path(name(i), idOf(name(i)))] = Gzip(bytes.Repeat([]byte(name(i)), 20_000))
	}
	s := newSource(t, files)
	var group sync.WaitGroup
	for i := range 24 {
		c := first(t, s, module(name(i%8), idOf(name(i%8))))
		group.Go(func() {
			var got bytes.Buffer
			if _, err := s.Fetch(t.Context(), c, &got); err != nil || !bytes.Equal(got.Bytes(), bytes.Repeat([]byte(name(i%8)), 20_000)) {
				t.Errorf("%s: %d bytes, error %v", c.Location, got.Len(), err)
			}
		})
	}
	group.Wait()
}

func brokenWriter(t *testing.T, newSource Make) {
	s := newSource(t, map[string][]byte{path("a.so", idOf("a.so")): text})
	full := errors.New("no space left")
	_, err := s.Fetch(t.Context(), first(t, s, module("a.so", idOf("a.so"))), writer(func([]byte) (int, error) { return 0, full }))
	wantFault(t, err, fault.Internal)
	if !errors.Is(err, full) {
		t.Errorf("got %v, which is not the failure of the writer", err)
	}
}

func faultyWriter(t *testing.T, newSource Make) {
	s := newSource(t, map[string][]byte{path("a.so", idOf("a.so")): text})
	_, err := s.Fetch(t.Context(), first(t, s, module("a.so", idOf("a.so"))), writer(func([]byte) (int, error) {
		return 0, fault.New(fault.Malformed, "", "no symbol file")
	}))
	if f := wantFault(t, err, fault.Malformed); f.Detail != "no symbol file" {
		t.Errorf("detail %q is not the writer's", f.Detail)
	}
}
