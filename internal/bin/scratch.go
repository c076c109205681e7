package bin

import "io"

// Scratch stores data that does not fit into memory. Create creates an empty
// file, which is written from front to back and then read; Remove closes and
// deletes it. Both are called by one goroutine at a time.
type Scratch interface {
	Create() (ScratchFile, error)
	Remove(ScratchFile) error
}

// ScratchFile is a temporary file. An *os.File implements it.
type ScratchFile interface {
	io.Writer
	io.ReaderAt
}
