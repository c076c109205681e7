package firefox

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math"
	"strconv"

	"symbolon/internal/fault"
	"symbolon/internal/filter"
)

// A container of slabs has a header, the number of slabs and of the root, a table
// of their types, offsets and lengths, and the slabs: documents in JSON, in which
// {"$s":N} represents slab N, and arrays of numbers.
const (
	slabMagic  = "\xdc\xdfJSLB\x01\x00"
	slabHeader = 20
	slabEntry  = 12
	slabJSON   = 10
	maxNesting = 16 // profiles have 2: shared, and the columns of its tables
)

// rewriteSlabs rewrites a container. The result has one slab, as arrays may be in
// the document. All of it is in memory.
func rewriteSlabs(ctx context.Context, run *filter.Run, data []byte, out io.Writer) error {
	document, err := flatten(data)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := rewrite(ctx, run, document, &text); err != nil {
		return err
	}
	if bytes.Equal(text.Bytes(), document) {
		_, err := out.Write(data)
		return err
	}
	if int64(text.Len()) > math.MaxUint32 {
		return fault.New(fault.Unsupported, "JSLB", "larger than 4 GiB with names; save the profile as .json")
	}
	header := []byte(slabMagic)
	for _, v := range []uint32{1, 1, 0, slabJSON, slabHeader + slabEntry, uint32(text.Len())} {
		header = binary.LittleEndian.AppendUint32(header, v)
	}
	if _, err := out.Write(header); err != nil {
		return err
	}
	_, err = out.Write(text.Bytes())
	return err
}

// flatten returns the slabs of a container as one document.
func flatten(data []byte) ([]byte, error) {
	f := flattener{file: data, most: 16*len(data) + 1<<20}
	if len(data) < slabHeader || binary.LittleEndian.Uint32(data[8:]) != 1 {
		return nil, fault.New(fault.Unsupported, "JSLB", "unknown version; save the profile as .json")
	}
	err := f.add(binary.LittleEndian.Uint32(data[16:]), 0)
	return f.text, err
}

// A flattener writes the slabs of a container as one document.
type flattener struct {
	file []byte
	text []byte
	most int // bytes of text: slabs may be used more than once
}

// add appends a slab.
func (f *flattener) add(n uint32, depth int) error {
	at := slabHeader + slabEntry*uint64(n)
	if n >= binary.LittleEndian.Uint32(f.file[12:]) || at+slabEntry > uint64(len(f.file)) {
		return fault.New(fault.Malformed, "JSLB", "slab %d is not in the table", n)
	}
	entry := f.file[at:]
	from := uint64(binary.LittleEndian.Uint32(entry[4:]))
	to := from + uint64(binary.LittleEndian.Uint32(entry[8:]))
	if to > uint64(len(f.file)) {
		return fault.New(fault.Malformed, "JSLB", "slab %d ends after the file", n)
	}
	slab := f.file[from:to]
	if depth > maxNesting || len(f.text)+len(slab) > f.most {
		return fault.New(fault.Malformed, "JSLB", "slab %d: slabs refer to each other", n)
	}
	if kind := binary.LittleEndian.Uint32(entry); kind != slabJSON {
		return f.addNumbers(n, kind, slab)
	}
	return f.addJSON(slab, depth)
}

// addJSON appends a document with the slabs that it refers to. In a document,
// "$s" with its quotes is a string, never a part of one.
func (f *flattener) addJSON(text []byte, depth int) error {
	const space = " \t\r\n"
	for {
		i := bytes.Index(text, []byte(`"$s"`))
		if i < 0 {
			f.text = append(f.text, text...)
			return nil
		}
		before, isObject := bytes.CutSuffix(bytes.TrimRight(text[:i], space), []byte("{"))
		after, isMember := bytes.CutPrefix(bytes.TrimLeft(text[i+4:], space), []byte(":"))
		number, rest, isClosed := bytes.Cut(after, []byte("}"))
		n, err := strconv.ParseUint(string(bytes.Trim(number[:min(len(number), 64)], space)), 10, 32)
		if !isObject || !isMember || !isClosed || err != nil {
			f.text = append(f.text, text[:i+4]...)
			text = text[i+4:]
			continue
		}
		f.text = append(f.text, before...)
		if err := f.add(uint32(n), depth+1); err != nil {
			return err
		}
		text = rest
	}
}

// addNumbers appends an array of numbers. JSON has null for those that are not
// finite.
func (f *flattener) addNumbers(n, kind uint32, slab []byte) error {
	sizes := [...]int{1, 1, 2, 2, 4, 4, 4, 8, 8, 8}
	if kind >= uint32(len(sizes)) || len(slab)%sizes[kind] != 0 {
		return fault.New(fault.Malformed, "JSLB", "slab %d has type %d and %d bytes", n, kind, len(slab))
	}
	f.text = append(f.text, '[')
	for size := sizes[kind]; len(slab) > 0; slab = slab[size:] {
		var raw [8]byte
		copy(raw[:], slab[:size])
		v := binary.LittleEndian.Uint64(raw[:])
		switch shift := 64 - 8*size; kind {
		case 0, 2, 4, 8:
			f.text = strconv.AppendInt(f.text, int64(v<<shift)>>shift, 10)
		case 6:
			f.addFloat(float64(math.Float32frombits(uint32(v))))
		case 7:
			f.addFloat(math.Float64frombits(v))
		default:
			f.text = strconv.AppendUint(f.text, v, 10)
		}
		f.text = append(f.text, ',')
	}
	f.text = append(bytes.TrimSuffix(f.text, []byte(",")), ']')
	return nil
}

func (f *flattener) addFloat(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		f.text = append(f.text, "null"...)
		return
	}
	f.text = strconv.AppendFloat(f.text, v, 'g', -1, 64)
}
