package arch

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// tablePath is the path of the table in a tree.
const tablePath = "internal/arch/rooms.txt"

// Breach is one place where a rule is broken.
type Breach struct {
	File string
	Line int
	Rule string
	Text string
}

func (b Breach) String() string { return fmt.Sprintf("%s:%d: %s: %s", b.File, b.Line, b.Rule, b.Text) }

// Check reads the module at the top of files and its table, and returns the
// breaches of the rules, sorted by file and line. It fails if the tree or the
// table cannot be read.
func Check(files fs.FS) ([]Breach, error) {
	text, err := fs.ReadFile(files, tablePath)
	if err != nil {
		return nil, fmt.Errorf("read the table of rooms: %w", err)
	}
	rooms, err := parseTable(string(text))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", tablePath, err)
	}
	t, err := loadTree(files)
	if err != nil {
		return nil, fmt.Errorf("read the tree: %w", err)
	}
	c := &checker{tree: t, rooms: rooms}
	for _, p := range t.pkgs {
		c.pkg(p)
	}
	c.table()
	slices.SortFunc(c.found, func(a, b Breach) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Text, b.Text))
	})
	return c.found, nil
}

type checker struct {
	tree  *tree
	rooms map[string]*room
	found []Breach
}

func (c *checker) breach(at token.Pos, rule, format string, args ...any) {
	p := c.tree.fset.Position(at)
	c.found = append(c.found, Breach{p.Filename, p.Line, rule, fmt.Sprintf(format, args...)})
}

func (c *checker) tableBreach(line int, rule, format string, args ...any) {
	c.found = append(c.found, Breach{tablePath, line, rule, fmt.Sprintf(format, args...)})
}

// pkg checks one package.
func (c *checker) pkg(p *pkg) {
	at := p.files[0].ast.Package
	r := c.rooms[p.path]
	if r == nil {
		c.breach(at, "room", "%s is not in %s", p.path, tablePath)
		r = &room{path: p.path, level: level{rank: beside}, all: true}
	}
	if strings.Count(p.path, "/") > 1 {
		c.breach(at, "depth", "%s is deeper than family/child", p.path)
	}
	for _, f := range p.files {
		for _, spec := range f.ast.Imports {
			c.imported(r, spec)
		}
		if r.isPure() {
			c.clock(f)
		}
		c.sizes(f)
	}
	if r.rank != beside {
		c.packageSize(p)
	}
	c.style(p)
	if r.path != "metric" {
		c.state(p)
	}
}

// imported checks one import of a package and marks the edge as used.
func (c *checker) imported(r *room, spec *ast.ImportSpec) {
	name, _ := strconv.Unquote(spec.Path.Value)
	if own, ok := c.tree.own(name); ok {
		c.ownImport(r, own, spec.Pos())
		return
	}
	if r.isPure() && impure(name) {
		c.breach(spec.Pos(), "purity", "%s is on rank %s and must not import %s", r.path, r.level, name)
	}
	if !foreign(name) {
		return
	}
	for module := range r.modules {
		if name == module || strings.HasPrefix(name, module+"/") {
			r.modules[module] = true
			return
		}
	}
	c.breach(spec.Pos(), "third party", "%s may not import %s", r.path, name)
}

func (c *checker) ownImport(r *room, own string, at token.Pos) {
	to := c.rooms[own]
	if to != nil && to.isTestOnly() && !r.isTestOnly() {
		c.breach(at, "test import", "%s is for tests only", own)
	}
	if _, listed := r.imports[own]; listed {
		r.imports[own] = true
		return
	}
	if onGround := to != nil && to.rank == ground && r.rank > ground; !onGround && !r.all {
		c.breach(at, "import", "%s may not import %s", r.path, own)
	}
}

// table checks the table itself: edges that lead up or sideways, and entries
// that the tree does not use.
func (c *checker) table() {
	exists := map[string]bool{}
	for _, p := range c.tree.pkgs {
		exists[p.path] = true
	}
	for _, r := range c.rooms {
		if !exists[r.path] {
			c.tableBreach(r.line, "room", "%s does not exist", r.path)
			continue
		}
		for name, used := range r.imports {
			to := c.rooms[name]
			switch {
			case to == nil:
				c.tableBreach(r.line, "import", "%s imports %s, which is not in the table", r.path, name)
			case !used:
				c.tableBreach(r.line, "unused import", "%s does not import %s", r.path, name)
			case r.rank != beside && !r.isChildOf(name) && !to.isBelow(r.level):
				c.tableBreach(r.line, "rank", "%s on rank %s imports %s, which is not below it", r.path, r.level, name)
			}
		}
		for name, used := range r.modules {
			if !used {
				c.tableBreach(r.line, "unused third party", "%s does not import %s", r.path, name)
			}
		}
	}
}

// impure reports whether a package of the standard library uses the network, files or the system.
func impure(name string) bool {
	switch name {
	case "net", "os", "log", "log/slog", "syscall":
		return true
	}
	return strings.HasPrefix(name, "net/") && name != "net/url" || strings.HasPrefix(name, "os/")
}

// clock finds calls that read the clock or wait for it.
func (c *checker) clock(f source) {
	name := importName(f.ast, "time")
	if name == "" {
		return
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == name {
			switch sel.Sel.Name {
			case "Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker":
				c.breach(sel.Pos(), "purity", "time.%s on a lower rank: clocks are passed in", sel.Sel.Name)
			}
		}
		return true
	})
}

// importName returns the name under which f imports the package, or "".
func importName(f *ast.File, path string) string {
	for _, spec := range f.Imports {
		if spec.Path.Value == strconv.Quote(path) {
			if spec.Name != nil {
				return spec.Name.Name
			}
			return path[strings.LastIndexByte(path, '/')+1:]
		}
	}
	return ""
}
