package symcache

import (
	"bytes"
	"fmt"
	"testing"
)

// held returns the bytes of m, including its index.
func (m *memo) held() (sum int64) {
	now := m.current.Load()
	if now == nil {
		return 0
	}
	for _, p := range now.pieces {
		sum += int64(cap(p))
	}
	return sum + int64(4*(len(now.index[0])+len(now.index[1])))
}

// The names have all lengths, so that each ends at another offset of its piece,
// including the end.
func TestMemoLimit(t *testing.T) {
	const names = 3 * memoName
	counts := [2]uint64{names, 2}
	for _, limit := range []int64{4*(names+2) + 1, 1 << 16, 150_000, 4*(names+2) + 3*pieceSize, 1 << 22, 1 << 26} {
		m := memo{limit: limit}
		kept, dropped := 0, false
		for i := range uint64(names) {
			want := bytes.Repeat([]byte{byte(i), byte(i >> 8)}, int(i)/2+1)[:i%(memoName+2)]
			before := m.current.Load()
			m.add(counts, 0, i, want, i%3 == 0)
			dropped = dropped || before != nil && m.current.Load() != before
			got, plain, ok := m.find(0, i)
			if ok && (!bytes.Equal(got, want) || plain != (i%3 == 0)) {
				t.Fatalf("limit %d: name %d differs", limit, i)
			}
			if ok {
				kept++
			}
			if held := m.held(); held > limit {
				t.Fatalf("%d bytes exceed the limit of %d", held, limit)
			}
			if i > 0 && len(want) == 10 && limit > 1<<17 {
				if _, _, ok := m.find(0, i-1); !ok && m.current.Load() == before {
					t.Fatalf("limit %d: name %d is missing", limit, i-1)
				}
			}
		}
		if limit >= 1<<17 && kept != names-names/(memoName+2) {
			t.Errorf("limit %d: memo has %d of %d names", limit, kept, names)
		}
		if dropped != (limit > 50_000 && limit < 1<<23) {
			t.Errorf("limit %d: new generation is %t", limit, dropped)
		}
	}
}

// A name may end at the end of its piece, and at the limit.
func TestMemoLastNameOfPiece(t *testing.T) {
	const full = pieceSize / (memoHead + memoName) // names of full length in a piece
	left := pieceSize - full*(memoHead+memoName) - memoHead
	counts := [2]uint64{full + 2, 0}
	for _, limit := range []int64{4*(full+2) + pieceSize, 1 << 20} {
		for size := left - 2; size <= left+2; size++ {
			m := memo{limit: limit}
			names := make([][]byte, full+1)
			for i := range names {
				n := memoName
				if i == full {
					n = size
				}
				names[i] = bytes.Repeat([]byte{byte('a' + i)}, n)
				m.add(counts, 0, uint64(i), names[i], true)
			}
			for i, want := range names {
				got, _, ok := m.find(0, uint64(i))
				gone := limit < 1<<20 && size > left && i < full // the last name started a new generation
				if ok == gone || ok && !bytes.Equal(got, want) {
					t.Errorf("limit %d: name %d of %d bytes has %d, %t", limit, i, len(want), len(got), ok)
				}
			}
		}
	}
}

func TestMemoAddsNameOnce(t *testing.T) {
	m := memo{limit: 1 << 20}
	for range 1000 {
		m.add([2]uint64{1, 0}, 0, 0, make([]byte, memoName), true)
	}
	if m.held() > 2*pieceSize {
		t.Errorf("%d bytes for one name", m.held())
	}
}

func TestMemoFind(t *testing.T) {
	m := memo{limit: 1 << 20}
	counts := [2]uint64{3, 5}
	for sort, count := range counts {
		m.add(counts, sort, count-1, fmt.Append(nil, "last of ", sort), true)
	}
	m.add(counts, 0, 0, make([]byte, memoName+1), true)
	for sort, count := range counts {
		for _, n := range []uint64{0, count - 2, count, 1<<63 - 1, 1<<64 - 1} {
			if name, _, ok := m.find(sort, n); ok {
				t.Errorf("sort %d has name %d, %q", sort, n, name)
			}
		}
		if name, plain, ok := m.find(sort, count-1); !ok || !plain || string(name) != fmt.Sprint("last of ", sort) {
			t.Errorf("last name of sort %d is %q, %t, %t", sort, name, plain, ok)
		}
	}
	none := memo{}
	none.add(counts, 0, 1, []byte("x"), true)
	if _, _, ok := none.find(0, 1); ok || none.held() > 0 {
		t.Error("memo without memory has a name")
	}
}

func TestIsPlain(t *testing.T) {
	for size := range 20 {
		b := bytes.Repeat([]byte{'x'}, size)
		if !isPlain(b) {
			t.Errorf("%d letters are not plain", size)
		}
		for at := range size {
			for c := range 256 {
				b[at] = byte(c)
				if want := c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; isPlain(b) != want {
					t.Fatalf("%q is plain: %t", b, !want)
				}
			}
			b[at] = 'x'
		}
	}
}
