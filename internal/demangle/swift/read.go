package swift

import (
	"bytes"

	"symbolon/internal/demangle/core"
)

// parseIndex reads a number that ends with an underscore. The underscore alone is
// the first.
func (s *demangler) parseIndex() int {
	if s.Accept('_') {
		return 0
	}
	if n := s.Natural(); n >= 0 && s.Accept('_') {
		return n + 1
	}
	return -1
}

// productions has the operator of each letter.
var productions = [...]func(*demangler) ref{
	'A': (*demangler).parseSubstitution,
	'B': (*demangler).parseBuiltin,
	'C': func(s *demangler) ref { return s.addNominal(kClass) },
	'D': (*demangler).popType,
	'E': (*demangler).parseExtension,
	'F': (*demangler).parseFunction,
	'G': (*demangler).parseBoundGeneric,
	'H': (*demangler).parseConformanceOperator,
	'I': (*demangler).parseImplFunction,
	'K': func(s *demangler) ref { return s.addOptional(kFlag, flagThrows) },
	'L': (*demangler).parseLocalName,
	'M': (*demangler).parseMetadata,
	'N': func(s *demangler) ref { return s.addNote(s.Pos - 1) },
	'O': func(s *demangler) ref { return s.addNominal(kEnum) },
	'P': func(s *demangler) ref { return s.addNominal(kProtocol) },
	'Q': (*demangler).parseArchetype,
	'R': (*demangler).parseRequirement,
	'S': (*demangler).parseStandard,
	'T': (*demangler).parseThunk,
	'V': func(s *demangler) ref { return s.addNominal(kStruct) },
	'W': (*demangler).parseWitness,
	'X': (*demangler).parseSpecial,
	'Y': (*demangler).parseAnnotation,
	'Z': func(s *demangler) ref { return s.add(kStatic, 0, s.popEntity()) },
	'a': func(s *demangler) ref { return s.addNominal(kAlias) },
	'c': func(s *demangler) ref { return s.parseFunctionType(0) },
	'd': func(s *demangler) ref { return s.addOptional(kVariadic, 0) },
	'f': (*demangler).parseFunctionEntity,
	'g': func(s *demangler) ref { s.parseIndex(); return s.add(kRetroactive, 0, s.popIf(kAnyConformance)) },
	'h': func(s *demangler) ref { return s.addComplexPhrase("__shared $0") },
	'i': (*demangler).parseSubscript,
	'l': func(s *demangler) ref { return s.parseSignature(false) },
	'm': func(s *demangler) ref { return s.parseMetatype("") },
	'n': func(s *demangler) ref { return s.addComplexPhrase("__owned $0") },
	'o': (*demangler).parseOperatorName,
	'p': func(s *demangler) ref { return s.parseExistential('p') },
	'q': func(s *demangler) ref { return s.wrapType(s.parseParameter()) },
	'r': func(s *demangler) ref { return s.parseSignature(true) },
	's': func(s *demangler) ref { return s.addPhrase(kModule, "Swift") },
	't': func(s *demangler) ref { return s.wrapType(s.popList(kTuple, s.parseElement)) },
	'u': (*demangler).parseGeneric,
	'v': func(s *demangler) ref { return s.parseAccessor(s.parseEntity(kVariable)) },
	'w': (*demangler).parseValueWitness,
	'x': func(s *demangler) ref { return s.wrapType(s.addParameter(0, 0)) },
	'y': func(s *demangler) ref { return s.addOptional(kEmptyList, 0) },
	'z': func(s *demangler) ref { return s.addComplexPhrase(inout) },
	'_': func(s *demangler) ref { return s.addOptional(kFirst, 0) },
	'$': (*demangler).parseInteger,
	'.': (*demangler).parseSuffix,
}

// parseOperator reads one operator and executes it. Digits begin an identifier.
func (s *demangler) parseOperator() ref {
	if c := s.Next(); int(c) < len(productions) && productions[c] != nil {
		return productions[c](s)
	}
	s.Pos--
	return s.parseIdentifier()
}

// parseSuffix reads the text after the name.
func (s *demangler) parseSuffix() ref {
	n := s.addNode(node{kind: kSuffix, text: span{int32(s.Pos - 1), int32(s.End)}})
	s.Pos = s.End
	return n
}

// parseSubstitution reads references to earlier parts: letters, the last of them
// upper case, each perhaps with a count before it.
func (s *demangler) parseSubstitution() ref {
	for repeat := -1; ; {
		c := s.Next()
		switch {
		case c == '_':
			if i := repeat + 27; i < len(s.subs) {
				return s.subs[i]
			}
			return 0
		case core.IsDigit(c):
			s.Pos--
			if repeat = s.Natural(); repeat < 0 {
				return 0
			}
			continue
		case !core.IsLower(c) && !core.IsUpper(c):
			return 0
		}
		i := int(c|0x20) - 'a'
		if i >= len(s.subs) || !s.Spend(max(repeat, 1)) {
			return 0
		}
		for range max(repeat, 1) {
			s.stack = append(s.stack, s.subs[i])
		}
		if core.IsUpper(c) {
			return s.pop()
		}
		repeat = -1
	}
}

// parseIdentifier reads a name. It may contain words of earlier names, and may be encoded
// for letters that are not ASCII.
func (s *demangler) parseIdentifier() ref {
	if !core.IsDigit(s.Peek()) {
		return 0
	}
	words := s.Accept('0')
	punycode := words && s.Accept('0')
	if !words || punycode {
		x := s.parsePiece(punycode)
		if punycode && x.at < x.end {
			at := int32(len(s.Text))
			text, ok := core.AppendPunycode(s.Text, s.slice(x), true)
			if !ok {
				return 0
			}
			s.Text = text
			x = span{at, int32(len(text))}
		}
		return s.addIdentifier(x)
	}
	at := len(s.Text)
	for words {
		for words && (core.IsLower(s.Peek()) || core.IsUpper(s.Peek())) {
			c := s.Next()
			words = core.IsLower(c)
			i := int(c|0x20) - 'a'
			if i >= len(s.words) || !s.Spend(len(s.slice(s.words[i]))) {
				return 0
			}
			s.Text = append(s.Text, s.slice(s.words[i])...)
		}
		if s.Accept('0') {
			break
		}
		x := s.parsePiece(false)
		if x.at == x.end {
			return 0
		}
		s.Text = append(s.Text, s.slice(x)...)
	}
	return s.addIdentifier(span{int32(at), int32(len(s.Text))})
}

func (s *demangler) addIdentifier(x span) ref {
	if x.at == x.end {
		return 0
	}
	return s.addSubstitution(s.addNode(node{kind: kIdentifier, text: x}))
}

// parsePiece reads letters after their number, and remembers the words in them.
func (s *demangler) parsePiece(punycode bool) (x span) {
	n := s.Natural()
	if punycode {
		s.Accept('_')
	}
	if n <= 0 || n > s.End-s.Pos {
		return x
	}
	x = span{int32(s.Pos), int32(s.Pos + n)}
	s.Pos += n
	start := int32(-1)
	for i := x.at; i <= x.end && !punycode; i++ {
		ends := i == x.end || s.Text[i] == '_' || i > x.at && core.IsUpper(s.Text[i]) && !core.IsUpper(s.Text[i-1])
		if start >= 0 && ends {
			if i-start >= 2 && len(s.words) < 26 {
				s.words = append(s.words, span{start, i})
			}
			start = -1
		}
		if start < 0 && i < x.end && s.Text[i] != '_' && !core.IsDigit(s.Text[i]) {
			start = i
		}
	}
	return x
}

// parseOperatorName turns the identifier on the stack into an operator.
func (s *demangler) parseOperatorName() ref { return s.addOperator(s.popIf(kIdentifier), s.Next()) }

// addOperator turns an identifier into an infix, prefix or postfix operator.
func (s *demangler) addOperator(id ref, letter byte) ref {
	const signs = "a&c@d/e=g>l<m*n!o|p+q?r%s-t~x^z."
	fixity := map[byte]string{'i': " infix", 'p': " prefix", 'P': " postfix"}[letter]
	if id == 0 || fixity == "" {
		return 0
	}
	at := int32(len(s.Text))
	for _, c := range s.name(id) {
		if i := bytes.IndexByte([]byte(signs), c); i >= 0 && i%2 == 0 {
			c = signs[i+1]
		} else if c < 0x80 {
			return 0
		}
		s.Text = append(s.Text, c)
	}
	return s.addNode(node{kind: kOperator, text: span{at, s.store(fixity).end}})
}

// parseLocalName reads the number or file that distinguishes equal names.
func (s *demangler) parseLocalName() ref {
	switch c := s.Next(); {
	case c == 'L':
		file := s.popIf(kIdentifier)
		return s.addPhrase(kPrivateName, "($1 in $0)|$1", file, s.popName())
	case c == 'l':
		return s.addPhrase(kPrivateName, "(in $0)|", s.popIf(kIdentifier))
	case c >= 'a' && c <= 'j' || c >= 'A' && c <= 'J':
		return s.addPhrase(kRelatedName, "related decl '"+string(c)+"' for $0", s.popName())
	}
	s.Pos--
	i := s.parseIndex()
	if i < 0 {
		return 0
	}
	return s.addPhrase(kLocalName, "$0 #"+itoa(i+1), s.popName())
}
