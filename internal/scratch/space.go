package scratch

// Space is memory in mapped files of a folder, where the system can map files. It
// implements bin.Space.
type Space struct {
	dir    string
	hold   Hold // nil: nothing is counted, and the heap is used if the disk is full
	pieces [][]byte

	releases []func()
	err      error // the first one of hold; later calls return it too
}

// NewSpace returns a Space in a folder. Without hold it is not bounded.
func NewSpace(dir string, hold Hold) *Space { return &Space{dir: dir, hold: hold} }

// Hold calls do, which uses n bytes, and counts them until release is called. It
// fails if they exceed its limit.
type Hold func(n int64, do func() error) (release func(), err error)

// Take returns n bytes, which are zero.
func (s *Space) Take(n int) (b []byte, err error) {
	if s.hold == nil {
		if b, err = s.piece(n); err != nil {
			return make([]byte, n), nil // commands may use the memory of their user
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
	s.releases = append(s.releases, release)
	return b, nil
}

// Close releases the memory.
func (s *Space) Close() error {
	err := s.unmap()
	for _, release := range s.releases {
		release()
	}
	s.releases = nil
	return err
}
