package companion

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/scratch"
)

// A Source is an open file that can be read at any offset. It is mapped where
// the system can do that: an access is a memory fault then if the disk fails or
// the file was truncated; see object.RecoverFault.
type Source struct {
	bin.Source
	close func() error
	name  string
	info  os.FileInfo // when it was opened; nil: of standard input
}

// OpenSource opens a file, or that in a .dSYM folder. With the name "-" it reads stdin
// into memory, unless stdin is nil.
func OpenSource(name string, stdin io.Reader) (*Source, error) {
	if name == "-" && stdin != nil {
		all, err := io.ReadAll(stdin)
		return &Source{Source: bin.Bytes(all), close: func() error { return nil }}, err
	}
	name = Unbundled(name)
	info, err := os.Stat(name) // first: opening a pipe waits for its writer
	if err != nil {
		return nil, named(name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, named(name, errors.New("not a regular file"))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, named(name, err)
	}
	all := mapFile(f, info.Size())
	if all == nil {
		return &Source{Source: plain{f, info.Size()}, close: f.Close, name: name, info: info}, nil
	}
	_ = f.Close() // the mapping stays
	return &Source{Source: mapped(all), close: func() error { return unmap(all) }, name: name, info: info}, nil
}

// Unbundled returns the path of the only file with debug information in a .dSYM folder,
// and other paths as they are.
func Unbundled(name string) string {
	if filepath.Ext(filepath.Clean(name)) != ".dSYM" {
		return name
	}
	dir := filepath.Join(name, "Contents", "Resources", "DWARF")
	list, _ := os.ReadDir(dir)
	list = slices.DeleteFunc(list, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") }) // such as .DS_Store
	if len(list) != 1 {
		return name
	}
	return filepath.Join(dir, list[0].Name())
}

// named returns an error with the name of a file, in place of the one that errors of
// package os have.
func named(name string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Close closes the file. Its bytes may not be used any more.
func (s *Source) Close() error { return s.close() }

// Relax releases the resident pages of a mapped file. They are loaded again when
// they are accessed.
func (s *Source) Relax() {
	if m, ok := s.Source.(mapped); ok {
		scratch.Relax(m)
	}
}

// Changed returns an error if the file was written since it was opened. A new
// file of the same name does not count.
func (s *Source) Changed() error {
	if s.info == nil {
		return nil
	}
	now, err := os.Stat(s.name)
	if err != nil || !os.SameFile(s.info, now) || now.Size() == s.info.Size() && now.ModTime().Equal(s.info.ModTime()) {
		return nil
	}
	return fmt.Errorf("%s: changed while it was read; try again when the file is complete", s.name)
}

// plain is a file that is not mapped.
type plain struct {
	*os.File
	size int64
}

func (f plain) Size() int64 { return f.size }

// mapped is a file whose bytes are all in the address space.
type mapped []byte

func (m mapped) Bytes() []byte                           { return m }
func (m mapped) Size() int64                             { return int64(len(m)) }
func (m mapped) ReadAt(p []byte, off int64) (int, error) { return bytes.NewReader(m).ReadAt(p, off) }
