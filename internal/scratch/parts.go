package scratch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Parts are files NAME.0, NAME.1 and so on, which get their names when all of them are
// complete.
type Parts struct {
	base  string
	names []string // temporary
}

// NewParts returns parts of a name.
func NewParts(name string) *Parts { return &Parts{base: name} }

// Create creates the next part.
func (s *Parts) Create(int) (io.WriteCloser, error) {
	f, err := os.CreateTemp(filepath.Dir(s.base), ".symbolon-*")
	if err == nil {
		s.names = append(s.names, f.Name())
		err = f.Chmod(0o644)
	}
	return f, err
}

// End renames the parts, or removes them after an error.
func (s *Parts) End(err error) error {
	for i, name := range s.names {
		if err == nil {
			err = os.Rename(name, fmt.Sprintf("%s.%d", s.base, i))
		}
		if err != nil {
			err = errors.Join(err, os.Remove(name))
		}
	}
	return err
}
