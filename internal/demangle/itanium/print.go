package itanium

import (
	"symbolon/internal/demangle/core"
)

// maxPrintDepth bounds how deep the written text is nested, where substitutions
// are followed.
const maxPrintDepth = 1 << 10

// noPack is the size of a pack before one is met.
const noPack = -1

// printer writes a tree.
type printer struct {
	*tree
	core.Budget
	core.Writer
	name   []byte // mangled
	style  core.Style
	isLLVM bool

	packIndex int  // of the argument that is written
	packSize  int  // of the pack that is expanded
	scope     ref  // template whose arguments the function has that is written
	isLambda  bool // the signature of a lambda is written
	parens    int  // open parentheses within the innermost template arguments
}

// fail ends the writing.
func (p *printer) fail() { p.Failed = true }

// isStopped counts a step and reports whether nothing more is to be written.
func (p *printer) isStopped() bool {
	p.Steps--
	if p.Steps < 0 {
		p.Failed = true
	}
	return p.Failed || p.IsFull()
}

// print writes a node.
func (p *printer) print(id ref) {
	p.printLeft(id)
	if p.shape(id)&hasRight != 0 {
		p.printRight(id)
	}
}

// resolve follows template parameters to their arguments. Of a pack it returns
// the argument that is written, zero if there is none.
func (p *printer) resolve(id ref) ref {
	for {
		n := &p.Nodes[id]
		switch n.kind {
		case kindForward:
			id = n.a
		case kindParam:
			to := p.argument(n)
			if to == 0 {
				return id
			}
			id = to
		default:
			return id
		}
		if pack := &p.Nodes[id]; pack.kind == kindPack {
			if p.packSize == noPack {
				p.packSize, p.packIndex = int(pack.n), 0
			}
			if p.packIndex >= int(pack.n) {
				return 0
			}
			id = p.list(pack)[p.packIndex]
		}
		if p.Steps--; p.Steps < 0 {
			p.Failed = true
			return 0
		}
	}
}

// argument returns the argument of a parameter, zero if it has none here. In
// the signature of a lambda only parameters of its own have names.
func (p *printer) argument(n *node) ref {
	isInvented := p.Nodes[n.a].kind == kindInvented
	switch {
	case p.isLLVM, p.isLambda && isInvented:
		return n.a
	case p.isLambda:
		return 0
	case p.scope != 0 && n.op == 0:
		if args := &p.Nodes[p.scope]; int(n.num) < int(args.n) {
			return p.list(args)[n.num]
		}
	}
	return n.a
}

// shape returns the flags of a type, with its parameters resolved.
func (p *printer) shape(id ref) flags {
	for mask := ^flags(0); ; {
		n := &p.Nodes[id]
		if n.flags&isDependent == 0 || p.Failed {
			return n.flags & mask
		}
		switch n.kind {
		case kindParam, kindForward:
			to := p.resolve(id)
			if to == id || to == 0 {
				return 0
			}
			id = to
		case kindMemberPointer:
			mask &= hasRight
			id = n.b
		case kindPointer, kindReference:
			mask &= hasRight
			id = n.a
		default:
			id = n.a
		}
		if p.Steps--; p.Steps < 0 {
			p.Failed = true
		}
	}
}

// printLeft writes the half of a type that is before the declared name. It writes
// all of other nodes.
func (p *printer) printLeft(id ref) {
	if p.isStopped() || !p.Enter(maxPrintDepth) {
		p.Leave()
		return
	}
	n := &p.Nodes[id]
	if n.kind == kindParam || n.kind == kindForward {
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
	case n.kind < firstSymbol:
		p.printName(n)
	case n.kind < firstType:
		p.printSymbol(n)
	case n.kind < firstExpression:
		p.printTypeLeft(n)
	default:
		p.printExpression(n)
	}
	p.Leave()
}

func (p *printer) printWord(w word) { p.AppendString(w.spelling(p.isLLVM)) }

func (p *printer) printText(n *node) { p.Out = append(p.Out, p.name[n.at:n.at+n.n]...) }

func (p *printer) printName(n *node) {
	switch n.kind {
	case kindText:
		p.printText(n)
	case kindWord:
		p.printWord(n.word)
	case kindOperator:
		p.AppendString("operator")
		text := operators[n.op].text
		if core.IsLower(text[0]) {
			p.AppendByte(' ')
		}
		p.AppendString(text)
	case kindLiteralName:
		p.AppendString(`operator"" `)
		p.print(n.a)
	case kindConversion:
		p.AppendString("operator ")
		p.print(n.a)
	case kindStructor:
		p.print(n.a)
	case kindDestructor:
		p.AppendByte('~')
		p.print(n.a)
	case kindNested:
		p.print(n.a)
		p.AppendString("::")
		p.print(n.b)
	case kindLocal:
		p.print(n.a)
		p.AppendString("::")
		p.print(n.b)
	case kindGlobal:
		p.AppendString("::")
		p.print(n.a)
	case kindTemplate:
		p.printTemplate(n)
	case kindTagged:
		p.print(n.a)
		p.AppendString("[abi:")
		p.print(n.b)
		p.AppendByte(']')
	case kindModule:
		p.print(n.b)
		p.AppendByte('@')
		p.print(n.a)
	case kindSubmodule:
		if n.a != 0 {
			p.print(n.a)
		}
		if n.num != 0 {
			p.AppendByte(':')
		} else if n.a != 0 {
			p.AppendByte('.')
		}
		p.print(n.b)
	case kindFriend:
		if p.isLLVM {
			p.AppendString("friend ")
		}
		p.print(n.a)
		if !p.isLLVM {
			p.AppendString("[friend]")
		}
	case kindBindings:
		p.AppendByte('[')
		p.printList(p.list(n))
		p.AppendByte(']')
	case kindClosure, kindUnnamed:
		p.printUnnamed(n)
	case kindDefaultArg:
		if !p.isLLVM {
			p.AppendString("{default arg#")
			p.AppendInt(int(n.num) + 1)
			p.AppendString("}::")
		}
		p.print(n.a)
	}
}

func (p *printer) printTemplate(n *node) {
	p.print(n.a)
	if p.style == core.Bare || p.style == core.Simple {
		return
	}
	parens := p.parens
	p.parens = 0
	if p.Last() == '<' {
		p.AppendByte(' ')
	}
	p.AppendByte('<')
	p.printList(p.list(n))
	if n.b != 0 && !p.isLLVM {
		p.AppendString(" requires ")
		p.print(n.b)
	}
	if p.Last() == '>' && !p.isLLVM {
		p.AppendByte(' ')
	}
	p.AppendByte('>')
	p.parens = parens
}

// printList writes a list with commas between. Elements that are empty, as packs
// can be, get none.
func (p *printer) printList(list []ref) {
	isFirst := true
	for _, id := range list {
		before := len(p.Out)
		if !isFirst {
			p.AppendString(", ")
		}
		start := len(p.Out)
		if p.isLLVM {
			p.printOperand(id, precComma, false)
		} else {
			p.print(id)
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
func (p *printer) printUnnamed(n *node) {
	what := "unnamed"
	if n.kind == kindClosure {
		what = "lambda"
	}
	if p.isLLVM {
		p.AppendByte('\'')
		p.AppendString(what)
		if n.num > 0 {
			p.AppendInt(int(n.num) - 1)
		}
		p.AppendByte('\'')
	} else {
		p.AppendByte('{')
		p.AppendString(what)
	}
	if n.kind == kindClosure {
		p.printSignature(n)
	} else if !p.isLLVM {
		p.AppendString(" type")
	}
	if !p.isLLVM {
		p.AppendByte('#')
		p.AppendInt(int(n.num) + 1)
		p.AppendByte('}')
	}
}

// printSignature writes the parameters of a lambda. They have no values there.
func (p *printer) printSignature(n *node) {
	isLambda := p.isLambda
	p.isLambda = true
	if n.c != 0 {
		p.AppendByte('<')
		p.printList(p.list(&p.Nodes[n.c]))
		p.AppendByte('>')
	}
	p.printConstraint(n.a)
	if n.a != 0 {
		p.AppendByte(' ')
	}
	p.openParen()
	p.printList(p.list(n))
	p.closeParen()
	p.printConstraint(n.b)
	p.isLambda = isLambda
}

func (p *printer) printConstraint(id ref) {
	if id != 0 {
		p.AppendString(" requires ")
		p.print(id)
	}
}

func (p *printer) openParen() {
	p.parens++
	p.AppendByte('(')
}

func (p *printer) closeParen() {
	p.parens--
	p.AppendByte(')')
}

// printSymbol writes a function or something made of a name.
func (p *printer) printSymbol(n *node) {
	switch n.kind {
	case kindEncoding:
		p.printEncoding(n)
	case kindRequires:
		p.print(n.a)
		p.printConstraint(n.b)
	case kindEnableIf:
		p.print(n.a)
		p.AppendString(" [enable_if:")
		p.printList(p.list(n))
		p.AppendByte(']')
	case kindClone:
		before, after := " [clone ", "]"
		if p.isLLVM {
			before, after = " (", ")"
		}
		p.print(n.a)
		p.AppendString(before)
		p.printText(n)
		p.AppendString(after)
	case kindSpecial, kindConstructed:
		p.printWord(n.word)
		p.print(n.a)
		if n.kind == kindConstructed {
			p.AppendString("-in-")
			p.print(n.b)
		}
	}
}

// printEncoding writes a function. Its result may have to be written around it.
func (p *printer) printEncoding(n *node) {
	scope, isLambda := p.scope, p.isLambda
	p.isLambda = false
	p.scope = n.c
	if n.b != 0 {
		if p.printLeft(n.b); p.shape(n.b)&hasRight == 0 {
			p.AppendByte(' ')
		}
	}
	p.print(n.a)
	p.openParen()
	if n.op == 0 {
		p.printList(p.list(n))
	}
	p.closeParen()
	if n.b != 0 && p.shape(n.b)&hasRight != 0 {
		p.printRight(n.b)
	}
	p.printFunctionQualifiers(n)
	p.scope, p.isLambda = scope, isLambda
}
