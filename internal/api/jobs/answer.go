package jobs

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

const (
	mostPlain  = 8 << 20  // what an answer in the making takes before it is packed
	allPlain   = 64 << 20 // what all of them take before each is packed
	keptBuffer = 4 << 20  // of buffers that are used again
)

// Answer is the text of an answer. In the making it is an io.Writer; done, it
// does not change any more.
type Answer struct {
	plain  []byte
	packed []byte // as zstd; nil: it is plain

	piece *[]byte       // whose memory plain uses
	total *atomic.Int64 // bytes of plain of all answers
	enc   *zstd.Encoder
	out   *bytes.Buffer // of enc
}

// buffers is memory for answers.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// NewAnswer begins an answer, whose plain bytes are counted until it is freed
// or released.
func (s *Jobs) NewAnswer() *Answer {
	piece := buffers.Get().(*[]byte)
	return &Answer{piece: piece, plain: (*piece)[:0], total: &s.plain}
}

// Brief is an answer of a few words.
func Brief(text string) *Answer { return &Answer{plain: []byte(text)} }

// Write takes a piece. A large answer is packed as it comes.
func (a *Answer) Write(b []byte) (int, error) {
	if a.enc == nil {
		if a.room(len(b)) {
			a.plain = append(a.plain, b...)
			return len(b), nil
		}
		a.pack()
	}
	return a.enc.Write(b)
}

// room says whether so many more bytes may be plain, and counts them.
func (a *Answer) room(n int) bool {
	if len(a.plain)+n > mostPlain {
		return false
	}
	if a.total.Add(int64(n)) > allPlain {
		a.total.Add(-int64(n))
		return false
	}
	return true
}

func (a *Answer) pack() {
	a.out = &bytes.Buffer{}
	a.enc, _ = zstd.NewWriter(a.out, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1)) // the options are known
	_, _ = a.enc.Write(a.plain)                                                                                // a buffer takes everything
	a.Free()
}

// End closes an answer that was packed as it came.
func (a *Answer) End() {
	if a.enc == nil {
		return
	}
	_ = a.enc.Close() // a buffer takes everything
	a.packed, a.enc, a.out = a.out.Bytes(), nil, nil
}

// kept is a done answer in the form in which it is kept.
func (a *Answer) kept() *Answer {
	if a.packed != nil {
		return &Answer{packed: a.packed}
	}
	small := &Answer{plain: a.plain}
	small.pack()
	small.End()
	return small
}

// size is the memory that it takes.
func (a *Answer) size() int64 { return int64(len(a.plain) + len(a.packed)) }

// Send writes a done answer to its client.
func (a *Answer) Send(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if a.packed == nil {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.plain)))
		_, _ = w.Write(a.plain) // a client that left has no use for the error
		return
	}
	sendPacked(w, a.packed)
}

func sendPacked(w io.Writer, packed []byte) {
	z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(mostUnpacked))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer z.Close()
	if _, err := z.WriteTo(w); err != nil {
		panic(http.ErrAbortHandler) // half an answer must not look like a whole one
	}
}

// mostUnpacked is more than any answer takes.
const mostUnpacked = 64 << 30

// Release stops counting what an answer takes, though somebody may still read
// it.
func (a *Answer) Release() {
	if a.total != nil {
		a.total.Add(-int64(len(a.plain)))
		a.total = nil
	}
}

// Free gives the memory of an answer back that nobody reads any more.
func (a *Answer) Free() {
	a.Release()
	if a.piece != nil && a.plain != nil && cap(a.plain) <= keptBuffer {
		*a.piece = a.plain
		buffers.Put(a.piece)
	}
	a.piece, a.plain = nil, nil
}
