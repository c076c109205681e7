package json

import (
	"io"
	"strconv"
	"sync"
)

// pieceSize is how much of an answer is put together before it is passed on.
const pieceSize = 64 << 10

// Pieces is an answer in JSON that is passed on in pieces. After the first error
// nothing more is.
type Pieces struct {
	Buf  []byte // what is not passed on yet
	Err  error
	Sent bool // some of it was passed on
	to   io.Writer
	memo *[]byte
}

// pieces is memory for answers on their way.
var pieces = sync.Pool{New: func() any { return new([]byte) }}

// Begin takes memory for an answer that goes to w.
func (p *Pieces) Begin(w io.Writer) {
	p.to, p.memo = w, pieces.Get().(*[]byte)
	p.Buf = (*p.memo)[:0]
}

// Free gives the memory back.
func (p *Pieces) Free() {
	if cap(p.Buf) <= 4*pieceSize {
		*p.memo = p.Buf
		pieces.Put(p.memo)
	}
	p.Buf, p.memo = nil, nil
}

// Spill passes on what is there if it is enough for a piece. It is false when
// nobody takes it.
func (p *Pieces) Spill() bool {
	if len(p.Buf) >= pieceSize {
		p.Flush()
	}
	return p.Err == nil
}

// Flush passes on what is there.
func (p *Pieces) Flush() {
	if p.Err == nil {
		_, p.Err = p.to.Write(p.Buf)
	}
	p.Buf, p.Sent = p.Buf[:0], true
}

// Raw appends JSON as it is.
func (p *Pieces) Raw(text string) { p.Buf = append(p.Buf, text...) }

// Hex appends the digits of a number with 0x.
func (p *Pieces) Hex(v uint64) { p.Buf = strconv.AppendUint(append(p.Buf, "0x"...), v, 16) }

// Int appends a number.
func (p *Pieces) Int(v int) { p.Buf = strconv.AppendInt(p.Buf, int64(v), 10) }
