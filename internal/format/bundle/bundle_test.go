package bundle_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/bundle"
	"symbolon/internal/ident"
)

func id(t testing.TB, text string) ident.DebugID {
	t.Helper()
	d, err := ident.ParseDebugID(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const debugID = "1606ea12-5249-f2aa-96be-37c2c9b80aa2"

var manifest = bundle.Manifest{
	Attributes: map[string]string{"arch": "x86_64", "debug_id": debugID, "object_name": "app"},
	Links:      map[string]string{`C:\src\*`: "https://example.org/src/*"},
}

// sources returns the files that write writes.
func sources(t testing.TB) iter.Seq2[bundle.File, []byte] {
	long := []byte(strings.Repeat("int x;\n", 500))
	return func(yield func(bundle.File, []byte) bool) {
		_ = yield(bundle.File{Path: "/src/./a.c"}, []byte("int a;\n")) &&
			yield(bundle.File{Path: `C:\src\lib\B.cpp`}, long) &&
			yield(bundle.File{Path: "C:/src/lib/B.cpp"}, []byte("another")) &&
			yield(bundle.File{Path: "/latin.c"}, []byte("caf\xe9")) &&
			yield(bundle.File{Path: "../../empty.c"}, nil) &&
			yield(bundle.File{Path: "/src/./a.c"}, []byte("twice")) &&
			yield(bundle.File{Type: bundle.MinifiedSource, URL: "~/app.min.js", DebugID: id(t, debugID), SourceMap: "app.js.map"}, []byte("a()")) &&
			yield(bundle.File{Type: bundle.SourceMap, URL: "~/app.js.map", DebugID: id(t, debugID)}, []byte("{}"))
	}
}

func write(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if n, err := bundle.Write(&b, manifest, sources(t)); err != nil || n != 6 {
		t.Fatalf("%d files, %v", n, err)
	}
	return b.Bytes()
}

func TestWriteRoundTrip(t *testing.T) {
	data := write(t)
	if !bytes.Equal(data, write(t)) {
		t.Error("the same files result in other bytes")
	}
	b, err := bundle.Open(bin.Bytes(data))
	if err != nil || b.Problem() != nil || len(b.Files()) != 6 {
		t.Fatalf("%+v, %v", b, err)
	}
	if fmt.Sprint(b.Manifest) != fmt.Sprint(manifest) {
		t.Errorf("%+v", b.Manifest)
	}
	for _, tc := range []struct {
		path string
		want string
	}{
		{"/src/a.c", "int a;\n"}, {"/src/x/../a.c", "int a;\n"}, {"../../empty.c", ""},
		{"C:/src/lib/B.cpp", strings.Repeat("int x;\n", 500)}, {`C:\src\lib\.\B.cpp`, strings.Repeat("int x;\n", 500)},
	} {
		f, ok := b.ByPath(tc.path)
		if !ok || f.Type != bundle.Source {
			t.Errorf("%s: %+v, %v", tc.path, f, ok)
			continue
		}
		if text, err := b.Text(f, 1<<20); err != nil || string(text) != tc.want {
			t.Errorf("%s: %q, %v", tc.path, text, err)
		}
	}
	for _, path := range []string{"/latin.c", "src/a.c", "/SRC/a.c", ""} {
		if f, ok := b.ByPath(path); ok {
			t.Errorf("%s: %+v", path, f)
		}
	}
	byURL, ok := b.ByURL("~/app.min.js")
	byID, ok2 := b.ByDebugID(id(t, debugID), bundle.MinifiedSource)
	if !ok || !ok2 || byURL != byID || byURL.SourceMap != "app.js.map" {
		t.Errorf("%+v, %+v", byURL, byID)
	}
	if _, ok := b.ByDebugID(id(t, debugID), bundle.Source); ok {
		t.Error("file found with another type")
	}
}

func TestStandardLibraryReadsBundle(t *testing.T) {
	data := write(t)
	for _, part := range [][]byte{data, data[8:]} { // both bases of offsets
		z, err := zip.NewReader(bytes.NewReader(part), int64(len(part)))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range z.File {
			names = append(names, f.Name)
		}
		want := "[files/src/a.c files/C/src/lib/B.cpp files/C/src/lib/B.cpp.1 files/empty.c files/~/app.min.js files/~/app.js.map manifest.json]"
		if fmt.Sprint(names) != want {
			t.Errorf("%v", names)
		}
	}
}

// pack returns a bundle with this manifest and entries, whose offsets count
// from base.
func pack(t testing.TB, base int64, manifest string, entries int) []byte {
	t.Helper()
	b := bytes.NewBufferString("SYSB\x02\x00\x00\x00")
	z := zip.NewWriter(b)
	z.SetOffset(base)
	add := func(name, text string) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range entries {
		w, err := z.CreateRaw(&zip.FileHeader{Name: fmt.Sprintf("files/%d", i), CRC32: 0xd202ef8d, CompressedSize64: 1, UncompressedSize64: 1})
		if err == nil {
			_, err = w.Write([]byte{0})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add("manifest.json", manifest)
	if err := z.SetComment("a comment PK\x05\x06 that looks like an end"); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestZip64(t *testing.T) {
	const n = 66_000
	var m strings.Builder
	m.WriteString(`{"files":{`)
	for i := range n {
		fmt.Fprintf(&m, `"files/%d":{"path":"/%d","headers":{"Debug-ID":"%032x0"}},`, i, i, i+1)
	}
	m.WriteString(`"files/x":{}}}`)
	b, err := bundle.Open(bin.Bytes(pack(t, 0, m.String(), n)))
	if err != nil || len(b.Files()) != n {
		t.Fatalf("%v", err)
	}
	if b.Problem() == nil || !strings.Contains(b.Problem().Error(), `file "files/x" is missing from the archive`) {
		t.Errorf("%v", b.Problem())
	}
	f, ok := b.ByPath("/65999")
	if text, err := b.Text(f, 10); !ok || err != nil || string(text) != "\x00" {
		t.Errorf("%q, %v", text, err)
	}
	if f, ok := b.ByDebugID(id(t, fmt.Sprintf("%032x0", 66)), ""); !ok || f.Path != "/65" {
		t.Errorf("%+v, %v", f, ok)
	}
}

// wide moves the numbers of an entry into a zip64 field.
func findZip64(t testing.TB, data []byte, name string, size, unpacked, off uint64) []byte {
	t.Helper()
	le := binary.LittleEndian
	at := bytes.LastIndex(data, []byte(name)) - 46
	p := slices.Clone(data[:at+46+len(name)])
	for _, field := range []int{20, 24, 42} {
		le.PutUint32(p[at+field:], math.MaxUint32)
	}
	le.PutUint16(p[at+30:], 4+28)
	p = append(p, 9, 0, 0, 0, 1, 0, 24, 0)
	p = le.AppendUint64(le.AppendUint64(le.AppendUint64(p, unpacked), size), off)
	rest := slices.Clone(data[at+46+len(name):])
	end := bytes.Index(rest, []byte("PK\x05\x06")) // its directory is longer now
	le.PutUint32(rest[end+12:], le.Uint32(rest[end+12:])+32)
	return append(p, rest...)
}

func TestOffsetsOfEveryBase(t *testing.T) {
	data := pack(t, 8, `{"files":{"files/0":{"path":"/0"}}}`, 1)
	at := bytes.LastIndex(data, []byte("files/0")) - 46
	off := uint64(binary.LittleEndian.Uint32(data[at+42:]))
	b, err := bundle.Open(bin.Bytes(findZip64(t, data, "files/0", 1, 1, off)))
	if err != nil {
		t.Fatal(err)
	}
	f, ok := b.ByPath("/0")
	if text, err := b.Text(f, 10); !ok || err != nil || len(text) != 1 {
		t.Errorf("%q, %v", text, err)
	}
	for _, base := range []int64{0, 8, 77} { // bases of offsets
		b, err := bundle.Open(bin.Bytes(pack(t, base, `{"files":{"files/0":{"path":"/0"}}}`, 1)))
		if base == 77 {
			if fault.KindOf(err) != fault.Malformed {
				t.Errorf("offsets beyond the end: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, err := b.Text(b.Files()[0], 10); err != nil || len(text) != 1 {
			t.Errorf("offsets from %d: %q, %v", base, text, err)
		}
	}
	for _, huge := range [][3]uint64{{1 << 63, 1, off}, {1, 1, 1 << 63}, {1 << 40, 1, off}, {1, 1, 1 << 40}} {
		_, err := bundle.Open(bin.Bytes(findZip64(t, data, "files/0", huge[0], huge[1], huge[2])))
		if fault.KindOf(err) != fault.Malformed {
			t.Errorf("%x: %v", huge, err)
		}
	}
	b, err = bundle.Open(bin.Bytes(findZip64(t, data, "files/0", 1, 1<<63, off)))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := b.Text(b.Files()[0], 10); err != nil || len(text) != 1 || cap(text) > 4096 {
		t.Errorf("a wrong size: %d bytes in %d, %v", len(text), cap(text), err)
	}
}

func TestTextHasLimit(t *testing.T) {
	b, err := bundle.Open(bin.Bytes(write(t)))
	if err != nil {
		t.Fatal(err)
	}
	f, _ := b.ByPath(`C:\src\lib\B.cpp`)
	if text, err := b.Text(f, 3500); err != nil || len(text) != 3500 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if _, err := b.Text(f, 3499); !errors.Is(err, bin.ErrLimit) {
		t.Errorf("%v", err)
	}
	bomb := pack(t, 8, `{"files":{`+strings.Repeat(`"files/0":{},`, 1<<20)+`"files/0":{}}}`, 1)
	if b, err := bundle.Open(bin.Bytes(bomb)); !errors.Is(err, bin.ErrLimit) {
		t.Errorf("a manifest of %d bytes: %+v, %v", len(bomb), b, err)
	}
	often := pack(t, 8, `{"files":{`+strings.Repeat(`"files/0":{},`, 1000)+`"files/0":{}}}`, 1)
	if b, err := bundle.Open(bin.Bytes(often)); err != nil || len(b.Files()) != 1 || b.Problem() == nil {
		t.Errorf("a file that is listed often: %+v, %v", b, err)
	}
}

func TestDamagedBundles(t *testing.T) {
	good := pack(t, 8, `{"files":{"files/0":{"path":"/0","x":[1]}},"arch":7,"source_links":{"a":"b"}}`, 1)
	set := func(at int, v byte) []byte {
		p := slices.Clone(good)
		p[at] = v
		return p
	}
	list := bytes.Index(good, []byte("PK\x01\x02"))
	second := list + 4 + bytes.Index(good[list+4:], []byte("PK\x01\x02"))
	end := second + bytes.Index(good[second:], []byte("PK\x05\x06"))
	for name, tc := range map[string]struct {
		data []byte
		text string
	}{
		"empty":      {nil, "header: malformed: invalid magic"},
		"zip":        {good[8:], "header: malformed: invalid magic"},
		"version":    {set(4, 3), "header: unsupported: version 3"},
		"no end":     {good[:end], "end: malformed: missing end record"},
		"end":        {set(end+15, 0x7f), "end: malformed: invalid directory"},
		"far end":    {set(end+19, 0x7f), "end: malformed: invalid directory"},
		"entry":      {set(list, 'X'), "directory: malformed: invalid entry at offset"},
		"names":      {set(second+29, 0xff), "directory: malformed: invalid entry at offset"},
		"size":       {set(list+23, 0x7f), "directory: malformed: invalid entry at offset 0xb2: 2130706433 bytes at offset 0x8"},
		"unlisted":   {set(second+46, 'M'), "manifest: malformed: manifest.json is missing"},
		"local":      {set(bytes.Index(good, []byte("manifest"))-30, 0), "file manifest.json: malformed: invalid local header at offset"},
		"long name":  {set(bytes.Index(good, []byte("manifest"))-3, 0x7f), "file manifest.json: malformed: "},
		"method":     {set(second+10, 99), "file manifest.json: unsupported: compression method 99"},
		"encrypted":  {set(second+8, 1), "file manifest.json: unsupported: compression method 8, flags 0x1"},
		"checksum":   {set(second+16, good[second+16]+1), "file manifest.json: malformed: checksum mismatch"},
		"deflate":    {set(bytes.Index(good, []byte("manifest"))+13, 0xff), "file manifest.json: malformed: "},
		"no object":  {pack(t, 8, `[]`, 0), "manifest: malformed: invalid value at offset 0x1"},
		"files":      {pack(t, 8, `{"files":7}`, 0), "manifest: malformed: invalid value at offset 0xa"},
		"json":       {pack(t, 8, `{"files":{"files/0":{"path":`, 1), "manifest: malformed: "},
		"json value": {pack(t, 8, `{"arch":tru}`, 0), "manifest: malformed: "},
		"json key":   {pack(t, 8, `{"files":{7:{}}}`, 0), "manifest: malformed: "},
	} {
		b, err := bundle.Open(bin.Bytes(tc.data))
		if err == nil || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%s: %+v, %v; want %q", name, b, err, tc.text)
		}
	}
	b, err := bundle.Open(bin.Bytes(good))
	if err != nil || len(b.Attributes) != 0 || b.Links["a"] != "b" {
		t.Errorf("%+v, %v", b, err)
	}
	p := set(list+16, 0)
	if b, err = bundle.Open(bin.Bytes(p)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Text(b.Files()[0], 10); fault.KindOf(err) != fault.Malformed {
		t.Errorf("a wrong checksum of a file: %v", err)
	}
}

// failing fails after some bytes.
type failing int

func (f *failing) Write(p []byte) (int, error) {
	if *f -= failing(len(p)); *f < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestWriteReturnsErrorsOfWriter(t *testing.T) {
	for room := failing(0); room < 1000; room += 100 {
		f := room
		if _, err := bundle.Write(&f, manifest, sources(t)); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("after %d bytes: %v", room, err)
		}
	}
}

// FuzzOpen checks that the text of each listed file is returned or is an error.
func FuzzOpen(f *testing.F) {
	f.Add(write(f))
	f.Add(pack(f, 0, `{"files":{"files/0":{"path":"\\0"}}}`, 1))
	wideEntry := pack(f, 8, `{"files":{"files/0":{"path":"/0"}},"arch":"x"}`, 2)
	f.Add(findZip64(f, wideEntry, "files/0", 1, 1, 8))
	f.Add(append(wideEntry, make([]byte, 100)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := bundle.Open(bin.Bytes(data))
		if err != nil {
			return
		}
		if len(b.Files())*46 > len(data) {
			t.Fatalf("%d files in %d bytes", len(b.Files()), len(data))
		}
		for _, file := range b.Files()[:min(len(b.Files()), 20)] {
			text, err := b.Text(file, 1000)
			if len(text) > 1000 || err != nil && text != nil {
				t.Fatalf("%d bytes, %v", len(text), err)
			}
			found, ok := b.ByPath(file.Path)
			if file.Path != "" && (!ok || found.Path == "") {
				t.Fatalf("ByPath does not find %+v", file)
			}
		}
	})
}
