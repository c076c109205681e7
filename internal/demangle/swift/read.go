package swift

import (
	"bytes"

	"symbolon/internal/demangle/core"
)

// index reads a number that ends with an underscore. The underscore alone is
// the first.
func (s *swift) index() int {
	if s.Accept('_') {
		return 0
	}
	if n := s.Natural(); n >= 0 && s.Accept('_') {
		return n + 1
	}
	return -1
}

// operators are what the letters of a name do.
var operators = [...]func(*swift) ref{
	'A': (*swift).substitution,
	'B': (*swift).builtin,
	'C': func(s *swift) ref { return s.declared(kClass) },
	'D': (*swift).popType,
	'E': (*swift).extension,
	'F': (*swift).function,
	'G': (*swift).boundGeneric,
	'H': (*swift).conformanceOperator,
	'I': (*swift).implFunction,
	'K': func(s *swift) ref { return s.some(kFlag, flagThrows) },
	'L': (*swift).localName,
	'M': (*swift).metadata,
	'N': func(s *swift) ref { return s.note(s.Pos - 1) },
	'O': func(s *swift) ref { return s.declared(kEnum) },
	'P': func(s *swift) ref { return s.declared(kProtocol) },
	'Q': (*swift).archetype,
	'R': (*swift).requirement,
	'S': (*swift).standard,
	'T': (*swift).thunk,
	'V': func(s *swift) ref { return s.declared(kStruct) },
	'W': (*swift).witness,
	'X': (*swift).special,
	'Y': (*swift).annotation,
	'Z': func(s *swift) ref { return s.add(kStatic, 0, s.popEntity()) },
	'a': func(s *swift) ref { return s.declared(kAlias) },
	'c': func(s *swift) ref { return s.functionType(0) },
	'd': func(s *swift) ref { return s.some(kVariadic, 0) },
	'f': (*swift).functionEntity,
	'g': func(s *swift) ref { s.index(); return s.add(kRetroactive, 0, s.popIf(kAnyConformance)) },
	'h': func(s *swift) ref { return s.complex("__shared $0") },
	'i': (*swift).subscript,
	'l': func(s *swift) ref { return s.signature(false) },
	'm': func(s *swift) ref { return s.metatype("") },
	'n': func(s *swift) ref { return s.complex("__owned $0") },
	'o': (*swift).operatorName,
	'p': func(s *swift) ref { return s.existential('p') },
	'q': func(s *swift) ref { return s.wrap(s.parameter()) },
	'r': func(s *swift) ref { return s.signature(true) },
	's': func(s *swift) ref { return s.phrase(kModule, "Swift") },
	't': func(s *swift) ref { return s.wrap(s.gather(kTuple, s.element)) },
	'u': (*swift).generic,
	'v': func(s *swift) ref { return s.accessor(s.entity(kVariable)) },
	'w': (*swift).valueWitness,
	'x': func(s *swift) ref { return s.wrap(s.parameterAt(0, 0)) },
	'y': func(s *swift) ref { return s.some(kEmptyList, 0) },
	'z': func(s *swift) ref { return s.complex("inout $0") },
	'_': func(s *swift) ref { return s.some(kFirst, 0) },
	'.': (*swift).suffix,
}

// operator reads one operator and does what it says. What is no operator is an
// identifier.
func (s *swift) operator() ref {
	if c := s.Next(); int(c) < len(operators) && operators[c] != nil {
		return operators[c](s)
	}
	s.Pos--
	return s.identifier()
}

// suffix is what stands behind the name.
func (s *swift) suffix() ref {
	n := s.node(swiftNode{kind: kSuffix, text: span{int32(s.Pos - 1), int32(s.End)}})
	s.Pos = s.End
	return n
}

// substitution reads references to what was there before: letters, the last
// of them upper case, each perhaps with a count before it.
func (s *swift) substitution() ref {
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
		if i >= len(s.subs) || !s.take(max(repeat, 1)) {
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

// identifier reads a name. It may be made of words of earlier names, and may
// be encoded for letters that are not ASCII.
func (s *swift) identifier() ref {
	if !core.IsDigit(s.Peek()) {
		return 0
	}
	words := s.Accept('0')
	punycode := words && s.Accept('0')
	if !words || punycode {
		x := s.piece(punycode)
		if punycode && x.at < x.end {
			at := int32(len(s.Text))
			text, ok := core.AppendPunycode(s.Text, s.slice(x), true)
			if !ok {
				return 0
			}
			s.Text = text
			x = span{at, int32(len(text))}
		}
		return s.identified(x)
	}
	at := len(s.Text)
	for words {
		for words && (core.IsLower(s.Peek()) || core.IsUpper(s.Peek())) {
			c := s.Next()
			words = core.IsLower(c)
			i := int(c|0x20) - 'a'
			if i >= len(s.words) || !s.take(len(s.slice(s.words[i]))) {
				return 0
			}
			s.Text = append(s.Text, s.slice(s.words[i])...)
		}
		if s.Accept('0') {
			break
		}
		x := s.piece(false)
		if x.at == x.end {
			return 0
		}
		s.Text = append(s.Text, s.slice(x)...)
	}
	return s.identified(span{int32(at), int32(len(s.Text))})
}

func (s *swift) identified(x span) ref {
	if x.at == x.end {
		return 0
	}
	return s.substitute(s.node(swiftNode{kind: kIdentifier, text: x}))
}

// piece reads letters behind their number, and remembers the words in them.
func (s *swift) piece(punycode bool) (x span) {
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

// operatorName turns the identifier on the stack into an operator.
func (s *swift) operatorName() ref {
	const signs = "a&c@d/e=g>l<m*n!o|p+q?r%s-t~x^z."
	id := s.popIf(kIdentifier)
	fixity := map[byte]string{'i': " infix", 'p': " prefix", 'P': " postfix"}[s.Next()]
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
	return s.node(swiftNode{kind: kOperator, text: span{at, s.put(fixity).end}})
}

// localName reads what makes a name different from equal ones.
func (s *swift) localName() ref {
	switch c := s.Next(); {
	case c == 'L':
		file := s.popIf(kIdentifier)
		return s.phrase(kPrivateName, "($1 in $0)|$1", file, s.popName())
	case c == 'l':
		return s.phrase(kPrivateName, "(in $0)|", s.popIf(kIdentifier))
	case c >= 'a' && c <= 'j' || c >= 'A' && c <= 'J':
		return s.phrase(kRelatedName, "related decl '"+string(c)+"' for $0", s.popName())
	}
	s.Pos--
	i := s.index()
	if i < 0 {
		return 0
	}
	return s.phrase(kLocalName, "$0 #"+itoa(i+1), s.popName())
}
