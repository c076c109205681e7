package object

import "symbolon/internal/sym"

// Line is a row of a line program.
type Line struct {
	File         sym.Text // 0: there is no row
	Line, Column uint32
	// Discriminator is the number of the piece of code of several pieces of one line,
	// 0 if there is one only or that is unknown. It needs Options.Columns.
	Discriminator uint32
}

// Decl is where a function or a variable is declared; 0 is unknown.
type Decl struct {
	File sym.Text
	Line uint32
}

// Start is the declaration of a function or of an inlined call.
type Start struct {
	Decl
	Name          sym.Text // in the source
	Addr          uint64   // of the first instruction
	HasAddr       bool
	Discriminator uint32 // of the line of the call site, as that of a Line
}

// Local is a variable or a parameter of a function.
type Local struct {
	Decl
	Function, Name             sym.Text
	Offset                     int64 // from the frame of the function
	Size, Tag                  uint64
	HasOffset, HasSize, HasTag bool
}

// Place is where a symbol or a section is.
type Place struct {
	Addr uint64
	Size uint64 // of the code to the next symbol, if the symbol has no size
	Part uint16 // the number of the section of code in a relocatable file
	// IsHidden is set if a section before has code at the address, too: Lookup answers
	// from that one, and LookupIn from this one.
	IsHidden bool
}

// Line returns the row of the line program for an address, even if no function or
// symbol contains it.
func (o *Object) Line(addr uint64) Line {
	return detail(o, func(v Detailed) Line { return v.Line(addr) })
}

// Starts returns the declarations of the calls that were inlined at an address,
// innermost first, and that of the function.
func (o *Object) Starts(addr uint64) []Start {
	return detail(o, func(v Detailed) []Start { return v.Starts(addr) })
}

// Locals returns the variables of the innermost call at an address, or else of the
// function, and of the calls that were inlined into it.
func (o *Object) Locals(addr uint64) []Local {
	return detail(o, func(v Detailed) []Local { return v.Locals(addr) })
}

// Variable returns the declaration of the variable at an address.
func (o *Object) Variable(addr uint64) Decl {
	return detail(o, func(v Detailed) Decl { return v.Variable(addr) })
}

// Named returns the places of the symbols of code with a name, by address in the file.
// The name is the one in the symbol table; in Mach-O without its first underscore, as in
// LLVM.
func (o *Object) Named(name string) []Place {
	return detail(o, func(v Symbolic) []Place { return v.Named(name) })
}

// LookupIn is Lookup in a Part of the file alone.
func (o *Object) LookupIn(dst []sym.Frame, part uint16, addr uint64) []sym.Frame {
	return append(dst, detail(o, func(v Symbolic) []sym.Frame { return v.LookupIn(nil, part, addr) })...)
}

// Label returns the name of the symbol that the code at an address belongs to, empty
// without one. As in Named it is that of the symbol table.
func (o *Object) Label(addr uint64) string {
	return detail(o, func(v Symbolic) string { return v.Label(addr) })
}

// Select returns the place of the first section with a name, in the spelling of GNU's
// tools. As all sections of a relocatable file begin at 0, Lookup and Line then answer
// only from this one. Select must be called before all other methods.
func (o *Object) Select(section string) (p Place, ok bool) {
	v, has := o.view.(Sectioned)
	if !has {
		return p, false
	}
	p = guard(p, func() (p Place) { p, ok = v.Select(section); return p })
	return p, ok
}

// detail returns the answer of a view that is a V, else zero.
func detail[V, T any](o *Object, ask func(v V) T) (none T) {
	v, ok := o.view.(V)
	if !ok {
		return none
	}
	return guard(none, func() T { return ask(v) })
}
