package symcache

import (
	"io"
	"sync"
	"sync/atomic"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

const chunkSize = 64 << 10

// A room is the memory that spools share. It may be used by several goroutines,
// each with spools of its own.
type room struct {
	scratch bin.Scratch // nil: there is no bound
	limit   int64
	tables  int64        // bytes that are taken by others
	held    atomic.Int64 // bytes of chunks
	mu      sync.Mutex   // of scratch
}

// full says that what is written goes to the scratch file: an eighth of the room
// is for it, and less if others need more.
func (r *room) full() bool {
	held := r.held.Load()
	return r.scratch != nil && (held > r.limit/8 || r.tables+held > r.limit)
}

// A spool is bytes that are written once, from front to back, and read in the
// same order any number of times. It is in memory until it has to grow and the
// room is full. Its errors stick.
type spool struct {
	room    *room
	file    bin.ScratchFile
	spilled int64 // bytes in file
	chunks  [][]byte
	size    int64
	err     error
}

func (s *spool) Write(p []byte) (int, error) {
	n, last := len(p), len(s.chunks)-1
	s.size += int64(n)
	if last >= 0 && len(s.chunks[last])+n <= chunkSize { // nearly always
		s.chunks[last] = append(s.chunks[last], p...)
		return n, s.err
	}
	for len(p) > 0 && s.err == nil {
		if last = len(s.chunks) - 1; last < 0 || len(s.chunks[last]) == chunkSize {
			s.grow()
			continue
		}
		c := s.chunks[last]
		k := min(len(p), chunkSize-len(c))
		s.chunks[last] = append(c, p[:k]...)
		p = p[k:]
	}
	return n, s.err
}

// grow makes place for more.
func (s *spool) grow() {
	var chunk []byte // grows, as many spools stay small
	if len(s.chunks) > 0 {
		if s.room.full() {
			s.spill()
			return
		}
		chunk = make([]byte, 0, chunkSize)
	}
	s.chunks = append(s.chunks, chunk)
	s.room.held.Add(chunkSize)
}

// spill moves everything from memory to the scratch file.
func (s *spool) spill() {
	if s.err != nil || s.size == s.spilled {
		return
	}
	if s.file == nil {
		s.room.mu.Lock()
		f, err := s.room.scratch.Create()
		s.room.mu.Unlock()
		if err != nil {
			s.err = scratchError("create", err)
			return
		}
		s.file = f
	}
	for _, c := range s.chunks {
		if _, err := s.file.Write(c); err != nil {
			s.err = scratchError("write", err)
			return
		}
		s.spilled += int64(len(c))
	}
	s.room.held.Add(-chunkSize * int64(len(s.chunks)-1))
	s.chunks = s.chunks[:1]
	s.chunks[0] = s.chunks[0][:0]
}

func scratchError(what string, err error) error {
	return fault.New(fault.Internal, "symcache, build", "%s a scratch file: %w", what, err)
}

// ReadAt reads from the part that is in memory or the part that is not.
func (s *spool) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) && off < s.size {
		var k int
		if off < s.spilled {
			want := min(int64(len(p)-n), s.spilled-off)
			got, err := s.file.ReadAt(p[n:n+int(want)], off)
			if int64(got) < want {
				if err == nil || err == io.EOF {
					err = io.ErrUnexpectedEOF
				}
				return n + got, scratchError("read", err)
			}
			k = got
		} else {
			at := off - s.spilled
			k = copy(p[n:], s.chunks[at/chunkSize][at%chunkSize:])
		}
		n += k
		off += int64(k)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// copyTo writes everything to w.
func (s *spool) copyTo(w io.Writer) error {
	if s.err != nil {
		return s.err
	}
	if s.spilled > 0 {
		if _, err := io.CopyBuffer(w, io.NewSectionReader(s, 0, s.spilled), make([]byte, chunkSize)); err != nil {
			return err
		}
	}
	for _, c := range s.chunks {
		if _, err := w.Write(c); err != nil {
			return err
		}
	}
	return nil
}

// close gives everything back.
func (s *spool) close() error {
	f := s.file
	s.room.held.Add(-chunkSize * int64(len(s.chunks)))
	s.file, s.chunks, s.size, s.spilled = nil, nil, 0, 0
	if f == nil {
		return nil
	}
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	return s.room.scratch.Remove(f)
}

// A reader walks through a spool that is complete. What it returns is valid
// until it is asked again.
type reader struct {
	s    *spool
	off  int64 // of the end of buf
	buf  []byte
	room []byte
	err  error
}

func newReader(s *spool) *reader { return &reader{s: s, err: s.err, room: make([]byte, 2*chunkSize)} }

// peek is at least n bytes, or all that are left. n is at most chunkSize.
func (r *reader) peek(n int) []byte {
	if len(r.buf) < n && r.off < r.s.size && r.err == nil {
		k := copy(r.room, r.buf)
		got := min(int64(len(r.room)-k), r.s.size-r.off)
		_, r.err = r.s.ReadAt(r.room[k:k+int(got)], r.off)
		r.off += got
		r.buf = r.room[:k+int(got)]
	}
	return r.buf
}

// skip passes over n bytes of what peek returned.
func (r *reader) skip(n int) { r.buf = r.buf[n:] }
