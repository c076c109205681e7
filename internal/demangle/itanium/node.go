package itanium

import "symbolon/internal/demangle/core"

type ref = core.Ref

// kind tells what a node is. The comments name the fields in use.
type kind uint8

const (
	kindNone kind = iota

	// Names.
	kindText        // n bytes of the mangled name from at
	kindWord        // word
	kindOperator    // op
	kindLiteralName // operator"" a
	kindConversion  // operator a
	kindStructor    // constructor of the class with the name a
	kindDestructor  // ~a
	kindNested      // a::b
	kindLocal       // a::b, where a is a function
	kindGlobal      // ::a
	kindTemplate    // a<list>
	kindTagged      // a[abi:b]
	kindModule      // b of the module a
	kindSubmodule   // a.b, a:b if num is set
	kindFriend      // a
	kindBindings    // [list]
	kindClosure     // list: types of parameters; a, b: constraints; c: list of template parameters; num
	kindUnnamed     // num
	kindDefaultArg  // a in the default argument num

	// Whole symbols.
	kindEncoding    // function a: result b, list of parameters, quals, num: & or &&, c: innermost template
	kindRequires    // a requires b
	kindEnableIf    // a [enable_if:list]
	kindClone       // a, and the suffix of n bytes from at
	kindSpecial     // word a
	kindConstructed // word a-in-b

	// Types.
	kindBuiltin // word
	kindNullptr
	kindQualified     // a quals
	kindPointer       // a*
	kindReference     // a&, a&& if num is set
	kindSuffixed      // a word: complex, imaginary
	kindArray         // a [b]
	kindMemberPointer // b a::*
	kindFunction      // as kindEncoding, without a; c: kindNoexcept, kindThrow
	kindNoexcept      // noexcept(a)
	kindThrow         // throw(list)
	kindVector        // a of b elements
	kindVendor        // a, and after it b with the template arguments list
	kindTransform     // b(a)
	kindSized         // word, a as its size
	kindDecltype      // a
	kindElaborated    // word a
	kindParam         // template parameter num, bound to a; op: depth
	kindForward       // template parameter num, bound to a when the name is complete
	kindPack          // list of arguments
	kindExpansion     // a...
	kindConstrained   // placeholder: a word

	// Template parameters of lambdas.
	kindInvented      // word: $T, $N, $TT; num
	kindTypeParam     // typename a
	kindConceptParam  // b a
	kindValueParam    // b a
	kindTemplateParam // template<list> typename a
	kindPackParam     // a...

	// Expressions.
	kindList    // list
	kindLiteral // n bytes from at, of type a; num: negative
	kindString  // literal of type a
	kindLambda  // literal of type a
	kindPrefix  // op a
	kindPostfix // a op
	kindBinary  // a op b
	kindIndex   // a[b]
	kindMember  // a op b, without blanks
	kindConditional
	kindCall        // a(list)
	kindNamedCast   // op<a>(b)
	kindConvert     // (a)(list)
	kindEnclosed    // op(a)
	kindNew         // op(list) a(b); num: global
	kindDelete      // op a; num: global
	kindFold        // op; a: pack, b: the other operand; num: of the right
	kindInit        // a{list}
	kindField       // .a = b
	kindElement     // [a] = b
	kindRange       // [a ... b] = c
	kindPackSize    // of the pack a
	kindArgument    // num: of the function
	kindSubobject   // of b, of type a
	kindRequirement // requires (c) {list}
	kindNeeds       // requirement: a; b: type constraint; num: noexcept
)

// The kinds that begin a group.
const (
	firstSymbol     = kindEncoding
	firstType       = kindBuiltin
	firstExpression = kindList
)

// flags of a type tell how names and pointers are written with it.
type flags uint8

const (
	hasRight    flags = 1 << iota // a half after the name
	isArray                       // pointers to it need parentheses, and a blank
	isFunction                    // pointers to it need parentheses
	isDependent                   // the other flags depend on a template parameter
)

// qualifiers of types and functions.
type qualifiers uint8

const (
	isConst qualifiers = 1 << iota
	isVolatile
	isRestrict
	isTransactionSafe
)

// node is a part of a name. Its kind tells which fields it uses.
type node struct {
	kind    kind
	flags   flags
	quals   qualifiers
	prec    precedence
	op      uint8 // in operators
	word    word
	a, b, c ref
	at, n   int32 // bytes of the name, or of core.Tree.Lists
	num     int32
}

type tree struct{ core.Tree[node] }

func (t *tree) list(n *node) []ref { return t.Lists[n.at : n.at+n.n] }

// addList adds a node with the list that begins at mark.
func (t *tree) addList(n node, mark int) ref {
	n.at, n.n = t.Collect(mark)
	return t.Add(n)
}

// baseName returns the name that the constructors of a class have.
func (t *tree) baseName(name ref) ref {
	for {
		switch n := &t.Nodes[name]; n.kind {
		case kindNested, kindModule:
			name = n.b
		case kindTemplate, kindTagged:
			name = n.a
		default:
			return name
		}
	}
}
