package cab

import (
	"io"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// The ways in which folders are packed.
const (
	methodMask    = 0xf
	methodStored  = 0
	methodMSZIP   = 1
	methodQuantum = 2
	methodLZX     = 3
)

const (
	blockHead = 8
	maxBlock  = 32 << 10 // bytes of an unpacked block
)

// Reader goes through the files of a cabinet.
type Reader struct {
	// Inflate unpacks a DEFLATE stream into dst behind its first have bytes,
	// which it may refer to, and tells how many bytes of dst are done then.
	Inflate func(dst []byte, have int, src []byte) (n int, err error)

	src     bin.Source
	reserve int // bytes of each block
	folders []folder
	files   []File
	damage  error // behind the last file
	next    int
	file    *File // the present one

	left   int64 // bytes that may still be unpacked
	packed int64 // bytes of blocks that have been read
	buf    []byte

	// The present folder.
	folder  int
	block   int
	off     int64 // of the next block
	at      int64 // bytes that have been given or passed over
	pending []byte
	err     error
	zip     []byte // the block before, and the present one
	have    int    // bytes of zip
	lzx     lzx
}

// Open reads the lists of a cabinet. From all of its files together, limit bytes
// are unpacked at most, with those that are passed over.
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

// Next goes on to the next file, in the order in which they are packed. Behind the
// last one it gives io.EOF, or what is wrong with the list of files.
func (r *Reader) Next() (*File, error) {
	if r.next == len(r.files) {
		if r.damage != nil {
			return nil, r.damage
		}
		return nil, io.EOF
	}
	f := &r.files[r.next]
	r.next++
	if f.broken == nil && f.folder == r.folder && f.off < r.at {
		f.broken = fault.New(fault.Malformed, "cab", "it begins inside of the file before it")
	}
	r.file = f
	return f, nil
}

// Read reads the present file.
func (r *Reader) Read(p []byte) (int, error) {
	if r.file == nil {
		return 0, io.EOF
	}
	if r.file.broken != nil {
		return 0, r.file.broken
	}
	if r.folder != r.file.folder {
		r.begin(r.file.folder)
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
			r.pass(int(skip))
			continue
		}
		n := copy(p, r.pending[:min(int64(len(r.pending)), end-r.at)])
		r.pass(n)
		return n, nil
	}
	return 0, io.EOF
}
