package swift

import (
	"strings"

	"symbolon/internal/demangle/core"
)

// oldNominals are the kinds of declared types, by letter.
var oldNominals = map[byte]kind{'C': kClass, 'V': kStruct, 'O': kEnum, 'P': kProtocol}

// parseOldReference reads a reference to something before it, or a type of the
// standard library, after an S.
func (s *demangler) parseOldReference() ref {
	switch c := s.Peek(); {
	case s.Accept('o'):
		return s.addPhrase(kModule, "__C")
	case s.Accept('C'):
		return s.addPhrase(kModule, "__C_Synthesized")
	case s.Accept('c'):
		return s.addLibraryType(kStruct, "UnicodeScalar")
	case s.Accept('Q'):
		return s.addLibraryType(kEnum, "ImplicitlyUnwrappedOptional")
	case core.IsLower(c), core.IsUpper(c):
		s.Pos++
		return s.findLibraryType(standardTypes, c)
	}
	if i := s.parseIndex(); i >= 0 && i < len(s.subs) {
		return s.subs[i]
	}
	return 0
}

// parseOldName reads the name of a declaration, which may be local or private.
func (s *demangler) parseOldName() ref {
	switch {
	case s.Accept('L'):
		i := s.parseIndex()
		if i < 0 {
			return 0
		}
		return s.addPhrase(kLocalName, "$0 #"+itoa(i+1), s.parseOldIdentifier())
	case s.Accept('P'):
		file := s.parseOldIdentifier()
		return s.addPhrase(kPrivateName, "($1 in $0)|$1", file, s.parseOldIdentifier())
	}
	return s.parseOldIdentifier()
}

// parseOldIdentifier reads a name, which may be an operator, and may be encoded.
func (s *demangler) parseOldIdentifier() ref {
	encoded := s.Accept('X')
	fixity := byte(0)
	if s.Accept('o') {
		fixity = s.Next()
	}
	n := s.Natural()
	if n <= 0 || n > s.End-s.Pos {
		return 0
	}
	x := span{int32(s.Pos), int32(s.Pos + n)}
	s.Pos += n
	if encoded {
		text, ok := core.AppendPunycode(s.Text, s.slice(x), true)
		if !ok {
			return 0
		}
		x = span{int32(len(s.Text)), int32(len(text))}
		s.Text = text
	}
	id := s.addNode(node{kind: kIdentifier, text: x})
	if fixity != 0 {
		return s.addOperator(id, fixity)
	}
	return id
}

func (s *demangler) parseOldModule() ref {
	if s.Accept('s') {
		return s.addPhrase(kModule, "Swift")
	}
	id := s.parseOldIdentifier()
	if id == 0 {
		return 0
	}
	return s.addSubstitution(s.addNode(node{kind: kModule, text: s.Nodes[id].text}))
}

func (s *demangler) parseOldContext() ref { return s.nest(s.parseOldContextLetter) }

func (s *demangler) parseOldContextLetter() ref {
	switch c := s.Peek(); c {
	case 'E', 'e':
		s.Pos++
		module, sig := s.parseOldContext(), ref(0)
		if c == 'e' {
			if sig = s.parseOldSignature(); sig == 0 {
				return 0
			}
		}
		return s.addExtension(module, s.parseOldContext(), sig)
	case 'S':
		s.Pos++
		n := s.parseOldReference()
		if k := s.kind(n); k >= kModule && k <= kOtherType {
			return n
		}
		return 0
	case 'G':
		s.Pos++
		return s.parseOldBound(s.parseOldNominal())
	case 'F', 'I', 'v', 'i', 'Z', 'C', 'V', 'O', 'P':
		return s.parseOldEntity()
	}
	return s.parseOldModule()
}

// addOldNominal reads the name of a declared type. It may be referred to.
func (s *demangler) addOldNominal(kind kind, ctx ref) ref {
	return s.addSubstitution(s.add(kind, 0, ctx, s.parseOldName()))
}

func (s *demangler) parseOldNominal() ref {
	c := s.Next()
	if c == 'S' {
		return s.parseOldReference()
	}
	if kind := oldNominals[c]; kind != 0 {
		return s.addOldNominal(kind, s.parseOldContext())
	}
	return 0
}

// parseOldProtocol reads a protocol, which needs no letter.
func (s *demangler) parseOldProtocol() ref {
	n := s.parseOldContext()
	if k := s.kind(n); k == kProtocol || k == kClass {
		return n
	}
	return s.addOldNominal(kProtocol, n)
}

// parseOldBound reads the generic arguments of a type and of the types that it is
// in, the outermost first.
func (s *demangler) parseOldBound(n ref) ref {
	levels := 0
	for outer := n; s.kind(outer) >= kClass && s.kind(outer) <= kOtherType; outer = s.child(outer, 0) {
		levels++
	}
	lists := make([]ref, levels)
	for i := range lists {
		if lists[levels-1-i] = s.parseOldList(s.parseOldType); lists[levels-1-i] == 0 {
			return 0
		}
	}
	if levels == 0 {
		return 0
	}
	return s.bindArguments(n, lists)
}

// parseOldEntity reads a declaration.
func (s *demangler) parseOldEntity() ref {
	if s.Accept('Z') && s.Peek() != 'Z' {
		return s.add(kStatic, 0, s.parseOldEntity())
	}
	basic := s.Peek()
	switch basic {
	case 'F', 'v', 'I', 'i':
		s.Pos++
	default:
		return s.parseOldNominal()
	}
	ctx := s.parseOldContext()
	c := s.Peek()
	switch {
	case ctx == 0:
		return 0
	case basic == 'I' && (c == 'A' || c == 'i') || strings.IndexByte("DZdEe", c) >= 0:
		s.push(ctx)
		return s.parseFunctionEntity()
	case s.Accept('C'):
		return s.addOptional(kAllocator, 0, ctx, 0, 0, s.parseOldType())
	case s.Accept('c'):
		return s.addOptional(kConstructor, 0, ctx, 0, 0, s.parseOldType())
	case s.Accept('U'):
		i := s.parseIndex()
		return s.addClosure("closure #", i, ctx, s.parseOldType())
	case s.Accept('u'):
		i := s.parseIndex()
		return s.addClosure("implicit closure #", i, ctx, s.parseOldType())
	case !core.IsDigit(c) && c != 'L' && c != 'P' && c != 'X' && c != 'o':
		return s.parseOldAccessor(ctx)
	}
	name := s.parseOldName()
	t := s.parseOldType()
	switch {
	case name == 0 || t == 0:
	case basic == 'F':
		return s.addOptional(kFunction, 0, ctx, name, 0, t)
	case basic == 'v':
		return s.addOptional(kVariable, 0, ctx, name, 0, t)
	case basic == 'i':
		return s.addOptional(kSubscript, 0, ctx, 0, 0, t)
	}
	return 0
}

func (s *demangler) parseOldAccessor(ctx ref) ref {
	word := s.parseAccessorWord()
	name := s.parseOldName()
	t := s.parseOldType()
	if word == "" || name == 0 || t == 0 {
		return 0
	}
	kind := kVariable
	if s.kind(name) == kIdentifier && string(s.name(name)) == "subscript" {
		kind, name = kSubscript, 0
	}
	return s.addPhrase(kAccessor, word, s.addOptional(kind, 0, ctx, name, 0, t))
}
