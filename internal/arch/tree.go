package arch

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// source is one file that is not a test.
type source struct {
	path string
	ast  *ast.File
}

// pkg is one package of the tree: its files without the tests.
type pkg struct {
	path  string // as in the table
	dir   string
	files []source
}

// tree is the packages of a module.
type tree struct {
	module string
	fset   *token.FileSet
	pkgs   []*pkg // by path
}

// loadTree reads every Go file of a module but its tests.
func loadTree(files fs.FS) (*tree, error) {
	mod, err := fs.ReadFile(files, "go.mod")
	if err != nil {
		return nil, fmt.Errorf("read the module's name: %w", err)
	}
	t := &tree{fset: token.NewFileSet()}
	for line := range strings.Lines(string(mod)) {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			t.module = strings.TrimSpace(name)
		}
	}
	if t.module == "" {
		return nil, errors.New("go.mod names no module")
	}
	byDir := map[string]*pkg{}
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (d.Name() == "testdata" || d.Name() == "vendor" || strings.ContainsAny(d.Name()[:1], "._")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(t.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		p := byDir[dir]
		if p == nil {
			p = &pkg{path: strings.TrimPrefix(dir, "internal/"), dir: dir}
			byDir[dir] = p
			t.pkgs = append(t.pkgs, p)
		}
		p.files = append(p.files, source{name, file})
		return nil
	})
	slices.SortFunc(t.pkgs, func(a, b *pkg) int { return strings.Compare(a.path, b.path) })
	return t, err
}

// own is the path in the table of an import of the module's own, and whether
// it is one.
func (t *tree) own(importPath string) (string, bool) {
	rel, ok := strings.CutPrefix(importPath, t.module+"/")
	return strings.TrimPrefix(rel, "internal/"), ok || importPath == t.module
}

// foreign reports whether an import belongs to another module: only those have a
// host name in front.
func foreign(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return strings.Contains(first, ".")
}
