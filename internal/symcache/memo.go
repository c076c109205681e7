package symcache

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
)

const (
	pieceShift = 16 // bytes of one piece of a memo: 64 KiB
	pieceSize  = 1 << pieceShift
	memoHead   = 2       // bytes before a name in a memo: its length << 1 | is plain
	memoName   = 4 << 10 // longest name in a memo
)

// A memo keeps names that were put together, so that whoever asks again has
// them copied. Reading takes no lock. When it is full it begins anew; what it
// held lives as long as somebody still reads it.
type memo struct {
	limit int64 // bytes, with the index
	mu    sync.Mutex
	now   atomic.Pointer[memory] // nil: nothing so far
}

// memory is what a memo holds at a time. What was added never changes.
type memory struct {
	index  [2][]atomic.Uint32 // by sort and number of a name: where it is in pieces, plus 1; 0: it is not
	pieces [][]byte
	used   int   // pieces that there are
	free   int   // bytes at the end of the last one
	left   int64 // bytes for more pieces
}

// Remember has the table keep names that are asked for, in so many bytes at
// most. It is called once, before the first question.
func (t *Table) Remember(bytes int64) { t.memo.limit = bytes }

// find is the name with number n of a sort.
func (m *memo) find(sort int, n uint64) (name []byte, plain, ok bool) {
	now := m.now.Load()
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

// add keeps a name. counts says how many there are of each sort.
func (m *memo) add(counts [2]uint64, sort int, n uint64, name []byte, plain bool) {
	room := min(m.limit-4*int64(counts[0]+counts[1]), 1<<32-1)
	if len(name) > memoName || int64(memoHead+len(name)) > room {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now.Load()
	if now != nil && (now.index[sort][n].Load() != 0 || now.add(sort, n, name, plain)) {
		return
	}
	now = &memory{pieces: make([][]byte, (room+pieceSize-1)>>pieceShift), left: room}
	for sort, count := range counts {
		now.index[sort] = make([]atomic.Uint32, count)
	}
	now.add(sort, n, name, plain)
	m.now.Store(now)
}

// add is false if the name does not fit any more.
func (m *memory) add(sort int, n uint64, name []byte, plain bool) bool {
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
