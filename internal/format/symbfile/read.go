package symbfile

import (
	"fmt"
	"io"
	"slices"

	"symbolon/internal/fault"
)

const (
	bufSize  = 64 << 10
	headSize = 20 // of a message, at most
)

// Reader reads a file from its beginning to its end.
type Reader struct {
	// Strict applies the limits for files of strangers. It is set before the
	// first Next.
	Strict bool

	src   io.Reader
	ended error // of src
	buf   []byte
	at    int // of buf: what is next
	end   int // of buf
	off   int64
	begun bool
	err   error

	// The present message.
	start int64
	head  [headSize]byte
	heads int // bytes of head
	kind  uint64
	size  int
	body  []byte
	big   []byte // the body, if it does not fit into buf
	whole bool   // also those of unknown types are read

	table table
	prev  uint64 // VA
	has   bool   // there is one
	rng   Range
	pad   Pad
	cols  [3][]uint32
	texts Texts
}

// NewReader is a Reader of the file that r gives.
func NewReader(r io.Reader) *Reader { return &Reader{src: r, buf: make([]byte, bufSize)} }

// Offset is where the record is that Next gave, or failed at.
func (r *Reader) Offset() int64 { return r.start }

// Next is the next record, which is the Reader's and lasts until the next call.
// Behind the last one it gives io.EOF. Any other error stays.
func (r *Reader) Next() (Record, error) {
	for r.err == nil {
		if r.err = r.message(); r.err != nil {
			break
		}
		rec, err := r.decode()
		if err != nil {
			r.err = r.wrong(err)
			break
		}
		if rec != (Record{}) {
			return rec, nil
		}
	}
	return Record{}, r.err
}

// Begin reads the magic and the header, and gives where the messages behind them
// begin. It may be called before the first Next.
func (r *Reader) Begin() (int64, error) {
	if !r.begun && r.err == nil {
		if r.err = r.message(); r.err == nil {
			if _, err := r.decode(); err != nil {
				r.err = r.wrong(err)
			}
		}
	}
	return r.off, r.err
}

// message reads the next message. At the end of the file it gives io.EOF.
func (r *Reader) message() error {
	if !r.begun {
		if err := r.begin(); err != nil {
			return err
		}
	}
	r.start, r.kind, r.heads, r.body = r.off, 0, 0, nil
	r.fill(headSize)
	b := r.buf[r.at:r.end]
	if len(b) == 0 && r.begun && r.ended == io.EOF {
		return io.EOF
	}
	n, at := headUvarint(b, 0)
	switch {
	case at < 0:
		return r.badHead(at)
	case n > maxMessage:
		return r.wrong(errSize)
	}
	kind, at := headUvarint(b, at)
	if at < 0 {
		return r.badHead(at)
	}
	r.kind, r.size, r.heads = kind, int(n), copy(r.head[:], b[:at])
	r.take(at)
	switch {
	case !r.begun && kind != typeHeader:
		return r.wrong(errHeader)
	case kind == 0 || kind > maxType:
		return r.wrong(errType)
	case r.begun && kind == typeHeader:
		return r.wrong(errSecond)
	}
	r.begun = true
	return r.payload()
}

// begin reads the magic.
func (r *Reader) begin() error {
	r.fill(len(magic))
	switch b := string(r.buf[:min(r.end, len(magic))]); b {
	case magic:
		r.take(len(magic))
		return nil
	case magic[:len(b)]:
		return r.cut()
	}
	return r.wrong(errMagic)
}

// payload reads the body of the message.
func (r *Reader) payload() error {
	n := r.size
	switch {
	case r.kind > typeTable && !r.whole:
		return r.skip(n)
	case r.kind == typeTable:
		ok := false
		r.table.start = r.off
		r.table.b, ok = r.read(r.table.b[:0], n)
		if r.body = r.table.b; !ok {
			return r.cut()
		}
	case n <= len(r.buf):
		if !r.fill(n) {
			return r.cut()
		}
		r.body = r.buf[r.at : r.at+n : r.at+n]
		r.take(n)
	default:
		ok := false
		r.big, ok = r.read(r.big[:0], n)
		if r.body = r.big; !ok {
			return r.cut()
		}
	}
	return nil
}

func (r *Reader) skip(n int) error {
	for n > 0 {
		if !r.fill(1) {
			return r.cut()
		}
		have := min(n, r.end-r.at)
		r.take(have)
		n -= have
	}
	return nil
}

// read appends the next n bytes to dst, which grows with what comes.
func (r *Reader) read(dst []byte, n int) ([]byte, bool) {
	for n > 0 {
		if !r.fill(1) {
			return dst, false
		}
		have := min(n, r.end-r.at)
		dst = slices.Grow(dst, min(n, max(have, len(dst))))
		dst = append(dst, r.buf[r.at:r.at+have]...)
		r.take(have)
		n -= have
	}
	return dst, true
}

func (r *Reader) take(n int) {
	r.at += n
	r.off += int64(n)
}

// fill sees to it that n bytes, at most all of buf, are there. It is false if the
// file has not got them.
func (r *Reader) fill(n int) bool {
	if r.end-r.at >= n {
		return true
	}
	r.end = copy(r.buf, r.buf[r.at:r.end])
	r.at = 0
	for idle := 0; r.end < n && r.ended == nil; idle++ {
		var m int
		m, r.ended = r.src.Read(r.buf[r.end:])
		if r.end += m; m > 0 {
			idle = 0
		}
		if idle == 100 && r.ended == nil {
			r.ended = io.ErrNoProgress
		}
	}
	return r.end >= n
}

// cut is the error of a file that ends too early.
func (r *Reader) cut() error {
	if r.ended != nil && r.ended != io.EOF {
		return fmt.Errorf("read symbfile at %#x: %w", r.off, r.ended)
	}
	return r.wrong(ErrCut)
}

// badHead is the error of a head that has no number.
func (r *Reader) badHead(at int) error {
	if at == long {
		return r.wrong(errVarint)
	}
	return r.cut()
}

// wrong is an error of the present message.
func (r *Reader) wrong(err error) error {
	return fault.New(fault.Malformed, fmt.Sprintf("symbfile, %s at %#x", kindName(r.kind), r.start), "%w", err)
}

// kindName is a type of messages, for people.
func kindName(kind uint64) string {
	switch kind {
	case 0:
		return "message"
	case typeHeader:
		return "header"
	case typeRange:
		return "range"
	case typePad:
		return "return pad"
	case typeTable:
		return "string table"
	}
	return fmt.Sprintf("message of type %d", kind)
}

// grown is s with a length of n, whatever is in it.
func grown[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }
