package itanium

import "sort"

// precedence of an expression: the smaller, the tighter it binds.
type precedence uint8

const (
	precPrimary precedence = iota
	precPostfix
	precUnary
	precCast
	precMember
	precMultiply
	precAdd
	precShift
	precSpaceship
	precRelation
	precEqual
	precAnd
	precXor
	precOr
	precAndIf
	precOrIf
	precConditional
	precAssign
	precComma
	precDefault
)

// form tells how an operator is read and written in an expression.
type form uint8

const (
	formPrefix form = iota
	formPostfix
	formBinary
	formIndex
	formMember
	formNew
	formDelete
	formCall
	formConvert
	formConditional
	formNamedCast
	formOfType  // sizeof (type)
	formOfValue // sizeof (value)
)

// operator is one of the operators of C++.
//
//	<operator-name> ::= two letters
type operator struct {
	code   string
	form   form
	prec   precedence
	isName bool // can be the name of a function
	text   string
}

// operators are sorted by code.
var operators = [...]operator{
	{"aN", formBinary, precAssign, true, "&="},
	{"aS", formBinary, precAssign, true, "="},
	{"aa", formBinary, precAndIf, true, "&&"},
	{"ad", formPrefix, precUnary, true, "&"},
	{"an", formBinary, precAnd, true, "&"},
	{"at", formOfType, precUnary, false, "alignof "},
	{"aw", formPrefix, precPrimary, true, "co_await"},
	{"az", formOfValue, precUnary, false, "alignof "},
	{"cc", formNamedCast, precPostfix, false, "const_cast"},
	{"cl", formCall, precPostfix, true, "()"},
	{"cm", formBinary, precComma, true, ","},
	{"co", formPrefix, precUnary, true, "~"},
	{"cp", formCall, precPostfix, false, "()"},
	{"cv", formConvert, precCast, false, ""},
	{"dV", formBinary, precAssign, true, "/="},
	{"da", formDelete, precUnary, true, "delete[]"},
	{"dc", formNamedCast, precPostfix, false, "dynamic_cast"},
	{"de", formPrefix, precUnary, true, "*"},
	{"dl", formDelete, precUnary, true, "delete"},
	{"ds", formMember, precMember, false, ".*"},
	{"dt", formMember, precPostfix, false, "."},
	{"dv", formBinary, precMultiply, true, "/"},
	{"eO", formBinary, precAssign, true, "^="},
	{"eo", formBinary, precXor, true, "^"},
	{"eq", formBinary, precEqual, true, "=="},
	{"ge", formBinary, precRelation, true, ">="},
	{"gt", formBinary, precRelation, true, ">"},
	{"ix", formIndex, precPostfix, true, "[]"},
	{"lS", formBinary, precAssign, true, "<<="},
	{"le", formBinary, precRelation, true, "<="},
	{"ls", formBinary, precShift, true, "<<"},
	{"lt", formBinary, precRelation, true, "<"},
	{"mI", formBinary, precAssign, true, "-="},
	{"mL", formBinary, precAssign, true, "*="},
	{"mi", formBinary, precAdd, true, "-"},
	{"ml", formBinary, precMultiply, true, "*"},
	{"mm", formPostfix, precPostfix, true, "--"},
	{"na", formNew, precUnary, true, "new[]"},
	{"ne", formBinary, precEqual, true, "!="},
	{"ng", formPrefix, precUnary, true, "-"},
	{"nt", formPrefix, precUnary, true, "!"},
	{"nw", formNew, precUnary, true, "new"},
	{"nx", formOfValue, precUnary, false, "noexcept"},
	{"oR", formBinary, precAssign, true, "|="},
	{"oo", formBinary, precOrIf, true, "||"},
	{"or", formBinary, precOr, true, "|"},
	{"pL", formBinary, precAssign, true, "+="},
	{"pl", formBinary, precAdd, true, "+"},
	{"pm", formMember, precMember, true, "->*"},
	{"pp", formPostfix, precPostfix, true, "++"},
	{"ps", formPrefix, precUnary, true, "+"},
	{"pt", formMember, precPostfix, true, "->"},
	{"qu", formConditional, precConditional, true, "?"},
	{"rM", formBinary, precAssign, true, "%="},
	{"rS", formBinary, precAssign, true, ">>="},
	{"rc", formNamedCast, precPostfix, false, "reinterpret_cast"},
	{"rm", formBinary, precMultiply, true, "%"},
	{"rs", formBinary, precShift, true, ">>"},
	{"sc", formNamedCast, precPostfix, false, "static_cast"},
	{"ss", formBinary, precSpaceship, true, "<=>"},
	{"st", formOfType, precUnary, false, "sizeof "},
	{"sz", formOfValue, precUnary, false, "sizeof "},
	{"te", formOfValue, precPostfix, false, "typeid "},
	{"ti", formOfType, precPostfix, false, "typeid "},
	{"tw", formPrefix, precAssign, false, "throw "},
}

// findOperator returns the index of the operator with a code of two letters.
func findOperator(first, second byte) (op uint8, ok bool) {
	i := sort.Search(len(operators), func(i int) bool {
		c := operators[i].code
		return c[0] > first || c[0] == first && c[1] >= second
	})
	if i == len(operators) || operators[i].code[0] != first || operators[i].code[1] != second {
		return 0, false
	}
	return uint8(i), true
}
