package object

import (
	"bytes"
	"errors"
	"io"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/breakpad"
)

// kind is a format.
type kind uint8

const (
	kindUnknown kind = iota
	kindBreakpad
)

var kindNames = [...]string{"unknown", "breakpad"}

// headSize is how many bytes tell the format.
const headSize = len(breakpad.Magic)

// sniff tells the format of a file by its beginning.
func sniff(head []byte) kind {
	switch {
	case bytes.HasPrefix(head, []byte(breakpad.Magic)):
		return kindBreakpad
	}
	return kindUnknown
}

// Open opens the file in src, which the File keeps.
func Open(src bin.Source) (*File, error) {
	s := NewStream()
	if all, ok := bin.Whole(src); ok {
		s.feed(all)
		return s.Finish(src)
	}
	buf := make([]byte, min(max(src.Size(), 1), 1<<20))
	for off := int64(0); off < src.Size(); {
		n, err := src.ReadAt(buf[:min(int64(len(buf)), src.Size()-off)], off)
		if n == 0 {
			if err == nil {
				err = io.ErrNoProgress
			}
			return nil, fault.New(fault.Internal, "debug file", "read at offset %d: %w", off, err)
		}
		s.feed(buf[:n])
		if off += int64(n); s.kind == kindUnknown && s.size >= int64(headSize) {
			break
		}
	}
	return s.Finish(src)
}

// Stream reads a file while it passes by.
type Stream struct {
	size     int64
	head     []byte
	kind     kind
	breakpad breakpad.Scanner
}

// NewStream is a Stream at the beginning of a file.
func NewStream() *Stream { return &Stream{breakpad: breakpad.Scanner{Brief: true}} }

// Write takes the next bytes of the file. It never fails: what is wrong with
// the file is told by Finish.
func (s *Stream) Write(p []byte) (int, error) {
	s.feed(p)
	return len(p), nil
}

func (s *Stream) feed(p []byte) {
	s.size += int64(len(p))
	if len(s.head) < headSize {
		n := min(headSize-len(s.head), len(p))
		s.head = append(s.head, p[:n]...)
		if p = p[n:]; len(s.head) < headSize {
			return
		}
		s.kind = sniff(s.head)
		s.pass(s.head)
	}
	s.pass(p)
}

// pass hands bytes to the reader of their format.
func (s *Stream) pass(p []byte) {
	switch s.kind {
	case kindBreakpad:
		_, _ = s.breakpad.Write(p) // never fails
	}
}

// Finish opens the file whose bytes have passed by, and which are now in src.
// Nothing is scanned again. The File keeps src.
func (s *Stream) Finish(src bin.Source) (*File, error) {
	switch s.kind {
	case kindBreakpad:
		if s.size != src.Size() {
			return nil, fault.New(fault.Internal, "debug file", "%d bytes passed by, and %d are kept", s.size, src.Size())
		}
		ix, err := s.breakpad.Finish()
		if err != nil {
			return nil, err
		}
		o, err := openBreakpad(ix, src)
		if err != nil {
			return nil, err
		}
		return &File{kind: kindNames[s.kind], objects: []*Object{o}}, nil
	}
	if src.Size() == 0 {
		return nil, fault.New(fault.Malformed, "debug file", "it is empty")
	}
	return nil, fault.New(fault.Unsupported, "debug file", "its beginning, %q, is that of no format we read", s.head)
}

// readFault is a failure of the source.
func readFault(off int64, err error) error {
	if errors.Is(err, bin.ErrShort) || errors.Is(err, io.EOF) {
		return fault.New(fault.Internal, "debug file", "read at offset %d: the file has become shorter", off)
	}
	return fault.New(fault.Internal, "debug file", "read at offset %d: %w", off, err)
}
