package auto

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"symbolon/internal/ident"
)

// kernelFiles are the places of a kernel with symbols, followed by its release.
var kernelFiles = []string{"/usr/lib/debug/boot/vmlinux-*", "/usr/lib/debug/lib/modules/*/vmlinux", "/boot/vmlinux-*", "/lib/modules/*/build/vmlinux"}

// Local returns the identifiers of the file at a path, and adds it. The paths
// /lib/modules/RELEASE/vmlinux and /lib/modules/RELEASE/NAME stand for a kernel and its
// modules, wherever their files are.
func (f *Files) Local(path string) (ident.Module, bool) {
	paths := []string{path}
	if release, ok := strings.CutPrefix(filepath.Dir(path), "/lib/modules/"); ok && filepath.Base(release) == release {
		paths = f.ofKernel(release, filepath.Base(path))
	}
	for _, path := range paths {
		if m, err := f.Identify(path); err == nil {
			return m, true
		}
	}
	return ident.Module{}, false
}

// ofKernel returns the files that a kernel or one of its modules may be.
func (f *Files) ofKernel(release, name string) (paths []string) {
	if name == "vmlinux" {
		for _, p := range kernelFiles {
			paths = append(paths, strings.Replace(p, "*", release, 1))
		}
		return paths
	}
	if f.release != release {
		f.release, f.modules = release, map[string]string{}
		for _, root := range []string{"/lib/modules/", "/usr/lib/debug/lib/modules/"} { // the second one is preferred
			_ = fs.WalkDir(os.DirFS(root), release, func(path string, _ fs.DirEntry, err error) error {
				if module, _, ok := strings.Cut(filepath.Base(path), ".ko"); ok && err == nil {
					f.modules[strings.ReplaceAll(module, "-", "_")] = root + path
				}
				return nil // folders that cannot be read have no modules
			})
		}
	}
	return []string{f.modules[name]}
}
