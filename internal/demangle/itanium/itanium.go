package itanium

import (
	"bytes"
	"sync"

	"symbolon/internal/demangle/core"
	"symbolon/internal/demangle/cpp"
)

// demangler keeps the memory for one name after the other.
type demangler struct {
	parser  parser
	printer cpp.Printer
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
	d.printer.Reset(&d.parser.Tree, d.parser.Text, style, *steps)
	d.printer.Writer = core.NewWriter(dst)
	d.printer.Print(top)
	*steps = d.printer.Steps
	w := &d.printer
	out, ok := w.Out, !w.Failed && !w.IsFull() && len(w.Written()) > 0
	d.parser.Text, d.printer = nil, cpp.Printer{}
	if !ok {
		return dst, false
	}
	return out, true
}
