package companion

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"symbolon/internal/format/macho"
	"symbolon/internal/ident"
	"symbolon/internal/object"
)

// systemDirs lists the folders in which systems install separate debug files.
var systemDirs = []string{"/usr/lib/debug"}

// A place is the name of a file whose companions are searched, and the folders
// that they may be in.
type place struct {
	name string
	opt  Options
}

// paths returns the files that may be the needed one, in the order in which they
// are tried. They need not exist.
func (p *place) paths(n object.Need) []string {
	switch n.Kind {
	case object.NeedPDB, object.NeedTypes:
		return p.pdbPaths(n)
	case object.NeedDSYM:
		return p.dsymPaths()
	case object.NeedDebug, object.NeedModule:
		return p.linkPaths(n)
	case object.NeedAlt:
		return p.altPaths(n)
	case object.NeedObject:
		return p.objectPaths(n)
	case object.NeedMap:
		return p.mapPaths(n)
	case object.NeedSplit:
		return p.splitPaths(n)
	}
	return nil
}

// dirs returns the folders of the options, then those of the system.
func (p *place) dirs() []string { return slices.Concat(p.opt.Dirs, systemDirs) }

// existing returns the paths of regular files, without the file itself, which
// its own debug link may name.
func (p *place) existing(paths []string) []string {
	own, err := os.Stat(p.name)
	return slices.DeleteFunc(paths, func(path string) bool {
		st, e := os.Stat(path)
		return e != nil || !st.Mode().IsRegular() || err == nil && os.SameFile(own, st)
	})
}

func (p *place) dsymPaths() []string {
	paths := macho.DSYMPaths(p.name)
	for _, d := range p.opt.Dirs {
		paths = append(paths, macho.DSYMPaths(filepath.Join(d, filepath.Base(p.name)))...)
	}
	for _, b := range p.opt.Bundles {
		paths = append(paths, filepath.Join(b, "Contents", "Resources", "DWARF", filepath.Base(p.name)))
	}
	return paths
}

// linkPaths returns the places of a debug link and of a build id, as debuggers
// search them.
func (p *place) linkPaths(n object.Need) (paths []string) {
	dir, name := filepath.Dir(p.name), filepath.Base(n.Name)
	if n.Name != "" {
		paths = append(paths, filepath.Join(dir, name), filepath.Join(dir, ".debug", name))
	}
	whole, _ := filepath.Abs(dir)
	for _, d := range p.dirs() {
		paths = append(paths, buildIDPath(d, n.ID)...)
		if n.Name != "" {
			paths = append(paths, filepath.Join(d, whole, name), filepath.Join(d, name))
		}
	}
	return paths
}

// buildIDPath returns the place of a build id in a tree of debug files.
func buildIDPath(dir string, id []byte) []string {
	if len(id) < 2 {
		return nil
	}
	text := fmt.Sprintf("%x", id)
	return []string{filepath.Join(dir, ".build-id", text[:2], text[2:]+".debug")}
}

// pdbPaths returns the places of the PDB of a binary: next to it, under the name in the
// binary and under that of the binary; the path in the binary; and other folders, which
// may have the layout of a symbol store.
func (p *place) pdbPaths(n object.Need) (paths []string) {
	own := filepath.Base(p.name)
	names := []string{n.Name, strings.TrimSuffix(own, filepath.Ext(own)) + ".pdb"}
	for i, dir := range append([]string{filepath.Dir(p.name)}, p.opt.Dirs...) {
		for _, name := range names {
			paths = append(paths, withCabinets(dir, name)...)
			if i == 0 {
				continue
			}
			for _, store := range anyCase(dir, name) {
				for _, id := range anyCase(store, n.DebugID.Breakpad()) {
					paths = append(paths, withCabinets(id, name)...)
				}
			}
		}
	}
	return append(paths, n.Dir+n.Name)
}

// withCabinets returns the files of a folder with a name, and the cabinets that
// symbol stores make of them (x.pd_ for x.pdb).
func withCabinets(dir, name string) []string {
	return append(anyCase(dir, name), anyCase(dir, name[:len(name)-1]+"_")...)
}

// anyCase returns the entries of a folder with a name, in letters of any case.
func anyCase(dir, name string) (paths []string) {
	entries, _ := os.ReadDir(dir) // an unreadable folder has no entries
	for _, e := range entries {
		if strings.EqualFold(e.Name(), name) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}

// altPaths returns the places of debug information that several files share.
func (p *place) altPaths(n object.Need) []string {
	name, base := n.Name, filepath.Base(n.Name)
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(p.name), name)
	}
	paths := []string{name}
	for _, d := range p.dirs() {
		paths = append(paths, buildIDPath(d, n.ID)...)
		paths = append(paths, filepath.Join(d, base), filepath.Join(d, ".dwz", base))
	}
	return paths
}

// mapPaths returns the places of the hidden names in an archive of Xcode. A
// property list beside the dSYM may state that they are those of another UUID.
func (p *place) mapPaths(n object.Need) (paths []string) {
	if len(n.ID) != 16 {
		return nil
	}
	dir := filepath.Dir(p.name)
	ids := [][16]byte{[16]byte(n.ID)}
	for _, d := range []string{dir, filepath.Join(dir, "..")} {
		if plist, err := os.ReadFile(filepath.Join(d, uuidName(ids[0])+".plist")); err == nil {
			if original, err := macho.ReadUUIDMap(plist); err == nil {
				ids = append(ids, original)
			}
		}
	}
	up := filepath.Join(dir, "..", "..", "..", "..") // out of X.dSYM/Contents/Resources/DWARF
	for _, d := range append([]string{dir, filepath.Join(up, "BCSymbolMaps"), filepath.Join(up, "..", "BCSymbolMaps")}, p.opt.Dirs...) {
		for _, id := range ids {
			paths = append(paths, filepath.Join(d, uuidName(id)+".bcsymbolmap"))
		}
	}
	return paths
}

// uuidName returns a UUID as Apple's tools name files.
func uuidName(id [16]byte) string { return strings.ToUpper(ident.NewDebugID(id, 0).String()) }

// objectPaths returns the places of an object file that the linker read.
func (p *place) objectPaths(n object.Need) []string {
	base := filepath.Base(n.Name)
	paths := []string{n.Name, filepath.Join(filepath.Dir(p.name), base)}
	for _, d := range p.opt.Dirs {
		paths = append(paths, filepath.Join(d, n.Name), filepath.Join(d, base))
	}
	if n.Member != "" || n.Time == 0 {
		return paths
	}
	// Code of an object file that was compiled again has other addresses.
	return slices.DeleteFunc(paths, func(path string) bool {
		st, err := os.Stat(path)
		return err != nil || st.ModTime().Unix() != n.Time
	})
}

// packagePaths returns the places of the .dwp file with all split units.
func (p *place) packagePaths() []string {
	if p.opt.Package != "" {
		return []string{p.opt.Package}
	}
	paths := []string{p.name + ".dwp", strings.TrimSuffix(p.name, filepath.Ext(p.name)) + ".dwp"}
	for _, d := range p.opt.Dirs {
		paths = append(paths, filepath.Join(d, filepath.Base(p.name)+".dwp"))
	}
	return paths
}

// splitPaths returns the places of the .dwo file of a unit.
func (p *place) splitPaths(n object.Need) (paths []string) {
	dir := filepath.Dir(p.name)
	switch {
	case filepath.IsAbs(n.Name):
		paths = append(paths, n.Name)
	case n.Dir != "":
		paths = append(paths, filepath.Join(n.Dir, n.Name))
	}
	for _, d := range append([]string{dir}, p.opt.Dirs...) {
		paths = append(paths, filepath.Join(d, n.Name), filepath.Join(d, filepath.Base(n.Name)))
	}
	return paths
}
