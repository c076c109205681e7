package cpp

import "symbolon/internal/demangle/core"

// Ref is the number of a node.
type Ref = core.Ref

// Kind is the meaning of a node. The comments show the text of each kind: a, b and c are
// the nodes A, B and C, list is the list from At, quals, num, op and word are the fields
// of that name.
type Kind uint8

const (
	KindNone Kind = iota

	// Names.
	KindText        // n bytes of the mangled name from at
	KindWord        // word
	KindOperator    // op
	KindLiteralName // operator"" a
	KindConversion  // operator a
	KindStructor    // constructor of the class with the name a
	KindDestructor  // ~a
	KindNested      // a::b
	KindLocal       // a::b, where a is a function
	KindGlobal      // ::a
	KindTemplate    // a<list>
	KindTagged      // a[abi:b]
	KindModule      // b of the module a
	KindSubmodule   // a.b, a:b if num is set
	KindFriend      // a
	KindBindings    // [list]
	KindClosure     // list: types of parameters; a, b: constraints; c: list of template parameters; num
	KindUnnamed     // num
	KindDefaultArg  // a in the default argument num

	// Whole symbols.
	KindEncoding    // function a: result b, list of parameters, quals, num: & or &&, c: innermost template, word: this before the first parameter
	KindRequires    // a requires b
	KindEnableIf    // a [enable_if:list]
	KindClone       // a, and the suffix of n bytes from at
	KindSpecial     // word a
	KindConstructed // word a-in-b

	// Types.
	KindBuiltin // word
	KindNullptr
	KindQualified     // a quals
	KindPointer       // a*
	KindReference     // a&, a&& if num is set
	KindSuffixed      // a word: complex, imaginary
	KindArray         // a [b]
	KindMemberPointer // b a::*
	KindFunction      // as kindEncoding, without a; c: kindNoexcept, kindThrow
	KindNoexcept      // noexcept(a)
	KindThrow         // throw(list)
	KindVector        // a of b elements
	KindVendor        // a, and after it b with the template arguments list
	KindTransform     // b(a)
	KindSized         // word, a as its size
	KindDecltype      // a
	KindElaborated    // word a: of a class, of the size of a number
	KindParam         // template parameter num, bound to a; op: depth
	KindForward       // template parameter num, bound to a when the name is complete
	KindPack          // list of arguments
	KindExpansion     // a...
	KindConstrained   // placeholder: a word

	// Template parameters of lambdas.
	KindInvented      // word: $T, $N, $TT; num
	KindTypeParam     // typename a
	KindConceptParam  // b a
	KindValueParam    // b a
	KindTemplateParam // template<list> typename a
	KindPackParam     // a...

	// Expressions.
	KindList    // list
	KindLiteral // n bytes from at, of type a; num: negative
	KindString  // literal of type a
	KindLambda  // literal of type a
	KindPrefix  // op a
	KindPostfix // a op
	KindBinary  // a op b
	KindIndex   // a[b]
	KindMember  // a op b, without blanks
	KindConditional
	KindCall        // a(list)
	KindNamedCast   // op<a>(b)
	KindConvert     // (a)(list)
	KindEnclosed    // op(a)
	KindNew         // op(list) a(b); num: global
	KindDelete      // op a; num: global
	KindFold        // op; a: pack, b: the other operand; num: of the right
	KindInit        // a{list}
	KindField       // .a = b
	KindElement     // [a] = b
	KindRange       // [a ... b] = c
	KindPackSize    // of the pack a
	KindArgument    // num: of the function
	KindSubobject   // of b, of type a
	KindRequirement // requires (c) {list}
	KindNeeds       // requirement: a; b: type constraint; num: noexcept
)

// The kinds that begin a group.
const (
	firstSymbol     = KindEncoding
	firstType       = KindBuiltin
	firstExpression = KindList
)

// Flags of a type control how names and pointers are written with it.
type Flags uint8

const (
	HasRight    Flags = 1 << iota // a half after the name
	IsArray                       // pointers to it need parentheses, and a blank
	IsFunction                    // pointers to it need parentheses
	IsDependent                   // the other flags depend on a template parameter
)

// Qualifiers of types and functions.
type Qualifiers uint8

const (
	IsConst Qualifiers = 1 << iota
	IsVolatile
	IsRestrict
	IsTransactionSafe
)

// Node is a part of a name. Its kind determines the fields in use.
type Node struct {
	Kind    Kind
	Flags   Flags
	Quals   Qualifiers
	Prec    Precedence
	Op      uint8 // in operators
	Word    Word
	A, B, C Ref
	At, N   int32 // bytes of the name, or of core.Tree.Lists
	Num     int32
}

type Tree struct{ core.Tree[Node] }

// List returns the list of a node.
func (t *Tree) List(n *Node) []Ref { return t.Lists[n.At : n.At+n.N] }

// AddList adds a node with the list that begins at mark.
func (t *Tree) AddList(n Node, mark int) Ref {
	n.At, n.N = t.Collect(mark)
	return t.Add(n)
}

// BaseName returns the name that the constructors of a class have.
func (t *Tree) BaseName(name Ref) Ref {
	for {
		switch n := &t.Nodes[name]; n.Kind {
		case KindNested, KindModule:
			name = n.B
		case KindTemplate, KindTagged:
			name = n.A
		default:
			return name
		}
	}
}

// The forms of a requirement.
const (
	NeedNoexcept = 1 + iota // { a } noexcept
	NeedType                // typename a
	NeedNested              // requires a
)
