package symbfile

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"symbolon/internal/fault"
)

const (
	maxText    = 16<<20 - 64<<10 // of the strings of a batch, with the size of a table
	maxRecords = 2 << 20         // of the records of a batch, in their internal form
	stringHead = 5               // largest size of the head of a string in a table
	recordHead = 64              // limit of a record's size without strings and rows
)

// A Writer writes a file. Its output depends only on the records.
type Writer struct {
	out     *bufio.Writer
	started bool
	err     error // of the underlying writer

	batch   batch
	start   []byte // head of a message
	msg     []byte // body of a message
	cols    [3][]byte
	prev    uint64 // VA
	hasPrev bool   // prev is set
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer {
	return &Writer{out: bufio.NewWriterSize(w, bufSize), batch: newBatch()}
}

// Range adds a range. If the format cannot represent it, Range returns an
// error, and the file continues without it.
func (w *Writer) Range(x *Range) error {
	if w.err != nil {
		return w.err
	}
	var last uint64
	for i := range x.Lines {
		off := x.Lines[i].Offset
		switch {
		case off < last:
			return reject("range", x.VA, errOrder)
		case off-last > math.MaxUint32:
			return reject("range", x.VA, errOffset)
		}
		last = off
	}
	if len(x.Lines) > maxLines {
		return reject("range", x.VA, errRows)
	}
	if !utf8.Valid(x.Func) || !utf8.Valid(x.File) || !utf8.Valid(x.CallFile) {
		return reject("range", x.VA, errUTF8)
	}
	bytes := len(x.Func) + len(x.File) + len(x.CallFile) + 3*stringHead
	alone, err := w.reserve(bytes, 10*len(x.Lines), func() int {
		return w.batch.fresh(x.Func) + w.batch.fresh(x.File) + w.batch.fresh(x.CallFile)
	})
	if err != nil {
		return err
	}
	w.batch.addRange(x)
	return w.added(alone, "range", x.VA)
}

// Pad adds a return pad in the same way.
func (w *Writer) Pad(x *Pad) error {
	if w.err != nil {
		return w.err
	}
	if len(x.Frames) > maxFrames {
		return reject("return pad", x.VA, errRows)
	}
	bytes := 0
	for i := range x.Frames {
		f := &x.Frames[i]
		if !utf8.Valid(f.Func) || !utf8.Valid(f.File) {
			return reject("return pad", x.VA, errUTF8)
		}
		bytes = min(bytes+len(f.Func)+len(f.File)+2*stringHead, math.MaxInt32)
	}
	alone, err := w.reserve(bytes, 0, func() (n int) {
		for i := range x.Frames {
			n = min(n+w.batch.fresh(x.Frames[i].Func)+w.batch.fresh(x.Frames[i].File), math.MaxInt32)
		}
		return n
	})
	if err != nil {
		return err
	}
	w.batch.addPad(x)
	return w.added(alone, "return pad", x.VA)
}

// Close writes pending records. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	if w.batch.count > 0 || !w.started {
		w.err = w.flush()
	}
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if w.err != nil {
		return w.err
	}
	w.err = fault.New(fault.Internal, "symbfile", "the Writer is closed")
	return nil
}

// reject returns the error of a record that cannot be written.
func reject(kind string, va uint64, err error) error {
	return fault.New(fault.Malformed, fmt.Sprintf("symbfile, %s of %#x", kind, va), "%w", err)
}

// reserve prepares the batch for a record with at most the given bytes of text
// and rows; fresh returns the bytes of text that are not in the batch yet. A
// record that may be too large for a message gets a batch of its own.
func (w *Writer) reserve(text, rows int, fresh func() int) (alone bool, err error) {
	if w.batch.count > 0 && w.batch.cost+text+rows+recordHead > maxText {
		if n := fresh(); n+rows+recordHead <= maxText && w.batch.cost+n <= maxText {
			return false, nil // the batch already has its strings
		}
		w.err = w.flush()
	}
	return text+rows+recordHead > maxText, w.err
}

// added flushes the batch after a record was added, if it is full.
func (w *Writer) added(alone bool, kind string, va uint64) error {
	if alone {
		size := w.batch.index()
		if size <= maxMessage {
			w.record(w.batch.records, 0)
			size = len(w.msg)
		}
		if size > maxMessage {
			w.batch.reset()
			return reject(kind, va, errSize)
		}
	}
	if alone || len(w.batch.records) >= maxRecords {
		w.err = w.flush()
	}
	return w.err
}

// flush writes the batch.
func (w *Writer) flush() error {
	if !w.started {
		w.out.WriteString(magic)
		w.head(typeHeader, 0)
		w.started = true
	}
	b := &w.batch
	w.head(typeTable, b.index())
	for _, id := range b.order {
		w.msg = appendText(w.msg[:0], 1, b.bytes(&b.entries[id]))
		w.out.Write(w.msg)
	}
	for at := 0; at < len(b.records); {
		kind := uint64(b.records[at])
		var va uint64
		va, at = w.record(b.records, at)
		w.prev, w.hasPrev = va, true
		w.head(kind, len(w.msg))
		if _, err := w.out.Write(w.msg); err != nil {
			return err
		}
	}
	b.reset()
	_, err := w.out.Write(nil) // bufio returns the first error
	return err
}

// head writes the head of a message.
func (w *Writer) head(kind uint64, size int) {
	w.start = binary.AppendUvarint(binary.AppendUvarint(w.start[:0], uint64(size)), kind)
	w.out.Write(w.start)
}

// record builds the message of the record at an offset of b, and returns its VA
// and the offset after it.
func (w *Writer) record(b []byte, at int) (va uint64, next int) {
	kind := b[at]
	va = binary.LittleEndian.Uint64(b[at+1:])
	at += 9
	w.msg = w.msg[:0]
	switch d := va - w.prev; {
	case w.hasPrev && (va >= w.prev && d <= math.MaxInt64 || va < w.prev && -d <= 1<<63):
		w.number(1, protowire.EncodeZigZag(int64(d)))
	case kind == typeRange:
		w.number(12, va)
	default:
		w.number(5, va)
	}
	if kind == typePad {
		return va, w.padColumns(b, at)
	}
	length, at := uvarint(b, at)
	fn, at := uvarint(b, at)
	file, at := uvarint(b, at)
	callLine, at := uvarint(b, at)
	callFile, at := uvarint(b, at)
	depth, at := uvarint(b, at)
	w.nonzero(2, length)
	w.text(3, 9, fn)
	w.text(4, 10, file)
	w.nonzero(5, callLine)
	w.text(6, 11, callFile)
	w.nonzero(7, depth)
	return va, w.lines(b, at)
}

// number appends a field.
func (w *Writer) number(field, v uint64) {
	w.msg = binary.AppendUvarint(append(w.msg, byte(field<<3)|byte(wireVarint)), v)
}

// nonzero appends a field unless it is zero.
func (w *Writer) nonzero(field, v uint64) {
	if v != 0 {
		w.number(field, v)
	}
}

// text appends string id-1, inline or as a ref.
func (w *Writer) text(inline, ref, id uint64) {
	if id == 0 {
		return
	}
	e := &w.batch.entries[id-1]
	if e.inTable() {
		w.number(ref, uint64(e.ref))
		return
	}
	w.msg = appendText(w.msg, byte(inline), w.batch.bytes(e))
}

func appendText(dst []byte, field byte, s []byte) []byte {
	dst = binary.AppendUvarint(append(dst, field<<3|byte(wireBytes)), uint64(len(s)))
	return append(dst, s...)
}

// lines appends the line table at an offset of b.
func (w *Writer) lines(b []byte, at int) int {
	offs, at := uvarint(b, at)
	if offs == 0 {
		return at
	}
	lines, at := uvarint(b, at)
	mid, end := at+int(offs), at+int(offs+lines)
	size := 2 + protowire.SizeVarint(offs) + protowire.SizeVarint(lines) + int(offs+lines)
	w.msg = binary.AppendUvarint(append(w.msg, 8<<3|byte(wireBytes)), uint64(size))
	w.msg = appendText(w.msg, 1, b[at:mid])
	w.msg = appendText(w.msg, 2, b[mid:end])
	return end
}

// padColumns appends the columns of the frames at an offset of b.
func (w *Writer) padColumns(b []byte, at int) int {
	n, at := uvarint(b, at)
	if n == 0 {
		return at
	}
	cols := &w.cols
	for i := range cols {
		cols[i] = cols[i][:0]
	}
	var v uint64
	for range n {
		for i := range cols {
			if v, at = uvarint(b, at); i < 2 {
				v = uint64(w.batch.entries[v].ref)
			}
			cols[i] = binary.AppendUvarint(cols[i], v)
		}
	}
	for i := range cols {
		w.msg = appendText(w.msg, byte(2+i), cols[i])
	}
	return at
}
