package object

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/cab"
	"symbolon/internal/format/flate"
	"symbolon/internal/format/xz"
)

// maxMembers is how many members of an archive are looked at.
const maxMembers = 1 << 16

// openPacked opens the file that a compressed one holds.
func openPacked(k kind, src bin.Source, opt Options) (*File, error) {
	opt.depth++
	if opt.depth > maxNested {
		return nil, fault.New(fault.Unsupported, kindNames[k], "what it holds is compressed again")
	}
	opt.room = opt.unpackRoom(src)
	unpack := opt.room.unpackStream
	if k == kindXz {
		unpack = opt.room.unpackXz
	}
	all, err := unpack(k, src)
	if err != nil {
		return nil, err
	}
	return Open(bin.Bytes(all), opt)
}

// maxNested is how many times a file may be packed: an archive, in which files
// are compressed, or the other way round.
const maxNested = 2

// unpackXz unpacks a file packed with xz.
func (r *room) unpackXz(_ kind, src bin.Source) ([]byte, error) {
	packed, err := bin.Read(src, 0, int(src.Size()))
	if err != nil {
		return nil, readFault(0, err)
	}
	if r.space == nil {
		all, err := xz.Unpack(packed, r.left)
		if err == nil {
			err = r.take(uint64(len(all)))
		}
		return all, err
	}
	size, err := xz.Size(packed)
	if err == nil {
		err = r.take(uint64(size))
	}
	if err != nil {
		return nil, err
	}
	all, err := r.memory(int(size))
	if err == nil {
		err = xz.Into(all, packed)
	}
	return all, err
}

// unpackStream unpacks a file packed in a way that does not tell its size. What
// passes the bound of the heap is counted first, and then unpacked once more.
func (r *room) unpackStream(k kind, src bin.Source) ([]byte, error) {
	plain, err := plainOf(k, src, r.left)
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	most := r.left
	if r.space != nil {
		most = max(0, min(most, maxHeap-r.heap))
	}
	all, err := io.ReadAll(io.LimitReader(plain, most+1))
	size := int64(len(all))
	if err == nil && size > most {
		all = nil
		var rest int64
		rest, err = io.Copy(io.Discard, plain)
		size += rest
	}
	if err != nil {
		return nil, fault.New(fault.Malformed, kindNames[k], "%w", err)
	}
	if err := r.take(uint64(size)); err != nil {
		return nil, err
	}
	if all != nil || size == 0 {
		r.heap += size
		return all, nil
	}
	if all, err = r.memory(int(size)); err != nil {
		return nil, err
	}
	again, err := plainOf(k, src, size)
	if err != nil {
		return nil, err
	}
	defer again.Close()
	for done := 0; done < len(all); {
		n, err := io.ReadFull(again, all[done:min(done+relaxAfter, len(all))])
		if err != nil {
			return nil, fault.New(fault.Malformed, kindNames[k], "%w", err)
		}
		done += n
		r.relax()
	}
	return all, nil
}

// plainOf reads what is in a packed file, of which limit bytes may come.
func plainOf(k kind, src bin.Source, limit int64) (io.ReadCloser, error) {
	packed := bin.NewCount(io.NewSectionReader(src, 0, src.Size()))
	var z io.ReadCloser
	var err error
	switch k {
	case kindGzip:
		z, err = gzip.NewReader(packed)
	case kindZlib:
		z, err = zlib.NewReader(packed)
	default:
		var d *zstd.Decoder
		if d, err = zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow)); err == nil {
			z = d.IOReadCloser()
		}
	}
	if err != nil {
		return nil, fault.New(fault.Malformed, kindNames[k], "%w", err)
	}
	return struct {
		io.Reader
		io.Closer
	}{bin.Meter(z, packed, bin.Limit{Bytes: limit}), z}, nil
}

// archive collects the objects of the members of an archive.
type archive struct {
	kind    kind
	opt     Options
	members int
	objects []*Object
	first   error // of a member that looks like a debug file and is none
	damage  Damage
}

// note notes a member that cannot be read. What it costs is told with the
// objects of the others.
func (a *archive) note(name string, err error) {
	if fault.KindOf(err) != fault.Malformed {
		return
	}
	if a.first == nil {
		a.first = err
	}
	place := err.Error()
	if name != "" {
		place = fmt.Sprintf("member %q: %s", name, place)
	}
	if a.damage.Count++; len(a.damage.Places) < maxPlaces {
		a.damage.Places = append(a.damage.Places, place)
	}
}

func openArchive(k kind, src bin.Source, opt Options) (*File, error) {
	a := &archive{kind: k, opt: opt}
	a.opt.room = opt.unpackRoom(src)
	if a.opt.depth++; a.opt.depth > maxNested {
		return nil, fault.New(fault.Unsupported, kindNames[k], "it is inside of another archive")
	}
	var err error
	switch k {
	case kindAr:
		err = a.readAr(src)
	case kindZip:
		err = a.readZip(src)
	case kindCab:
		err = a.readCab(src)
	default:
		err = a.readTar(src)
	}
	switch {
	case a.opt.room.failed != nil:
		return nil, a.opt.room.failed
	case err != nil && len(a.objects) == 0:
		return nil, err
	case len(a.objects) == 0 && a.first != nil:
		return nil, a.first
	case len(a.objects) == 0:
		return nil, fault.New(fault.Unsupported, kindNames[k], "none of its %d members is a debug file", a.members)
	}
	if err != nil {
		a.note("", err)
	}
	for _, o := range a.objects {
		if a.damage.Kind = "damaged members"; a.damage.Count > 0 {
			o.info.BadRecords += a.damage.Count
			o.info.Damage = append(slices.Clip(o.info.Damage), a.damage)
		}
	}
	return &File{kind: kindNames[k], objects: a.objects}, nil
}

// add opens a member.
func (a *archive) add(name string, src bin.Source) {
	if a.members++; src.Size() == 0 {
		return
	}
	f, err := Open(src, a.opt)
	if err != nil {
		a.note(name, err)
		return
	}
	for _, o := range f.objects {
		o.info.Name = strings.ToValidUTF8(name, "\uFFFD")
		a.objects = append(a.objects, o)
	}
}

// readAr reads an archive of object files, with the long names of GNU or BSD.
func (a *archive) readAr(src bin.Source) error {
	var long []byte
	for off := int64(8); off < src.Size() && a.members < maxMembers; {
		if off+60 > src.Size() {
			return fault.New(fault.Malformed, "ar", "it is cut off in the head of a member at offset %#x", off)
		}
		head, err := bin.Read(src, off, 60)
		if err != nil {
			return readFault(off, err)
		}
		size, err := strconv.ParseInt(strings.TrimSpace(string(head[48:58])), 10, 64)
		if err != nil || size < 0 || string(head[58:]) != "`\n" {
			return fault.New(fault.Malformed, "ar", "the head of a member at offset %#x is damaged", off)
		}
		name := strings.TrimRight(string(head[:16]), " ")
		body := bin.Section(src, off+60, min(size, src.Size()-off-60))
		off += 60 + size + size&1
		switch {
		case name == "/" || name == "/SYM64/" || strings.HasPrefix(name, "__.SYMDEF"):
			continue
		case name == "//":
			if long, err = bin.Read(body, 0, int(body.Size())); err != nil {
				return readFault(off, err)
			}
			continue
		case strings.HasPrefix(name, "#1/"):
			n, err := strconv.ParseInt(name[3:], 10, 64)
			if err != nil || n < 0 || n > min(body.Size(), 4096) {
				return fault.New(fault.Malformed, "ar", "the name of a member before offset %#x is damaged", off)
			}
			text, err := bin.Read(body, 0, int(n))
			if err != nil {
				return readFault(off, err)
			}
			name, body = string(bytes.TrimRight(text, "\x00")), bin.Section(body, n, body.Size()-n)
		case strings.HasPrefix(name, "/"):
			if at, err := strconv.Atoi(name[1:]); err == nil && at >= 0 && at < len(long) {
				text, _, _ := bytes.Cut(long[at:], []byte("\n"))
				name = string(text)
			}
		}
		a.add(strings.TrimSuffix(name, "/"), body)
	}
	return nil
}

func (a *archive) readZip(src bin.Source) error {
	z, err := zip.NewReader(src, src.Size())
	if err != nil {
		return fault.New(fault.Malformed, "zip", "%w", err)
	}
	for _, f := range z.File {
		if a.members >= maxMembers {
			break
		}
		if f.FileInfo().IsDir() {
			continue
		}
		if off, err := f.DataOffset(); err == nil && f.Method == zip.Store && off+int64(f.UncompressedSize64) <= src.Size() {
			a.add(f.Name, bin.Section(src, off, int64(f.UncompressedSize64)))
			continue
		}
		r, err := f.Open()
		if err != nil {
			kind := fault.Malformed
			if errors.Is(err, zip.ErrAlgorithm) {
				kind = fault.Unsupported
			}
			a.note("", fault.New(kind, "zip", "member %q: %w", f.Name, err))
			continue
		}
		if f.Method == zip.Deflate {
			err = a.inflate(f, src, r)
		} else {
			err = a.unpack(f.Name, int64(f.UncompressedSize64), r)
		}
		if e := r.Close(); err == nil {
			err = e
		}
		if err != nil {
			a.note("", err)
		}
	}
	return nil
}

// inflate unpacks a member at once, if it begins as a debug file does, which
// head tells.
func (a *archive) inflate(f *zip.File, src bin.Source, head io.Reader) error {
	begin := make([]byte, min(headSize, f.UncompressedSize64))
	if _, err := io.ReadFull(head, begin); err != nil {
		return fault.New(fault.Malformed, "zip", "member %q: %w", f.Name, err)
	}
	if sniff(begin) == kindUnknown {
		a.members++
		return nil
	}
	off, err := f.DataOffset()
	if err != nil || f.CompressedSize64 > uint64(max(0, src.Size()-off)) {
		return fault.New(fault.Malformed, "zip", "member %q: %d bytes at offset %#x of %#x", f.Name, f.CompressedSize64, off, src.Size())
	}
	packed, err := bin.Read(src, off, int(f.CompressedSize64))
	if err != nil {
		return readFault(off, err)
	}
	all, err := a.opt.room.inflate(packed, int(f.UncompressedSize64))
	if err != nil {
		return fault.New(fault.KindOf(err), "zip", "member %q: %w", f.Name, err)
	}
	if sum := crc32.ChecksumIEEE(all); sum != f.CRC32 {
		return fault.New(fault.Malformed, "zip", "member %q: checksum %08x instead of %08x", f.Name, sum, f.CRC32)
	}
	a.add(f.Name, bin.Bytes(all))
	return nil
}

func (a *archive) readTar(src bin.Source) error {
	for t := tar.NewReader(io.NewSectionReader(src, 0, src.Size())); a.members < maxMembers; {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fault.New(fault.Malformed, "tar", "%w", err)
		}
		if h.Typeflag == tar.TypeReg {
			if err := a.unpack(h.Name, h.Size, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// readCab reads the members of a cabinet, one after the other. What one of them is
// packed with, or which other cabinet has it, is told if there is nothing else.
func (a *archive) readCab(src bin.Source) error {
	c, err := cab.Open(src, a.opt.room.left)
	if err != nil {
		return err
	}
	c.Inflate = flate.Follow
	var closed error
	for a.members < maxMembers {
		f, err := c.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err = a.unpack(f.Name, f.Size, c); fault.KindOf(err) == fault.Unsupported && closed == nil {
			closed = fault.New(fault.Unsupported, "cab", "member %q: %w", f.Name, err)
		} else if err != nil {
			a.note(f.Name, err)
		}
	}
	return closed
}

// unpack reads a member of a known size to where there is room for it, if it
// begins as a debug file does.
func (a *archive) unpack(name string, size int64, r io.Reader) error {
	head := make([]byte, max(0, min(headSize, size)))
	if _, err := io.ReadFull(r, head); err != nil {
		return a.damaged(name, err)
	}
	if sniff(head) == kindUnknown {
		a.members++
		return nil
	}
	if err := a.opt.room.take(uint64(size)); err != nil {
		return err
	}
	all, err := a.opt.room.memory(int(size))
	if err != nil {
		return err
	}
	if _, err := io.ReadFull(r, all[copy(all, head):]); err != nil {
		return a.damaged(name, err)
	}
	if _, err := io.ReadFull(r, head[:1]); err != io.EOF { // which is when a checksum is compared
		return a.damaged(name, cmp.Or(err, errors.New("it is longer than it says")))
	}
	a.add(name, bin.Bytes(all))
	return nil
}

// damaged is what is told of a member that cannot be read, unless its reader says
// more.
func (a *archive) damaged(name string, err error) error {
	if fault.KindOf(err) == fault.Unsupported || fault.KindOf(err) == fault.Malformed {
		return err
	}
	return fault.New(fault.Malformed, kindNames[a.kind], "member %q: %w", name, err)
}
