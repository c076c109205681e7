package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"symbolon/internal/format/bundle"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

func bundleCommand(e *env) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "bundle FILE SRCDIR", Short: "Collect the sources that a debug file names into a source bundle",
		Long: `Each path in the debug file is searched in SRCDIR: the whole path, then without
its first folder, and so on. Sources inside the debug file are taken from there.
Missing files, and files that are not text, are omitted.`,
		RunE: func(c *cobra.Command, args []string) error {
			if st, err := os.Stat(args[1]); err != nil || !st.IsDir() {
				return &usageError{fmt.Sprintf("invalid SRCDIR %q: must be a folder", args[1])}
			}
			if out == "" {
				out = args[0] + ".src.zip"
			}
			obj, d, err := openObject(e, args[0])
			if err != nil {
				return err
			}
			defer d.Close()
			paths, own, err := sourcePaths(c.Context(), obj)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			written := 0
			err = writeFile(e, out, func(w io.Writer) error {
				written, err = bundle.Write(w, manifestOf(obj.Info(), filepath.Base(args[0])), sourceTexts(paths, own, args[1]))
				return err
			})
			if err == nil {
				say(e.stderr, "wrote %d of %s\n", written, counted(len(paths), "source"))
			}
			return err
		},
	}
	c.Flags().StringVar(&out, "out", "", "write to `BUNDLE`; - is standard output (default FILE.src.zip)")
	return c
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
