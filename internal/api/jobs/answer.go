package jobs

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

const (
	maxPlain    = 8 << 20  // bytes of an uncompressed answer
	maxAllPlain = 64 << 20 // bytes of all uncompressed answers
	maxPooled   = 4 << 20  // bytes of a buffer that is used again
	maxDecoded  = 64 << 30 // limit of the decoder: more than an answer has
)

// An Answer is the JSON of an answer. It is an io.Writer until End.
type Answer struct {
	plain  []byte
	packed []byte // with zstd; nil: it is plain

	piece *[]byte       // the buffer of plain
	total *atomic.Int64 // bytes of plain of all answers
	enc   *zstd.Encoder
	out   *bytes.Buffer // of enc
}

// buffers are the plain bytes of freed answers.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// NewAnswer returns an empty answer. Its plain bytes are counted until it is
// freed.
func (s *Jobs) NewAnswer() *Answer {
	piece := buffers.Get().(*[]byte)
	return &Answer{piece: piece, plain: (*piece)[:0], total: &s.plain}
}

// Brief returns a short answer.
func Brief(text string) *Answer { return &Answer{plain: []byte(text)} }

// Write appends b. A large answer is compressed meanwhile.
func (a *Answer) Write(b []byte) (int, error) {
	if a.enc == nil {
		if a.reserve(len(b)) {
			a.plain = append(a.plain, b...)
			return len(b), nil
		}
		a.pack()
	}
	return a.enc.Write(b)
}

// reserve counts n more plain bytes, unless that exceeds a limit.
func (a *Answer) reserve(n int) bool {
	if len(a.plain)+n > maxPlain {
		return false
	}
	if a.total.Add(int64(n)) > maxAllPlain {
		a.total.Add(-int64(n))
		return false
	}
	return true
}

func (a *Answer) pack() {
	a.out = &bytes.Buffer{}
	a.enc, _ = zstd.NewWriter(a.out, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1)) // the options are valid
	_, _ = a.enc.Write(a.plain)                                                                                // a buffer does not fail
	a.Free()
}

// End ends writing.
func (a *Answer) End() {
	if a.enc == nil {
		return
	}
	_ = a.enc.Close() // a buffer does not fail
	a.packed, a.enc, a.out = a.out.Bytes(), nil, nil
}

// kept returns the answer compressed.
func (a *Answer) kept() *Answer {
	if a.packed != nil {
		return &Answer{packed: a.packed}
	}
	small := &Answer{plain: a.plain}
	small.pack()
	small.End()
	return small
}

// size returns the bytes of memory of the answer.
func (a *Answer) size() int64 { return int64(len(a.plain) + len(a.packed)) }

// Send sends the answer to a client.
func (a *Answer) Send(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if a.packed == nil {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.plain)))
		_, _ = w.Write(a.plain) // the client may have left
		return
	}
	z, err := zstd.NewReader(bytes.NewReader(a.packed),
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxDecoded))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer z.Close()
	if _, err := z.WriteTo(w); err != nil {
		panic(http.ErrAbortHandler) // a truncated answer must not look complete
	}
}

// release ends the count of the plain bytes, although clients may still read
// them.
func (a *Answer) release() {
	if a.total != nil {
		a.total.Add(-int64(len(a.plain)))
		a.total = nil
	}
}

// Free releases the memory of an answer that is not used any more.
func (a *Answer) Free() {
	a.release()
	if a.piece != nil && a.plain != nil && cap(a.plain) <= maxPooled {
		*a.piece = a.plain
		buffers.Put(a.piece)
	}
	a.piece, a.plain = nil, nil
}
