package demangle

import "strings"

// cppBuiltins are the types that have a letter, by their letters, and behind
// them those that have a letter behind a D, in the order of cppMoreBuiltins.
var cppBuiltins = [...]string{
	"signed char", "bool", "char", "double", "long double", "float", "__float128", "unsigned char", "int", "unsigned int", "",
	"long", "unsigned long", "__int128", "unsigned __int128", "", "", "", "short", "unsigned short", "", "void", "wchar_t",
	"long long", "unsigned long long", "...",
	"decimal32", "decimal64", "decimal128", "half", "char8_t", "char16_t", "char32_t", "decltype(nullptr)",
}

const (
	cppMoreBuiltins = "fdehusin"
	builtinVoid     = 'v' - 'a'
	builtinHalf     = 26 + 3
	builtinNullptr  = 26 + 7
)

// cppQualifiers are what three bits of the qualifiers say.
var cppQualifiers = [...]string{1: "const", 2: "volatile", 3: "restrict", 4: "noexcept", 5: "transaction_safe"}

// cppPhrases are what is said of something that there is of a class, a variable
// or a function, by its letters. With an L they are as LLVM says it.
const cppPhrases = "|TVvtable for |TTVTT for |TItypeinfo for |TStypeinfo name for |Thnon-virtual thunk to |Tvvirtual thunk to |" +
	"Tccovariant return thunk to |TCconstruction vtable for |THTLS init function for |TWTLS wrapper function for |" +
	"LHthread-local initialization routine for |LWthread-local wrapper routine for |" +
	"GVguard variable for |GRreference temporary for |Gttransaction clone for |Gnnon-transaction clone for |"

// special reads a name of such a thing.
func (f *itanium) special() ref {
	code := [3]byte{'|', f.next(), f.next()}
	if code[1] == 'G' && !isUpper(code[2]) {
		return f.fail()
	}
	if string(code[1:]) == "GT" {
		code[2] = f.next()
	}
	if f.style == LLVM && code[1] == 'T' && (code[2] == 'H' || code[2] == 'W') {
		code[1] = 'L'
	}
	n := cppNode{kind: cppSpecial, at: int32(strings.Index(cppPhrases, string(code[:]))) + 3}
	if n.at < 3 {
		return f.fail()
	}
	n.n = int32(strings.IndexByte(cppPhrases[n.at:], '|'))
	switch code[2] {
	case 'V', 'T', 'I', 'S':
		if code[1] == 'G' {
			n.a = f.name()
		} else {
			n.a = f.one()
		}
	case 'H', 'W':
		n.a = f.name()
	case 'R':
		n.a = f.name()
		f.sequence()
	case 'C':
		n.kind = cppConstructed
		n.b = f.one()
		if f.natural() < 0 {
			return f.fail()
		}
		f.expect('_')
		n.a = f.one()
	case 't', 'n':
		n.a = f.encoding(true, false)
	default:
		if code[2] == 'c' {
			f.offset(f.next())
			code[2] = f.next()
		}
		f.offset(code[2])
		n.a = f.encoding(true, false)
	}
	return f.add(n, n.a, n.b)
}

// offset reads how a thunk changes the object.
func (f *itanium) offset(kind byte) {
	switch kind {
	case 'v':
		f.number()
		f.expect('_')
		f.number()
	case 'h':
		f.number()
	default:
		f.fail()
	}
	f.expect('_')
}

// qualifiers reads those of a type: the last one is written first.
func (f *itanium) qualifiers() (quals uint16) {
	for {
		one := uint16(strings.IndexByte("KVr", f.peek()) + 1)
		if f.peek() == 'D' && f.pos+1 < f.end {
			if i := strings.IndexByte("ox", f.text[f.pos+1]); i >= 0 {
				one = uint16(4 + i)
			}
		}
		if one == 0 {
			return quals
		}
		if f.pos++; one > 3 {
			f.pos++
		}
		if merged(quals, one) == quals {
			f.fail()
			return 0
		}
		quals = quals<<3 | one
	}
}

// merged adds those qualifiers that are not there yet.
func merged(quals, more uint16) uint16 {
	for ; more != 0; more >>= 3 {
		shift, has := 0, false
		for q := quals; q != 0; q >>= 3 {
			has = has || q&7 == more&7
			shift += 3
		}
		if !has {
			quals |= more & 7 << shift
		}
	}
	return quals
}

func (f *itanium) referenceQualifier() int32 {
	switch {
	case f.nextIf('R'):
		return 1
	case f.nextIf('O'):
		return 2
	}
	return 0
}

// one reads a type that is no expansion of a pack, which can only be in lists.
func (f *itanium) one() ref {
	n := f.typ()
	if f.kind(n) == cppExpansion {
		return f.fail()
	}
	return n
}

func (f *itanium) typ() ref {
	if !f.deeper() {
		return 0
	}
	defer f.leave()
	quals := f.qualifiers()
	c := f.peek()
	if i := int(c) - 'a'; i >= 0 && i < 26 && cppBuiltins[i] != "" {
		f.pos++
		n := f.add(cppNode{kind: cppBuiltin, at: int32(i)})
		if quals != 0 {
			n = f.add(cppNode{kind: cppConst, a: n, quals: quals})
			f.refer(n)
		}
		return n
	}
	n, candidate := f.unqualifiedType(c)
	if f.failed {
		return 0
	}
	if candidate && (quals == 0 || c != 'F') {
		f.refer(n)
	}
	if quals == 0 {
		return n
	}
	switch node := f.nodes[n]; node.kind {
	case cppMethod, cppExpansion:
		return f.fail()
	case cppFunction:
		n = f.add(cppNode{kind: cppMethod, a: n, quals: quals}, n)
	case cppConst:
		n = f.add(cppNode{kind: cppConst, a: node.a, quals: merged(quals, node.quals)}, node.a)
	default:
		n = f.add(cppNode{kind: cppConst, a: n, quals: quals}, n)
	}
	f.refer(n)
	return n
}

// unqualifiedType reads a type, and says whether it can be referred to, which
// what is a reference itself cannot.
func (f *itanium) unqualifiedType(c byte) (n ref, candidate bool) {
	switch c {
	case 'N', 'Z', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return f.name(), true
	case 'S':
		return f.standardType()
	case 'O', 'P', 'R', 'C', 'G':
		f.pos++
		return f.marked(c), true
	case 'T':
		if n = f.parameter(); f.peek() == 'I' {
			f.refer(n)
			n = f.arguments(n)
		}
		return n, true
	case 'F':
		return f.functionType(), true
	case 'A':
		return f.array(), true
	case 'M':
		f.pos++
		class := f.one()
		member := f.one()
		return f.add(cppNode{kind: cppMember, a: class, b: member}, class, member), true
	case 'u':
		f.pos++
		if n = f.source(); f.peek() == 'I' {
			f.fail()
		}
		return n, true
	case 'U':
		f.pos++
		switch f.next() {
		case 'l':
			return f.closure(), false
		case 't':
			return f.unnamed(), false
		}
		f.pos--
		return f.block(), true
	case 'D':
		f.pos++
		return f.otherType(f.next())
	}
	return f.fail(), false
}

// block reads the type of a block of Objective-C: a function with a qualifier of
// its own.
func (f *itanium) block() ref {
	n := f.source()
	if f.failed || f.kind(n) != cppName || f.peek() != 'F' {
		return f.fail()
	}
	word := f.nodes[n]
	of := f.typ()
	return f.add(cppNode{kind: cppBlock, a: of, at: word.at, n: word.n}, of)
}

// standardType reads a type that begins with an S: a reference, or a name in std.
func (f *itanium) standardType() (n ref, candidate bool) {
	if f.pos+1 >= f.end {
		return f.fail(), false
	}
	if c := f.text[f.pos+1]; c != '_' && !isDigit(c) && !isUpper(c) {
		n = f.name()
		return n, c == 't' || f.kind(n) == cppTemplate
	}
	f.pos++
	n = f.reference()
	if f.peek() != 'I' {
		return n, false
	}
	if f.kind(n) == cppExpansion {
		f.fail()
	}
	return f.arguments(n), true
}

// marked reads a pointer to a type or the like.
func (f *itanium) marked(c byte) ref {
	kind := cppPointer + cppKind(strings.IndexByte("PROCG", c))
	to := f.one()
	if k := f.kind(to); (kind == cppReference || kind == cppMoved) && (k == cppReference || k == cppMoved) {
		return f.fail() // no compiler does that
	}
	return f.add(cppNode{kind: kind, a: to}, to)
}

// otherType reads a type that begins with a D.
func (f *itanium) otherType(c byte) (n ref, candidate bool) {
	switch i := strings.IndexByte(cppMoreBuiltins, c); {
	case i >= 0:
		return f.add(cppNode{kind: cppBuiltin, at: int32(26 + i)}), false
	case c == 'a':
		return f.word(wordAuto), false
	case c == 'c':
		return f.word(wordDecltype), false
	case c == 'p':
		return f.expansion(f.typ()), true
	}
	return f.fail(), false
}

func (f *itanium) expansion(of ref) ref {
	n := cppNode{kind: cppExpansion, a: of, b: f.nodes[of].pack, flags: f.nodes[of].flags}
	if n.flags&(hasExpansion|hasPacks) != 0 { // of several the library expands one
		return f.fail()
	}
	n.flags |= hasExpansion
	return f.add(n)
}

func (f *itanium) functionType() ref {
	f.pos++
	f.nextIf('Y')
	f.nextIf('J')
	n := f.function(true, false)
	if num := f.referenceQualifier(); num != 0 {
		n = f.add(cppNode{kind: cppMethod, a: n, num: num}, n)
	}
	f.expect('E')
	return n
}

// function reads what a function gives back and its parameters.
func (f *itanium) function(given, local bool) ref {
	n := cppNode{kind: cppFunction}
	if given {
		n.a = f.one()
	}
	if local {
		n.flags = isUnheard
	}
	from := len(f.open)
	f.types()
	return f.addList(n, from, n.a)
}

// types reads types into an open list. A single void is none.
func (f *itanium) types() {
	from := len(f.open)
	for f.pos < f.end {
		c := f.peek()
		if c == 'E' || c == '.' || (c == 'R' || c == 'O') && f.pos+1 < f.end && f.text[f.pos+1] == 'E' {
			break
		}
		f.open = append(f.open, f.typ())
	}
	switch len(f.open) - from {
	case 0:
		f.fail()
	case 1:
		if n := &f.nodes[f.open[from]]; n.kind == cppBuiltin && n.at == builtinVoid {
			f.open = f.open[:from]
		}
	}
}

// array reads an array. Qualifiers of its elements are its own.
func (f *itanium) array() ref {
	f.pos++
	var size ref
	if f.peek() == 'T' {
		size = f.parameter()
	} else {
		n := cppNode{kind: cppName, at: int32(f.pos)}
		for isDigit(f.peek()) {
			f.pos++
		}
		n.n = int32(f.pos) - n.at
		size = f.add(n)
	}
	f.expect('_')
	of := f.one()
	node := f.nodes[of]
	if node.kind != cppConst {
		return f.add(cppNode{kind: cppArray, a: size, b: of}, size, of)
	}
	n := f.add(cppNode{kind: cppArray, a: size, b: node.a}, size, node.a)
	return f.add(cppNode{kind: cppConst, a: n, quals: node.quals}, n)
}

// parameter reads a parameter of the template, or of the lambda, around.
func (f *itanium) parameter() ref {
	f.pos++
	i := f.compact()
	if f.failed || f.casts > 0 || f.templates > 1 || f.templates == 0 && f.lambda != 1 {
		return f.fail()
	}
	if f.templates == 0 {
		return f.add(cppNode{kind: cppAuto, num: int32(i), flags: hasAuto})
	}
	return f.templateParameter(i)
}

// parameterOf is a parameter of what is innermost.
func (f *itanium) parameterOf(i int) ref {
	if f.lambda > 0 {
		return f.add(cppNode{kind: cppAuto, num: int32(i), flags: hasAuto})
	}
	return f.templateParameter(i)
}

func (f *itanium) templateParameter(i int) ref {
	arguments := f.list(&f.nodes[f.template])
	if i >= len(arguments) {
		return f.fail()
	}
	n := cppNode{kind: cppParameter, a: arguments[i], num: int32(i), flags: hasParameter}
	if f.kind(n.a) == cppPack {
		n.pack = n.a
	}
	return f.add(n)
}

// arguments reads those of a template.
func (f *itanium) arguments(of ref) ref {
	from := len(f.open)
	f.argumentsUntilE()
	return f.addList(cppNode{kind: cppTemplate, a: of}, from, of)
}

func (f *itanium) argumentsUntilE() {
	f.pos++
	if !f.deeper() {
		return
	}
	for f.peek() != 'E' && !f.failed {
		n := f.argument()
		f.open = append(f.open, n)
	}
	f.expect('E')
	f.leave()
}

func (f *itanium) argument() ref {
	switch f.peek() {
	case 'X':
		f.pos++
		n := f.expression()
		f.expect('E')
		return n
	case 'L':
		return f.literal()
	case 'I', 'J':
		from := len(f.open)
		f.argumentsUntilE()
		return f.addList(cppNode{kind: cppPack}, from)
	}
	return f.typ()
}

// expression reads one that is a parameter, a literal or its address, or a pack.
func (f *itanium) expression() ref {
	switch f.peek() {
	case 'L':
		return f.literal()
	case 's':
		if f.pos++; f.next() == 'p' && f.peek() == 'T' {
			return f.expansion(f.parameter())
		}
	case 'T':
		return f.parameter()
	case 'a':
		if f.pos++; f.next() == 'd' && f.peek() == 'L' {
			n := f.literal()
			return f.add(cppNode{kind: cppAddress, a: n}, n)
		}
	}
	return f.fail()
}

// literal reads a number of a type, or the name of something.
func (f *itanium) literal() ref {
	f.pos++
	var n ref
	if c := f.peek(); c == '_' || c == 'Z' {
		f.nextIf('_')
		f.expect('Z')
		n = f.encoding(true, false)
	} else {
		t := f.one()
		node := cppNode{kind: cppLiteral, a: t}
		if f.nextIf('n') {
			node.num = 1
		}
		if k := &f.nodes[t]; f.peek() == 'E' && (k.kind != cppBuiltin || k.at != builtinNullptr) {
			return f.fail()
		}
		node.at = int32(f.pos)
		for f.pos < f.end && f.text[f.pos] != 'E' {
			f.pos++
		}
		node.n = int32(f.pos) - node.at
		n = f.add(node, t)
	}
	f.expect('E')
	return n
}
