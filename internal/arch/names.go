package arch

import (
	"go/ast"
	"go/types"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

// codeSpan matches a piece of code in a document.
var codeSpan = regexp.MustCompile("`([^`\n]+)`")

// Names returns the pieces of code in tables of a document that are not names of
// the module: a package or file as in rooms.txt, or a declaration as
// package.Name or package.Type.Name, where the second name is a method or field.
func Names(files fs.FS, document string) ([]Breach, error) {
	t, err := loadTree(files)
	if err != nil {
		return nil, err
	}
	text, err := fs.ReadFile(files, document)
	if err != nil {
		return nil, err
	}
	known := t.names()
	var found []Breach
	line := 0
	for row := range strings.Lines(string(text)) {
		line++
		if !strings.HasPrefix(row, "|") {
			continue
		}
		for _, m := range codeSpan.FindAllStringSubmatch(row, -1) {
			if !known[m[1]] {
				found = append(found, Breach{document, line, "name", strconv.Quote(m[1]) + " is not a package, a file or a declaration"})
			}
		}
	}
	return found, nil
}

// names returns all packages, files and declarations of a tree.
func (t *tree) names() map[string]bool {
	known := map[string]bool{}
	for _, p := range t.pkgs {
		known[p.path] = true
		for _, f := range p.files {
			known[strings.TrimPrefix(f.path, "internal/")] = true
			for _, d := range f.ast.Decls {
				for _, name := range declared(d) {
					known[p.path+"."+name] = true
				}
			}
		}
	}
	return known
}

// declared returns the names of a declaration, with those of its methods and
// fields as Type.Name.
func declared(d ast.Decl) (names []string) {
	if f, ok := d.(*ast.FuncDecl); ok {
		if f.Recv == nil {
			return []string{f.Name.Name}
		}
		return []string{receiver(f.Recv.List[0].Type) + "." + f.Name.Name}
	}
	for _, s := range d.(*ast.GenDecl).Specs {
		switch s := s.(type) {
		case *ast.ValueSpec:
			for _, id := range s.Names {
				names = append(names, id.Name)
			}
		case *ast.TypeSpec:
			names = append(names, s.Name.Name)
			for _, f := range members(s.Type) {
				for _, id := range f.Names {
					names = append(names, s.Name.Name+"."+id.Name)
				}
			}
		}
	}
	return names
}

// members returns the fields of a struct or the methods of an interface.
func members(e ast.Expr) []*ast.Field {
	switch t := e.(type) {
	case *ast.StructType:
		return t.Fields.List
	case *ast.InterfaceType:
		return t.Methods.List
	}
	return nil
}

// receiver returns the name of the type of a method.
func receiver(e ast.Expr) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(types.ExprString(e), "*"), "[")
	return name
}
