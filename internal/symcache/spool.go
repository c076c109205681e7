package symcache

import (
	"io"
	"sync"
	"sync/atomic"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

const chunkSize = 64 << 10

// A budget is the memory that spools share. It is safe for concurrent use, if
// each goroutine has its own spools.
type budget struct {
	scratch bin.Scratch // nil: unlimited
	limit   int64
	tables  int64        // bytes of other data
	held    atomic.Int64 // bytes of chunks
	mu      sync.Mutex   // guards scratch
}

// full reports whether spools have to write to scratch files: they may use an
// eighth of the limit, or less if other data need more.
func (r *budget) full() bool {
	held := r.held.Load()
	return r.scratch != nil && (held > r.limit/8 || r.tables+held > r.limit)
}

// A spool is written once, and then read sequentially any number of times. It
// is in memory until it has to grow while the budget is full. It returns its
// first error from all later calls.
type spool struct {
	budget  *budget
	file    bin.ScratchFile
	spilled int64 // bytes in file
	chunks  [][]byte
	size    int64
	err     error
}

// Write implements [io.Writer].
func (s *spool) Write(p []byte) (int, error) {
	n, last := len(p), len(s.chunks)-1
	s.size += int64(n)
	if last >= 0 && len(s.chunks[last])+n <= chunkSize { // the common case
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

// grow makes room for more bytes.
func (s *spool) grow() {
	var chunk []byte // small at first, as many spools stay small
	if len(s.chunks) > 0 {
		if s.budget.full() {
			s.spill()
			return
		}
		chunk = make([]byte, 0, chunkSize)
	}
	s.chunks = append(s.chunks, chunk)
	s.budget.held.Add(chunkSize)
}

// spill writes the chunks to the scratch file.
func (s *spool) spill() {
	if s.err != nil || s.size == s.spilled {
		return
	}
	if s.file == nil {
		s.budget.mu.Lock()
		f, err := s.budget.scratch.Create()
		s.budget.mu.Unlock()
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
	s.budget.held.Add(-chunkSize * int64(len(s.chunks)-1))
	s.chunks = s.chunks[:1]
	s.chunks[0] = s.chunks[0][:0]
}

func scratchError(what string, err error) error {
	return fault.New(fault.Internal, "symcache, build", "%s a scratch file: %w", what, err)
}

// ReadAt implements [io.ReaderAt] for the bytes in the file and in memory.
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

// copyTo writes all bytes to w.
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

// close releases the memory and removes the scratch file.
func (s *spool) close() error {
	f := s.file
	s.budget.held.Add(-chunkSize * int64(len(s.chunks)))
	s.file, s.chunks, s.size, s.spilled = nil, nil, 0, 0
	if f == nil {
		return nil
	}
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.budget.scratch.Remove(f)
}

// A reader reads a complete spool. Its results are valid until the next call.
type reader struct {
	s     *spool
	off   int64 // offset of the end of buf
	buf   []byte
	space []byte
	err   error
}

func newReader(s *spool) *reader { return &reader{s: s, err: s.err, space: make([]byte, 2*chunkSize)} }

// peek returns at least n bytes, or all remaining ones. n must be at most
// chunkSize.
func (r *reader) peek(n int) []byte {
	if len(r.buf) < n && r.off < r.s.size && r.err == nil {
		k := copy(r.space, r.buf)
		got := min(int64(len(r.space)-k), r.s.size-r.off)
		_, r.err = r.s.ReadAt(r.space[k:k+int(got)], r.off)
		r.off += got
		r.buf = r.space[:k+int(got)]
	}
	return r.buf
}

// skip skips n bytes of the result of peek.
func (r *reader) skip(n int) { r.buf = r.buf[n:] }
