package demangle

import (
	"strconv"
	"strings"
)

// cppMarks are what is written for pointers and the like.
var cppMarks = [...]string{"*", "&", "&&", " _Complex", " _Imaginary"}

func (f *itanium) write(text string) {
	if len(text) > 0 {
		f.out = append(f.out, text...)
		f.last = text[len(text)-1]
	}
}

func (f *itanium) writeByte(c byte) {
	f.out = append(f.out, c)
	f.last = c
}

func (f *itanium) writeText(n *cppNode) {
	if n.n > 0 {
		f.out = append(f.out, f.text[n.at:n.at+n.n]...)
		f.last = f.out[len(f.out)-1]
	}
}

// writeNumbered writes a text with a number in it.
func (f *itanium) writeNumbered(before string, n int, after string) {
	f.out = append(f.out, before...)
	f.out = strconv.AppendInt(f.out, int64(n), 10)
	f.write(after)
}

// resolved is what a parameter stands for, and each other node itself. While a
// pack is expanded, it is the argument whose turn it is.
func (f *itanium) resolved(n ref) ref {
	for f.nodes[n].kind == cppParameter {
		n = f.nodes[n].a
		if n == f.pack && n != 0 {
			p := &f.nodes[n]
			if f.which >= int(p.n) {
				return 0
			}
			return f.lists[int(p.at)+f.which]
		}
	}
	return n
}

// print writes a node, if there is room. What is in itself twice the library does
// not write; this is left to it.
func (f *itanium) print(n ref) {
	if f.failed || f.long {
		return
	}
	n = f.resolved(n)
	node := &f.nodes[n]
	f.long = len(f.out)-f.start >= maxOutput
	f.left--
	f.depth++
	if n == 0 || node.busy > 1 || f.left < 0 || f.depth > maxPrintDepth {
		f.failed = true
	}
	if !f.failed && !f.long {
		node.busy++
		f.printNode(n, node)
		node.busy--
	}
	f.depth--
}

func (f *itanium) printNode(id ref, n *cppNode) {
	switch n.kind {
	case cppName:
		f.writeText(n)
	case cppWord:
		f.write(cppWords[n.at])
	case cppOperator:
		text := cppOperators[n.at : n.at+n.n]
		if f.write("operator"); isLower(text[0]) {
			f.writeByte(' ')
		}
		f.write(text)
	case cppSuffix:
		f.write(`operator"" `)
		f.print(n.a)
	case cppQualified:
		f.print(n.a)
		f.write("::")
		f.print(n.b)
	case cppTemplate:
		f.printTemplate(n)
	case cppTagged:
		f.print(n.a)
		f.write("[abi:")
		f.print(n.b)
		f.writeByte(']')
	case cppConstructor:
		f.print(n.a)
	case cppDestructor:
		f.writeByte('~')
		f.print(n.a)
	case cppCast:
		f.write("operator ")
		f.print(n.a)
	case cppClosure, cppUnnamed:
		f.printUnnamed(n)
	case cppDefault:
		if last := f.last; f.style != LLVM {
			f.writeNumbered("{default arg#", int(n.num)+1, "}::")
			f.last = last // the library does not look at numbers
		}
		f.print(n.b)
	case cppTyped:
		bottom, top := f.bottom, len(f.inner)
		f.bottom = top
		f.inner = append(f.inner, id)
		if f.print(n.b); len(f.inner) > f.bottom {
			f.failed = true // the type has no place for the name
		}
		f.inner, f.bottom = f.inner[:top], bottom
	case cppBuiltin:
		if text := cppBuiltins[n.at]; n.at == builtinNullptr && f.style == LLVM {
			f.write("std::nullptr_t")
		} else {
			f.write(text)
		}
	case cppBlock:
		bottom, top := f.bottom, len(f.inner)
		f.bottom = top
		f.print(n.a)
		f.inner, f.bottom = f.inner[:top], bottom
		f.writeByte(' ')
		f.writeText(n)
	case cppAuto:
		if last := f.last; f.style == LLVM {
			f.write("auto")
		} else {
			f.writeNumbered("auto:", int(n.num)+1, "")
			f.last = last
		}
	case cppAddress:
		if f.write("&"); f.kind(n.a) == cppTyped { // functions can have the same name
			f.print(n.a)
		} else {
			f.printOperand(n.a)
		}
	case cppLiteral:
		f.printLiteral(n)
	case cppPack:
		for i, x := range f.list(n) {
			if i > 0 {
				f.write(", ")
			}
			f.print(x)
		}
	case cppExpansion:
		f.printExpansion(n)
	case cppClone, cppSpecial, cppConstructed:
		f.printWhole(n)
	case cppFunction:
		f.printFunction(id, n)
	default:
		f.printType(id, n)
	}
}

func (f *itanium) printTemplate(n *cppNode) {
	bottom := f.bottom
	f.bottom = len(f.inner)
	f.print(n.a)
	if f.style != Bare && f.style != Simple {
		if f.last == '<' {
			f.writeByte(' ')
		}
		f.writeByte('<')
		f.printList(f.list(n), false, false)
		if f.last == '>' && f.style != LLVM {
			f.writeByte(' ')
		}
		f.writeByte('>')
	}
	f.inner, f.bottom = f.inner[:f.bottom], bottom
}

// printList writes a list, of parameters or of arguments, without those that are
// empty or with them.
func (f *itanium) printList(list []ref, parameters, empty bool) {
	first := true
	for _, n := range list {
		if f.failed || f.long {
			return
		}
		if !empty && f.isEmpty(n) {
			continue
		}
		if !first {
			f.write(", ")
		}
		first = false
		if x := &f.nodes[n]; f.style == LLVM && !parameters && x.kind == cppExpansion && x.b != 0 {
			f.writeByte('(')
			f.print(n)
			f.writeByte(')')
		} else {
			f.print(n)
		}
	}
}

// isEmpty says whether a node is nothing but empty packs.
func (f *itanium) isEmpty(n ref) bool {
	f.left--
	node := &f.nodes[f.resolved(n)]
	switch {
	case node.kind == cppExpansion:
		return node.b != 0 && f.nodes[node.b].n == 0
	case node.kind != cppPack || f.left < 0:
		return false
	}
	for _, x := range f.list(node) {
		if !f.isEmpty(x) {
			return false
		}
	}
	return true
}

// printExpansion writes something for each argument of a pack.
func (f *itanium) printExpansion(n *cppNode) {
	if f.pack != 0 {
		f.failed = true
		return
	}
	if n.b == 0 {
		if f.printOperand(n.a); f.style != LLVM {
			f.write("...")
		}
		return
	}
	f.pack = n.b
	for f.which = 0; f.which < int(f.nodes[n.b].n); f.which++ {
		if f.which > 0 {
			f.write(", ")
		}
		f.print(n.a)
	}
	f.pack = 0
}

// printOperand writes what is part of an expression, in parentheses if it is no
// plain name.
func (f *itanium) printOperand(id ref) {
	n := &f.nodes[f.resolved(id)]
	if f.style == LLVM || n.kind == cppName || n.kind == cppWord || n.kind == cppQualified && n.flags&isLocal == 0 {
		f.print(id)
		return
	}
	f.writeByte('(')
	f.print(id)
	f.writeByte(')')
}

// printUnnamed writes a lambda or a type without a name.
func (f *itanium) printUnnamed(n *cppNode) {
	what := "unnamed"
	if n.kind == cppClosure {
		what = "lambda"
	}
	if f.style == LLVM {
		f.write("'")
		f.write(what)
		if n.num > 0 {
			f.writeNumbered("", int(n.num)-1, "")
		}
		f.write("'")
	} else {
		f.write("{")
		f.write(what)
	}
	if n.kind == cppClosure {
		f.writeByte('(')
		f.printList(f.list(n), false, true)
		f.writeByte(')')
	} else if f.style != LLVM {
		f.write(" type")
	}
	if f.style != LLVM {
		f.writeNumbered("#", int(n.num)+1, "}")
	}
}

func (f *itanium) printLiteral(n *cppNode) {
	t := f.resolved(n.a)
	value := string(f.text[n.at : n.at+n.n])
	suffix, plain, float := "", false, false
	if k := &f.nodes[t]; k.kind == cppBuiltin {
		switch {
		case k.at == 'b'-'a' && n.num == 0 && value == "0":
			f.write("false")
			return
		case k.at == 'b'-'a' && n.num == 0 && value == "1":
			f.write("true")
			return
		case k.at == builtinNullptr && (value == "" || value == "0"):
			if f.style == LLVM {
				f.write("nullptr")
			} else {
				f.print(t)
			}
			return
		}
		if i := strings.IndexByte("ijlmxy", 'a'+byte(k.at)); i >= 0 {
			suffix, plain = [...]string{"", "u", "l", "ul", "ll", "ull"}[i], true
		}
		float = k.at >= 'd'-'a' && k.at <= 'g'-'a' || k.at == builtinHalf
	}
	if !plain {
		f.writeByte('(')
		f.print(n.a)
		f.writeByte(')')
	}
	if float {
		f.writeByte('[')
	}
	if n.num > 0 {
		f.writeByte('-')
	}
	f.write(value)
	if float {
		f.writeByte(']')
	}
	f.write(suffix)
}

// printWhole writes a name with what is said of it.
func (f *itanium) printWhole(n *cppNode) {
	if n.kind == cppClone {
		f.print(n.a)
		open, shut := " [clone ", "]"
		if f.style == LLVM {
			open, shut = " (", ")"
		}
		f.write(open)
		f.writeText(n)
		f.write(shut)
		return
	}
	f.write(cppPhrases[n.at : n.at+n.n])
	f.print(n.a)
	if n.kind == cppConstructed {
		f.write("-in-")
		f.print(n.b)
	}
}
