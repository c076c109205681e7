package cab

import (
	"io"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// Compression methods of folders.
const (
	methodMask    = 0xf
	methodStored  = 0
	methodMSZIP   = 1
	methodQuantum = 2
	methodLZX     = 3
)

const (
	blockHead = 8
	maxBlock  = 32 << 10 // largest size of an unpacked block
)

// A Reader reads the files of a cabinet.
type Reader struct {
	// Inflate decodes a DEFLATE stream into dst after its first have bytes,
	// which the stream may refer to, and returns the new number of bytes in
	// dst.
	Inflate func(dst []byte, have int, src []byte) (n int, err error)

	src     bin.Source
	reserve int // reserved bytes of each block
	folders []folder
	files   []File
	damage  error // error after the last file
	next    int
	file    *File // current file

	left   int64 // bytes that may still be unpacked
	packed int64 // bytes of blocks read so far
	buf    []byte

	// State of the current folder.
	folder  int
	block   int
	off     int64 // offset of the next block
	at      int64 // unpacked bytes that have been consumed
	pending []byte
	err     error
	zip     []byte // the previous and the current block
	have    int    // valid bytes of zip
	lzx     lzx
}

// Open reads the lists of a cabinet. At most limit bytes of its files are
// unpacked in all, including those that are skipped.
func Open(src bin.Source, limit int64) (*Reader, error) {
	h, end, err := readHead(src)
	if err != nil {
		return nil, err
	}
	r := &Reader{src: src, reserve: h.blockReserve, left: limit, folder: -1}
	if r.folders, err = h.readFolders(src, end); err != nil {
		return nil, err
	}
	r.files, r.damage = h.readFiles(src)
	return r, nil
}

// Next moves to the next file, in the order of the folders. After the last file
// it returns io.EOF, or the damage of the list of files.
func (r *Reader) Next() (*File, error) {
	if r.next == len(r.files) {
		if r.damage != nil {
			return nil, r.damage
		}
		return nil, io.EOF
	}
	f := &r.files[r.next]
	r.next++
	if f.err == nil && f.folder == r.folder && f.off < r.at {
		f.err = fault.New(fault.Malformed, "cab", "the file overlaps the one before it")
	}
	r.file = f
	return f, nil
}

// Read reads the current file.
func (r *Reader) Read(p []byte) (int, error) {
	if r.file == nil {
		return 0, io.EOF
	}
	if r.file.err != nil {
		return 0, r.file.err
	}
	if r.folder != r.file.folder {
		r.openFolder(r.file.folder)
	}
	if r.err != nil {
		return 0, r.err
	}
	end := r.file.off + r.file.Size
	for r.at < end {
		if len(r.pending) == 0 {
			if r.err = r.unpack(); r.err != nil {
				return 0, r.err
			}
		}
		if skip := min(r.file.off-r.at, int64(len(r.pending))); skip > 0 {
			r.consume(int(skip))
			continue
		}
		n := copy(p, r.pending[:min(int64(len(r.pending)), end-r.at)])
		r.consume(n)
		return n, nil
	}
	return 0, io.EOF
}
