package symbfile

import (
	"fmt"
	"io"
	"slices"

	"symbolon/internal/fault"
)

const (
	bufSize  = 64 << 10
	headSize = 20 // largest size of a message's head
)

// A Reader reads a file from start to end.
type Reader struct {
	// Strict applies the limits for files of untrusted clients. It must be set
	// before the first Next.
	Strict bool

	src     io.Reader
	ended   error // the error that ended src
	buf     []byte
	at      int // index in buf of the next byte
	end     int // index of the end of the bytes in buf
	off     int64
	started bool
	err     error

	// The current message.
	start    int64
	head     [headSize]byte
	heads    int // bytes in head
	kind     uint64
	size     int
	body     []byte
	big      []byte // the body, if it exceeds buf
	allTypes bool   // read the bodies of messages of unknown types too

	table   table
	prev    uint64 // VA
	hasPrev bool   // prev is set
	rng     Range
	pad     Pad
	cols    [3][]uint32
	texts   Texts
}

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{src: r, buf: make([]byte, bufSize)} }

// Offset returns the offset of the record that Next returned, or failed at.
func (r *Reader) Offset() int64 { return r.start }

// Next returns the next record, which is valid until the next call. After the
// last one it returns io.EOF. Any other error is permanent.
func (r *Reader) Next() (Record, error) {
	for r.err == nil {
		if r.err = r.message(); r.err != nil {
			break
		}
		rec, err := r.decode()
		if err != nil {
			r.err = r.malformed(err)
			break
		}
		if rec != (Record{}) {
			return rec, nil
		}
	}
	return Record{}, r.err
}

// Begin reads the magic and the header, and returns the offset of the first
// message after them. It may be called before the first Next.
func (r *Reader) Begin() (int64, error) {
	if !r.started && r.err == nil {
		if r.err = r.message(); r.err == nil {
			if _, err := r.decode(); err != nil {
				r.err = r.malformed(err)
			}
		}
	}
	return r.off, r.err
}

// message reads the next message. At the end of the file it returns io.EOF.
func (r *Reader) message() error {
	if !r.started {
		if err := r.begin(); err != nil {
			return err
		}
	}
	r.start, r.kind, r.heads, r.body = r.off, 0, 0, nil
	r.fill(headSize)
	b := r.buf[r.at:r.end]
	if len(b) == 0 && r.started && r.ended == io.EOF {
		return io.EOF
	}
	n, at := headUvarint(b, 0)
	switch {
	case at < 0:
		return r.badHead(at)
	case n > maxMessage:
		return r.malformed(errSize)
	}
	kind, at := headUvarint(b, at)
	if at < 0 {
		return r.badHead(at)
	}
	r.kind, r.size, r.heads = kind, int(n), copy(r.head[:], b[:at])
	r.take(at)
	switch {
	case !r.started && kind != typeHeader:
		return r.malformed(errHeader)
	case kind == 0 || kind > maxType:
		return r.malformed(errType)
	case r.started && kind == typeHeader:
		return r.malformed(errSecond)
	}
	r.started = true
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
		return r.errCut()
	}
	return r.malformed(errMagic)
}

// payload reads the body of the message.
func (r *Reader) payload() error {
	n := r.size
	switch {
	case r.kind > typeTable && !r.allTypes:
		return r.skip(n)
	case r.kind == typeTable:
		ok := false
		r.table.start = r.off
		r.table.b, ok = r.read(r.table.b[:0], n)
		if r.body = r.table.b; !ok {
			return r.errCut()
		}
	case n <= len(r.buf):
		if !r.fill(n) {
			return r.errCut()
		}
		r.body = r.buf[r.at : r.at+n : r.at+n]
		r.take(n)
	default:
		ok := false
		r.big, ok = r.read(r.big[:0], n)
		if r.body = r.big; !ok {
			return r.errCut()
		}
	}
	return nil
}

func (r *Reader) skip(n int) error {
	for n > 0 {
		if !r.fill(1) {
			return r.errCut()
		}
		have := min(n, r.end-r.at)
		r.take(have)
		n -= have
	}
	return nil
}

// read appends the next n bytes to dst, which grows with the bytes read.
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

// fill reads until the buffer has n bytes, at most its size. It returns false
// if the file ends before.
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

// errCut returns the error of a file that ends too early.
func (r *Reader) errCut() error {
	if r.ended != nil && r.ended != io.EOF {
		return fmt.Errorf("read symbfile at %#x: %w", r.off, r.ended)
	}
	return r.malformed(ErrCut)
}

// badHead returns the error of an invalid number in a head.
func (r *Reader) badHead(at int) error {
	if at == long {
		return r.malformed(errVarint)
	}
	return r.errCut()
}

// malformed returns err as an error of the current message.
func (r *Reader) malformed(err error) error {
	return fault.New(fault.Malformed, fmt.Sprintf("symbfile, %s at %#x", kindName(r.kind), r.start), "%w", err)
}

// kindName returns the name of a type of messages.
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

// grown returns a slice of length n that reuses the memory of s. Its contents
// are undefined.
func grown[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }
