package scratch

import (
	"fmt"
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

// Remove removes the folder.
func (l *Links) Remove() {
	if l.Dir != "" {
		os.RemoveAll(l.Dir)
	}
}
