package companion

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"symbolon/internal/bin"
)

// Source is an open file as the readers want it.
type Source struct {
	bin.Source
	io.Closer
	watch watch
}

// onDisk is a file of the file system.
type onDisk struct {
	*os.File
	size int64
}

func (f onDisk) Size() int64 { return f.size }

// OpenSource opens name for random access; "-" is stdin, which is read into
// memory, unless it is nil.
func OpenSource(name string, stdin io.Reader) (*Source, error) {
	if name == "-" && stdin != nil {
		all, err := io.ReadAll(stdin)
		return &Source{Source: bin.Bytes(all), Closer: io.NopCloser(nil)}, err
	}
	st, err := os.Stat(name) // before opening, which waits for the other end of a pipe
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	w := watch{name, st}
	if m, ok := mapFile(f, st.Size()); ok {
		return &Source{m, m, w}, nil
	}
	return &Source{onDisk{f, st.Size()}, f, w}, nil
}

// Relax gives the pages of a mapped file back.
func (f *Source) Relax() {
	if m, ok := f.Source.(*mapped); ok {
		m.relax()
	}
}

// mapped is a file of which all bytes are in the address space.
type mapped struct {
	all   []byte
	relax func() // gives the pages back
	unmap func() error
}

func (m *mapped) Bytes() []byte { return m.all }
func (m *mapped) Size() int64   { return int64(len(m.all)) }
func (m *mapped) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(m.all).ReadAt(p, off)
}
func (m *mapped) Close() error { return m.unmap() }

var _ bin.Source = (*mapped)(nil)
