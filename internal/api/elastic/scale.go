package elastic

import (
	"encoding/binary"
	"io"
	"math/bits"
)

// What a part takes while it is received: whatever its size, an encoder and messages
// of at most smallMessage; with larger ones perMessage times the largest of them, rounded
// up to a power of two, for a table of strings and a range with its lines, as they came and as they are read.
// The bounds of the store end that at maxHeld, a decoder included.
const (
	leastHeld    = 4 << 20
	smallMessage = 64 << 10
	perMessage   = 18
	maxHeld      = 96 << 20
)

const (
	symbMagic = "symbfile"
	zstdMagic = "\x28\xb5\x2f\xfd"
)

// scale is a part that is weighed while it is read: it claims the memory that a
// message takes before it gives the beginning of it out. So who sends slowly what
// takes little holds little.
type scale struct {
	src     io.Reader
	several bool // parts are a file together
	claim   func(n int64) error

	look  func(s *scale, b []byte) (n int) // takes the next bytes
	head  []byte                           // of the part, or of a message
	skip  uint64                           // bytes of the message that are to come
	raw   bool                             // it goes on where another part ends, or ends within a message
	large bool                             // maxHeld is claimed
	err   error
}

func newScale(src io.Reader, several bool, claim func(n int64) error) *scale {
	return &scale{src: src, several: several, claim: claim, look: (*scale).begin}
}

func (s *scale) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.src.Read(p)
	for b := p[:n]; len(b) > 0 && s.err == nil && !s.large; {
		b = b[s.look(s, b):]
	}
	if err == io.EOF && s.err == nil && s.several && (s.raw || s.skip > 0 || len(s.head) > 0) {
		s.all() // with others it may make a file, which is read then
	}
	if s.err != nil {
		return 0, s.err
	}
	return n, err
}

// all claims what a part may take at most.
func (s *scale) all() {
	if !s.large {
		s.large, s.err = true, s.claim(maxHeld)
	}
}

// begin finds out what the part is.
func (s *scale) begin(b []byte) int {
	n := min(len(b), len(symbMagic)-len(s.head))
	s.head = append(s.head, b[:n]...)
	switch text := string(s.head); {
	case len(text) >= len(zstdMagic) && text[:len(zstdMagic)] == zstdMagic:
		s.all()
	case text == symbMagic:
		s.head, s.look = s.head[:0], (*scale).message
	case text != symbMagic[:len(text)]:
		if len(text) < len(zstdMagic) && text == zstdMagic[:len(text)] {
			break
		}
		s.head, s.raw, s.look = s.head[:0], true, func(_ *scale, b []byte) int { return len(b) }
	}
	return n
}

// message reads the size and the type of a message.
func (s *scale) message(b []byte) int {
	if s.skip > 0 {
		n := min(uint64(len(b)), s.skip)
		s.skip -= n
		return int(n)
	}
	s.head = append(s.head, b[0])
	size, n := binary.Uvarint(s.head)
	_, more := binary.Uvarint(s.head[max(n, 0):])
	switch {
	case n < 0 || more < 0: // no number: nobody reads on
		s.all()
	case n > 0 && more > 0:
		s.head, s.skip = s.head[:0], size
		s.weigh(size)
	}
	return 1
}

// weigh claims what a message takes.
func (s *scale) weigh(size uint64) {
	if size <= smallMessage {
		return
	}
	most := uint64(maxHeld / perMessage)
	if size = uint64(1) << bits.Len64(min(size, most)-1); size > most-leastHeld/perMessage {
		s.all()
		return
	}
	s.err = s.claim(int64(leastHeld + perMessage*size))
}
