package disk

import (
	"io"
	"os"
	"sync/atomic"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// private is a Blob in memory of its own.
type private struct {
	bin.Source
	bytes  []byte
	free   func([]byte) error // nil: the collector does it
	closed atomic.Bool
}

// largeBlob is from how many bytes on a blob is kept out of the heap.
const largeBlob = 64 << 10

func allocate(size int) *private {
	p := &private{}
	if size >= largeBlob {
		p.bytes, p.free = anonymous(size)
	}
	if p.bytes == nil {
		p.bytes = make([]byte, size)
	}
	p.Source = bin.Bytes(p.bytes)
	return p
}

// Bytes is the content in place. It is gone with Close.
func (p *private) Bytes() []byte { return p.bytes }

func (p *private) ReadAt(b []byte, off int64) (int, error) {
	if p.closed.Load() {
		return 0, os.ErrClosed
	}
	return p.Source.ReadAt(b, off)
}

func (p *private) Close() error {
	if p.closed.Swap(true) || p.free == nil {
		return nil
	}
	return p.free(p.bytes)
}

const (
	// maxLent is how much memory may stand in for a disk that takes nothing, if
	// nothing is configured.
	maxLent   = 256 << 20
	pieceSize = 1 << 20
)

// lend counts n bytes that stay in memory because the disk failed.
func (s *Store) lend(n int64) error {
	if s.lent.Add(n) <= s.maxLent {
		return nil
	}
	s.lent.Add(-n)
	return fault.New(fault.Internal, place,
		"the disk takes nothing, and the %v of memory that stand in for it are used up; free some space in %s", bin.Size(s.maxLent), s.dir)
}

// memory is bytes that grow, in pieces.
type memory struct {
	pieces []*private
	size   int64
}

func (m *memory) write(p []byte) {
	for len(p) > 0 {
		at := int(m.size % pieceSize)
		if at == 0 {
			m.pieces = append(m.pieces, allocate(pieceSize))
		}
		n := copy(m.pieces[len(m.pieces)-1].bytes[at:], p)
		m.size += int64(n)
		p = p[n:]
	}
}

func (m *memory) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && off < m.size {
		piece := m.pieces[off/pieceSize].bytes[off%pieceSize:]
		k := copy(p[n:], piece[:min(int64(len(piece)), m.size-off)])
		n += k
		off += int64(k)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (m *memory) free() {
	for _, p := range m.pieces {
		_ = p.Close() // memory of our own
	}
	*m = memory{}
}
