package arch

import (
	"go/ast"
	"go/types"
	"path"
	"strings"
)

// state finds variables of a package that change after their declaration: what
// is assigned to, counted up, deleted from or cleared in a function, and what
// is made to be changed, such as a mutex.
func (c *checker) state(p *pkg) {
	var files []*ast.File
	for _, f := range p.files {
		files = append(files, f.ast)
	}
	// Only the package's own names are needed, so what it imports may be empty;
	// the errors that follow from that are of no interest.
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: empty{}, Error: func(error) {}, DisableUnusedImportCheck: true}
	pkg, _ := config.Check(p.path, c.tree.fset, files, info)

	changed := func(place ast.Expr) {
		name := root(place)
		if name == nil {
			return
		}
		if v, ok := info.Uses[name].(*types.Var); ok && pkg != nil && v.Parent() == pkg.Scope() {
			c.breach(place.Pos(), "mutable state", "%s is a variable of the package and changes", name.Name)
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, place := range n.Lhs {
					changed(place)
				}
			case *ast.IncDecStmt:
				changed(n.X)
			case *ast.RangeStmt:
				changed(n.Key)
				changed(n.Value)
			case *ast.CallExpr:
				if fn, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && (fn.Name == "delete" || fn.Name == "clear" || fn.Name == "copy") {
					changed(n.Args[0])
				}
			}
			return true
		})
		c.locks(f)
	}
}

// root is the variable at the beginning of a place: v of v.field[i].
func root(place ast.Expr) *ast.Ident {
	for {
		switch e := place.(type) {
		case *ast.Ident:
			return e
		case *ast.IndexExpr:
			place = e.X
		case *ast.SliceExpr:
			place = e.X
		case *ast.SelectorExpr:
			place = e.X
		case *ast.StarExpr:
			place = e.X
		case *ast.ParenExpr:
			place = e.X
		default:
			return nil
		}
	}
}

// locks finds variables of the package whose type is made to be changed. A
// pool only keeps memory, and what is computed once is a constant.
func (c *checker) locks(f *ast.File) {
	syncName, atomicName := importName(f, "sync"), importName(f, "sync/atomic")
	for _, decl := range f.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range d.Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok || v.Type == nil {
				continue
			}
			ast.Inspect(v.Type, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				x, _ := sel.X.(*ast.Ident)
				switch {
				case x == nil:
				case x.Name == atomicName, x.Name == syncName && strings.Contains(" Mutex RWMutex Map Cond WaitGroup ", " "+sel.Sel.Name+" "):
					c.breach(v.Pos(), "mutable state", "%s is a %s.%s of the package", v.Names[0].Name, x.Name, sel.Sel.Name)
				}
				return true
			})
		}
	}
}

// empty imports every package without anything in it.
type empty struct{}

func (empty) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}
