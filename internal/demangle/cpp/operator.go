package cpp

import "sort"

// Precedence of an expression: the smaller, the tighter it binds.
type Precedence uint8

const (
	PrecPrimary Precedence = iota
	PrecPostfix
	PrecUnary
	PrecCast
	PrecMember
	PrecMultiply
	PrecAdd
	PrecShift
	PrecSpaceship
	PrecRelation
	PrecEqual
	PrecAnd
	PrecXor
	PrecOr
	PrecAndIf
	PrecOrIf
	PrecConditional
	PrecAssign
	PrecComma
	PrecDefault
)

// Form is the way in which an operator is read and written in an expression.
type Form uint8

const (
	FormPrefix Form = iota
	FormPostfix
	FormBinary
	FormIndex
	FormMember
	FormNew
	FormDelete
	FormCall
	FormConvert
	FormConditional
	FormNamedCast
	FormOfType  // sizeof (type)
	FormOfValue // sizeof (value)
)

// Operator is one of the operators of C++.
//
//	<operator-name> ::= two letters
type Operator struct {
	Code   string
	Form   Form
	Prec   Precedence
	IsName bool // can be the name of a function
	Text   string
}

// Operators are sorted by code.
var Operators = [...]Operator{
	{"aN", FormBinary, PrecAssign, true, "&="},
	{"aS", FormBinary, PrecAssign, true, "="},
	{"aa", FormBinary, PrecAndIf, true, "&&"},
	{"ad", FormPrefix, PrecUnary, true, "&"},
	{"an", FormBinary, PrecAnd, true, "&"},
	{"at", FormOfType, PrecUnary, false, "alignof "},
	{"aw", FormPrefix, PrecPrimary, true, "co_await"},
	{"az", FormOfValue, PrecUnary, false, "alignof "},
	{"cc", FormNamedCast, PrecPostfix, false, "const_cast"},
	{"cl", FormCall, PrecPostfix, true, "()"},
	{"cm", FormBinary, PrecComma, true, ","},
	{"co", FormPrefix, PrecUnary, true, "~"},
	{"cp", FormCall, PrecPostfix, false, "()"},
	{"cv", FormConvert, PrecCast, false, ""},
	{"dV", FormBinary, PrecAssign, true, "/="},
	{"da", FormDelete, PrecUnary, true, "delete[]"},
	{"dc", FormNamedCast, PrecPostfix, false, "dynamic_cast"},
	{"de", FormPrefix, PrecUnary, true, "*"},
	{"dl", FormDelete, PrecUnary, true, "delete"},
	{"ds", FormMember, PrecMember, false, ".*"},
	{"dt", FormMember, PrecPostfix, false, "."},
	{"dv", FormBinary, PrecMultiply, true, "/"},
	{"eO", FormBinary, PrecAssign, true, "^="},
	{"eo", FormBinary, PrecXor, true, "^"},
	{"eq", FormBinary, PrecEqual, true, "=="},
	{"ge", FormBinary, PrecRelation, true, ">="},
	{"gt", FormBinary, PrecRelation, true, ">"},
	{"ix", FormIndex, PrecPostfix, true, "[]"},
	{"lS", FormBinary, PrecAssign, true, "<<="},
	{"le", FormBinary, PrecRelation, true, "<="},
	{"ls", FormBinary, PrecShift, true, "<<"},
	{"lt", FormBinary, PrecRelation, true, "<"},
	{"mI", FormBinary, PrecAssign, true, "-="},
	{"mL", FormBinary, PrecAssign, true, "*="},
	{"mi", FormBinary, PrecAdd, true, "-"},
	{"ml", FormBinary, PrecMultiply, true, "*"},
	{"mm", FormPostfix, PrecPostfix, true, "--"},
	{"na", FormNew, PrecUnary, true, "new[]"},
	{"ne", FormBinary, PrecEqual, true, "!="},
	{"ng", FormPrefix, PrecUnary, true, "-"},
	{"nt", FormPrefix, PrecUnary, true, "!"},
	{"nw", FormNew, PrecUnary, true, "new"},
	{"nx", FormOfValue, PrecUnary, false, "noexcept"},
	{"oR", FormBinary, PrecAssign, true, "|="},
	{"oo", FormBinary, PrecOrIf, true, "||"},
	{"or", FormBinary, PrecOr, true, "|"},
	{"pL", FormBinary, PrecAssign, true, "+="},
	{"pl", FormBinary, PrecAdd, true, "+"},
	{"pm", FormMember, PrecMember, true, "->*"},
	{"pp", FormPostfix, PrecPostfix, true, "++"},
	{"ps", FormPrefix, PrecUnary, true, "+"},
	{"pt", FormMember, PrecPostfix, true, "->"},
	{"qu", FormConditional, PrecConditional, true, "?"},
	{"rM", FormBinary, PrecAssign, true, "%="},
	{"rS", FormBinary, PrecAssign, true, ">>="},
	{"rc", FormNamedCast, PrecPostfix, false, "reinterpret_cast"},
	{"rm", FormBinary, PrecMultiply, true, "%"},
	{"rs", FormBinary, PrecShift, true, ">>"},
	{"sc", FormNamedCast, PrecPostfix, false, "static_cast"},
	{"ss", FormBinary, PrecSpaceship, true, "<=>"},
	{"st", FormOfType, PrecUnary, false, "sizeof "},
	{"sz", FormOfValue, PrecUnary, false, "sizeof "},
	{"te", FormOfValue, PrecPostfix, false, "typeid "},
	{"ti", FormOfType, PrecPostfix, false, "typeid "},
	{"tw", FormPrefix, PrecAssign, false, "throw "},
}

// FindOperator returns the index of the operator with a code of two letters.
func FindOperator(first, second byte) (op uint8, ok bool) {
	i := sort.Search(len(Operators), func(i int) bool {
		c := Operators[i].Code
		return c[0] > first || c[0] == first && c[1] >= second
	})
	if i == len(Operators) || Operators[i].Code[0] != first || Operators[i].Code[1] != second {
		return 0, false
	}
	return uint8(i), true
}
