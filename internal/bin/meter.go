package bin

import (
	"errors"
	"io"
	"sync/atomic"
)

// ErrLimit says that more was decoded than a Limit allows.
var ErrLimit = errors.New("decoded data exceeds its limit")

// The bounds of a Limit that states none.
const (
	defaultRatio = 200
	defaultFree  = 64 << 20
)

// Limit bounds what may come out of a decoder.
type Limit struct {
	Bytes int64 // decoded bytes at most; zero: no bound of its own
	Ratio int64 // decoded bytes for each encoded one, past Free; zero: 200, negative: no bound
	Free  int64 // decoded bytes before Ratio is looked at; zero: 64 MiB, negative: none
}

// Count counts what is read through it.
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

// N is how many bytes have been read. Decoders read ahead, so it may run in
// front of what they have given out.
func (c *Count) N() int64 { return c.n.Load() }

// Meter reads from decoded and fails with ErrLimit as soon as that has given
// more than l allows; what is within the absolute limit is still handed out.
// Encoded counts the input of the decoder; with a nil one there is no ratio.
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
