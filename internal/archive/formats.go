package archive

import (
	"archive/tar"
	"bytes"
	"compress/bzip2"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zip"
	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/cab"
	"symbolon/internal/format/flate"
	"symbolon/internal/format/xz"
)

// format is the format of a file, as far as this package reads it.
type format uint8

const (
	otherFile format = iota
	zipFile
	cabFile
	tarFile
	debFile
	rpmFile
	cpioFile
	gzipFile
	zstdFile
	bzip2File
	xzFile
)

var magics = [...]struct {
	format
	magic string
	at    int
}{
	{zipFile, "PK\x03\x04", 0},
	{cabFile, cab.Magic, 0},
	{debFile, "!<arch>\ndebian-binary", 0},
	{rpmFile, "\xed\xab\xee\xdb", 0},
	{cpioFile, "070701", 0},
	{cpioFile, "070702", 0},
	{gzipFile, "\x1f\x8b\x08", 0},
	{zstdFile, "\x28\xb5\x2f\xfd", 0},
	{bzip2File, "BZh", 0},
	{xzFile, xz.Magic, 0},
	{tarFile, "ustar", 257},
}

// suffixes are those of the names of compressed files.
var suffixes = map[format][]string{
	gzipFile: {".gz"}, zstdFile: {".zst", ".zstd"}, bzip2File: {".bz2"}, xzFile: {".xz"},
}

// sniff returns the format of a file by its beginning.
func sniff(head []byte) format {
	for _, m := range magics {
		if len(head) >= m.at && bytes.HasPrefix(head[m.at:], []byte(m.magic)) {
			return m.format
		}
	}
	return otherFile
}

// plainName returns the name of a compressed file after decompression.
func plainName(name string, f format) string {
	for _, suffix := range suffixes[f] {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}

const (
	maxWindow = 8 << 20  // of zstd
	maxXz     = 48 << 20 // bytes of an archive of unknown size inside of another file
	perFile   = 512      // bytes of the list of files of a zip, for each file
)

// decoded walks a compressed file.
func (w *walker) decoded(name string, f format, r io.Reader, depth int, packed bool) error {
	if packed {
		return fault.New(fault.Unsupported, name, "unsupported file: it is compressed twice")
	}
	var plain io.Reader
	switch f {
	case gzipFile:
		z, err := gzip.NewReader(r)
		if err != nil {
			return broken(name, err)
		}
		defer z.Close()
		plain = z
	case zstdFile:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return broken(name, err)
		}
		defer z.Close()
		plain = z
	default:
		plain = bzip2.NewReader(r)
	}
	return w.stream(plainName(name, f), w.meter(plain), unknown, depth, true)
}

// unpacked walks a file that is compressed with xz.
func (w *walker) unpacked(name string, src bin.Source, depth int, packed bool) error {
	if packed {
		return fault.New(fault.Unsupported, name, "unsupported file: it is compressed twice")
	}
	all, ok := bin.Whole(src)
	if !ok {
		var err error
		if all, err = w.budget.Memory(int(src.Size())); err != nil {
			return err
		}
		if _, err := src.ReadAt(all, 0); err != nil && err != io.EOF {
			return broken(name, err)
		}
	}
	plain, err := w.budget.Xz(all)
	if err == nil {
		if w.left -= int64(len(plain)); w.left < 0 {
			err = bin.ErrLimit
		}
	}
	if err != nil {
		return broken(name, err)
	}
	return w.source(plainName(name, xzFile), bin.Bytes(plain), depth, true)
}

// whole reads a file, to read it again at random.
func (w *walker) whole(r io.Reader, size int64) (bin.Source, error) {
	if size == unknown {
		all, err := io.ReadAll(io.LimitReader(r, maxXz+1))
		if err == nil && len(all) > maxXz {
			err = fault.New(fault.Unsupported, "", "unsupported archive: it is compressed as a whole, and larger than %v", bin.Size(maxXz))
		}
		return bin.Bytes(all), err
	}
	if err := w.budget.Reserve(uint64(size)); err != nil {
		return nil, bin.ErrLimit
	}
	all, err := w.budget.Memory(int(size))
	if err == nil {
		_, err = io.ReadFull(r, all)
	}
	return bin.Bytes(all), err
}

// zip walks the files of a zip.
func (w *walker) zip(name string, src bin.Source, depth int) error {
	if err := w.checkDirectory(name, src); err != nil {
		return err
	}
	z, err := zip.NewReader(src, src.Size())
	if err != nil {
		return broken(name, err)
	}
	for i, f := range z.File {
		z.File[i] = nil // 10,000 of them take 4 MB
		if f.Mode().IsDir() {
			continue
		}
		size := unknown
		if f.UncompressedSize64 <= uint64(w.limits.Bytes) {
			size = int(f.UncompressedSize64)
		}
		r, err := f.Open()
		if err != nil { // the other files can be read
			r = io.NopCloser(&bin.ErrReader{Err: unopened(f.Name, err)})
		}
		err = w.member(name, f.Name, w.meter(r), int64(size), depth)
		r.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// unopened returns the fault of a file of a zip that cannot be opened.
func unopened(name string, err error) error {
	if errors.Is(err, zip.ErrAlgorithm) {
		return fault.New(fault.Unsupported, name, "unsupported method of compression or encryption")
	}
	return fault.New(fault.Malformed, name, "%w", err)
}

// checkDirectory refuses a zip whose list of files, which is read into memory, is
// too large.
func (w *walker) checkDirectory(name string, src bin.Source) error {
	const size = 22 + 20 + 56 + 1<<16 // the end of the list, of both versions, and a comment
	tail, err := bin.Read(src, max(0, src.Size()-size), int(min(size, src.Size())))
	if err != nil {
		return broken(name, err)
	}
	end := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	if end < 0 || end+22 > len(tail) {
		return fault.New(fault.Malformed, name, "the zip is cut off: it has no list of files")
	}
	listed := uint64(le32(tail[end+12:]))
	if at := bytes.LastIndex(tail[:end], []byte("PK\x06\x06")); listed == 1<<32-1 && at >= 0 && at+56 <= end {
		listed = uint64(le32(tail[at+40:])) | uint64(le32(tail[at+44:]))<<32
	}
	if listed > uint64(w.limits.Files)*perFile {
		return fault.New(fault.Unsupported, name, "the archive has more than %d files", w.limits.Files)
	}
	return nil
}

func le32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// cab walks the files of a cabinet.
func (w *walker) cab(name string, src bin.Source, depth int) error {
	c, err := cab.Open(src, w.left)
	if err != nil {
		return broken(name, err)
	}
	c.Inflate = flate.Follow
	for {
		f, err := c.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = w.member(name, strings.ReplaceAll(f.Name, `\`, "/"), w.meter(c), f.Size, depth)
		}
		if err != nil {
			return broken(name, err)
		}
	}
}

// tar walks the files of a tar.
func (w *walker) tar(name string, r io.Reader, depth int) error {
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			err = w.member(name, h.Name, t, h.Size, depth)
		}
		if err != nil {
			return broken(name, err)
		}
	}
}

// deb walks the files of a package of Debian, which is an ar with a tar in it.
func (w *walker) deb(name string, r io.Reader, depth int) error {
	var head [60]byte
	if _, err := io.CopyN(io.Discard, r, 8); err != nil {
		return broken(name, err)
	}
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return broken(name, err)
		}
		size, err := strconv.ParseInt(strings.TrimSpace(string(head[48:58])), 10, 64)
		if err != nil || size < 0 {
			return fault.New(fault.Malformed, name, "the head of a member is damaged")
		}
		body := io.LimitReader(r, size)
		if strings.HasPrefix(string(head[:]), "data.tar") {
			return w.stream(name, body, size, depth, false)
		}
		if _, err := io.CopyN(io.Discard, r, size+size&1); err != nil {
			return broken(name, err)
		}
	}
}

const (
	rpmLead    = 96
	rpmMagic   = "\x8e\xad\xe8"
	maxEntries = 1 << 20   // of a header
	maxHeader  = 256 << 20 // bytes of the values of a header
)

// rpm walks the files of a package of RPM: a lead, a header of signatures, which is
// padded to 8 bytes, the header of the package, and a cpio.
func (w *walker) rpm(name string, r io.Reader, depth int) error {
	if _, err := io.CopyN(io.Discard, r, rpmLead); err != nil {
		return broken(name, err)
	}
	for _, padded := range [...]bool{true, false} {
		var head [16]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return broken(name, err)
		}
		entries, size := int64(be32(head[8:])), int64(be32(head[12:]))
		if string(head[:3]) != rpmMagic || entries > maxEntries || size > maxHeader {
			return fault.New(fault.Malformed, name, "a header of the package is damaged")
		}
		if size += 16 * entries; padded {
			size = (size + 7) &^ 7
		}
		if _, err := io.CopyN(io.Discard, r, size); err != nil {
			return broken(name, err)
		}
	}
	return w.stream(name, r, unknown, depth, false)
}

func be32(b []byte) uint32 {
	return uint32(b[3]) | uint32(b[2])<<8 | uint32(b[1])<<16 | uint32(b[0])<<24
}

const (
	cpioHead    = 110
	cpioEnd     = "TRAILER!!!"
	typeMask    = 0o170000
	typeFile    = 0o100000
	maxCpioName = 4096
)

// cpio walks the files of a cpio of the newer ASCII format.
func (w *walker) cpio(name string, r io.Reader, depth int) error {
	for {
		var head [cpioHead]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return broken(name, err)
		}
		field := func(k int) int64 {
			n, err := strconv.ParseUint(string(head[6+8*k:][:8]), 16, 32)
			if err != nil {
				return -1
			}
			return int64(n)
		}
		mode, size, length := field(1), field(6), field(11)
		if string(head[:5]) != "07070" || mode < 0 || size < 0 || length < 1 || length > maxCpioName {
			return fault.New(fault.Malformed, name, "the head of a file is damaged")
		}
		text := make([]byte, length+(4-(cpioHead+length)%4)%4)
		if _, err := io.ReadFull(r, text); err != nil {
			return broken(name, err)
		}
		file := string(text[:length-1])
		if file == cpioEnd {
			return nil
		}
		body := &io.LimitedReader{R: r, N: size}
		if mode&typeMask == typeFile && size > 0 {
			if err := w.member(name, file, body, size, depth); err != nil {
				return err
			}
		}
		if _, err := io.CopyN(io.Discard, r, body.N+(4-size%4)%4); err != nil {
			return broken(name, err)
		}
	}
}
