package elastic

import (
	"encoding/binary"
	"io"
	"math/bits"
)

// The memory to receive a part: minMemory for an encoder and messages of at most
// smallMessage; for larger ones also perMessage times the largest of them, rounded
// up to a power of two, for a table of strings and a range with its lines, in the
// form of the file and decoded. The limits of the store end that at maxMemory,
// which includes a decoder.
const (
	minMemory    = 4 << 20
	smallMessage = 64 << 10
	perMessage   = 18
	maxMemory    = 96 << 20
)

const (
	symbMagic = "symbfile"
	zstdMagic = "\x28\xb5\x2f\xfd"
)

// reserver reads a part, and reserves the memory for each message before its bytes
// are returned. A client that sends slowly so keeps only the memory that its part
// needs.
type reserver struct {
	src       io.Reader
	isSeveral bool // a file has several parts
	reserve   func(n int64) error

	state partState
	head  []byte // of the part, or of a message
	skip  uint64 // bytes of the message that are still to come
	isMax bool   // maxMemory is reserved
	err   error
}

// partState is the part of a body that a reserver reads.
type partState uint8

const (
	inMagic    partState = iota
	inMessages           // of a symbfile
	inMiddle             // of a file whose beginning is in another part
)

func newReserver(src io.Reader, isSeveral bool, reserve func(n int64) error) *reserver {
	return &reserver{src: src, isSeveral: isSeveral, reserve: reserve}
}

func (s *reserver) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.src.Read(p)
	for b := p[:n]; len(b) > 0 && s.err == nil && !s.isMax; {
		b = b[s.next(b):]
	}
	if err == io.EOF && s.err == nil && s.isSeveral && (s.state == inMiddle || s.skip > 0 || len(s.head) > 0) {
		s.reserveMax() // the part may complete a file, which is read then
	}
	if s.err != nil {
		return 0, s.err
	}
	return n, err
}

// reserveMax reserves the memory of the largest part.
func (s *reserver) reserveMax() {
	if !s.isMax {
		s.isMax, s.err = true, s.reserve(maxMemory)
	}
}

// next reads from b, and returns the number of bytes that it has read.
func (s *reserver) next(b []byte) int {
	switch s.state {
	case inMagic:
		return s.magic(b)
	case inMessages:
		return s.message(b)
	}
	return len(b)
}

// magic finds out the format of the part.
func (s *reserver) magic(b []byte) int {
	n := min(len(b), len(symbMagic)-len(s.head))
	s.head = append(s.head, b[:n]...)
	switch text := string(s.head); {
	case len(text) >= len(zstdMagic) && text[:len(zstdMagic)] == zstdMagic:
		s.reserveMax()
	case text == symbMagic:
		s.head, s.state = s.head[:0], inMessages
	case text != symbMagic[:len(text)]:
		if len(text) < len(zstdMagic) && text == zstdMagic[:len(text)] {
			break
		}
		s.head, s.state = s.head[:0], inMiddle
	}
	return n
}

// message reads the size and the type of a message.
func (s *reserver) message(b []byte) int {
	if s.skip > 0 {
		n := min(uint64(len(b)), s.skip)
		s.skip -= n
		return int(n)
	}
	s.head = append(s.head, b[0])
	size, n := binary.Uvarint(s.head)
	_, more := binary.Uvarint(s.head[max(n, 0):])
	switch {
	case n < 0 || more < 0: // not a number: the part is malformed
		s.reserveMax()
	case n > 0 && more > 0:
		s.head, s.skip = s.head[:0], size
		s.reserveMessage(size)
	}
	return 1
}

// reserveMessage reserves the memory of a message.
func (s *reserver) reserveMessage(size uint64) {
	if size <= smallMessage {
		return
	}
	limit := uint64(maxMemory / perMessage)
	if size = uint64(1) << bits.Len64(min(size, limit)-1); size > limit-minMemory/perMessage {
		s.reserveMax()
		return
	}
	s.err = s.reserve(int64(minMemory + perMessage*size))
}
