package cpp

import (
	"symbolon/internal/demangle/core"
)

// maxPrintDepth bounds how deep the written text is nested, where substitutions
// are followed.
const maxPrintDepth = 1 << 10

// noPack is the size of a pack before one is met.
const noPack = -1

// Printer writes a tree.
type Printer struct {
	*Tree
	core.Budget
	core.Writer
	name   []byte // mangled
	style  core.Style
	isLLVM bool

	packIndex int  // of the argument that is written
	packSize  int  // of the pack that is expanded
	scope     Ref  // template whose arguments the function has that is written
	isLambda  bool // the signature of a lambda is written
	parens    int  // open parentheses within the innermost template arguments
}

// Reset prepares the writing of a tree of a mangled name. The text goes to
// p.Writer, which the caller sets.
func (p *Printer) Reset(t *Tree, name []byte, style core.Style, steps int) {
	*p = Printer{Tree: t, Budget: core.Budget{Steps: steps}, name: name, style: style, isLLVM: style == core.LLVM, packSize: noPack}
}

// isStopped counts a step and reports whether nothing more is to be written.
func (p *Printer) isStopped() bool {
	p.Steps--
	if p.Steps < 0 {
		p.Failed = true
	}
	return p.Failed || p.IsFull()
}

// Print writes a node.
func (p *Printer) Print(id Ref) {
	p.printLeft(id)
	if p.shape(id)&HasRight != 0 {
		p.printRight(id)
	}
}

// resolve follows template parameters to their arguments. Of a pack it returns
// the argument that is written, zero if there is none.
func (p *Printer) resolve(id Ref) Ref {
	for {
		n := &p.Nodes[id]
		switch n.Kind {
		case KindForward:
			id = n.A
		case KindParam:
			to := p.argument(n)
			if to == 0 {
				return id
			}
			id = to
		default:
			return id
		}
		if pack := &p.Nodes[id]; pack.Kind == KindPack {
			if p.packSize == noPack {
				p.packSize, p.packIndex = int(pack.N), 0
			}
			if p.packIndex >= int(pack.N) {
				return 0
			}
			id = p.List(pack)[p.packIndex]
		}
		if p.Steps--; p.Steps < 0 {
			p.Failed = true
			return 0
		}
	}
}

// argument returns the argument of a parameter, zero if it has none here. In
// the signature of a lambda only parameters of its own have names.
func (p *Printer) argument(n *Node) Ref {
	isInvented := p.Nodes[n.A].Kind == KindInvented
	switch {
	case p.isLLVM, p.isLambda && isInvented:
		return n.A
	case p.isLambda:
		return 0
	case p.scope != 0 && n.Op == 0:
		if args := &p.Nodes[p.scope]; int(n.Num) < int(args.N) {
			return p.List(args)[n.Num]
		}
	}
	return n.A
}

// shape returns the flags of a type, with its parameters resolved.
func (p *Printer) shape(id Ref) Flags {
	for mask := ^Flags(0); ; {
		n := &p.Nodes[id]
		if n.Flags&IsDependent == 0 || p.Failed {
			return n.Flags & mask
		}
		switch n.Kind {
		case KindParam, KindForward:
			to := p.resolve(id)
			if to == id || to == 0 {
				return 0
			}
			id = to
		case KindMemberPointer:
			mask &= HasRight
			id = n.B
		case KindPointer, KindReference:
			mask &= HasRight
			id = n.A
		default:
			id = n.A
		}
		if p.Steps--; p.Steps < 0 {
			p.Failed = true
		}
	}
}

// printLeft writes the half of a type that is before the declared name. It writes
// all of other nodes.
func (p *Printer) printLeft(id Ref) {
	if p.isStopped() || !p.Enter(maxPrintDepth) {
		p.Leave()
		return
	}
	n := &p.Nodes[id]
	if n.Kind == KindParam || n.Kind == KindForward {
		switch to := p.resolve(id); {
		case to == 0:
			p.Leave()
			return
		case to == id:
		default:
			n = &p.Nodes[to]
		}
	}
	switch {
	case n.Kind < firstSymbol:
		p.printName(n)
	case n.Kind < firstType:
		p.printSymbol(n)
	case n.Kind < firstExpression:
		p.printTypeLeft(n)
	default:
		p.printExpression(n)
	}
	p.Leave()
}

// printWord writes a word in the spelling of the style.
func (p *Printer) printWord(w Word) { p.AppendString(w.spelling(p.isLLVM)) }

// printText writes bytes of the mangled name.
func (p *Printer) printText(n *Node) { p.Out = append(p.Out, p.name[n.At:n.At+n.N]...) }

// printStructor writes a constructor or a destructor. LLVM omits the name of a class that
// has none in its source.
func (p *Printer) printStructor(n *Node) {
	if n.Kind == KindDestructor {
		p.AppendByte('~')
	}
	if k := p.Nodes[n.A].Kind; !p.isLLVM || k != KindClosure && k != KindUnnamed {
		p.Print(n.A)
	}
}

// printName writes a name, or a part of one.
func (p *Printer) printName(n *Node) {
	switch n.Kind {
	case KindText:
		p.printText(n)
	case KindWord:
		p.printWord(n.Word)
	case KindOperator:
		p.AppendString("operator")
		text := Operators[n.Op].Text
		if core.IsLower(text[0]) {
			p.AppendByte(' ')
		}
		p.AppendString(text)
	case KindLiteralName:
		p.AppendString(`operator"" `)
		p.Print(n.A)
	case KindConversion:
		p.AppendString("operator ")
		p.Print(n.A)
	case KindStructor, KindDestructor:
		p.printStructor(n)
	case KindNested:
		p.Print(n.A)
		p.AppendString("::")
		p.Print(n.B)
	case KindLocal:
		p.Print(n.A)
		p.AppendString("::")
		p.Print(n.B)
	case KindGlobal:
		p.AppendString("::")
		p.Print(n.A)
	case KindTemplate:
		p.printTemplate(n)
	case KindTagged:
		p.Print(n.A)
		p.AppendString("[abi:")
		p.Print(n.B)
		p.AppendByte(']')
	case KindModule:
		p.Print(n.B)
		p.AppendByte('@')
		p.Print(n.A)
	case KindSubmodule:
		if n.A != 0 {
			p.Print(n.A)
		}
		if n.Num != 0 {
			p.AppendByte(':')
		} else if n.A != 0 {
			p.AppendByte('.')
		}
		p.Print(n.B)
	case KindFriend:
		if p.isLLVM {
			p.AppendString("friend ")
		}
		p.Print(n.A)
		if !p.isLLVM {
			p.AppendString("[friend]")
		}
	case KindBindings:
		p.AppendByte('[')
		p.printList(p.List(n))
		p.AppendByte(']')
	case KindClosure, KindUnnamed:
		p.printUnnamed(n)
	case KindDefaultArg:
		if !p.isLLVM {
			p.AppendString("{default arg#")
			p.AppendInt(int(n.Num) + 1)
			p.AppendString("}::")
		}
		p.Print(n.A)
	}
}

// printTemplate writes a template with its arguments. A blank keeps two angle
// brackets of GNU's spelling apart.
func (p *Printer) printTemplate(n *Node) {
	p.Print(n.A)
	if p.style == core.Bare || p.style == core.Simple {
		return
	}
	parens := p.parens
	p.parens = 0
	if p.Last() == '<' && !p.isLLVM {
		p.AppendByte(' ')
	}
	p.AppendByte('<')
	p.printList(p.List(n))
	if n.B != 0 && !p.isLLVM {
		p.AppendString(" requires ")
		p.Print(n.B)
	}
	if p.Last() == '>' && !p.isLLVM {
		p.AppendByte(' ')
	}
	p.AppendByte('>')
	p.parens = parens
}

// printList writes a list with commas between. Elements that are empty, as packs
// can be, get none.
func (p *Printer) printList(list []Ref) {
	isFirst := true
	for _, id := range list {
		before := len(p.Out)
		if !isFirst {
			p.AppendString(", ")
		}
		start := len(p.Out)
		if p.isLLVM {
			p.printOperand(id, PrecComma, false)
		} else {
			p.Print(id)
		}
		if len(p.Out) == start {
			p.Out = p.Out[:before]
		} else {
			isFirst = false
		}
		if p.Failed || p.IsFull() {
			return
		}
	}
}

// printUnnamed writes a lambda or a type without a name.
func (p *Printer) printUnnamed(n *Node) {
	what := "unnamed"
	if n.Kind == KindClosure {
		what = "lambda"
	}
	if p.isLLVM {
		p.AppendByte('\'')
		p.AppendString(what)
		if n.Num > 0 {
			p.AppendInt(int(n.Num) - 1)
		}
		p.AppendByte('\'')
	} else {
		p.AppendByte('{')
		p.AppendString(what)
	}
	if n.Kind == KindClosure {
		p.printSignature(n)
	} else if !p.isLLVM {
		p.AppendString(" type")
	}
	if !p.isLLVM {
		p.AppendByte('#')
		p.AppendInt(int(n.Num) + 1)
		p.AppendByte('}')
	}
}

// printSignature writes the parameters of a lambda. They have no values there.
func (p *Printer) printSignature(n *Node) {
	isLambda := p.isLambda
	p.isLambda = true
	if n.C != 0 {
		p.AppendByte('<')
		p.printList(p.List(&p.Nodes[n.C]))
		p.AppendByte('>')
	}
	p.printConstraint(n.A)
	if n.A != 0 {
		p.AppendByte(' ')
	}
	p.printListInParens(p.List(n))
	p.printConstraint(n.B)
	p.isLambda = isLambda
}

// printConstraint writes a requires-clause, if there is one.
func (p *Printer) printConstraint(id Ref) {
	if id != 0 {
		p.AppendString(" requires ")
		p.Print(id)
	}
}

// openParen writes a parenthesis, in which > does not end template arguments.
func (p *Printer) openParen() {
	p.parens++
	p.AppendByte('(')
}

// closeParen writes the parenthesis that openParen opened.
func (p *Printer) closeParen() {
	p.parens--
	p.AppendByte(')')
}

// printInParens writes a node between parentheses.
func (p *Printer) printInParens(id Ref) {
	p.openParen()
	p.Print(id)
	p.closeParen()
}

// printListInParens writes a list between parentheses.
func (p *Printer) printListInParens(list []Ref) {
	p.openParen()
	p.printList(list)
	p.closeParen()
}

// printSymbol writes a function, or an entity that is derived from a name.
func (p *Printer) printSymbol(n *Node) {
	switch n.Kind {
	case KindEncoding:
		p.printEncoding(n)
	case KindRequires:
		p.Print(n.A)
		p.printConstraint(n.B)
	case KindEnableIf:
		p.Print(n.A)
		p.AppendString(" [enable_if:")
		p.printList(p.List(n))
		p.AppendByte(']')
	case KindClone:
		before, after := " [clone ", "]"
		if p.isLLVM {
			before, after = " (", ")"
		}
		p.Print(n.A)
		p.AppendString(before)
		p.printText(n)
		p.AppendString(after)
	case KindSpecial, KindConstructed:
		p.printWord(n.Word)
		p.Print(n.A)
		if n.Kind == KindConstructed {
			p.AppendString("-in-")
			p.Print(n.B)
		}
	}
}

// printEncoding writes a function. Its result may have to be written around it.
func (p *Printer) printEncoding(n *Node) {
	scope, isLambda := p.scope, p.isLambda
	p.isLambda = false
	p.scope = n.C
	if n.B != 0 {
		if p.printLeft(n.B); p.shape(n.B)&HasRight == 0 {
			p.AppendByte(' ')
		}
	}
	p.Print(n.A)
	p.openParen()
	if n.Op == 0 {
		if n.Word == WordThis {
			p.AppendString("this ")
		}
		p.printList(p.List(n))
	}
	p.closeParen()
	if n.B != 0 && p.shape(n.B)&HasRight != 0 {
		p.printRight(n.B)
	}
	p.printFunctionQualifiers(n)
	p.scope, p.isLambda = scope, isLambda
}
