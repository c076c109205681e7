package scratch

import (
	"errors"
	"os"

	"symbolon/internal/bin"
)

// Dir is a folder for the temporary files of builds. It implements bin.Scratch.
type Dir string

// Create creates a temporary file.
func (d Dir) Create() (bin.ScratchFile, error) {
	return os.CreateTemp(string(d), "symbolon-build-*")
}

// Remove closes and removes a file that Create created.
func (d Dir) Remove(f bin.ScratchFile) error {
	file := f.(*os.File)
	return errors.Join(file.Close(), os.Remove(file.Name()))
}
