package elastic

import (
	"encoding/binary"
	"io"
	"math/bits"
)

// The memory that receiving a part takes, of any size: leastHeld for an encoder and
// messages of at most smallMessage; for larger ones perMessage times the largest of
// them, rounded up to a power of two, for a table of strings and a range with its
// lines, encoded and decoded. The limits of the store keep it below maxHeld,
// including a decoder.
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

// scale reads a part, and acquires the memory for each message before it returns
// the beginning of it. So a slow client with small messages holds little memory.
type scale struct {
	src     io.Reader
	several bool // the file has other parts
	claim   func(n int64) error

	look  func(s *scale, b []byte) (n int) // consumes the next bytes
	head  []byte                           // of the part, or of a message
	skip  uint64                           // bytes of the message that are not read yet
	raw   bool                             // it continues another part
	large bool                             // maxHeld is acquired
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
		s.all() // the file is read as a whole when it is complete
	}
	if s.err != nil {
		return 0, s.err
	}
	return n, err
}

// all acquires the memory of the largest part.
func (s *scale) all() {
	if !s.large {
		s.large, s.err = true, s.claim(maxHeld)
	}
}

// begin detects the form of the part.
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

// message reads the size and the type of a message, and skips its content.
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
	case n < 0 || more < 0: // invalid: the reader stops here
		s.all()
	case n > 0 && more > 0:
		s.head, s.skip = s.head[:0], size
		s.weigh(size)
	}
	return 1
}

// weigh acquires the memory for a message.
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
