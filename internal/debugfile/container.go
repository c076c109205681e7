package debugfile

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/cab"
	"symbolon/internal/format/flate"
	"symbolon/internal/object"
)

// maxMembers is how many members of an archive are looked at.
const maxMembers = 1 << 16

// openPacked opens the file that a compressed one holds.
func (o opener) openPacked(k kind, src bin.Source) (*object.File, error) {
	o.depth++
	if o.depth > maxNested {
		return nil, fault.New(fault.Unsupported, kindNames[k], "unsupported compressed file in a compressed file")
	}
	o.budget = o.budgetFor(src)
	var all []byte
	var err error
	if k == kindXz {
		if all, err = bin.Read(src, 0, int(src.Size())); err != nil {
			return nil, object.ReadFault(0, err)
		}
		all, err = o.budget.Xz(all)
	} else {
		all, err = o.budget.Stream(kindNames[k], src)
	}
	if err != nil {
		return nil, err
	}
	return o.open(bin.Bytes(all))
}

// maxNested is how many times a file may be packed: an archive, in which files
// are compressed, or the other way round.
const maxNested = 2

// archive collects the objects of the members of an archive.
type archive struct {
	opener
	kind        kind
	members     int
	objects     []*object.Object
	first       error // of a member that looks like a debug file and cannot be read
	malformed   object.Damage
	unsupported object.Damage
}

// note notes a member that cannot be read. It is reported as damage of the objects
// of the others. Members of an unsupported form are reported for ar alone, which
// contains objects; in others, files that only look like debug files are normal.
func (a *archive) note(name string, err error) {
	d := &a.malformed
	switch k := fault.KindOf(err); {
	case k == fault.Unsupported && a.kind == kindAr:
		d = &a.unsupported
	case k != fault.Malformed:
		return
	}
	if a.first == nil {
		a.first = err
	}
	place := err.Error()
	if name != "" {
		place = fmt.Sprintf("member %q: %s", name, place)
	}
	if d.Count++; len(d.Places) < object.MaxPlaces {
		d.Places = append(d.Places, place)
	}
}

func (o opener) openArchive(k kind, src bin.Source) (*object.File, error) {
	a := &archive{kind: k, opener: o, malformed: object.Damage{Kind: "damaged members"}, unsupported: object.Damage{Kind: "unsupported members"}}
	a.budget = o.budgetFor(src)
	if a.depth++; a.depth > maxNested {
		return nil, fault.New(fault.Unsupported, kindNames[k], "unsupported archive in an archive")
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
	case a.budget.Failed != nil:
		return nil, a.budget.Failed
	case err != nil && len(a.objects) == 0:
		return nil, err
	case len(a.objects) == 0 && a.first != nil:
		return nil, a.first
	case len(a.objects) == 0:
		return nil, fault.New(fault.Unsupported, kindNames[k], "found no debug file in %d members", a.members)
	}
	if err != nil {
		a.note("", err)
	}
	for _, d := range []object.Damage{a.malformed, a.unsupported} {
		for _, o := range a.objects {
			if d.Count > 0 {
				o.AddDamage(d)
			}
		}
	}
	return object.NewFile(kindNames[k], a.objects), nil
}

// add opens a member, if it begins as a debug file does. It notes why one cannot
// be opened.
func (a *archive) add(name string, src bin.Source) {
	if err := a.openMember(name, src); err != nil {
		a.note(name, err)
	}
}

// openMember opens a member, if it begins as a debug file does.
func (a *archive) openMember(name string, src bin.Source) error {
	a.members++
	head, err := bin.Read(src, 0, int(min(headSize, src.Size())))
	if err != nil || sniff(head) == kindUnknown {
		return nil
	}
	f, err := a.open(src)
	if err != nil {
		return err
	}
	for _, o := range f.Objects() {
		o.SetName(object.Valid(name))
		a.objects = append(a.objects, o)
	}
	return nil
}

// readAr reads an archive of object files, with the long names of GNU, BSD or
// Microsoft. The last member may be cut off: it is opened as far as it goes.
func (a *archive) readAr(src bin.Source) error {
	var long []byte
	var name string
	var size, left int64 // of the member, and of the file from there
	for off := int64(8); off < src.Size() && a.members < maxMembers; {
		if off+60 > src.Size() {
			return fault.New(fault.Malformed, "ar", "it is cut off in the head of a member at offset %#x", off)
		}
		head, err := bin.Read(src, off, 60)
		if err != nil {
			return object.ReadFault(off, err)
		}
		size, err = strconv.ParseInt(strings.TrimSpace(string(head[48:58])), 10, 64)
		if err != nil || size < 0 || string(head[58:]) != "`\n" {
			return fault.New(fault.Malformed, "ar", "the head of a member at offset %#x is damaged", off)
		}
		name, left = strings.TrimRight(string(head[:16]), " "), src.Size()-off-60
		body := bin.Section(src, off+60, min(size, left))
		off += 60 + size + size&1
		switch {
		case name == "/" || name == "/SYM64/" || strings.HasPrefix(name, "__.SYMDEF"):
			continue
		case name == "//":
			if long, err = bin.Read(body, 0, int(body.Size())); err != nil {
				return object.ReadFault(off, err)
			}
			continue
		case strings.HasPrefix(name, "#1/"):
			n, err := strconv.ParseInt(name[3:], 10, 64)
			if err != nil || n < 0 || n > min(size, 4096) {
				return fault.New(fault.Malformed, "ar", "the name of a member before offset %#x is damaged", off)
			}
			n = min(n, body.Size())
			text, err := bin.Read(body, 0, int(n))
			if err != nil {
				return object.ReadFault(off, err)
			}
			name, body = string(bytes.TrimRight(text, "\x00")), bin.Section(body, n, body.Size()-n)
		case strings.HasPrefix(name, "/"):
			if at, err := strconv.Atoi(name[1:]); err == nil && at >= 0 && at < len(long) {
				text := long[at:]
				if end := bytes.IndexAny(text, "\n\x00"); end >= 0 { // of GNU, of Microsoft
					text = text[:end]
				}
				name = string(text)
			}
		}
		name = strings.TrimSuffix(name, "/")
		if err := a.openMember(name, body); err != nil && size <= left {
			a.note(name, err)
		}
	}
	if size > left {
		return fault.New(fault.Malformed, "ar", "the file ends too early, after %d of the %d bytes of member %q", left, size, name)
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

// inflate unpacks a member at once if its beginning, head, is that of a debug file.
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
		return object.ReadFault(off, err)
	}
	all, err := a.budget.Inflate(packed, int(f.UncompressedSize64))
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

// readCab reads the members of a cabinet, one after the other. It returns an error
// about an unsupported member, for a cabinet without other debug files.
func (a *archive) readCab(src bin.Source) error {
	c, err := cab.Open(src, a.budget.Left)
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

// unpack reads a member of a known size into memory of the budget, if it
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
	if err := a.budget.Reserve(uint64(size)); err != nil {
		return err
	}
	all, err := a.budget.Memory(int(size))
	if err != nil {
		return err
	}
	if _, err := io.ReadFull(r, all[copy(all, head):]); err != nil {
		return a.damaged(name, err)
	}
	if _, err := io.ReadFull(r, head[:1]); err != io.EOF { // which is when a checksum is compared
		return a.damaged(name, cmp.Or(err, errors.New("it is longer than its declared size")))
	}
	a.add(name, bin.Bytes(all))
	return nil
}

// damaged returns the error of a member that cannot be read. Errors that are more
// specific are unchanged.
func (a *archive) damaged(name string, err error) error {
	if fault.KindOf(err) == fault.Unsupported || fault.KindOf(err) == fault.Malformed {
		return err
	}
	return fault.New(fault.Malformed, kindNames[a.kind], "member %q: %w", name, err)
}
