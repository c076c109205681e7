package demangle

import "bytes"

// cppWords are texts that are not in the name. The first ones are referred to
// by letters.
var cppWords = [...]string{
	"std", "allocator", "basic_string", "string", "istream", "ostream", "iostream",
	"basic_istream", "basic_ostream", "basic_iostream", "char_traits", "(anonymous namespace)", "string literal", "auto", "decltype(auto)",
}

const (
	wordStd = iota
	wordAllocator
	wordBasicString
	wordString
	wordStream
	wordBasicStream = wordStream + 3
	wordTraits      = wordStream + 6
	wordAnonymous   = wordStream + 7
	wordLiteral     = wordStream + 8
	wordAuto        = wordStream + 9
	wordDecltype    = wordStream + 10
)

// cppOperators are the operators that functions can have, each behind its
// letters.
const cppOperators = "aN&= aS= aa&& ad& an& awco_await cl() cm, co~ dV/= dadelete[] de* dldelete dv/ eO^= eo^ eq== ge>= gt> ix[] lS<<= le<= ls<< lt< " +
	"mI-= mL*= mi- ml* mm-- nanew[] ne!= ng- nt! nwnew oR|= oo|| or| pL+= pl+ pm->* pp++ ps+ pt-> rM%= rS>>= rm% rs>> ss<=> "

// whole reads the name, and what compilers put behind it.
func (f *itanium) whole(short bool) ref {
	top := f.encoding(!short, false)
	if f.style == Called {
		f.unheard(top)
	}
	if short {
		return top
	}
	for f.pos+1 < f.end && f.peek() == '.' {
		at := f.pos
		if c := f.text[at+1]; !isLower(c) && !isDigit(c) && c != '_' {
			break
		}
		for f.pos++; isLower(f.peek()) || isDigit(f.peek()) || f.peek() == '_'; {
			f.pos++
		}
		for f.pos+1 < f.end && f.peek() == '.' && isDigit(f.text[f.pos+1]) {
			for f.pos++; isDigit(f.peek()); {
				f.pos++
			}
		}
		top = f.add(cppNode{kind: cppClone, a: top, at: int32(at), n: int32(f.pos - at)})
	}
	if f.pos < f.end {
		return f.fail()
	}
	return top
}

// unheard forgets what a function gives back.
func (f *itanium) unheard(n ref) {
	for !f.failed {
		switch node := &f.nodes[n]; node.kind {
		case cppTyped:
			n = node.b
		case cppMethod, cppClone, cppSpecial:
			n = node.a
		case cppFunction:
			node.a = 0
			return
		default:
			return
		}
	}
}

// encoding reads the name of a function with its type, of a variable, or of
// something that there is of one.
func (f *itanium) encoding(typed, local bool) ref {
	if !f.deeper() {
		return 0
	}
	defer f.leave()
	if c := f.peek(); c == 'G' || c == 'T' {
		return f.special()
	}
	name := f.name()
	if f.failed || typed && (f.pos >= f.end || f.peek() == 'E') {
		return name
	}
	var quals *cppNode // in the node of the name there are those of the type
	inside := name
	if n := &f.nodes[name]; n.kind == cppMethod {
		inside, quals = n.a, n
	}
	if !typed || quals == nil || f.nodes[inside].flags&isLocal != 0 {
		quals = f.innermost(inside, quals)
	}
	if !typed {
		return inside
	}
	templates, template, lambda := f.templates, f.template, f.lambda
	if t := f.findTemplate(name); t != 0 {
		f.templates, f.template, f.lambda = templates+1, t, 0
	}
	var method cppNode
	if quals != nil {
		method = cppNode{kind: cppMethod, quals: quals.quals, num: quals.num}
	}
	given := f.nextIf('J') || f.givesBack(inside)
	t := f.function(given, local)
	f.templates, f.template, f.lambda = templates, template, lambda
	if method.kind != 0 {
		method.a = t
		t = f.add(method, t)
	}
	// The parameters of templates in the type are bound by now.
	n := cppNode{kind: cppTyped, a: inside, b: t, flags: f.nodes[t].flags & (hasAuto | hasExpansion)}
	if f.nodes[inside].flags&hasParameter != 0 {
		n.flags |= hasBound | hasPacks
	}
	return f.add(n, inside)
}

// innermost takes the qualifiers from the name of what is local to a function.
func (f *itanium) innermost(name ref, quals *cppNode) *cppNode {
	if f.nodes[name].flags&isLocal == 0 {
		return quals
	}
	place := &f.nodes[name].b
	if f.kind(*place) == cppDefault {
		place = &f.nodes[*place].b
	}
	if n := &f.nodes[*place]; n.kind == cppMethod {
		if quals != nil {
			f.fail()
		}
		*place = n.a
		return n
	}
	return quals
}

// findTemplate is the template whose parameters the type of a function means.
func (f *itanium) findTemplate(name ref) ref {
	for {
		switch n := &f.nodes[name]; {
		case n.kind == cppTemplate:
			return name
		case n.kind == cppQualified && n.flags&isLocal != 0:
			name = n.b
		case n.kind == cppMethod:
			name = n.a
		default:
			return 0
		}
	}
}

// givesBack says whether the type of a function says what it gives back.
func (f *itanium) givesBack(name ref) bool {
	for n := &f.nodes[name]; ; n = &f.nodes[name] {
		switch {
		case n.kind == cppQualified && n.flags&isLocal != 0:
			name = n.b
		case n.kind == cppConst, n.kind == cppMethod:
			name = n.a
		case n.kind == cppTemplate:
			for name = n.a; f.kind(name) == cppQualified; {
				name = f.nodes[name].b
			}
			k := f.kind(name)
			return k != cppConstructor && k != cppDestructor && k != cppCast
		default:
			return false
		}
	}
}

func (f *itanium) name() ref {
	var n ref
	candidate := true // for a reference, if it is a template
	switch f.peek() {
	case 'N':
		return f.nested()
	case 'Z':
		return f.local()
	case 'U':
		return f.unqualified()
	case 'S':
		if f.pos++; f.nextIf('t') {
			std := f.word(wordStd)
			n = f.unqualified()
			n = f.add(cppNode{kind: cppQualified, a: std, b: n}, n)
			break
		}
		n, candidate = f.known(false), false
	default:
		n = f.unqualified()
	}
	if f.peek() == 'I' {
		if candidate {
			f.refer(n)
		}
		n = f.arguments(n)
	}
	return n
}

func (f *itanium) word(at int32) ref { return f.add(cppNode{kind: cppWord, at: at}) }

func (f *itanium) std(word int32) ref {
	return f.add(cppNode{kind: cppQualified, a: f.word(wordStd), b: f.word(word)})
}

// known reads what is referred to behind an S, of the name or of the library. Of
// a class of which a constructor follows the whole name is written.
func (f *itanium) known(prefix bool) ref {
	c := f.peek()
	if c == '_' || isDigit(c) || isUpper(c) {
		n := f.reference()
		if f.kind(n) == cppExpansion {
			f.fail()
		}
		return n
	}
	f.pos++
	after := f.peek()
	if after == 'B' {
		return f.fail()
	}
	word := int32(bytes.IndexByte([]byte("tabsiod"), c))
	switch {
	case word < 0:
		return f.fail()
	case word == wordStd:
		return f.word(wordStd)
	case word < wordString || !prefix || after != 'C' && after != 'D':
		return f.std(word)
	}
	char := f.add(cppNode{kind: cppBuiltin, at: 'c' - 'a'})
	of := func(n ref, more ...ref) ref {
		from := len(f.open)
		f.open = append(append(f.open, char), more...)
		return f.addList(cppNode{kind: cppTemplate, a: n}, from)
	}
	traits := of(f.std(wordTraits))
	if word == wordString {
		return of(f.std(wordBasicString), traits, of(f.std(wordAllocator)))
	}
	return of(f.std(word-wordStream+wordBasicStream), traits)
}

func (f *itanium) nested() ref {
	f.pos++
	quals := f.qualifiers()
	num := f.referenceQualifier()
	n := f.prefix()
	if quals != 0 || num != 0 {
		n = f.add(cppNode{kind: cppMethod, a: n, quals: quals, num: num}, n)
	}
	f.expect('E')
	return n
}

func (f *itanium) prefix() ref {
	var whole, last ref // last: the name that a constructor has
	cast := false
	for !f.failed {
		var next ref
		c := f.peek()
		switch {
		case isDigit(c), isLower(c), c == 'U', c == 'L':
			next = f.unqualified()
			if n := f.untagged(next); f.kind(n) == cppCast {
				if cast {
					return f.fail()
				}
				cast = true
			}
		case c == 'C' || c == 'D':
			next = f.structor(last)
		case c == 'S':
			f.pos++
			next = f.known(true)
		case c == 'T':
			next = f.parameter()
		case whole == 0:
			return f.fail()
		case c == 'I':
			next, whole, cast = f.arguments(whole), 0, false
		case c == 'M':
			f.pos++ // where a lambda is that a member begins with
			continue
		case c == 'E':
			return whole
		default:
			return f.fail()
		}
		if last = next; whole == 0 {
			whole = next
		} else {
			whole = f.add(cppNode{kind: cppQualified, a: whole, b: next}, whole, next)
		}
		if c != 'S' && f.peek() != 'E' {
			f.refer(whole)
		}
	}
	return 0
}

func (f *itanium) untagged(n ref) ref {
	for f.kind(n) == cppTagged {
		n = f.nodes[n].a
	}
	return n
}

// structor reads a constructor or destructor of the class with a name.
func (f *itanium) structor(name ref) ref {
	for f.kind(name) == cppTemplate || f.kind(name) == cppQualified || f.kind(name) == cppTagged {
		if n := &f.nodes[name]; n.kind == cppQualified {
			name = n.b
		} else {
			name = n.a
		}
	}
	kind, numbers := cppConstructor, "12345"
	if f.next() == 'D' {
		kind, numbers = cppDestructor, "01245"
	}
	if name == 0 || bytes.IndexByte([]byte(numbers), f.next()) < 0 {
		return f.fail()
	}
	return f.tagged(f.add(cppNode{kind: kind, a: name}, name))
}

// unqualified reads a name without its scope.
func (f *itanium) unqualified() ref {
	var n ref
	switch c := f.peek(); {
	case isDigit(c):
		n = f.source()
	case isLower(c):
		n = f.operator()
	case c == 'L':
		f.pos++
		n = f.source()
		f.discriminator()
	case c == 'U':
		f.pos++
		switch f.next() {
		case 'l':
			n = f.closure()
		case 't':
			n = f.unnamed()
		default:
			return f.fail()
		}
	default:
		return f.fail()
	}
	return f.tagged(n)
}

func (f *itanium) tagged(n ref) ref {
	for f.nextIf('B') {
		tag := f.source()
		n = f.addOpaque(cppNode{kind: cppTagged, a: n, b: tag}, n)
	}
	return n
}

// source reads a name that is there as it is in the source.
func (f *itanium) source() ref {
	n := f.natural()
	at := f.pos
	if n <= 0 || n > f.end-at {
		return f.fail()
	}
	f.pos += n
	if n > 10 {
		if t := f.text[at : at+10]; t[0] == '_' && t[9] == 'N' && string(t[:8]) == "_GLOBAL_" && bytes.IndexByte([]byte("._$"), t[8]) >= 0 {
			return f.word(wordAnonymous)
		}
	}
	return f.add(cppNode{kind: cppName, at: int32(at), n: int32(n)})
}

func (f *itanium) operator() ref {
	code := [2]byte{f.next(), f.next()}
	switch string(code[:]) {
	case "cv":
		f.casts++
		to := f.one()
		f.casts--
		return f.add(cppNode{kind: cppCast, a: to}, to)
	case "li":
		n := f.source()
		return f.add(cppNode{kind: cppSuffix, a: n}, n)
	}
	for i := 0; i < len(cppOperators); i++ {
		end := i + 2
		for cppOperators[end] != ' ' {
			end++
		}
		if cppOperators[i] == code[0] && cppOperators[i+1] == code[1] {
			return f.add(cppNode{kind: cppOperator, at: int32(i + 2), n: int32(end - i - 2)})
		}
		i = end
	}
	return f.fail()
}

// local reads a name that is local to a function.
func (f *itanium) local() ref {
	f.pos++
	in := f.encoding(true, true)
	f.expect('E')
	var n ref
	if f.nextIf('s') {
		n = f.word(wordLiteral)
		f.discriminator()
	} else {
		num := -1
		if f.nextIf('d') {
			num = f.compact()
		}
		n = f.name()
		f.discriminator()
		if num >= 0 {
			n = f.addOpaque(cppNode{kind: cppDefault, b: n, num: int32(num)}, n)
		}
	}
	return f.add(cppNode{kind: cppQualified, a: in, b: n, flags: isLocal}, in, n)
}

// discriminator reads what tells names apart that are the same.
func (f *itanium) discriminator() {
	if !f.nextIf('_') {
		for i := f.pos; i < f.end; i++ {
			if !isDigit(f.text[i]) {
				return
			}
		}
		f.pos = f.end
		return
	}
	long := f.nextIf('_')
	n := f.natural()
	if n < 0 {
		f.fail()
	} else if long && n >= 10 {
		f.expect('_')
	}
}

func (f *itanium) unnamed() ref {
	n := f.add(cppNode{kind: cppUnnamed, num: int32(f.compact())})
	f.refer(n)
	return n
}

// closure reads the type of a lambda. What it has as auto, the name has as
// parameters of a template.
func (f *itanium) closure() ref {
	if f.casts > 0 || !f.deeper() {
		return f.fail()
	}
	lambda := f.lambda
	f.lambda = f.templates + 1
	from := len(f.open)
	f.types()
	f.lambda = lambda
	f.leave()
	f.expect('E')
	num := f.compact()
	n := f.addList(cppNode{kind: cppClosure, num: int32(num)}, from)
	f.hide(n)
	node := &f.nodes[n]
	if node.flags &^= hasAuto; node.flags&hasParameter != 0 {
		node.flags |= hasBound
	}
	return n
}
