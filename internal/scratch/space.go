package scratch

// Space is memory for what files unpack to: in files of a folder, where the system
// can map them.
type Space struct {
	dir    string
	hold   Hold // nil: nothing is counted, and the heap serves where the disk does not
	pieces [][]byte
	leave  []func()
	err    error // of hold, which is not asked again
}

// NewSpace makes space in a folder, within the bounds of hold, which may be nil.
func NewSpace(dir string, hold Hold) *Space { return &Space{dir: dir, hold: hold} }

// Hold counts n bytes that do takes, until release is called.
type Hold func(n int64, do func() error) (release func(), err error)

func (s *Space) Take(n int) (b []byte, err error) {
	if s.hold == nil {
		if b, err = s.piece(n); err != nil {
			return make([]byte, n), nil // a command has the memory of its user
		}
		return b, nil
	}
	if s.err != nil {
		return nil, s.err
	}
	release, err := s.hold(int64(n), func() (err error) {
		b, err = s.piece(n)
		return err
	})
	if s.err = err; err != nil {
		return nil, err
	}
	s.leave = append(s.leave, release)
	return b, nil
}

func (s *Space) Close() error {
	err := s.unmap()
	for _, release := range s.leave {
		release()
	}
	s.leave = nil
	return err
}
