package swift

import "symbolon/internal/demangle/core"

// Swift 1 to 3 had a mangling in which operators precede their operands:
//
//	name      _T special | _TTS specializations _T name
//	entity    F, v, I or i, context, letter or name, type | nominal; Z before it: static
//	nominal   C, V, O or P, context, name
//	context   module | entity | E or e: an extension
//	type      a letter, with types after it; lists end with an underscore
//
// Operands are read first and pushed on the stack, and the operators of the newer
// mangling take them from there.

// parseOldGlobal reads a whole name after its _T.
func (s *demangler) parseOldGlobal() ref {
	var parts []ref
	for s.AcceptString("TS") {
		parts = append(parts, s.parseOldSpecialization())
		s.subs = s.subs[:0]
		if !s.AcceptString("_T") {
			return 0
		}
	}
	for _, form := range [...][2]string{{"To", "To"}, {"TO", "TO"}, {"TD", "TD"}, {"Td", "Td"}, {"PAo__T", "Ta"}, {"PA__T", "TA"}} {
		if s.AcceptString(form[0]) {
			parts = append(parts, s.addAttribute(form[1]))
		}
	}
	parts = append(parts, s.parseOldSpecial())
	for _, part := range parts {
		if part == 0 || len(s.stack) > 0 {
			return 0
		}
	}
	// Compilers put suffixes after the names of copies. A short name of another
	// language may begin like a type.
	if c := s.Peek(); c == '.' || s.Pos > 16 && (c == '_' || core.IsDigit(c)) {
		s.Pos++
		parts = append(parts, s.parseSuffix())
	}
	if s.Pos < s.End {
		return 0
	}
	return s.addOptional(kAll, 0, parts...)
}

// push puts operands of the newer mangling on the stack and reports whether none
// of them is missing.
func (s *demangler) push(nodes ...ref) bool {
	for _, n := range nodes {
		if n == 0 {
			return false
		}
		s.stack = append(s.stack, n)
	}
	return true
}

func (s *demangler) pushOldType() bool { return s.push(s.parseOldType()) }

// pushOldConformance reads a type, a protocol and the module that declares that
// the type conforms to it, and pushes them.
func (s *demangler) pushOldConformance() bool {
	return s.pushOldType() && s.push(s.wrapType(s.parseOldProtocol())) && s.push(s.parseOldContext())
}

// oldNotes are the operators of things that the compiler makes, by their letters
// in the newer mangling, with the operands in the order in which they are read:
// c conformance, e entity, f mark of the first, n name, p protocol, s signature
// after a G, t type.
var oldNotes = words{
	{"MP", "t"}, {"Ma", "t"}, {"ML", "t"}, {"Mm", "t"}, {"Mn", "t"}, {"Mf", "t"}, {"Mp", "p"},
	{"WV", "t"}, {"Wvd", "e"}, {"Wvi", "e"}, {"WP", "c"}, {"WG", "c"}, {"WI", "c"}, {"Wl", "tc"}, {"WL", "tc"}, {"Wa", "c"},
	{"Wt", "cn"}, {"WT", "cnfp"}, {"TW", "ce"}, {"TR", "stt"}, {"Tr", "stt"},
}

// parseOldSpecial reads an entity, or one that the compiler derived from it.
func (s *demangler) parseOldSpecial() ref {
	for i := range oldNotes {
		if operator := oldNotes[i].key; s.AcceptString(operator) {
			return s.parseOldNote(operator, oldNotes[i].text)
		}
	}
	switch {
	case s.Accept('t'):
		return s.parseOldType()
	case s.Accept('M'):
		return s.parseOldNote("N", "t")
	case s.Accept('w'):
		at := s.Pos
		s.Pos = min(at+2, s.End)
		return s.addValueWitness(s.Since(at), s.parseOldType())
	}
	return s.parseOldEntity()
}

func (s *demangler) parseOldNote(operator, operands string) ref {
	var sig ref
	mark := len(s.stack)
	for _, operand := range operands {
		ok := false
		switch operand {
		case 's':
			if ok = !s.Accept('G'); !ok {
				sig = s.parseOldSignature()
				ok = sig != 0
			}
		case 't':
			ok = s.pushOldType()
		case 'c':
			ok = s.pushOldConformance()
		case 'e':
			ok = s.push(s.parseOldEntity())
		case 'f':
			ok = s.push(s.addOptional(kFirst, 0))
		case 'n':
			ok = s.push(s.parseOldName())
		case 'p':
			ok = s.push(s.wrapType(s.parseOldProtocol()))
		}
		if !ok {
			return 0
		}
	}
	if operands == "stt" { // the newer mangling has the other order
		s.stack[mark], s.stack[mark+1] = s.stack[mark+1], s.stack[mark]
	}
	if sig != 0 {
		s.stack = append(s.stack, sig)
	}
	return s.addTablePhrase(kPhrase, notes, operator, nil)
}

// parseOldSpecialization reads for which types or arguments a function was made.
func (s *demangler) parseOldSpecialization() ref {
	c := s.Next()
	serialized, ok := s.parsePass()
	if !ok {
		return 0
	}
	var list ref
	operator := ""
	switch c {
	case 'f':
		operator, list = "Tf", s.parseOldArguments()
	case 'g':
		operator, list = "Tg", s.parseOldList(s.parseOldSubstitute)
	case 'r':
		operator, list = "TG", s.parseOldList(s.parseOldSubstitute)
	}
	return s.addAttribute(operator, s.addPhrase(kPhrase, serialized+"$0", list))
}

// parseOldSubstitute reads the type for a generic parameter and its conformances.
func (s *demangler) parseOldSubstitute() ref {
	t := s.parseOldType()
	conformances := s.parseOldList(func() ref {
		if !s.pushOldConformance() {
			return 0
		}
		return s.parseConformance()
	})
	if conformances != 0 && len(s.list(conformances)) == 0 {
		return t
	}
	return s.addPhrase(kPhrase, "$0 with $1", t, conformances)
}

// oldConstants are the arguments that were always the same, by their letters.
var oldConstants = words{
	{"fr", "[Constant Propagated Function : $0]"}, {"g", "[Constant Propagated Global : $0]"},
	{"se0v", "[Constant Propagated String : u8'$0']"}, {"se1v", "[Constant Propagated String : u16'$0']"},
	{"i", "[Constant Propagated Integer : $0]"}, {"fl", "[Constant Propagated Float : $0]"},
}

// parseOldArguments reads how arguments were changed.
func (s *demangler) parseOldArguments() ref {
	var list []ref
	for i := 0; !s.Accept('_'); i++ {
		part, ok := s.parseOldArgument("Arg[" + itoa(i) + "] = ")
		if !ok {
			return 0
		}
		if part != 0 {
			list = append(list, part)
		}
	}
	return s.addOptional(kList, 0, list...)
}

// parseOldArgument reads how an argument was changed, if it was.
func (s *demangler) parseOldArgument(which string) (part ref, ok bool) {
	switch {
	case s.AcceptString("n_"):
		return 0, true
	case s.AcceptString("cl"):
		name := s.parseOldNested()
		types := s.parseOldList(s.parseOldType)
		part = s.addPhrase(kPhrase, which+"[Closure Propagated : $0, Argument Types : [$1]", name, types)
		return part, part != 0
	case s.AcceptString("cp"):
		for i := range oldConstants {
			if s.AcceptString(oldConstants[i].key) {
				part = s.addPhrase(kPhrase, which+oldConstants[i].text, s.parseOldConstant(oldConstants[i].key))
				break
			}
		}
		return part, part != 0 && s.Accept('_')
	}
	text := ""
	for !s.Accept('_') {
		word := s.translate(argumentKinds, "dgosik", "dgoxis")
		if word == "" || !s.Spend(len(word)) {
			return 0, false
		}
		if text != "" {
			text += " and "
		}
		text += word
	}
	part = s.addPhrase(kPhrase, which+text)
	return part, part != 0 && text != ""
}

// parseOldConstant reads a number up to an underscore, or an identifier.
func (s *demangler) parseOldConstant(kind string) ref {
	if kind != "i" && kind != "fl" {
		return s.parseOldNested()
	}
	at := s.Pos
	for core.IsDigit(s.Peek()) {
		s.Pos++
	}
	return s.addPhrase(kText, s.Since(at))
}

// parseOldNested reads an identifier that may be a mangled name.
func (s *demangler) parseOldNested() ref {
	n := s.parseOldIdentifier()
	if s.kind(n) == kIdentifier {
		return s.addNode(node{kind: kNested, text: s.Nodes[n].text})
	}
	return n
}
