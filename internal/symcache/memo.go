package symcache

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
)

const (
	pieceShift = 16 // of the size of a piece of a memo: 64 KiB
	pieceSize  = 1 << pieceShift
	memoHead   = 2       // size of the header of a name: length << 1 | plain
	memoName   = 4 << 10 // limit of the length of a name in a memo
)

// A memo caches decoded names: to copy one takes a twentieth of the time of
// decoding it from its strings. Reads take no lock. When it is full, it starts
// with an empty generation; readers of the previous one may continue to use it.
type memo struct {
	limit   int64 // in bytes, including the index
	mu      sync.Mutex
	current atomic.Pointer[generation] // nil: empty
}

// generation is the content of a memo. Its names never change.
type generation struct {
	index  [2][]atomic.Uint32 // by sort and number of a name: offset in pieces + 1; 0: absent
	pieces [][]byte
	used   int   // number of allocated pieces
	free   int   // bytes at the end of the last piece
	left   int64 // bytes that may still be allocated
}

// find returns name n of a sort.
func (m *memo) find(sort int, n uint64) (name []byte, plain, ok bool) {
	now := m.current.Load()
	if now == nil || n >= uint64(len(now.index[sort])) {
		return nil, false, false
	}
	at := now.index[sort][n].Load()
	if at == 0 {
		return nil, false, false
	}
	at--
	p := now.pieces[at>>pieceShift][at%pieceSize:]
	head := binary.LittleEndian.Uint16(p)
	return p[memoHead : memoHead+head>>1], head&1 != 0, true
}

// add adds a name. counts has the number of names of each sort.
func (m *memo) add(counts [2]uint64, sort int, n uint64, name []byte, plain bool) {
	room := min(m.limit-4*int64(counts[0]+counts[1]), 1<<32-1)
	if len(name) > memoName || int64(memoHead+len(name)) > room {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.current.Load()
	if now != nil && (now.index[sort][n].Load() != 0 || now.add(sort, n, name, plain)) {
		return
	}
	now = &generation{pieces: make([][]byte, (room+pieceSize-1)>>pieceShift), left: room}
	for sort, count := range counts {
		now.index[sort] = make([]atomic.Uint32, count)
	}
	now.add(sort, n, name, plain)
	m.current.Store(now)
}

// add adds a name and reports whether it fits.
func (m *generation) add(sort int, n uint64, name []byte, plain bool) bool {
	if m.free < memoHead+len(name) {
		m.free = int(min(pieceSize, m.left))
		if m.free < memoHead+len(name) {
			return false
		}
		m.pieces[m.used] = make([]byte, m.free)
		m.left -= int64(m.free)
		m.used++
	}
	head := uint16(len(name)) << 1
	if plain {
		head |= 1
	}
	k := m.used - 1
	from := len(m.pieces[k]) - m.free
	binary.LittleEndian.PutUint16(m.pieces[k][from:], head)
	m.free -= memoHead + copy(m.pieces[k][from+memoHead:], name)
	m.index[sort][n].Store(uint32(k<<pieceShift+from) + 1)
	return true
}
