package itanium

import (
	"bytes"
	"sync"

	"symbolon/internal/demangle/core"
)

// demangler keeps the memory for one name after the other.
type demangler struct {
	parser  parser
	printer printer
}

var demanglers = sync.Pool{New: func() any { return new(demangler) }}

// Append appends the readable form of a C++ name and reports whether it is one.
// It takes the work from steps. The prefix may have more underscores, which some
// systems add, and which blocks have.
func Append(dst, name []byte, style core.Style, steps *int) ([]byte, bool) {
	z := bytes.IndexByte(name, 'Z')
	if z < 1 || z > 4 || bytes.Count(name[:z], []byte("_")) < z {
		return dst, false
	}
	if i := len(name) - 33; i > z && name[i] == '$' && core.IsHash(name[i+1:]) {
		name = name[:i]
	}
	d := demanglers.Get().(*demangler)
	defer demanglers.Put(d)
	d.parser.reset(name[z+1:], style, *steps)
	top := d.parser.parseMangled(z >= 3)
	if d.parser.Failed && d.parser.hasScope {
		d.parser.reset(name[z+1:], style, *steps)
		d.parser.isGCC = true
		top = d.parser.parseMangled(z >= 3)
	}
	if *steps -= len(d.parser.Nodes); d.parser.Failed {
		d.parser.Text = nil
		return dst, false
	}
	d.printer = printer{
		tree:     &d.parser.tree,
		Budget:   core.Budget{Steps: *steps},
		Writer:   core.NewWriter(dst),
		name:     name[z+1:],
		style:    style,
		isLLVM:   style == core.LLVM,
		packSize: noPack,
	}
	d.printer.print(top)
	*steps = d.printer.Steps
	w := &d.printer
	out, ok := w.Out, !w.Failed && !w.IsFull() && len(w.Written()) > 0
	d.parser.Text, d.printer.Out, d.printer.name = nil, nil, nil
	if !ok {
		return dst, false
	}
	return out, true
}
