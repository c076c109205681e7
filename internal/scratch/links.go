package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Links is a temporary folder with symbolic links to files.
type Links struct {
	Dir string // empty without a link

	count int
}

// Add adds links to files, under other names.
func (l *Links) Add(files ...string) (err error) {
	if l.Dir == "" {
		if l.Dir, err = os.MkdirTemp("", "symbolon-*"); err != nil {
			return err
		}
	}
	for _, file := range files {
		if file, err = filepath.Abs(file); err != nil {
			return err
		}
		l.count++
		if err := os.Symlink(file, filepath.Join(l.Dir, fmt.Sprint(l.count, "-", filepath.Base(file)))); err != nil {
			return err
		}
	}
	return nil
}

// AddAt adds a link to a file at a path in the folder, if there is none yet.
func (l *Links) AddAt(at, file string) error {
	file, err := filepath.Abs(file)
	if err == nil {
		at = filepath.Join(l.Dir, at)
		err = os.MkdirAll(filepath.Dir(at), 0o700)
	}
	if err == nil {
		err = os.Symlink(file, at)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// Remove removes the folder.
func (l *Links) Remove() {
	if l.Dir != "" {
		os.RemoveAll(l.Dir)
	}
}
