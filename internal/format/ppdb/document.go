package ppdb

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"unicode/utf8"
)

// maxPath limits the bytes of a path: a damaged path can refer to the same part
// many times.
const maxPath = 4 << 10

// GUIDs of embedded sources, 0E8A571B-6926-466E-B4AD-8AB04611F5FE, and of
// Source Link, CC110556-A091-4D38-9FEC-25AB9A351A6A.
const (
	sourceKind = "\x1b\x57\x8a\x0e\x26\x69\x6e\x46\xb4\xad\x8a\xb0\x46\x11\xf5\xfe"
	linkKind   = "\x56\x05\x11\xcc\x91\xa0\x38\x4d\x9f\xec\x25\xab\x9a\x35\x1a\x6a"
)

// embedded is the document of an embedded source, and its offset in #Blob.
type embedded struct{ document, blob uint32 }

// Documents returns the number of source files. They are counted from 1.
func (f *File) Documents() int { return int(f.tables[tableDocument].count) }

// AppendPath appends the path of a document, up to the first damaged part.
func (f *File) AppendPath(dst []byte, document uint32) []byte {
	name, _ := f.blobAt(f.tables[tableDocument].cell(document, 0))
	separator, width := utf8.DecodeRune(name)
	if width == 0 {
		return dst
	}
	from := len(dst)
	for rest, first := name[width:], true; len(rest) > 0 && len(dst)-from < maxPath; first = false {
		at, n := number(rest)
		if n == 0 {
			break
		}
		rest = rest[n:]
		if !first && separator != 0 {
			dst = append(dst, name[:width]...)
		}
		part, _ := f.blobAt(at)
		dst = append(dst, part[:min(len(part), maxPath)]...)
	}
	return dst[:min(len(dst), from+maxPath)]
}

// GUIDs of languages.
const (
	CSharp      = "\xf8\x62\x51\x3f\xc6\x07\xd3\x11\x90\x53\x00\xc0\x4f\xa3\x02\xa1" // 3F5162F8-07C6-11D3-9053-00C04FA302A1
	VisualBasic = "\xb8\xd0\x12\x3a\x6c\xc2\xd0\x11\xb4\x42\x00\xa0\x24\x4a\x1d\xd2" // 3A12D0B8-C26C-11D0-B442-00A0244A1DD2
	FSharp      = "\xc9\x38\x4f\xab\xe6\xb6\xba\x43\xbe\x3b\x58\x08\x0b\x2c\xcc\xe3" // AB4F38C9-B6E6-43BA-BE3B-58080B2CCCE3
)

// Language returns the GUID of the language of a document, nil if it has none.
func (f *File) Language(document uint32) []byte {
	return f.guid(f.tables[tableDocument].cell(document, 3))
}

// findEmbedded lists the embedded sources, and finds Source Link.
func (f *File) findEmbedded() {
	t := &f.tables[tableCustom]
	for row := uint32(1); row <= t.count; row++ {
		parent, kind := t.cell(row, 0), f.guid(t.cell(row, 1))
		switch {
		case string(kind) == sourceKind && parent&(1<<tagBits-1) == tagDocument:
			f.embedded = append(f.embedded, embedded{parent >> tagBits, t.cell(row, 2)})
		case string(kind) == linkKind && parent == theModule && f.Link == nil: // there is at most one
			f.Link, _ = f.blobAt(t.cell(row, 2))
		}
	}
	slices.SortStableFunc(f.embedded, func(a, b embedded) int { return cmp.Compare(a.document, b.document) })
}

// guid returns the GUID of a number, nil for an invalid number.
func (f *File) guid(number uint32) []byte {
	if number == 0 || uint64(number)*16 > uint64(len(f.guids)) {
		return nil
	}
	return f.guids[int(number-1)*16:][:16]
}

// Sources returns the number of embedded sources.
func (f *File) Sources() int { return len(f.embedded) }

// Source returns the embedded source of a document, nil without one. If size is
// not zero, text is a bare DEFLATE stream of size uncompressed bytes.
func (f *File) Source(document uint32) (text []byte, size uint32, err error) {
	i, found := slices.BinarySearchFunc(f.embedded, document, func(e embedded, d uint32) int { return cmp.Compare(e.document, d) })
	if !found {
		return nil, 0, nil
	}
	b, whole := f.blobAt(f.embedded[i].blob)
	if !whole || len(b) < 4 {
		return nil, 0, fmt.Errorf("embedded source of document %d is truncated in #Blob at offset %#x", document, f.embedded[i].blob)
	}
	if size = binary.LittleEndian.Uint32(b); int32(size) < 0 {
		return nil, 0, fmt.Errorf("embedded source of document %d has unknown format %#x", document, size)
	}
	return b[4:], size, nil
}
