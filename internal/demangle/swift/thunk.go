package swift

import (
	"strings"

	"symbolon/internal/demangle/core"
)

// metadata reads what describes types at run time.
func (s *swift) metadata() ref {
	at := s.Pos - 1
	if s.Next() == 'X' {
		s.Next()
	}
	return s.note(at)
}

func (s *swift) valueWitness() ref {
	at := s.Pos
	s.Next()
	s.Next()
	word := entry(valueWitnesses, s.Since(at))
	if len(word) == 0 {
		return 0
	}
	return s.phrase(kPhrase, word+" value witness for $0|"+word+" for $0", s.popType())
}

// witness reads tables of protocols and of values, and what is about them.
func (s *swift) witness() ref {
	at := s.Pos - 1
	switch s.Next() {
	case 'v':
		s.Next()
	case 'O':
		word := strings.ReplaceAll(s.letter(outlined), "_", " ")
		if word == "" {
			return 0
		}
		sig := taken['S'](s)
		return s.phrase(kPhrase, "outlined "+word+" of $0$1", s.popType(), sig)
	case 'Z', 'z':
		return s.once(at)
	}
	return s.note(at)
}

// once takes the names of the variables that one function initializes.
func (s *swift) once(at int) ref {
	var names []ref
	for s.popIf(kFirst) != 0 {
		names = append(names, s.popName())
	}
	list := s.reversed(kList, names)
	if len(names) != 1 {
		list = s.phrase(kPhrase, "($0)", list)
	}
	if s.popContext() == 0 || len(names) == 0 {
		return 0
	}
	return s.note(at, list)
}

// thunk reads functions that the compiler made of others.
func (s *swift) thunk() ref {
	at := s.Pos - 1
	c := s.Next()
	op := s.Since(at)
	switch c {
	case 'A', 'a', 'D', 'd', 'o', 'O', 'm', 'E', 'F', 'I', 'x', 'X', 'u', 'w':
		if c == 'w' {
			s.Next()
		}
		return s.attribute(s.Since(at))
	case 'Q', 'Y', 'v':
		i := s.index()
		if i < 0 {
			return 0
		}
		if c == 'v' && s.Accept('r') {
			op = "Tvr"
		}
		return s.attribute(op, s.phrase(kText, itoa(i)))
	case 'e':
		from := s.Pos
		for s.Peek() != 0 && s.Peek() != '_' {
			s.Next()
		}
		bridges := s.phrase(kText, s.Since(from))
		if !s.Accept('_') {
			return 0
		}
		return s.attribute(op, bridges)
	case 'K', 'k', 'H', 'h':
		n := s.note(at)
		if s.Accept('q') {
			return s.phrase(kPhrase, "$0, serialized", n)
		}
		return n
	case 'Z', 'z':
		s.index()
		return s.said(kPhrase, notes, op, nil)
	case 't': // arguments that were dropped
		for s.Natural() >= 0 || s.Accept('t') {
		}
		return s.specialization(s.Next())
	case 'f':
		return s.signatureSpecialization()
	case 'g', 'B', 'G', 's', 'i', 'p', 'P':
		return s.specialization(c)
	}
	return s.note(at)
}

// pass reads which pass of the optimizer made a function, and whether the
// function was there for other modules to inline.
func (s *swift) pass() (serialized string, ok bool) {
	s.Accept('m')
	if s.Accept('q') {
		serialized = "serialized, "
	}
	s.Accept('a')
	return serialized, core.IsDigit(s.Next())
}

// specialization reads for which types a generic function was made.
func (s *swift) specialization(c byte) ref {
	serialized, ok := s.pass()
	if !ok {
		return 0
	}
	types := ref(0)
	if c == 'p' || c == 'P' {
		types = s.popType()
	} else {
		types = s.gather(kList, s.popType)
	}
	return s.attribute("T"+string(c), s.phrase(kPhrase, serialized+"$0", types))
}

// What the optimizer did with an argument, by letter, an underscore for a
// blank.
const argumentKinds = "dDead eExistential_To_Protocol_Constrained_Generic gOwned_To_Guaranteed oGuaranteed_To_Owned " +
	"xExploded iValue_Promoted_from_Box sStack_Promoted_from_Box rInOut_Converted_to_Out "

// constantKinds are the constants that an argument may always be. Behind the
// sign stands a name from the stack.
const constantKinds = "f[Constant_Propagated_Function_:_$0] g[Constant_Propagated_Global_:_$0] " +
	"k[Constant_Propagated_KeyPath_:_$0<$1>] b[Constant_Propagated_String_:_u8'$0'] " +
	"w[Constant_Propagated_String_:_u16'$0'] c[Constant_Propagated_String_:_objc'$0'] "

// signatureSpecialization reads how the parameters of a function were changed.
func (s *swift) signatureSpecialization() ref {
	serialized, ok := s.pass()
	var args []ref
	for i := 0; ok && !s.Accept('_'); i++ {
		ok = s.argument(&args, "Arg["+itoa(i)+"] = ")
	}
	if !ok || !s.argument(&args, "Return = ") {
		return 0
	}
	// The names and types that arguments were replaced by stand on the stack.
	for i := len(args) - 1; i >= 0; i-- {
		text := s.name(args[i])
		if strings.IndexByte(string(text), '$') < 0 {
			continue
		}
		types := s.types()
		name := s.popIf(kIdentifier)
		if name == 0 || types == 0 {
			return 0
		}
		x := s.nodes[name].text
		if text[len(text)-2] == '\'' && x.end-x.at > 1 && s.Text[x.at] == '_' {
			x.at++ // what begins like a number
		}
		nested := s.node(swiftNode{kind: kNested, text: x})
		at := int32(len(s.kids))
		s.kids = append(s.kids, nested, types)
		s.nodes[args[i]].kids = span{at, at + 2}
	}
	at := int32(len(s.kids))
	s.kids = append(s.kids, args...)
	list := s.node(swiftNode{kind: kList, kids: span{at, int32(len(s.kids))}})
	return s.attribute("Tf", s.phrase(kPhrase, serialized+"$0", list))
}

// argument reads what was done to one argument, if it did not stay.
func (s *swift) argument(args *[]ref, which string) bool {
	text := ""
	switch c := s.Next(); c {
	case 'n':
		return true
	case 'c':
		text = "[Closure Propagated : $0, Argument Types : [$1]"
	case 'p':
		text = s.constant()
	default:
		text = entry(argumentKinds, string(c))
		for strings.IndexByte("degox", c) >= 0 && strings.IndexByte("DGOX", s.Peek()) >= 0 && s.Peek() != 0 && s.take(len(text)) {
			c = s.Next() | 0x20
			text += " and " + entry(argumentKinds, string(c))
		}
	}
	if text == "" {
		return false
	}
	n := s.phrase(kPhrase, which+strings.ReplaceAll(text, "_", " "))
	*args = append(*args, n)
	return n != 0
}

// constant reads which constant an argument always is.
func (s *swift) constant() string {
	kind := ""
	switch c := s.Next(); c {
	case 'i':
		kind = "Integer"
	case 'd':
		kind = "Float"
	case 's':
		return s.letter(constantKinds)
	default:
		s.Pos--
		return s.letter(constantKinds)
	}
	at := s.Pos
	for core.IsDigit(s.Peek()) {
		s.Next()
	}
	return "[Constant Propagated " + kind + " : " + s.Since(at) + "]"
}
