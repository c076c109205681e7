package bin

import "io"

// Scratch is where work puts what does not fit into its memory. Create makes
// an empty file that is written from front to back and then read; Remove
// closes and deletes it. Both are called by one goroutine at a time.
type Scratch interface {
	Create() (ScratchFile, error)
	Remove(ScratchFile) error
}

// ScratchFile is a temporary file. An *os.File is one.
type ScratchFile interface {
	io.Writer
	io.ReaderAt
}
