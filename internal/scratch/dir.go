package scratch

import (
	"errors"
	"os"

	"symbolon/internal/bin"
)

// Dir is a folder that builds spill to.
type Dir string

func (d Dir) Create() (bin.ScratchFile, error) {
	return os.CreateTemp(string(d), "symbolon-build-*")
}

func (d Dir) Remove(f bin.ScratchFile) error {
	file := f.(*os.File) // what Create made
	return errors.Join(file.Close(), os.Remove(file.Name()))
}
