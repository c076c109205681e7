package swift

import (
	"strings"

	"symbolon/internal/demangle/core"
)

// parseParameter reads a reference to a generic parameter.
func (s *demangler) parseParameter() ref {
	switch {
	case s.Accept('d'):
		depth := s.parseIndex() + 1
		return s.addParameter(depth, s.parseIndex())
	case s.Accept('z'), s.Accept('x'): // x is of Swift 3
		return s.addParameter(0, 0)
	case s.Accept('s'):
		return s.addPhrase(kParameter, "Self")
	}
	if i := s.parseIndex(); i >= 0 {
		return s.addParameter(0, i+1)
	}
	return 0
}

func (s *demangler) addParameter(depth, i int) ref {
	if depth < 0 || i < 0 || depth > 1<<14 || i >= 1<<16 {
		return 0
	}
	n := s.addPhrase(kParameter, parameterName(depth, i))
	s.Nodes[n].num = int32(depth<<16 | i)
	return n
}

// parameterName returns a letter, more where the alphabet ends, and the depth unless
// it is the outermost.
func parameterName(depth, i int) string {
	name := ""
	for ; ; i /= 26 {
		name += string(rune('A' + i%26))
		if i < 26 {
			break
		}
	}
	if depth > 0 {
		name += itoa(depth)
	}
	return name
}

// parseAssociatedName pops the name of an associated type, with its protocol if
// the name alone is ambiguous.
func (s *demangler) parseAssociatedName() ref {
	proto := s.popType()
	if proto == 0 {
		return s.popIf(kIdentifier)
	}
	if s.kind(s.unwrap(proto)) != kProtocol {
		return 0
	}
	return s.addPhrase(kPhrase, "$0.$1", proto, s.popIf(kIdentifier))
}

// parseMember takes an associated type, or a chain of them, of a base. No base is
// one on the stack.
func (s *demangler) parseMember(base ref, chain bool) ref {
	var names []ref
	if !chain {
		names = []ref{s.parseAssociatedName()}
	} else if list := s.popList(kList, s.parseAssociatedName); list != 0 {
		names = append(names, s.list(list)...)
	} else {
		return 0
	}
	if base == 0 {
		base = s.popType()
	}
	for _, name := range names {
		base = s.addTypePhrase("$0.$1", base, name)
	}
	return s.addSubstitution(base)
}

// parseArchetype reads placeholders of types: associated and opaque ones, packs.
func (s *demangler) parseArchetype() ref {
	switch c := s.Next(); c {
	case 'a', 'x', 'X':
		return s.parseMember(0, c == 'X')
	case 'y', 'Y':
		if p := s.wrapType(s.parseParameter()); p != 0 {
			return s.parseMember(p, c == 'Y')
		}
	case 'z', 'Z':
		return s.parseMember(s.wrapType(s.addParameter(0, 0)), c == 'Z')
	case 'O':
		return s.addPhrase(kOpaqueOf, "<<opaque return type of $0>>", s.popContext())
	case 'o':
		i := s.parseIndex()
		if _, ok := s.parseArguments(); !ok || i < 0 {
			return 0
		}
		return s.addSubstitution(s.wrapType(s.addPhrase(kComplex, "$0."+itoa(i), s.popIf(kOpaqueOf))))
	case 'R', 'U', 'r', 'u':
		if core.IsUpper(c) && s.parseIndex() < 0 {
			return 0
		}
		return s.wrapType(s.addPhrase(kComplex, "some"))
	case 'e':
		return s.addComplexPhrase("/* level: " + itoa(s.parseIndex()) + " */ each $0")
	case 'p':
		if s.popType() == 0 {
			return 0
		}
		return s.addComplexPhrase("repeat $0")
	case 'P':
		return s.addTypePhrase("Pack{$0}", s.popList(kList, s.popType))
	case 'S':
		if word := s.parseLetter(words{{"d", "@direct"}, {"i", "@indirect"}}); word != "" {
			return s.addTypePhrase(word+" Pack{$0}", s.popList(kList, s.popType))
		}
	}
	return 0
}

// maxParameters is how many generic parameters are written.
const maxParameters = 128

// parseSignature takes requirements, and reads how many parameters there are at
// each depth.
func (s *demangler) parseSignature(counted bool) ref {
	var requirements, markers []ref
	for n := s.popAny(kMarker, kRequirement); n != 0; n = s.popAny(kMarker, kRequirement) {
		if s.kind(n) == kMarker {
			markers = append(markers, n)
		} else {
			requirements = append(requirements, n)
		}
	}
	counts := []int{1}
	if counted {
		counts = s.parseCounts("l")
		if !s.Accept('l') {
			return 0
		}
	}
	return s.addSignature(counts, markers, s.addReversed(kList, requirements))
}

// parseCounts reads how many generic parameters there are at each depth, up to one
// of the letters that end them.
func (s *demangler) parseCounts(end string) (counts []int) {
	for strings.IndexByte(end, s.Peek()) < 0 {
		n := 0
		if !s.Accept('z') {
			if n = s.parseIndex() + 1; n == 0 || len(counts) > maxParameters {
				return counts
			}
		}
		counts = append(counts, n)
	}
	return counts
}

// addSignature adds a signature with a number of parameters at each depth.
func (s *demangler) addSignature(counts []int, markers []ref, requirements ref) ref {
	var depths []string
	for depth, count := range counts {
		if !s.Spend(min(count, maxParameters) * (1 + len(markers))) {
			return 0
		}
		var names []string
		for i := range min(count, maxParameters) {
			names = append(names, s.describeMarkers(markers, depth<<16|i)+parameterName(depth, i))
		}
		if count > maxParameters {
			names = append(names, "...")
		}
		depths = append(depths, strings.Join(names, ", "))
	}
	params := s.addPhrase(kText, strings.Join(depths, "><"))
	text := "<$0>|<$0>|"
	if len(s.list(requirements)) > 0 {
		text = "<$0 where $1>|<$0>|"
	}
	return s.addPhrase(kSignature, text, params, requirements)
}

// describeMarkers returns the markers of a generic parameter as text.
func (s *demangler) describeMarkers(markers []ref, parameter int) (text string) {
	for _, m := range markers {
		if s.num(m) == parameter {
			text += string(s.name(m))
		}
	}
	return text
}

// parseGeneric makes a generic type of a signature and the type on the stack.
func (s *demangler) parseGeneric() ref {
	sig := s.popIf(kSignature)
	t := s.popType()
	text := "$0 $1"
	if k := s.kind(s.unwrap(t)); k == kFuncType || k == kGeneric {
		text = "$0$1"
	}
	return s.wrapType(s.addPhrase(kGeneric, text, sig, t))
}

// layouts are the layout constraints by letter.
var layouts = words{
	{"B", "_BridgeObject"}, {"C", "AnyObject"}, {"D", "_NativeClass"}, {"E", "_Trivial"},
	{"M", "_TrivialAtMost"}, {"N", "_NativeRefCountedObject"}, {"R", "_RefCountedObject"},
	{"S", "_TrivialStride"}, {"T", "_Trivial"}, {"U", "_UnknownLayout"}, {"e", "_Trivial"},
	{"m", "_TrivialAtMost"},
}

// parseRequirement reads a requirement of a generic parameter or of its associated
// type.
func (s *demangler) parseRequirement() ref {
	c := s.Next()
	switch c {
	case 'v', 'V':
		p := s.parseParameter()
		if p != 0 && c == 'V' {
			s.popType()
		}
		m := s.addPhrase(kMarker, map[byte]string{'v': "each ", 'V': "let "}[c], p)
		s.Nodes[m].num = s.Nodes[p].num
		return m
	case 'h':
		p := s.wrapType(s.parseParameter())
		return s.addPhrase(kRequirement, "$0.shape == $1.shape", p, s.popType())
	case 'i', 'j', 'J', 'I': // a suppressed requirement
		which := s.parseIndex()
		text := "<bit " + itoa(which) + ">"
		switch which {
		case -1:
			return 0
		case 0:
			text = "Copyable"
		case 1:
			text = "Escapable"
		}
		return s.addPhrase(kRequirement, "$0: ~Swift."+text, s.parseSubject(strings.IndexByte("ijJI", c)))
	}
	// There are four forms of the subject, four kinds each. A protocol for a plain
	// parameter has no letter.
	i := strings.IndexByte("bsl-ctmpCTMPBSLQ", c)
	if i < 0 {
		i = 3
		s.Pos--
	}
	subject := s.parseSubject(i / 4)
	switch i % 4 {
	case 0:
		return s.addPhrase(kRequirement, "$0: $1", subject, s.popType())
	case 1:
		return s.addPhrase(kRequirement, "$0 == $1", subject, s.popType())
	case 3:
		return s.addPhrase(kRequirement, "$0: $1", subject, s.popProtocol())
	}
	return s.parseLayout(subject, func(bool) int { return s.parseIndex() })
}

// parseLayout reads how values are in memory, with their size and alignment. They
// are read by a function that gets whether there is none after it.
func (s *demangler) parseLayout(subject ref, size func(last bool) int) ref {
	c := s.Peek()
	word := s.parseLetter(layouts)
	switch {
	case word == "":
		return 0
	case strings.IndexByte("emS", c) >= 0:
		word += "(" + itoa(size(true)) + ")"
	case strings.IndexByte("EM", c) >= 0:
		word += "(" + itoa(size(false)) + ", "
		word += itoa(size(true)) + ")"
	}
	if strings.Contains(word, "-") { // no size
		return 0
	}
	return s.addPhrase(kRequirement, "$0: "+word, subject)
}

// parseSubject reads whose requirement it is: a parameter, an associated type of
// one, a chain of them, or a type on the stack.
func (s *demangler) parseSubject(form int) ref {
	if form == 3 {
		return s.popType()
	}
	p := s.wrapType(s.parseParameter())
	if form == 0 || p == 0 {
		return p
	}
	return s.parseMember(p, form == 2)
}

// addBound makes a type with arguments. The short styles write the most common
// ones as people do, and the shortest leaves the arguments out.
func (s *demangler) addBound(n, args ref) ref {
	text, list := "$0<$1>|$0<$1>|$0", s.list(args)
	library := s.kind(s.child(n, 0)) == kModule && string(s.name(s.child(n, 0))) == "Swift"
	name := string(s.name(s.child(n, 1)))
	var first, second ref
	switch {
	case s.kind(n) == kProtocol:
		text = "$0<$1>|$1 as $0|$0"
	case !library:
	case name == "Optional" && len(list) == 1:
		text = "$0<$1>|" + strings.Replace(s.parenthesize(list[0]), "0", "1", 1) + "?|$0"
	case name == "Array" && len(list) == 1:
		text = "$0<$1>|[$1]|$0"
	case name == "Dictionary" && len(list) == 2:
		text, first, second = "$0<$1>|[$2 : $3]|$0", list[0], list[1]
	}
	if n == 0 || args == 0 {
		return 0
	}
	return s.wrapType(s.addText(kNominalArgs, text, s.wrapType(n), args, first, second))
}

// parseBoundGeneric takes the arguments of each level of a generic type.
func (s *demangler) parseBoundGeneric() ref {
	lists, ok := s.parseArguments()
	n := s.popNominal()
	if !ok || n == 0 {
		return 0
	}
	return s.addSubstitution(s.wrapType(s.bindArguments(n, lists)))
}

// parseArguments takes lists of generic arguments, the innermost level first.
func (s *demangler) parseArguments() (lists []ref, ok bool) {
	for s.popIf(kRetroactive) != 0 {
	}
	for {
		lists = append(lists, s.parseTypes())
		if s.popIf(kEmptyList) != 0 {
			return lists, true
		}
		if s.popIf(kFirst) == 0 {
			return nil, false
		}
	}
}

// bindArguments adds the arguments to a type and to its contexts.
func (s *demangler) bindArguments(n ref, lists []ref) ref {
	if n == 0 || len(lists) == 0 {
		return n
	}
	args, kind := lists[0], s.kind(n)
	takes := kind != kVariable && kind != kSubscript && kind != kClosure && kind != kDefault &&
		(kind != kMember || members[s.num(n)].class != "")
	if takes {
		lists = lists[1:]
	}
	if len(lists) > 0 {
		outer := s.child(n, 0)
		switch k := s.kind(outer); {
		case k == kExtension:
			sig := s.child(outer, 2)
			outer = s.addExtension(s.child(outer, 0), s.unwrap(s.wrapType(s.bindArguments(s.unwrap(s.child(outer, 1)), lists))), sig)
		case k == kModule || k == kNone:
			return 0
		default:
			outer = s.bindArguments(outer, lists)
		}
		if outer == 0 {
			return 0
		}
		x := s.Nodes[n]
		at := int32(len(s.Lists))
		s.Lists = append(append(s.Lists, outer), s.list(n)[1:]...)
		x.kids = span{at, int32(len(s.Lists))}
		n = s.addNode(x)
	}
	switch {
	case !takes || len(s.list(args)) == 0:
		return n
	case kind >= kFunction && kind <= kConstructor:
		return s.add(kBoundFunction, 0, n, args)
	}
	return s.unwrap(s.addBound(n, args))
}

// parseConformanceOperator reads how a type conforms to a protocol where generic
// arguments need it. It is not printed; it must only leave the stack.
func (s *demangler) parseConformanceOperator() ref {
	switch c := s.Next(); c {
	case 'O':
		s.popType()
		return s.add(kAnyConformance, 0, s.popIf(kAnyConformance))
	case 'X':
		return s.add(kAnyConformance, 0, s.popList(kList, func() ref { return s.popIf(kAnyConformance) }))
	case 'A', 'D', 'I':
		s.parseIndex()
		s.popProtocol()
		if c != 'I' {
			s.popType()
		}
		if c == 'D' {
			return s.addOptional(kAnyConformance, 0)
		}
		return s.add(kAnyConformance, 0, s.popIf(kAnyConformance))
	case 'C':
		if s.popList(kList, func() ref { return s.popIf(kAnyConformance) }) == 0 {
			return 0
		}
		if s.popIf(kConformanceRef) == 0 {
			s.popModule()
			s.popProtocol()
		}
		return s.add(kAnyConformance, 0, s.popType())
	case 'P', 'p':
		return s.add(kConformanceRef, 0, s.popProtocol())
	case 'F':
		return s.addAttribute("HF")
	}
	return s.addNote(s.Pos - 2)
}

// parseConformance pops a type, the protocol it conforms to, and the module that
// declares the conformance.
func (s *demangler) parseConformance() ref {
	sig := s.popIf(kSignature)
	module := s.popModule()
	proto := s.popProtocol()
	t := s.popType()
	if sig != 0 {
		t = s.addPhrase(kPhrase, "$0 $1|$0 $1|$1", sig, t)
	}
	return s.addPhrase(kPhrase, "$0 : $1 in $2|$0", t, proto, module)
}
