package scratch

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"symbolon/internal/bin"
)

// WriteFile writes the file name, completely or not at all. It writes to devices
// and pipes directly, and follows links. The first failure of a write is the error,
// whatever follows from it.
func WriteFile(name string, fill func(io.Writer) error) (err error) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	if st, err := os.Stat(name); err == nil && !st.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(fillFile(f, name, fill), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".symbolon-*")
	if err != nil {
		return &fs.PathError{Op: "create", Path: name, Err: cause(err)}
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := fillFile(f, name, fill); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Chmod(f.Name(), 0o644); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// fillFile calls fill with a file that people know by this name.
func fillFile(f *os.File, name string, fill func(io.Writer) error) error {
	out := &bin.ErrWriter{W: f}
	if err := fill(out); out.Err == nil {
		return err
	}
	return &fs.PathError{Op: "write", Path: name, Err: cause(out.Err)}
}

// cause returns the reason of an error of package os.
func cause(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}
