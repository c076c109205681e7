package object

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

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
	all, err := unpackAll(k, src, opt.room.left)
	if err == nil {
		err = opt.room.take(uint64(len(all)))
	}
	if err != nil {
		return nil, err
	}
	return Open(bin.Bytes(all), opt)
}

// maxNested is how many times a file may be packed: an archive, in which files
// are compressed, or the other way round.
const maxNested = 2

// unpackAll unpacks a compressed file.
func unpackAll(k kind, src bin.Source, limit int64) ([]byte, error) {
	packed := bin.NewCount(io.NewSectionReader(src, 0, src.Size()))
	var plain io.Reader
	switch k {
	case kindXz:
		raw, err := bin.Read(src, 0, int(src.Size()))
		if err != nil {
			return nil, readFault(0, err)
		}
		return xz.Unpack(raw, limit)
	case kindGzip:
		z, err := gzip.NewReader(packed)
		if err != nil {
			return nil, fault.New(fault.Malformed, "gzip", "%w", err)
		}
		plain = z
	case kindZlib:
		z, err := zlib.NewReader(packed)
		if err != nil {
			return nil, fault.New(fault.Malformed, "zlib", "%w", err)
		}
		plain = z
	default:
		z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, fault.New(fault.Malformed, "zstd", "%w", err)
		}
		defer z.Close()
		plain = z
	}
	all, err := io.ReadAll(bin.Meter(plain, packed, bin.Limit{Bytes: limit}))
	if err != nil {
		return nil, fault.New(fault.Malformed, kindNames[k], "%w", err)
	}
	return all, nil
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
		err = a.unpack(f.Name, r)
		if e := r.Close(); err == nil {
			err = e
		}
		if err != nil {
			a.note("", err)
		}
	}
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
			if err := a.unpack(h.Name, t); err != nil {
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
		if err = a.unpackSized(f.Name, f.Size, c); fault.KindOf(err) == fault.Unsupported && closed == nil {
			closed = fault.New(fault.Unsupported, "cab", "member %q: %w", f.Name, err)
		} else if err != nil {
			a.note(f.Name, err)
		}
	}
	return closed
}

// unpackSized reads a member of a known size to where there is room for it, if it
// begins as a debug file does.
func (a *archive) unpackSized(name string, size int64, r io.Reader) error {
	head := make([]byte, min(headSize, size))
	if _, err := io.ReadFull(r, head); err != nil {
		return err
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
		return err
	}
	a.add(name, bin.Bytes(all))
	return nil
}

// unpack reads a member into memory if it begins as a debug file does.
func (a *archive) unpack(name string, r io.Reader) error {
	head := make([]byte, headSize)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return fault.New(fault.Malformed, kindNames[a.kind], "member %q: %w", name, err)
	}
	if sniff(head[:n]) == kindUnknown {
		a.members++
		return nil
	}
	all, err := io.ReadAll(io.LimitReader(io.MultiReader(bytes.NewReader(head[:n]), r), a.opt.room.left+1))
	if err != nil {
		return fault.New(fault.Malformed, kindNames[a.kind], "member %q: %w", name, err)
	}
	if err := a.opt.room.take(uint64(len(all))); err != nil {
		return err
	}
	a.add(name, bin.Bytes(all))
	return nil
}
