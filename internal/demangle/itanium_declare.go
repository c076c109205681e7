package demangle

// maxHeldBack is how many qualifiers of functions may be around each other.
const maxHeldBack = 8

// A type in C++ is written around what it declares: what comes first in the
// mangled name is written last, behind the innermost type, or in parentheses
// before the parameters of a function. So a type puts itself on the list of what
// is left to be written and has the type in it written, which may write what is
// on the list; if it does not, it is written behind it.

func (f *itanium) printType(id ref, n *cppNode) {
	base := n.a
	if n.kind == cppArray || n.kind == cppMember {
		base = n.b
	}
	if f.kind(base) == cppParameter {
		real := f.resolved(base)
		r := &f.nodes[real]
		switch {
		case n.kind == cppMoved && (r.kind == cppReference || r.kind == cppMoved), n.kind == cppReference && r.kind == cppReference:
			f.print(real)
			return
		case n.kind == cppReference && r.kind == cppMoved:
			base = r.a
		case n.kind == cppConst:
			base = f.unqualifiedBase(n)
		case n.kind == cppMethod || n.kind == cppArray && r.kind == cppConst:
			f.failed = true // their qualifiers are to be merged
			return
		}
	}
	f.inner = append(f.inner, id)
	f.print(base)
	if top := len(f.inner) - 1; top < f.bottom {
		return
	} else if n.kind == cppArray || n.kind == cppMember {
		f.inner = f.inner[:top]
		f.printInner(n)
	} else {
		f.printInner(n)
		f.inner = f.inner[:max(len(f.inner)-1, f.bottom)]
	}
}

// unqualifiedBase is the type that qualifiers belong to. If a parameter stands
// for a type with qualifiers, all of them are merged.
func (f *itanium) unqualifiedBase(n *cppNode) ref {
	if f.kind(n.a) != cppParameter {
		return n.a
	}
	real := f.resolved(n.a)
	switch r := &f.nodes[real]; r.kind {
	case cppFunction, cppMethod:
		f.failed = true
	case cppConst:
		// The library changes the qualifiers at other places as well.
		f.failed = f.failed || merged(n.quals, r.quals) != n.quals
		return r.a
	}
	return real
}

// printInner writes what a type adds to the type in it.
func (f *itanium) printInner(n *cppNode) {
	switch n.kind {
	case cppTyped:
		f.print(n.a)
	case cppConst, cppMethod:
		for q := n.quals; q != 0; q >>= 3 {
			f.write(" ")
			f.write(cppQualifiers[q&7])
		}
		if n.num > 0 {
			f.write(" ")
			f.write(cppMarks[n.num])
		}
	case cppFunction:
		f.printParameters(n)
	case cppArray:
		f.printSize(n)
	case cppMember:
		if f.last != '(' {
			f.writeByte(' ')
		}
		f.print(n.a)
		f.write("::*")
	default:
		f.write(cppMarks[n.kind-cppPointer])
	}
}

func (f *itanium) printFunction(id ref, n *cppNode) {
	if n.a != 0 && (n.flags&isUnheard == 0 || f.style == LLVM) {
		f.inner = append(f.inner, id)
		f.print(n.a)
		if len(f.inner) <= f.bottom {
			return
		}
		f.inner = f.inner[:len(f.inner)-1]
		f.writeByte(' ')
	}
	f.printParameters(n)
}

// printParameters writes the parameters of a function, before them what the
// function is, and behind them its qualifiers.
func (f *itanium) printParameters(n *cppNode) {
	paren, space := false, false
	for i := len(f.inner) - 1; i >= f.bottom && !paren; i-- {
		switch f.nodes[f.inner[i]].kind {
		case cppPointer, cppReference, cppMoved:
			paren = true
		case cppConst, cppComplex, cppImaginary, cppMember:
			paren, space = true, true
		}
	}
	if paren {
		space = space || f.last != '(' && f.last != '*'
		if space && f.last != ' ' {
			f.writeByte(' ')
		}
		f.writeByte('(')
	}
	var back [maxHeldBack]ref
	held := 0
	for len(f.inner) > f.bottom && !f.failed {
		id := f.pop()
		if in := &f.nodes[id]; in.kind != cppMethod {
			f.printInner(in)
		} else if held == len(back) {
			f.failed = true
		} else {
			back[held] = id
			held++
		}
	}
	if paren {
		f.writeByte(')')
	}
	f.writeByte('(')
	if n.flags&isUnheard == 0 || f.style != NoParams && f.style != Simple {
		f.printList(f.list(n), true, false)
	}
	f.writeByte(')')
	if !f.failed {
		f.inner = append(f.inner[:f.bottom], back[:held]...)
	}
	for len(f.inner) > f.bottom && !f.failed {
		f.printInner(&f.nodes[f.pop()])
	}
}

func (f *itanium) pop() ref {
	id := f.inner[len(f.inner)-1]
	f.inner = f.inner[:len(f.inner)-1]
	return id
}

// printSize writes how many elements an array has, and before it what it is,
// unless that is an array too.
func (f *itanium) printSize(n *cppNode) {
	space := " "
	for len(f.inner) > f.bottom && !f.failed {
		in := &f.nodes[f.inner[len(f.inner)-1]]
		of := in
		if in.kind == cppConst {
			of = &f.nodes[f.unqualifiedBase(in)]
		}
		if of.kind == cppArray {
			if of == in {
				space = ""
			}
			f.printInner(&f.nodes[f.pop()])
			continue
		}
		f.write(" (")
		for len(f.inner) > f.bottom && !f.failed {
			f.printInner(&f.nodes[f.pop()])
		}
		f.writeByte(')')
	}
	f.write(space)
	f.writeByte('[')
	f.print(n.a)
	f.writeByte(']')
}
