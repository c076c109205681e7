package units

import (
	"io"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/object"
)

// store keeps the code of all units until their chunks are in order. The rest
// is written to a scratch file if it does not fit into memory.
type store struct {
	opt   object.BlockOptions
	units []stored
	held  int64
	file  bin.ScratchFile
	size  int64 // of file
	buf   []byte
}

// stored is the code of a unit, in memory or from off on in the file.
type stored struct {
	code []byte
	off  int64
}

// add keeps the code of the next unit.
func (s *store) add(code []byte) error {
	s.units = append(s.units, stored{code: append([]byte(nil), code...)})
	s.held += int64(len(code))
	if s.opt.Scratch == nil || s.held <= s.opt.MemoryLimit() {
		return nil
	}
	return s.spill()
}

// spill moves the contents of memory to the scratch file.
func (s *store) spill() (err error) {
	if s.file == nil {
		if s.file, err = s.opt.Scratch.Create(); err != nil {
			return fault.New(fault.Internal, "debug file", "create a scratch file: %w", err)
		}
	}
	for i := range s.units {
		u := &s.units[i]
		if u.code == nil {
			continue
		}
		if _, err := s.file.Write(u.code); err != nil {
			return fault.New(fault.Internal, "debug file", "write a scratch file: %w", err)
		}
		u.off = s.size
		s.size += int64(len(u.code))
		u.code = nil
	}
	s.held = 0
	return nil
}

// code returns the code of a chunk, valid until the next call.
func (s *store) code(c *chunk) ([]byte, error) {
	u := &s.units[c.unit]
	if u.code != nil {
		return u.code[c.off : c.off+c.len], nil
	}
	if cap(s.buf) < int(c.len) {
		s.buf = make([]byte, max(int(c.len), 4<<10))
	}
	s.buf = s.buf[:c.len]
	if n, err := s.file.ReadAt(s.buf, u.off+int64(c.off)); n < len(s.buf) {
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return nil, fault.New(fault.Internal, "debug file", "read a scratch file: %w", err)
	}
	return s.buf, nil
}

// close removes the scratch file.
func (s *store) close() error {
	if s.file == nil {
		return nil
	}
	return s.opt.Scratch.Remove(s.file)
}
