package swift

import (
	"strings"

	"symbolon/internal/demangle/core"
)

// parseMetadata reads the descriptors of types at run time.
func (s *demangler) parseMetadata() ref {
	at := s.Pos - 1
	if s.Next() == 'X' {
		s.Next()
	}
	return s.addNote(at)
}

func (s *demangler) parseValueWitness() ref {
	at := s.Pos
	s.Next()
	s.Next()
	return s.addValueWitness(s.Since(at), s.popType())
}

func (s *demangler) addValueWitness(letters string, t ref) ref {
	word := valueWitnesses.find(letters)
	if word == "" {
		return 0
	}
	return s.addPhrase(kPhrase, word+" value witness for $0|"+word+" for $0", t)
}

// parseWitness reads witness tables of protocols and of values, and their parts.
func (s *demangler) parseWitness() ref {
	at := s.Pos - 1
	switch s.Next() {
	case 'v':
		s.Next()
	case 'O':
		c := s.Peek()
		word := s.parseLetter(outlined)
		if word == "" || (c == 'i' || c == 'j') && s.parseIndex() < 0 {
			return 0
		}
		sig := patternArguments['S'](s)
		return s.addPhrase(kPhrase, "outlined "+word+" of $0$1", s.popType(), sig)
	case 'Z', 'z':
		return s.parseOnce(at)
	case 'J':
		return s.addDerivative("", differentiabilityKinds, " differentiability witness for $0")
	}
	return s.addNote(at)
}

// parseOnce takes the names of the variables that one function initializes.
func (s *demangler) parseOnce(at int) ref {
	var names []ref
	for s.popIf(kFirst) != 0 {
		names = append(names, s.popName())
	}
	list := s.addReversed(kList, names)
	if len(names) != 1 {
		list = s.addPhrase(kPhrase, "($0)", list)
	}
	if s.popContext() == 0 || len(names) == 0 {
		return 0
	}
	return s.addNote(at, list)
}

// parseThunk reads functions that the compiler derived from others.
func (s *demangler) parseThunk() ref {
	at := s.Pos - 1
	c := s.Next()
	op := s.Since(at)
	switch c {
	case 'A', 'a', 'D', 'd', 'o', 'O', 'm', 'E', 'F', 'I', 'x', 'X', 'u', 'w':
		if c == 'w' {
			s.Next()
		}
		return s.addAttribute(s.Since(at))
	case 'Q', 'Y', 'v':
		i := s.parseIndex()
		if i < 0 {
			return 0
		}
		if c == 'v' && s.Accept('r') {
			op = "Tvr"
		}
		return s.addAttribute(op, s.addPhrase(kText, itoa(i)))
	case 'e':
		from := s.Pos
		for s.Peek() != 0 && s.Peek() != '_' {
			s.Next()
		}
		bridges := s.addPhrase(kText, s.Since(from))
		if !s.Accept('_') {
			return 0
		}
		return s.addAttribute(op, bridges)
	case 'J':
		return s.parseDerivative()
	case 'T':
		s.Next()
	case 'K', 'k', 'H', 'h':
		if c == 'K' && !s.AcceptString("mu") {
			s.AcceptString("MA")
		}
		n := s.addNote(at)
		if s.Accept('q') {
			return s.addPhrase(kPhrase, "$0, serialized", n)
		}
		return n
	case 'Z', 'z':
		s.parseIndex()
		return s.addTablePhrase(kPhrase, notes, op, nil)
	case 't': // arguments that were dropped
		for s.Natural() >= 0 || s.Accept('t') {
		}
		return s.parseSpecialization(s.Next())
	case 'f':
		return s.parseSignatureSpecialization()
	case 'g', 'B', 'G', 's', 'i', 'p', 'P':
		return s.parseSpecialization(c)
	}
	return s.addNote(at)
}

// parsePass reads which pass of the optimizer made a function, and whether the
// function was there for other modules to inline.
func (s *demangler) parsePass() (serialized string, ok bool) {
	s.Accept('m')
	if s.Accept('q') {
		serialized = "serialized, "
	}
	s.Accept('a')
	return serialized, core.IsDigit(s.Next())
}

// parseSpecialization reads for which types a generic function was made.
func (s *demangler) parseSpecialization(c byte) ref {
	serialized, ok := s.parsePass()
	if !ok {
		return 0
	}
	if c == 'p' || c == 'P' {
		return s.addAttribute("T"+string(c), s.addPhrase(kPhrase, serialized+"Signature = $0", s.popType()))
	}
	return s.addAttribute("T"+string(c), s.addPhrase(kPhrase, serialized+"$0", s.popList(kList, s.popType)))
}

// Changes of an argument by the optimizer, by letter.
var argumentKinds = words{
	{"d", "Dead"}, {"e", "Existential To Protocol Constrained Generic"}, {"g", "Owned To Guaranteed"},
	{"o", "Guaranteed To Owned"}, {"x", "Exploded"}, {"i", "Value Promoted from Box"},
	{"s", "Stack Promoted from Box"}, {"r", "InOut Converted to Out"},
}

// constantKinds are the constants that an argument may always be. The name of the
// constant is on the stack.
var constantKinds = words{
	{"f", "[Constant Propagated Function : $0]"}, {"g", "[Constant Propagated Global : $0]"},
	{"k", "[Constant Propagated KeyPath : $0<$1>]"}, {"b", "[Constant Propagated String : u8'$0']"},
	{"w", "[Constant Propagated String : u16'$0']"}, {"c", "[Constant Propagated String : objc'$0']"},
}

// parseSignatureSpecialization reads how the parameters of a function were changed.
func (s *demangler) parseSignatureSpecialization() ref {
	serialized, ok := s.parsePass()
	var args []ref
	for i := 0; ok && !s.Accept('_'); i++ {
		ok = s.parseArgument(&args, "Arg["+itoa(i)+"] = ")
	}
	if !ok || !s.parseArgument(&args, "Return = ") {
		return 0
	}
	// The names and types of the replaced arguments are on the stack.
	for i := len(args) - 1; i >= 0; i-- {
		text := s.name(args[i])
		if strings.IndexByte(string(text), '$') < 0 {
			continue
		}
		types := s.parseTypes()
		name := s.popIf(kIdentifier)
		if name == 0 || types == 0 {
			return 0
		}
		x := s.Nodes[name].text
		if text[len(text)-2] == '\'' && x.end-x.at > 1 && s.Text[x.at] == '_' {
			x.at++ // it begins like a number
		}
		nested := s.addNode(node{kind: kNested, text: x})
		at := int32(len(s.Lists))
		s.Lists = append(s.Lists, nested, types)
		s.Nodes[args[i]].kids = span{at, at + 2}
	}
	at := int32(len(s.Lists))
	s.Lists = append(s.Lists, args...)
	list := s.addNode(node{kind: kList, kids: span{at, int32(len(s.Lists))}})
	return s.addAttribute("Tf", s.addPhrase(kPhrase, serialized+"$0", list))
}

// parseArgument reads the change of one argument, if it has one.
func (s *demangler) parseArgument(args *[]ref, which string) bool {
	text := ""
	switch c := s.Next(); c {
	case 'n':
		return true
	case 'c':
		text = "[Closure Propagated : $0, Argument Types : [$1]"
	case 'C':
		if i := s.Natural(); i >= 0 {
			text = "[Same As Argument " + itoa(i) + "]"
		}
	case 'p':
		text = s.parseConstant()
	default:
		text = argumentKinds.find(string(c))
		for strings.IndexByte("degox", c) >= 0 && strings.IndexByte("DGOX", s.Peek()) >= 0 && s.Peek() != 0 && s.Spend(len(text)) {
			c = s.Next() | 0x20
			text += " and " + argumentKinds.find(string(c))
		}
	}
	if text == "" {
		return false
	}
	n := s.addPhrase(kPhrase, which+text)
	*args = append(*args, n)
	return n != 0
}

// parseConstant reads which constant an argument always is.
func (s *demangler) parseConstant() string {
	kind := ""
	switch c := s.Next(); c {
	case 'i':
		kind = "Integer"
	case 'd':
		kind = "Float"
	case 's':
		return s.parseLetter(constantKinds)
	default:
		s.Pos--
		return s.parseLetter(constantKinds)
	}
	at := s.Pos
	for core.IsDigit(s.Peek()) {
		s.Next()
	}
	return "[Constant Propagated " + kind + " : " + s.Since(at) + "]"
}
