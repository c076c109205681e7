package companion

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"os"
	"strings"

	"symbolon/internal/ident"
	"symbolon/internal/object"
)

// Open opens an object of a debug file and those of its companions that are
// found.
func Open(name string, opt Options) (*File, error) {
	d, err := OpenAlone(name, opt)
	if err != nil {
		return nil, err
	}
	f := finder{place: place{Unbundled(name), opt}, file: d}
	f.findDebugFile()
	f.findParts()
	return d, nil
}

// OpenAlone opens an object of a debug file without companions.
func OpenAlone(name string, opt Options) (*File, error) {
	d := &File{}
	f, err := d.openFile(name, opt)
	if err == nil {
		d.objects = f.Objects()
		if d.object, err = choose(d.objects, opt); err != nil {
			err = named(name, err)
		}
	}
	if err != nil {
		return nil, errors.Join(Cause(err, d), d.Close())
	}
	return d, nil
}

// choose returns the object that the options select.
func choose(all []*object.Object, opt Options) (*object.Object, error) {
	n := 0
	var archs []string
	for _, o := range all {
		arch := o.Info().Module.Arch
		archs = append(archs, arch.String())
		if !(opt.Only && len(all) == 1) && !matches(arch, opt.Arch) {
			continue
		}
		if n == opt.Object {
			return o, nil
		}
		n++
	}
	if opt.Arch != "" && n == 0 {
		return nil, fmt.Errorf("invalid architecture %s: must be one of the file's: %s", opt.Arch, strings.Join(archs, ", "))
	}
	return nil, fmt.Errorf("invalid object number %d: must be at least 0 and less than %d, the number of objects", opt.Object, n)
}

// matches reports whether an object is for the named architecture or its family.
// A name or an object of an unknown one matches.
func matches(arch ident.Arch, name string) bool {
	want := ident.ParseArch(name)
	return name == "" || arch == want || arch.Family() == want || arch == ident.ArchUnknown || want == ident.ArchUnknown
}

// A finder searches the companions of a file.
type finder struct {
	place
	file *File
}

// findDebugFile replaces an object without debug information by that of its
// debug file.
func (f *finder) findDebugFile() {
	for _, n := range f.file.object.Needs() {
		if (n.Kind == object.NeedDebug || n.Kind == object.NeedDSYM || n.Kind == object.NeedPDB) && f.replace(n) {
			return
		}
	}
}

// findParts supplies the object with the files that have parts of its debug
// information. A package may have all split units, and needs of its own.
func (f *finder) findParts() {
	tried := false
	for _, n := range f.file.object.Needs() {
		switch n.Kind {
		case object.NeedDebug, object.NeedDSYM, object.NeedPDB:
			continue
		case object.NeedSplit:
			if !tried && f.file.Supply(n, f.existing(f.packagePaths())...) {
				f.findParts()
				return
			}
			tried = true
		}
		f.file.Supply(n, f.existing(f.paths(n))...)
	}
}

// replace makes the debug file of the object the one that is answered from, if
// there is one and the object has no debug information itself.
func (f *finder) replace(n object.Need) bool {
	d := f.file
	own := d.object.Info()
	if own.Features&object.HasDebug != 0 {
		return false
	}
	for _, o := range d.objects {
		if n.Kind == object.NeedPDB && o != d.object && fits(o, n, own, nil) {
			d.binary, d.object = d.object, o
			return true
		}
	}
	for path := range f.debugFiles(n) {
		opened, opt := &File{}, f.opt
		opt.base = own.LoadAddress
		file, err := opened.openFile(path, opt)
		if err == nil {
			for _, o := range file.Objects() {
				if fits(o, n, own, opened.source) {
					d.open, d.spaces = append(d.open, opened.open...), append(d.spaces, opened.spaces...)
					d.binary, d.object, d.source, f.name = d.object, o, opened.source, path
					return true
				}
			}
		}
		opened.Close()
	}
	return false
}

// debugFiles yields the files that may be the needed one: the last one is fetched.
func (f *finder) debugFiles(n object.Need) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, path := range f.existing(f.paths(n)) {
			if !yield(path) {
				return
			}
		}
		if n.Kind == object.NeedDebug && len(n.ID) > 1 && f.opt.Fetch != nil {
			if path := f.opt.Fetch(n.ID); path != "" {
				yield(path)
			}
		}
	}
}

// FindBuildID returns the path of the file with a build id in one of the folders, in
// one of the system, or as it is fetched; empty if there is none.
func FindBuildID(id []byte, opt Options) string {
	p := place{opt: opt}
	for _, dir := range p.dirs() {
		for _, path := range buildIDPath(dir, id) {
			if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
				return path
			}
		}
	}
	if opt.Fetch == nil || len(id) < 2 {
		return ""
	}
	return opt.Fetch(id)
}

// fits reports whether an object of src is the debug information of a binary. A
// debug link has only the checksum of the file to compare.
func fits(o *object.Object, n object.Need, own object.Info, src *Source) bool {
	info := o.Info()
	switch {
	case info.Features&object.HasDebug == 0 && own.Features >= info.Features && !isPublic(n, info):
		return false
	case n.Kind == object.NeedPDB:
		return (info.Kind == "pdb" || info.Kind == "portablepdb") && info.Module.DebugID == n.DebugID
	case len(n.ID) > 0:
		return !info.Module.DebugID.IsZero() && info.Module.DebugID == own.Module.DebugID
	}
	sum := crc32.NewIEEE()
	_, err := io.Copy(sum, io.NewSectionReader(src, 0, src.Size()))
	return err == nil && sum.Sum32() == n.CRC
}

// isPublic reports whether the needed file is a PDB with public symbols: they have more
// names than the exports of the binary.
func isPublic(n object.Need, info object.Info) bool {
	return n.Kind == object.NeedPDB && info.Features&object.HasSymbols != 0
}
