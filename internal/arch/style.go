package arch

import (
	"go/ast"
	"path"
	"slices"
	"strings"
)

const (
	maxFile    = 500 // lines
	maxFunc    = 80  // lines
	maxParams  = 5
	maxMethods = 5
	maxPackage = 3500 // lines of a package with a rank
)

// largePackages has the limits of packages that may be larger. DWARF is one
// format with many encodings of the same.
var largePackages = map[string]int{"format/dwarf": 4400}

// forbidden is names that say nothing about what is in a package.
const forbidden = "util utils common base types helper helpers misc shared manager service actor interface interfaces impl"

// packageSize checks the number of lines of a package.
func (c *checker) packageSize(p *pkg) {
	limit, lines := maxPackage, 0
	if large, ok := largePackages[p.path]; ok {
		limit = large
	}
	for _, f := range p.files {
		if !ast.IsGenerated(f.ast) {
			lines += c.lines(f)
		}
	}
	if lines > limit {
		c.breach(p.files[0].ast.Package, "package size", "%s has %d lines, more than %d", p.path, lines, limit)
	}
}

// lines returns the number of lines of a file.
func (c *checker) lines(f source) int {
	end := c.tree.fset.Position(f.ast.FileEnd)
	if end.Column == 1 { // after the last newline
		return end.Line - 1
	}
	return end.Line
}

// sizes checks the lengths of a file and of its functions.
func (c *checker) sizes(f source) {
	if ast.IsGenerated(f.ast) {
		return
	}
	lines := c.lines(f)
	code := false
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			code = true
			if long := c.tree.fset.Position(n.End()).Line - c.tree.fset.Position(n.Pos()).Line + 1; long > maxFunc {
				c.breach(n.Pos(), "function size", "%s has %d lines, more than %d", n.Name.Name, long, maxFunc)
			}
		case *ast.FuncType:
			if count := fields(n.Params); count > maxParams {
				c.breach(n.Pos(), "parameters", "%d parameters, more than %d", count, maxParams)
			}
		}
		return true
	})
	// A file without functions is a table of constants.
	if code && lines > maxFile {
		c.breach(f.ast.Package, "file size", "%d lines, more than %d", lines, maxFile)
	}
}

func fields(list *ast.FieldList) int {
	n := 0
	for _, field := range list.List {
		n += max(len(field.Names), 1)
	}
	return n
}

// style looks at names, comments and the shape of a package's declarations.
func (c *checker) style(p *pkg) {
	first := p.files[0].ast
	command := strings.HasPrefix(p.path, "cmd/")
	for _, name := range []string{path.Base(p.dir), first.Name.Name} {
		// cache/shared is the store that is shared, not code that is.
		if slices.Contains(strings.Fields(forbidden), name) && p.path != "cache/shared" {
			c.breach(first.Package, "package name", "%q says nothing about the package", name)
			break
		}
	}
	if !slices.ContainsFunc(p.files, func(f source) bool { return strings.TrimSpace(f.ast.Doc.Text()) != "" }) {
		c.breach(first.Package, "package comment", "package %s has none", first.Name.Name)
	}
	interfaces := interfacesOf(p)
	for _, f := range p.files {
		for _, decl := range f.ast.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					c.breach(d.Pos(), "init", "things are made where they are needed")
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					c.spec(spec, interfaces, command)
				}
			}
		}
	}
}

func (c *checker) spec(spec ast.Spec, interfaces map[string]*ast.InterfaceType, command bool) {
	switch s := spec.(type) {
	case *ast.ImportSpec:
		// The language demands this one where a file is embedded.
		if s.Name != nil && s.Name.Name == "_" && !command && s.Path.Value != `"embed"` {
			c.breach(s.Pos(), "blank import", "%s is imported for its effects", s.Path.Value)
		}
	case *ast.TypeSpec:
		if i, ok := s.Type.(*ast.InterfaceType); ok && s.Name.IsExported() {
			if n := methods(i, interfaces, 0); n > maxMethods {
				c.breach(s.Pos(), "interface size", "%s has %d methods, more than %d", s.Name.Name, n, maxMethods)
			}
		}
	}
}

func interfacesOf(p *pkg) map[string]*ast.InterfaceType {
	found := map[string]*ast.InterfaceType{}
	for _, f := range p.files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok {
				if i, ok := s.Type.(*ast.InterfaceType); ok {
					found[s.Name.Name] = i
				}
			}
			return true
		})
	}
	return found
}

// methods counts the methods of an interface. An embedded one of the same
// package counts with all of its methods, one of another package as one.
func methods(i *ast.InterfaceType, interfaces map[string]*ast.InterfaceType, depth int) int {
	n := 0
	for _, field := range i.Methods.List {
		switch t := field.Type.(type) {
		case *ast.FuncType:
			n += len(field.Names)
		case *ast.SelectorExpr:
			n++
		case *ast.Ident:
			if embedded := interfaces[t.Name]; embedded != nil && depth < maxMethods {
				n += methods(embedded, interfaces, depth+1)
			}
		}
	}
	return n
}
