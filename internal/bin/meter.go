package bin

import (
	"errors"
	"io"
	"sync/atomic"
)

// ErrLimit means that more was decoded than a Limit allows.
var ErrLimit = errors.New("decoded data exceeds its limit")

// The values of a Limit whose fields are zero.
const (
	defaultRatio = 200
	defaultFree  = 64 << 20
)

// A Limit bounds the output of a decoder.
type Limit struct {
	Bytes int64 // most decoded bytes; zero: no absolute limit
	Ratio int64 // most decoded bytes for each encoded byte, after Free; zero: 200, negative: no limit
	Free  int64 // decoded bytes that Ratio does not apply to; zero: 64 MiB, negative: none
}

// A Count counts the bytes that are read through it.
type Count struct {
	r io.Reader
	n atomic.Int64
}

func NewCount(r io.Reader) *Count { return &Count{r: r} }

func (c *Count) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// N returns the number of bytes read. Decoders read ahead, so it may exceed the
// input of the output so far.
func (c *Count) N() int64 { return c.n.Load() }

// Meter returns a reader of decoded that fails with ErrLimit as soon as decoded
// exceeds l; the bytes up to the absolute limit are still returned. Encoded
// counts the input of the decoder; if it is nil, the ratio is not checked.
func Meter(decoded io.Reader, encoded *Count, l Limit) io.Reader {
	if l.Ratio == 0 {
		l.Ratio = defaultRatio
	}
	if l.Free == 0 {
		l.Free = defaultFree
	}
	return &meter{r: decoded, encoded: encoded, limit: l}
}

type meter struct {
	r       io.Reader
	encoded *Count
	limit   Limit
	n       int64
	over    bool
}

func (m *meter) Read(p []byte) (int, error) {
	if m.over {
		return 0, ErrLimit
	}
	n, err := m.r.Read(p)
	m.n += int64(n)
	if m.limit.Bytes > 0 && m.n > m.limit.Bytes {
		m.over = true
		return n - int(m.n-m.limit.Bytes), ErrLimit
	}
	if m.encoded != nil && m.limit.Ratio > 0 && m.n > m.limit.Free && m.n/m.limit.Ratio > m.encoded.N() {
		m.over = true
		return n, ErrLimit
	}
	return n, err
}
