package swift

import (
	"strings"

	"symbolon/internal/demangle/core"
)

// parseOldList reads elements up to an underscore.
func (s *demangler) parseOldList(one func() ref) ref {
	var list []ref
	for !s.Accept('_') {
		n := one()
		if n == 0 {
			return 0
		}
		list = append(list, n)
	}
	return s.addOptional(kList, 0, list...)
}

// nest reads a part that may have others in it.
func (s *demangler) nest(read func() ref) (n ref) {
	if s.Enter(maxDepth) && s.Spend(1) {
		n = read()
	}
	s.Leave()
	return n
}

func (s *demangler) parseOldType() ref { return s.nest(s.parseOldTypeLetter) }

func (s *demangler) parseOldTypeLetter() ref {
	switch c := s.Next(); c {
	case 'B':
		if !s.Accept('v') {
			return s.parseBuiltin()
		}
		if n := s.Natural(); n > 0 && s.Accept('B') {
			return s.addVector(n, s.unwrap(s.parseBuiltin()))
		}
	case 'a':
		return s.wrapType(s.addOldNominal(kAlias, s.parseOldContext()))
	case 'b', 'c', 'F', 'f', 'K':
		return s.parseOldFunction(map[byte]int{'b': conventionBlock, 'c': conventionBlock - 1, 'K': conventionAutoclosure}[c])
	case 'D':
		if s.parseOldType() != 0 {
			return s.addTypePhrase("Self")
		}
	case 'E':
		if s.AcceptString("RR") {
			return s.addTypePhrase("<ERROR TYPE>")
		}
	case 'G':
		return s.wrapType(s.parseOldBound(s.parseOldNominal()))
	case 'X':
		return s.parseOldSpecialType()
	case 'M':
		if s.pushOldType() {
			return s.parseMetatype("")
		}
	case 'P':
		if s.Accept('M') {
			return s.addTypePhrase("$0.Type", s.parseOldType())
		}
		return s.parseOldExistential()
	case 'Q':
		if s.Accept('u') {
			return s.wrapType(s.addPhrase(kComplex, "some"))
		}
	case 'q':
		if c := s.Peek(); c != 'd' && c != '_' && !core.IsDigit(c) {
			return s.parseOldMember(s.parseOldType())
		}
		return s.wrapType(s.parseParameter())
	case 'x':
		return s.wrapType(s.addParameter(0, 0))
	case 'w':
		return s.parseOldMember(s.wrapType(s.parseParameter()))
	case 'W':
		return s.parseOldMembers()
	case 'R':
		return s.addOldComplex(inout)
	case 'T', 't':
		return s.parseOldTuple(c == 't')
	case 'u':
		if sig := s.parseOldSignature(); s.pushOldType() && s.push(sig) {
			return s.parseGeneric()
		}
	case 0:
	default:
		s.Pos--
		n := s.parseOldNominal()
		if k := s.kind(n); k >= firstContext && k <= kOtherType {
			return s.wrapType(n)
		}
	}
	return 0
}

// addOldComplex reads a type and adds a type of more than one word.
func (s *demangler) addOldComplex(text string) ref {
	return s.wrapType(s.addPhrase(kComplex, text, s.parseOldType()))
}

// parseOldFunction reads a function type.
func (s *demangler) parseOldFunction(flags int) ref {
	if s.Accept('z') {
		flags |= flagThrows
	}
	params := s.parseOldType()
	if !s.pushOldType() || !s.push(params) {
		return 0
	}
	return s.parseFunctionType(flags)
}

// parseOldTuple reads a tuple, in which names precede the types.
func (s *demangler) parseOldTuple(variadic bool) ref {
	list := s.parseOldList(func() ref {
		label := ref(0)
		if core.IsDigit(s.Peek()) {
			label = s.parseOldIdentifier()
		}
		if !s.pushOldType() || label != 0 && !s.push(label) {
			return 0
		}
		if variadic && s.Peek() == '_' {
			s.push(s.addOptional(kVariadic, 0))
		}
		return s.parseElement()
	})
	if list == 0 {
		return 0
	}
	s.Nodes[list].kind = kTuple
	return s.wrapType(list)
}

// parseOldExistential reads protocols up to an underscore.
func (s *demangler) parseOldExistential() ref {
	if s.Accept('_') {
		s.push(s.addOptional(kEmptyList, 0))
		return s.parseExistential('p')
	}
	for first := true; !s.Accept('_'); first = false {
		if !s.push(s.wrapType(s.parseOldProtocol())) {
			return 0
		}
		if first {
			s.push(s.addOptional(kFirst, 0))
		}
	}
	return s.parseExistential('p')
}

// parseOldSpecialType reads the rarer types, after an X.
func (s *demangler) parseOldSpecialType() ref {
	if word := s.parseLetter(words{{"b", "@box"}, {"o", "unowned"}, {"u", "unowned(unsafe)"}, {"w", "weak"}}); word != "" {
		return s.addOldComplex(word + " $0")
	}
	switch {
	case s.Accept('f'):
		return s.parseOldFunction(conventionBlock - 2)
	case s.Accept('F'):
		return s.parseOldImplFunction()
	case s.Accept('M'):
		if word := s.parseLetter(metatypes); word != "" && s.pushOldType() {
			return s.parseMetatype(word + " ")
		}
	case s.AcceptString("PM"):
		if word := s.parseLetter(metatypes); word != "" {
			return s.addTypePhrase(word+" $0.Type", s.parseOldType())
		}
	}
	return 0
}

// translate returns the text of the next letter, which is one of from and stands
// for the letter at the same place of to in the newer mangling.
func (s *demangler) translate(table words, from, to string) string {
	i := strings.IndexByte(from, s.Peek())
	if i < 0 || s.Pos >= s.End {
		return ""
	}
	s.Pos++
	return table.find(to[i : i+1])
}

// parseOldImplFunction reads a function type with how each value is passed.
func (s *demangler) parseOldImplFunction() ref {
	text, sig := s.translate(implCallees, "tdgo", "tygx"), ref(0)
	if text == "" {
		return 0
	}
	if s.Accept('C') {
		text += " " + s.translate(implLanguages, "bcmOw", "BCMJW")
	}
	if s.Accept('G') || s.Accept('g') {
		if sig = s.parseOldSignature(); sig == 0 {
			return 0
		}
		text += " $2"
	}
	if !s.Accept('_') {
		return 0
	}
	params := s.parseOldList(func() ref { return s.parseOldValue(implParameters, "dgeilo", "ygeilx") })
	results := s.parseOldList(func() ref { return s.parseOldValue(implResults, "adDio", "aduro") })
	if params == 0 || results == 0 {
		return 0
	}
	return s.wrapType(s.addText(kComplex, text+" ($0) -> ($1)", params, results, sig))
}

// parseOldValue reads how a value is passed, and its type.
func (s *demangler) parseOldValue(table words, from, to string) ref {
	text := ""
	if s.Accept('z') {
		text = "@error "
	}
	word := s.translate(table, from, to)
	if word == "" {
		return 0
	}
	return s.addPhrase(kPhrase, text+word+" $0", s.parseOldType())
}

// parseOldMember reads an associated type of a type.
func (s *demangler) parseOldMember(base ref) ref {
	if s.Accept('S') {
		n := s.parseOldReference()
		if k := s.kind(n); k != kIdentifier && k != kPhrase {
			return 0
		}
		return s.addTypePhrase("$0.$1", base, n)
	}
	var name ref
	if s.Accept('P') {
		proto := s.parseOldProtocol()
		name = s.addPhrase(kPhrase, "$0.$1", proto, s.parseOldIdentifier())
	} else {
		name = s.parseOldIdentifier()
	}
	return s.addTypePhrase("$0.$1", base, s.addSubstitution(name))
}

// parseOldMembers reads a chain of associated types of a generic parameter.
func (s *demangler) parseOldMembers() ref {
	base := s.wrapType(s.parseParameter())
	for base != 0 && !s.Accept('_') {
		base = s.parseOldMember(base)
	}
	return base
}

// parseOldSignature reads the numbers of generic parameters at each depth, and their
// requirements.
func (s *demangler) parseOldSignature() ref {
	counts := s.parseCounts("Rr")
	var requirements []ref
	for restricted := s.Accept('R'); !s.Accept('r'); {
		r := s.parseOldRequirement()
		if r == 0 || !restricted {
			return 0
		}
		requirements = append(requirements, r)
	}
	if len(counts) == 0 {
		counts = []int{1}
	}
	return s.addSignature(counts, nil, s.addOptional(kList, 0, requirements...))
}

// parseOldRequirement reads a requirement of a generic parameter or of its
// associated type.
func (s *demangler) parseOldRequirement() ref {
	var subject ref
	switch {
	case s.Accept('w'):
		subject = s.parseOldMember(s.wrapType(s.parseParameter()))
	case s.Accept('W'):
		subject = s.parseOldMembers()
	default:
		subject = s.wrapType(s.parseParameter())
	}
	switch {
	case s.Accept('z'):
		return s.addPhrase(kRequirement, "$0 == $1", subject, s.parseOldType())
	case s.Accept('l'):
		return s.parseLayout(subject, func(last bool) int {
			n := s.Natural()
			if !last && !s.Accept('_') {
				return -1
			}
			return n
		})
	case s.Peek() == 'C':
		return s.addPhrase(kRequirement, "$0: $1", subject, s.parseOldType())
	}
	return s.addPhrase(kRequirement, "$0: $1", subject, s.parseOldProtocol())
}
