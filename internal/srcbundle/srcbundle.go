// Package srcbundle collects the source files of a debug file into a bundle.
package srcbundle

import (
	"context"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"symbolon/internal/format/bundle"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// Write writes a bundle with the sources of an object, whose file has this name.
// Each path in the object is searched in a folder: the whole path, then without its
// first folder, and so on; nothing outside the folder is read. Sources inside the
// object are taken from there. Write returns how many of the sources it found.
func Write(ctx context.Context, w io.Writer, o *object.Object, name, dir string) (written, all int, err error) {
	paths, own, err := sourcePaths(ctx, o)
	if err != nil {
		return 0, 0, err
	}
	written, err = bundle.Write(w, manifestOf(o.Info(), name), sourceTexts(paths, own, dir))
	return written, len(paths), err
}

// manifestOf returns the manifest of a bundle with the sources of an object.
func manifestOf(info object.Info, name string) bundle.Manifest {
	m := bundle.Manifest{Attributes: map[string]string{"object_name": name}}
	for key, value := range map[string]string{
		"arch": info.Module.Arch.String(), "debug_id": info.Module.DebugID.String(), "code_id": info.Module.CodeID.String(),
	} {
		if value != "" && (key != "debug_id" || !info.Module.DebugID.IsZero()) {
			m.Attributes[key] = value
		}
	}
	return m
}

// sourcePaths returns the paths in the frames of an object, sorted, and the texts
// of those files that are inside the object.
func sourcePaths(ctx context.Context, o *object.Object) ([]string, map[string][]byte, error) {
	seen := map[sym.Text]bool{0: true}
	own := map[string][]byte{}
	add := func(t sym.Text) {
		if !seen[t] {
			seen[t] = true
			if name := string(object.CleanPath(o.AppendText(nil, t), 0)); own[name] == nil {
				own[name] = o.Source(t)
			}
		}
	}
	err := o.Blocks(object.BlockOptions{Workers: runtime.GOMAXPROCS(0)}, func(b *sym.Block) error {
		for i := range b.Rows {
			add(b.Rows[i].File)
		}
		for i := range b.Nodes {
			add(b.Nodes[i].CallFile)
		}
		return ctx.Err()
	})
	delete(own, "")
	return slices.Sorted(maps.Keys(own)), own, err
}

// sourceTexts returns the texts of the paths that are inside the debug file or in
// a folder.
func sourceTexts(paths []string, own map[string][]byte, dir string) iter.Seq2[bundle.File, []byte] {
	return func(yield func(bundle.File, []byte) bool) {
		for _, path := range paths {
			text, ok := own[path], true
			if text == nil {
				text, ok = sourceText(path, dir)
			}
			if ok && !yield(bundle.File{Type: bundle.Source, Path: path}, text) {
				return
			}
		}
	}
}

// maxBundled limits a source file. Larger files are generated data.
const maxBundled = 64 << 20

// sourceText reads the file of a folder that has most of the end of a path. It
// reads nothing outside the folder.
func sourceText(path, dir string) ([]byte, bool) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, false
	}
	defer root.Close()
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	for i := range parts {
		name := filepath.Join(parts[i:]...)
		if st, err := root.Stat(name); err != nil || !st.Mode().IsRegular() || st.Size() > maxBundled {
			continue
		}
		if text, err := root.ReadFile(name); err == nil {
			return text, true
		}
	}
	return nil, false
}
