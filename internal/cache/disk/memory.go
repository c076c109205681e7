package disk

import (
	"io"
	"os"
	"sync/atomic"

	"symbolon/internal/bin"
)

// memoryBlob is a Blob in private memory.
type memoryBlob struct {
	bin.Source
	bytes  []byte
	free   func([]byte) error // nil: the memory is in the heap
	closed atomic.Bool
}

// largeBlob is the size from which on a blob is not in the heap.
const largeBlob = 64 << 10

// allocate returns a blob of size bytes, to be filled.
func allocate(size int) *memoryBlob {
	p := &memoryBlob{}
	if size >= largeBlob {
		p.bytes, p.free = anonymous(size)
	}
	if p.bytes == nil {
		p.bytes = make([]byte, size)
	}
	p.Source = bin.Bytes(p.bytes)
	return p
}

// Bytes returns the content in place. It is invalid after Close.
func (p *memoryBlob) Bytes() []byte { return p.bytes }

func (p *memoryBlob) ReadAt(b []byte, off int64) (int, error) {
	if p.closed.Load() {
		return 0, os.ErrClosed
	}
	return p.Source.ReadAt(b, off)
}

func (p *memoryBlob) Close() error {
	if p.closed.Swap(true) || p.free == nil {
		return nil
	}
	return p.free(p.bytes)
}

const (
	// maxMemory is how much memory may replace a disk that fails, unless
	// configured.
	maxMemory = 256 << 20
	pieceSize = 1 << 20
)

// memory is a growing buffer, in pieces.
type memory struct {
	pieces []*memoryBlob
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
		_ = p.Close() // unmapping private memory does not fail
	}
	*m = memory{}
}
