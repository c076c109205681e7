// Package companion opens debug files of the local disk, with the separate files
// that they need.
package companion

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"symbolon/internal/console"
	"symbolon/internal/debugfile"
	"symbolon/internal/format/macho"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/scratch"
)

// Options say which object of a file is wanted, and what is to be found
// for it.
type Options struct {
	Arch    string   // empty: any
	Object  int      // which one of those, from 0 on
	Dirs    []string // where separate files may be
	Columns bool
	Written bool // names are as they are in the file: see object.Options
	Short   bool // paths are without the folder of their unit

	Package string   // the .dwp file; empty: one beside the file
	Bundles []string // .dSYM folders where debug files may be
	Only    bool     // Arch counts for files with several objects only

	Stdin io.Reader // contents of the file "-"; nil: it is a name like others

	base uint64 // of the binary that the file is for
}

// File is an object of a file, with the files beside it that it needs.
type File struct {
	object *object.Object
	beside []*object.Object // of the same file
	binary *object.Object   // that the object was found for; nil: it is the one that was asked for
	open   []*Source
	spaces []*scratch.Space
}

func (d *File) Object() *object.Object { return d.object }

// Objects are all objects of the file.
func (d *File) Objects() []*object.Object { return d.beside }

// Binary is the object that Object was found for, nil if Object is the one that
// was asked for.
func (d *File) Binary() *object.Object { return d.binary }

// Source is the file that was opened last.
func (d *File) Source() *Source { return d.open[len(d.open)-1] }

// Supply gives the object the first file that fits.
func (d *File) Supply(n object.Need, paths []string) bool {
	return (&finder{file: d}).supply(n, paths)
}

func (d *File) Close() (err error) {
	for _, f := range d.open {
		err = errors.Join(err, f.Close())
	}
	for _, s := range d.spaces {
		err = errors.Join(err, s.Close())
	}
	return err
}

// systemDirs is where systems install separate debug files.
var systemDirs = []string{"/usr/lib/debug"}

// Open opens a debug file, and what it needs as far as that is found: the
// file that its debug information was moved to, the one that it shares with
// others, and those of its units.
func Open(name string, opt Options) (*File, error) {
	d, err := OpenAlone(name, opt)
	if err != nil {
		return nil, err
	}
	finder := finder{file: d, name: name, opt: opt}
	finder.run()
	return d, nil
}

// OpenAlone opens a debug file without those beside it.
func OpenAlone(name string, opt Options) (*File, error) {
	d := &File{}
	f, err := d.openFile(name, opt)
	if err == nil {
		d.beside = f.Objects()
		d.object, err = choose(d.beside, opt)
	}
	if err != nil {
		return nil, errors.Join(Verdict(fmt.Errorf("%s: %w", name, err), d), d.Close())
	}
	return d, nil
}

func (d *File) openFile(name string, opt Options) (*object.File, error) {
	src, err := OpenSource(name, opt.Stdin)
	if err != nil {
		return nil, err
	}
	return debugfile.Open(src.Source, d.keep(src, opt))
}

// keep has src closed with d. It returns the options to open it with, which
// keep little of a large file in memory.
func (d *File) keep(src *Source, opt Options) object.Options {
	d.open = append(d.open, src)
	room := scratch.NewSpace(os.TempDir(), nil)
	d.spaces = append(d.spaces, room)
	relax := func() { room.Relax(); src.Relax() }
	return object.Options{Columns: opt.Columns, Written: opt.Written, Short: opt.Short, Base: opt.base, Space: room, Relax: relax}
}

// choose picks the object that is asked for.
func choose(all []*object.Object, opt Options) (*object.Object, error) {
	n := 0
	var have []string
	for _, o := range all {
		arch := o.Info().Module.Arch
		have = append(have, arch.String())
		want := ident.ParseArch(opt.Arch)
		if opt.Arch != "" && !(opt.Only && len(all) == 1) && arch != want && arch.Family() != want && arch != ident.ArchUnknown && want != ident.ArchUnknown {
			continue
		}
		if n == opt.Object {
			return o, nil
		}
		n++
	}
	if opt.Arch != "" && n == 0 {
		return nil, fmt.Errorf("no object is for %s; there are: %s", opt.Arch, strings.Join(have, ", "))
	}
	return nil, fmt.Errorf("there is no object %d; the file has %s, counted from 0", opt.Object, console.Count(n, "object"))
}

// finder looks for the files that an object needs.
type finder struct {
	file *File
	name string
	opt  Options
}

func (f *finder) run() {
	for _, n := range f.file.object.Needs() {
		if n.Kind == object.NeedDebug || n.Kind == object.NeedDSYM || n.Kind == object.NeedPDB {
			if f.replace(n) {
				break
			}
		}
	}
	packed := false // all units may be in one file
	for _, n := range f.file.object.Needs() {
		switch n.Kind {
		case object.NeedAlt:
			f.supply(n, f.altPaths(n))
		case object.NeedModule:
			f.supply(n, f.debugPaths(n))
		case object.NeedObject:
			f.supply(n, f.objectPaths(n))
		case object.NeedMap:
			f.supply(n, f.mapPaths(n))
		case object.NeedSplit:
			if !packed {
				packed = true
				if f.supply(n, f.packages()) {
					f.run()
					return
				}
			}
			f.supply(n, f.splitPaths(n))
		}
	}
}

// dirs are the folders to look in, those of the command line first.
func (f *finder) dirs() []string { return append(append([]string(nil), f.opt.Dirs...), systemDirs...) }

// replace looks for the file that has the debug information of the object. A
// file without debug information of its own is answered from that.
func (f *finder) replace(n object.Need) bool {
	own := f.file.object.Info()
	if own.Features&object.HasDebug != 0 {
		return false
	}
	for _, o := range f.file.beside {
		if n.Kind == object.NeedPDB && o != f.file.object && fits(o, n, own, nil) {
			f.file.binary, f.file.object = f.file.object, o
			return true
		}
	}
	for _, path := range f.debugPaths(n) {
		opened, opt := &File{}, f.opt
		opt.base = own.LoadAddress
		file, err := opened.openFile(path, opt)
		if err == nil {
			for _, o := range file.Objects() {
				if fits(o, n, own, opened.open[0]) {
					f.file.open = append(f.file.open, opened.open...)
					f.file.spaces = append(f.file.spaces, opened.spaces...)
					f.file.binary, f.file.object, f.name = f.file.object, o, path
					return true
				}
			}
		}
		opened.Close()
	}
	return false
}

// fits says whether o is the debug file of a binary.
func fits(o *object.Object, n object.Need, own object.Info, src *Source) bool {
	info := o.Info()
	switch {
	case info.Features&object.HasDebug == 0 && own.Features >= info.Features:
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

func (f *finder) debugPaths(n object.Need) (paths []string) {
	dir := filepath.Dir(f.name)
	if n.Kind == object.NeedPDB {
		return f.others(f.pdbPaths(n))
	}
	if n.Kind == object.NeedDSYM {
		paths = macho.DSYMPaths(f.name)
		for _, d := range f.opt.Dirs {
			paths = append(paths, macho.DSYMPaths(filepath.Join(d, filepath.Base(f.name)))...)
		}
		for _, b := range f.opt.Bundles {
			paths = append(paths, filepath.Join(b, "Contents", "Resources", "DWARF", filepath.Base(f.name)))
		}
		return paths
	}
	if n.Name != "" {
		name := filepath.Base(n.Name)
		paths = append(paths, filepath.Join(dir, name), filepath.Join(dir, ".debug", name))
	}
	whole, _ := filepath.Abs(dir)
	for _, d := range f.dirs() {
		paths = append(paths, buildIDPath(d, n.ID)...)
		if n.Name != "" {
			paths = append(paths, filepath.Join(d, whole, filepath.Base(n.Name)), filepath.Join(d, filepath.Base(n.Name)))
		}
	}
	return f.others(paths)
}

// pdbPaths are where the PDB of a binary may be: beside it, by the name that the
// linker gave it or by that of the binary; where the linker put it; and in other
// folders, which may be laid out as symbol stores are.
func (f *finder) pdbPaths(n object.Need) (paths []string) {
	own := filepath.Base(f.name)
	names := []string{n.Name, strings.TrimSuffix(own, filepath.Ext(own)) + ".pdb"}
	for i, dir := range append([]string{filepath.Dir(f.name)}, f.opt.Dirs...) {
		for _, name := range names {
			paths = append(paths, packedToo(dir, name)...)
			if i > 0 {
				for _, store := range anyCase(dir, name) {
					for _, id := range anyCase(store, n.DebugID.Breakpad()) {
						paths = append(paths, packedToo(id, name)...)
					}
				}
			}
		}
	}
	return append(paths, n.Dir+n.Name)
}

// packedToo are the files of a folder that have a name, and the cabinets that
// symbol stores make of such.
func packedToo(dir, name string) []string {
	return append(anyCase(dir, name), anyCase(dir, name[:len(name)-1]+"_")...)
}

// anyCase are the entries of a folder that have a name, whatever the case of its
// letters.
func anyCase(dir, name string) (paths []string) {
	entries, _ := os.ReadDir(dir) // one that cannot be read has none
	for _, e := range entries {
		if strings.EqualFold(e.Name(), name) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}

// buildIDPath is where a tree of debug files keeps that of a build id.
func buildIDPath(dir string, id []byte) []string {
	if len(id) < 2 {
		return nil
	}
	text := fmt.Sprintf("%x", id)
	return []string{filepath.Join(dir, ".build-id", text[:2], text[2:]+".debug")}
}

// others leaves out the file itself, which a debug link may name.
func (f *finder) others(paths []string) []string {
	own, err := os.Stat(f.name)
	keep := paths[:0]
	for _, p := range paths {
		if st, e := os.Stat(p); e == nil && st.Mode().IsRegular() && (err != nil || !os.SameFile(own, st)) {
			keep = append(keep, p)
		}
	}
	return keep
}

func (f *finder) altPaths(n object.Need) (paths []string) {
	paths = append(paths, n.Name)
	if !filepath.IsAbs(n.Name) {
		paths[0] = filepath.Join(filepath.Dir(f.name), n.Name)
	}
	for _, d := range f.dirs() {
		paths = append(paths, buildIDPath(d, n.ID)...)
		paths = append(paths, filepath.Join(d, filepath.Base(n.Name)), filepath.Join(d, ".dwz", filepath.Base(n.Name)))
	}
	return paths
}

// mapPaths are where an archive of Xcode keeps the names that were hidden. The
// dSYM may say in a property list that they are those of another UUID.
func (f *finder) mapPaths(n object.Need) (paths []string) {
	if len(n.ID) != 16 {
		return nil
	}
	dir := filepath.Dir(f.name)
	ids := [][16]byte{[16]byte(n.ID)}
	for _, d := range []string{dir, filepath.Join(dir, "..")} {
		if plist, err := os.ReadFile(filepath.Join(d, uuidName(ids[0])+".plist")); err == nil {
			if original, err := macho.ReadUUIDMap(plist); err == nil {
				ids = append(ids, original)
			}
		}
	}
	up := filepath.Join(dir, "..", "..", "..", "..") // out of X.dSYM/Contents/Resources/DWARF
	for _, d := range append([]string{dir, filepath.Join(up, "BCSymbolMaps"), filepath.Join(up, "..", "BCSymbolMaps")}, f.opt.Dirs...) {
		for _, id := range ids {
			paths = append(paths, filepath.Join(d, uuidName(id)+".bcsymbolmap"))
		}
	}
	return paths
}

// uuidName is a UUID as Apple's tools name files.
func uuidName(id [16]byte) string { return strings.ToUpper(ident.NewDebugID(id, 0).String()) }

// objectPaths are where an object file that was linked may still be.
func (f *finder) objectPaths(n object.Need) []string {
	paths := []string{n.Name, filepath.Join(filepath.Dir(f.name), filepath.Base(n.Name))}
	for _, d := range f.opt.Dirs {
		paths = append(paths, filepath.Join(d, n.Name), filepath.Join(d, filepath.Base(n.Name)))
	}
	if n.Member != "" || n.Time == 0 {
		return paths
	}
	// One that was compiled again has its code elsewhere.
	return slices.DeleteFunc(paths, func(p string) bool {
		st, err := os.Stat(p)
		return err != nil || st.ModTime().Unix() != n.Time
	})
}

func (f *finder) packages() (paths []string) {
	if f.opt.Package != "" {
		return []string{f.opt.Package}
	}
	paths = append(paths, f.name+".dwp", strings.TrimSuffix(f.name, filepath.Ext(f.name))+".dwp")
	for _, d := range f.opt.Dirs {
		paths = append(paths, filepath.Join(d, filepath.Base(f.name)+".dwp"))
	}
	return paths
}

func (f *finder) splitPaths(n object.Need) (paths []string) {
	dir := filepath.Dir(f.name)
	if filepath.IsAbs(n.Name) {
		paths = append(paths, n.Name)
	} else {
		if n.Dir != "" {
			paths = append(paths, filepath.Join(n.Dir, n.Name))
		}
		paths = append(paths, filepath.Join(dir, n.Name))
	}
	for _, d := range append([]string{dir}, f.opt.Dirs...) {
		paths = append(paths, filepath.Join(d, n.Name), filepath.Join(d, filepath.Base(n.Name)))
	}
	return paths
}

// supply gives the object the first file that fits.
func (f *finder) supply(n object.Need, paths []string) bool {
	for _, path := range f.others(paths) {
		src, err := OpenSource(path, nil)
		if err != nil {
			continue
		}
		if ok, err := f.file.object.Supply(n, src.Source); err == nil && ok {
			f.file.open = append(f.file.open, src)
			return true
		}
		src.Close()
	}
	return false
}
