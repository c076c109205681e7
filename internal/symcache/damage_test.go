package symcache_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
)

// Constants of the layout, repeated so that the tests detect changes.
const (
	atHeadSize  = 12
	atBodySize  = 16
	atSumsCheck = 24
	atTable     = 120
	pageBytes   = 16 << 10
	langsBytes  = 11 // at the end of the head of kernel, before its checksum
)

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// reseal recomputes the checksums of a file. It does nothing to files without a
// valid head.
func reseal(file []byte) {
	le := binary.LittleEndian
	if len(file) < atTable {
		return
	}
	headSize := uint64(le.Uint32(file[atHeadSize:]))
	bodySize := le.Uint64(file[atBodySize:])
	if headSize < atTable+4 || bodySize > uint64(len(file)) || headSize > uint64(len(file)) {
		return
	}
	pages := (bodySize + pageBytes - 1) / pageBytes
	body := (headSize + 4*pages + 7) &^ 7
	if body+bodySize != uint64(len(file)) {
		return
	}
	for i := range pages {
		page := file[body+i*pageBytes:]
		le.PutUint32(file[headSize+4*i:], crc32.Checksum(page[:min(len(page), pageBytes)], crcTable))
	}
	le.PutUint32(file[atSumsCheck:], crc32.Checksum(file[headSize:body], crcTable))
	le.PutUint32(file[headSize-4:], crc32.Checksum(file[:headSize-4], crcTable))
}

func TestOpenRejectsFlippedBits(t *testing.T) {
	for name, file := range map[string][]byte{
		"one page": kernel().build(t, symcache.Options{}), "many pages": large(t, 300).build(t, symcache.Options{}),
	} {
		step := 1 + len(file)/10_000*61 // all bits of small files, some of large ones
		for bit := 0; bit < len(file)*8; bit += step {
			file[bit/8] ^= 1 << (bit % 8)
			_, err := symcache.Open(bin.Bytes(file))
			if k := fault.KindOf(err); k != fault.Malformed && (k != fault.Unsupported || bit/8 < 8 || bit/8 >= 12) {
				t.Fatalf("%s: bit %d: %v", name, bit, err)
			}
			file[bit/8] ^= 1 << (bit % 8)
		}
		open(t, file)
	}
}

func TestDamagedPageIsReported(t *testing.T) {
	file := large(t, 300).build(t, symcache.Options{})
	start := len(file) - int(binary.LittleEndian.Uint64(file[atBodySize:]))
	for page, at := 0, start; at < len(file); page, at = page+1, at+pageBytes {
		file[min(at+pageBytes, len(file))-1] ^= 1
		_, err := symcache.Open(bin.Bytes(file))
		if want := fmt.Sprintf("page %d at %#x: checksum", page, at); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("error %v, want %q", err, want)
		}
		file[min(at+pageBytes, len(file))-1] ^= 1
	}
}

func TestOpenRejectsTruncatedFile(t *testing.T) {
	file := kernel().build(t, symcache.Options{})
	for n := range file {
		if _, err := symcache.Open(bin.Bytes(file[:n])); fault.KindOf(err) != fault.Malformed {
			t.Fatalf("%d of %d bytes: %v", n, len(file), err)
		}
	}
	if _, err := symcache.Open(bin.Bytes(append(file, 0))); fault.KindOf(err) != fault.Malformed {
		t.Errorf("extra byte: %v", err)
	}
}

func TestOpenRejectsOtherVersions(t *testing.T) {
	file := example().build(t, symcache.Options{})
	file[8]++
	reseal(file)
	if _, err := symcache.Open(bin.Bytes(file)); fault.KindOf(err) != fault.Unsupported {
		t.Error(err)
	}
}

// source is a source that is not in memory.
type source struct {
	r    *bytes.Reader
	fail error
}

func (s source) Size() int64 { return s.r.Size() }

func (s source) ReadAt(p []byte, off int64) (int, error) {
	if s.fail != nil {
		return 0, s.fail
	}
	return s.r.ReadAt(p, off)
}

func TestOpenReadsSource(t *testing.T) {
	m := example()
	file := m.build(t, symcache.Options{})
	table, err := symcache.Open(source{r: bytes.NewReader(file)})
	if err != nil {
		t.Fatal(err)
	}
	m.compare(t, table, 0x1005)
	if _, err := symcache.Open(source{bytes.NewReader(file), io.ErrClosedPipe}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("read error: %v", err)
	}
}

// section returns the offset and size of a section, and the size of its records.
func section(file []byte, want int) (at, size, stride uint64) {
	le := binary.LittleEndian
	bodySize := le.Uint64(file[atBodySize:])
	at = uint64(len(file)) - bodySize
	for i := range 11 {
		d := file[atTable+16*i:]
		size, stride = le.Uint64(d)*uint64(d[8]), uint64(d[8])
		if i == want {
			return at, size, stride
		}
		at = (at + size + 8 + 7) &^ 7
	}
	return 0, 0, 0
}

const (
	extents = iota
	groups
	rows
	spots
	nodes
	triples
	functions
	origins
	files
	index
	stringsAt
)

// A malicious file has valid checksums.
func TestForgedRecordsAreReported(t *testing.T) {
	edit := func(sec int, off uint64, b ...byte) func([]byte) {
		return func(file []byte) {
			at, _, _ := section(file, sec)
			copy(file[at+off:], b)
		}
	}
	head := func(off int, b ...byte) func([]byte) {
		return func(file []byte) { copy(file[off:], b) }
	}
	langs := func(off int, b byte) func([]byte) {
		return func(file []byte) {
			file[int(binary.LittleEndian.Uint32(file[atHeadSize:]))-4-langsBytes+off] = b
		}
	}
	for _, c := range []struct {
		name string
		edit func([]byte)
		want string // in the error of Open or Verify
	}{
		{"page size", head(28, 15), "parameters"},
		{"bucket size", head(29, 8), "parameters"},
		{"sections", head(30, 9), "parameters"},
		{"stride", head(atTable+16*nodes+8, 9), "nodes"},
		{"bits", head(atTable+16*origins+9, 33), "origins"},
		{"count", head(atTable+16*rows+5, 1), "rows"},
		{"fewer records", head(atTable+16*functions, 0), "body"},
		{"text of the head", head(280, 0xff), "head"},
		{"more origins of a language than there are", langs(2, 6), "6 origins"},
		{"origins of no language", langs(2, 1), "1 origins are of no"},
		{"language that there is not", langs(4, 'x'), "language"},
		{"languages left over", langs(0, 2), "of no language"},
		{"head size", head(atHeadSize, 0xff, 0xff, 0xff, 0xff), "size"},
		{"body size", head(atBodySize+7, 0xff), ""},
		{"extent at a group that is not there", edit(extents, 1, 0x10), "extent 0"},
		{"extents not in order", edit(extents, 3, 0), "extent 1"},
		{"extent in the one before", edit(extents, 2, 1), "extent 1"},
		{"rows not in order", edit(groups, 76, 0x1f), "group 1"},
		{"bucket ends before it starts", edit(groups, 12+4, 4, 0), "bucket 2 of group 0"},
		{"bucket too long", edit(groups, 12+2, 0, 0xff), "bucket 1 of group 0"},
		{"bucket after the rows", edit(groups, 152+12, 0x14), "bucket 0 of group 2"},
		{"rows left over", edit(groups, 12+62, 0x34), "bucket 31 of group 0"},
		{"more rows than the bucket has bytes", edit(rows, 0, 1), "bucket 1 of group 0"},
		{"no such node", edit(rows, 8, 0x3e), "refers to node 12 of 4"},
		{"no such spot", edit(rows, 25, 3), "refers to node 4294967296"},
		{"no such file", edit(spots, 0, 0x3a), "file 3 of 2"},
		{"spot of another group", edit(groups, 76+8, 1), "group 1"},
		{"node of no function", edit(nodes, 0, 0xc0), "node 0"},
		{"node of no triple", edit(nodes, 1, 0x81), "node 1"},
		{"parent before the first node", edit(nodes, 1, 0x02), "node 1"},
		{"call in no file", edit(triples, 0, 0xba), "triple 0"},
		{"function of no origin", edit(functions, 4, 0x38), "function 0: origin 7"},
		{"functions not in order", edit(functions, 2, 0x31), "function 1"},
		{"strings that are not there", edit(index, 0, 0, 0, 1), "group 0"},
		{"string after the end", edit(stringsAt, 9, 0xff), "string 9"},
		{"string in itself", edit(stringsAt, 16, 0x80), "string 0 contains itself"},
		{"string in its part", edit(stringsAt, 16, 0x82), "contains itself"},
		{"string of no number", edit(stringsAt, 16, 0xdf, 0xff), "string"},
		{"truncated string", edit(stringsAt, 16+22, 0xe0), "string 0 is truncated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := kernel().build(t, symcache.Options{})
			c.edit(file)
			reseal(file)
			table, err := symcache.Open(bin.Bytes(file))
			if err == nil {
				exercise(table)
				table.Dump(io.Discard)
				err = table.Verify()
			}
			if fault.KindOf(err) != fault.Malformed || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestForgedNamesAreReported(t *testing.T) {
	for sec, want := range map[int]string{triples: "triple 0", origins: "origin 0", files: "file 0"} {
		file := large(t, 60).build(t, symcache.Options{})
		at, _, stride := section(file, sec)
		for i := range stride {
			file[at+i] = 0xff
		}
		reseal(file)
		table := open(t, file)
		exercise(table)
		table.Dump(io.Discard)
		if err := table.Verify(); fault.KindOf(err) != fault.Malformed || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestForgedCallHasNoFrames(t *testing.T) {
	file := kernel().build(t, symcache.Options{})
	at, _, _ := section(file, triples)
	file[at] |= 0x30 // file 3 of 2
	reseal(file)
	table := open(t, file)
	if frames := table.Lookup(nil, 0xffffffff81000104); len(frames) != 0 || table.Damaged() == nil {
		t.Errorf("frames %v, damage %v", frames, table.Damaged())
	}
	if frames := table.Lookup(nil, 0xffffffff8100007d); len(frames) != 1 {
		t.Errorf("frames %v, want valid ones", frames)
	}
}

func TestForgedStringHasNoName(t *testing.T) {
	file := example().build(t, symcache.Options{})
	at, _, _ := section(file, stringsAt)
	// String 0, which is part of all names, ends with the first byte of a
	// reference, whose other bytes are in string 1.
	copy(file[at+16+38-1:], []byte{0xfc, 0, 0, 0, 3})
	reseal(file)
	table := open(t, file)
	name, _ := table.AppendText(nil, table.Lookup(nil, 0x1004)[0].Func)
	if len(name) > 0 || table.Damaged() == nil {
		t.Errorf("name %q, damage %v", name, table.Damaged())
	}
}

// exercise calls all methods of a table except Dump. They must not panic or loop.
func exercise(table *symcache.Table, more ...uint64) {
	var frames []sym.Frame
	var name []byte
	const top = 0xffffffff81000000
	addrs := []uint64{
		0, 1, 0x1000, 0x1004, 0x1010, 1 << 32, top - 8, top, top + 0x7d, top + 0x80, top + 0x81, top + 0x84, top + 0x90,
		top + 0x100, top + 0x104, top + 0x1000, top + 0x10ff, top + 0x1100, top + 0x300000, 1<<64 - 1,
	}
	for _, addr := range append(addrs, more...) {
		frames = table.Lookup(frames[:0], addr)
		if f, ok := table.Nearest(addr); ok {
			frames = append(frames, f)
		}
		for _, f := range frames[:min(len(frames), 4)] {
			name, _ = table.AppendText(name[:0], f.Func)
			name, _ = table.AppendText(name[:0], f.File)
		}
	}
	for h := range sym.Text(40) {
		name, _ = table.AppendText(name[:0], h)
	}
}

// Strings that double at each of eight levels, or that refer to one another,
// are truncated.
func TestNamesOfForgedStringsAreLimited(t *testing.T) {
	m := &model{}
	for i := range 40 {
		name := m.text(strings.Repeat("abc", 30) + string(rune('a'+i)))
		m.blocks = append(m.blocks, &sym.Block{
			Nodes: []sym.Node{{Parent: -1, Name: name, Entry: uint64(i) * 16}},
			Rows:  []sym.Row{{Addr: uint64(i) * 16}},
		})
	}
	file := m.build(t, symcache.Options{})
	at, size, _ := section(file, stringsAt)
	for i := at; i+91 <= at+size; {
		sizes := file[i : i+16]
		i += 16
		for k := range sizes {
			// Each string consists of references to the next one.
			for j := range uint64(sizes[k]) {
				file[i+j] = byte(0x80 + (i-at)/91 + 1)
			}
			i += uint64(sizes[k])
		}
	}
	reseal(file)
	table := open(t, file)
	frames := table.Lookup(nil, 0)
	if len(frames) != 1 {
		t.Fatalf("got %d frames", len(frames))
	}
	if name, _ := table.AppendText([]byte("kept"), frames[0].Func); string(name) != "kept" {
		t.Errorf("name of %d bytes", len(name))
	}
	if table.Damaged() == nil || table.Verify() == nil {
		t.Error("Damaged returned nil")
	}
}
