package cab

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// Magic is the start of a cabinet.
const Magic = "MSCF"

// Flags of a cabinet.
const (
	flagPrev = 1 << iota
	flagNext
	flagReserve
)

// Folder numbers of files with parts in other cabinets.
const (
	fromPrev    = 0xfffd
	toNext      = 0xfffe
	prevAndNext = 0xffff
)

const (
	headSize   = 36
	folderSize = 8
	fileSize   = 16
	maxName    = 257 // bytes, with the NUL
	// maxHead is the size of the longest head.
	maxHead = headSize + 4 + 0xffff + 4*maxName
)

// File is a member of a cabinet.
type File struct {
	Name string // with backslashes, of bytes that may not be UTF-8
	Size int64

	folder int
	off    int64 // offset in the unpacked folder
	err    error // the reason why the file cannot be read
}

// folder is a stream of blocks.
type folder struct {
	off    int64 // offset of the first block
	blocks int
	method uint16
}

// head is the head of a cabinet.
type head struct {
	filesAt        int64
	folders, files int
	folderReserve  int
	blockReserve   int
	prev, next     string // names of other cabinets of the set
}

func malformed(format string, args ...any) *fault.Error {
	return fault.New(fault.Malformed, "cab, head", format, args...)
}

// readHead reads a head, and returns its end.
func readHead(src bin.Source) (h head, end int64, err error) {
	b, err := bin.Read(src, 0, int(min(src.Size(), maxHead)))
	if err != nil {
		return h, 0, err
	}
	c := bin.NewCursor(b, binary.LittleEndian)
	if string(c.Bytes(len(Magic))) != Magic {
		return h, 0, malformed("invalid magic")
	}
	c.Skip(12)
	h.filesAt = int64(c.U32())
	c.Skip(6) // reserved, version
	h.folders, h.files = int(c.U16()), int(c.U16())
	flags := c.U16()
	c.Skip(4)
	if flags&flagReserve != 0 {
		n := int(c.U16())
		h.folderReserve, h.blockReserve = int(c.U8()), int(c.U8())
		c.Skip(n)
	}
	if flags&flagPrev != 0 {
		h.prev = string(c.CString())
		c.CString() // name of the disk
	}
	if flags&flagNext != 0 {
		h.next = string(c.CString())
		c.CString()
	}
	if c.Err() != nil {
		return h, 0, malformed("the cabinet ends early, at offset %#x", c.Off())
	}
	return h, int64(c.Off()), nil
}

// readFolders reads the table of folders, which follows the head.
func (h *head) readFolders(src bin.Source, at int64) ([]folder, error) {
	stride := folderSize + h.folderReserve
	if fit := int((src.Size() - at) / int64(stride)); fit < h.folders {
		return nil, malformed("the cabinet has %d of %d folders", fit, h.folders)
	}
	b, err := bin.Read(src, at, stride*h.folders)
	if err != nil {
		return nil, err
	}
	folders := make([]folder, h.folders)
	for i := range folders {
		c := bin.NewCursor(b[i*stride:], binary.LittleEndian)
		folders[i] = folder{off: int64(c.U32()), blocks: int(c.U16()), method: c.U16()}
	}
	return folders, nil
}

// readFiles reads the table of files, and sorts it by position in the folders.
// With an error it returns the files before the damage.
func (h *head) readFiles(src bin.Source) ([]File, error) {
	b, err := bin.Read(src, h.filesAt, int(max(0, min(src.Size()-h.filesAt, int64(h.files)*(fileSize+maxName)))))
	if err != nil {
		return nil, malformed("the table of files at offset %#x is beyond the end", h.filesAt)
	}
	var files []File
	var damage error
	continued := false // folder 0 began in another cabinet
	for at := 0; len(files) < h.files; {
		c := bin.NewCursor(b[at:], binary.LittleEndian)
		f := File{Size: int64(c.U32()), off: int64(c.U32())}
		index := c.U16()
		c.Skip(6) // date, time, attributes
		name := c.CString()
		if c.Err() != nil {
			damage = malformed("the cabinet has %d of %d files", len(files), h.files)
			break
		}
		f.Name, at = string(name), at+c.Off()
		switch index {
		case fromPrev, prevAndNext:
			continued = true
		case toNext:
			f.folder = h.folders - 1
			f.err = h.errOtherCabinet("the file ends", h.next)
		default:
			f.folder = int(index)
		}
		if f.folder < 0 || f.folder >= h.folders {
			f.err = malformed("invalid folder %d of %d", f.folder, h.folders)
		}
		files = append(files, f)
	}
	for i := range files {
		if f := &files[i]; continued && f.folder == 0 {
			f.err = h.errOtherCabinet("the folder begins", h.prev)
		}
	}
	slices.SortStableFunc(files, func(a, b File) int { return cmp.Or(cmp.Compare(a.folder, b.folder), cmp.Compare(a.off, b.off)) })
	return files, damage
}

// errOtherCabinet returns the error of a file with a part in another cabinet.
func (h *head) errOtherCabinet(part, name string) error {
	if name == "" {
		name = "another cabinet"
	}
	return fault.New(fault.Unsupported, "cab", "%s in %s of the set", part, bytes.ToValidUTF8([]byte(name), []byte("\uFFFD")))
}
