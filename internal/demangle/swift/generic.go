package swift

import (
	"strings"

	"symbolon/internal/demangle/core"
)

// parameter reads which generic parameter is meant.
func (s *swift) parameter() ref {
	switch {
	case s.Accept('d'):
		depth := s.index() + 1
		return s.parameterAt(depth, s.index())
	case s.Accept('z'):
		return s.parameterAt(0, 0)
	case s.Accept('s'):
		return s.phrase(kParameter, "Self")
	}
	if i := s.index(); i >= 0 {
		return s.parameterAt(0, i+1)
	}
	return 0
}

func (s *swift) parameterAt(depth, i int) ref {
	if depth < 0 || i < 0 || depth > 1<<14 || i >= 1<<16 {
		return 0
	}
	n := s.phrase(kParameter, parameterName(depth, i))
	s.nodes[n].num = int32(depth<<16 | i)
	return n
}

// parameterName is a letter, more where the alphabet ends, and the depth unless
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

// associatedName takes the name of an associated type, with its protocol where
// the name alone would not say which.
func (s *swift) associatedName() ref {
	proto := s.popType()
	if proto == 0 {
		return s.popIf(kIdentifier)
	}
	if s.kind(s.inner(proto)) != kProtocol {
		return 0
	}
	return s.phrase(kPhrase, "$0.$1", proto, s.popIf(kIdentifier))
}

// member takes an associated type, or a chain of them, of a base. No base is
// one on the stack.
func (s *swift) member(base ref, chain bool) ref {
	var names []ref
	if !chain {
		names = []ref{s.associatedName()}
	} else if list := s.gather(kList, s.associatedName); list != 0 {
		names = append(names, s.list(list)...)
	} else {
		return 0
	}
	if base == 0 {
		base = s.popType()
	}
	for _, name := range names {
		base = s.typed("$0.$1", base, name)
	}
	return s.substitute(base)
}

// archetype reads types that stand for others: associated, opaque, packs.
func (s *swift) archetype() ref {
	switch c := s.Next(); c {
	case 'a', 'x', 'X':
		return s.member(0, c == 'X')
	case 'y', 'Y':
		if p := s.wrap(s.parameter()); p != 0 {
			return s.member(p, c == 'Y')
		}
	case 'z', 'Z':
		return s.member(s.wrap(s.parameterAt(0, 0)), c == 'Z')
	case 'O':
		return s.phrase(kOpaqueOf, "<<opaque return type of $0>>", s.popContext())
	case 'o':
		i := s.index()
		if _, ok := s.arguments(); !ok || i < 0 {
			return 0
		}
		return s.substitute(s.wrap(s.phrase(kComplex, "$0."+itoa(i), s.popIf(kOpaqueOf))))
	case 'R', 'U', 'r', 'u':
		if core.IsUpper(c) && s.index() < 0 {
			return 0
		}
		return s.wrap(s.phrase(kComplex, "some"))
	case 'e':
		return s.complex("/* level: " + itoa(s.index()) + " */ each $0")
	case 'p':
		if s.popType() == 0 {
			return 0
		}
		return s.complex("repeat $0")
	case 'P':
		return s.typed("Pack{$0}", s.gather(kList, s.popType))
	case 'S':
		if word := s.letter("d@direct i@indirect "); word != "" {
			return s.typed(word+" Pack{$0}", s.gather(kList, s.popType))
		}
	}
	return 0
}

// maxParameters is how many generic parameters are written.
const maxParameters = 128

// signature takes requirements, and reads how many parameters there are at
// each depth.
func (s *swift) signature(counted bool) ref {
	var requirements, markers []ref
	for n := s.popAny(kMarker, kRequirement); n != 0; n = s.popAny(kMarker, kRequirement) {
		if s.kind(n) == kMarker {
			markers = append(markers, n)
		} else {
			requirements = append(requirements, n)
		}
	}
	var depths []string
	for depth := 0; counted && !s.Accept('l') || !counted && depth == 0; depth++ {
		count := 1
		if counted {
			if count = 0; !s.Accept('z') {
				if count = s.index() + 1; count == 0 || depth > maxParameters {
					return 0
				}
			}
		}
		if !s.take(min(count, maxParameters) * (1 + len(markers))) {
			return 0
		}
		var names []string
		for i := range min(count, maxParameters) {
			names = append(names, s.marks(markers, depth<<16|i)+parameterName(depth, i))
		}
		if count > maxParameters {
			names = append(names, "...")
		}
		depths = append(depths, strings.Join(names, ", "))
	}
	params := s.phrase(kText, strings.Join(depths, "><"))
	text := "<$0>|<$0>|"
	if len(requirements) > 0 {
		text = "<$0 where $1>|<$0>|"
	}
	return s.phrase(kSignature, text, params, s.reversed(kList, requirements))
}

// marks is what a generic parameter is besides a type.
func (s *swift) marks(markers []ref, parameter int) (text string) {
	for _, m := range markers {
		if s.num(m) == parameter {
			text += string(s.name(m))
		}
	}
	return text
}

// generic makes a generic type of a signature and the type on the stack.
func (s *swift) generic() ref {
	sig := s.popIf(kSignature)
	t := s.popType()
	text := "$0 $1"
	if k := s.kind(s.inner(t)); k == kFuncType || k == kGeneric {
		text = "$0$1"
	}
	return s.wrap(s.phrase(kGeneric, text, sig, t))
}

// layouts are the layout constraints by letter.
const layouts = "B_BridgeObject CAnyObject D_NativeClass E_Trivial M_TrivialAtMost N_NativeRefCountedObject " +
	"R_RefCountedObject S_TrivialStride T_Trivial U_UnknownLayout e_Trivial m_TrivialAtMost "

// requirement reads what a generic parameter, or an associated type of it,
// must be.
func (s *swift) requirement() ref {
	c := s.Next()
	switch c {
	case 'v', 'V':
		p := s.parameter()
		if p != 0 && c == 'V' {
			s.popType()
		}
		m := s.phrase(kMarker, map[byte]string{'v': "each ", 'V': "let "}[c], p)
		s.nodes[m].num = s.nodes[p].num
		return m
	case 'h':
		p := s.wrap(s.parameter())
		return s.phrase(kRequirement, "$0.shape == $1.shape", p, s.popType())
	case 'i', 'j', 'J', 'I': // what it need not be
		which := s.index()
		if which < 0 || which > 1 {
			return 0
		}
		text := [...]string{"$0: ~Swift.Copyable", "$0: ~Swift.Escapable"}[which]
		return s.phrase(kRequirement, text, s.subject(strings.IndexByte("ijJI", c)))
	}
	// Four ways to say the subject, four kinds each. A protocol for a plain
	// parameter has no letter.
	i := strings.IndexByte("bsl-ctmpCTMPBSLQ", c)
	if i < 0 {
		i = 3
		s.Pos--
	}
	subject := s.subject(i / 4)
	switch i % 4 {
	case 0:
		return s.phrase(kRequirement, "$0: $1", subject, s.popType())
	case 1:
		return s.phrase(kRequirement, "$0 == $1", subject, s.popType())
	case 3:
		return s.phrase(kRequirement, "$0: $1", subject, s.popProtocol())
	}
	c = s.Peek()
	word := s.letter(layouts)
	switch {
	case word == "":
		return 0
	case c == 'e' || c == 'm' || c == 'S':
		word += "(" + itoa(s.index()) + ")"
	case c == 'E' || c == 'M':
		word += "(" + itoa(s.index()) + ", "
		word += itoa(s.index()) + ")"
	}
	return s.phrase(kRequirement, "$0: "+word, subject)
}

// subject reads whose requirement it is: a parameter, an associated type of
// one, a chain of them, or a type on the stack.
func (s *swift) subject(form int) ref {
	if form == 3 {
		return s.popType()
	}
	p := s.wrap(s.parameter())
	if form == 0 || p == 0 {
		return p
	}
	return s.member(p, form == 2)
}

// bound makes a type with arguments. The short styles write the most common
// ones as people do, and the shortest leaves the arguments out.
func (s *swift) bound(n, args ref) ref {
	text, list := "$0<$1>|$0<$1>|$0", s.list(args)
	library := s.kind(s.kid(n, 0)) == kModule && string(s.name(s.kid(n, 0))) == "Swift"
	name := string(s.name(s.kid(n, 1)))
	var first, second ref
	switch {
	case s.kind(n) == kProtocol:
		text = "$0<$1>|$1 as $0|$0"
	case !library:
	case name == "Optional" && len(list) == 1:
		text = "$0<$1>|" + strings.Replace(s.simple(list[0]), "0", "1", 1) + "?|$0"
	case name == "Array" && len(list) == 1:
		text = "$0<$1>|[$1]|$0"
	case name == "Dictionary" && len(list) == 2:
		text, first, second = "$0<$1>|[$2 : $3]|$0", list[0], list[1]
	}
	if n == 0 || args == 0 {
		return 0
	}
	return s.wrap(s.loose(kNominalArgs, text, s.wrap(n), args, first, second))
}

// boundGeneric takes the arguments of each level of a generic type.
func (s *swift) boundGeneric() ref {
	lists, ok := s.arguments()
	n := s.popNominal()
	if !ok || n == 0 {
		return 0
	}
	return s.substitute(s.wrap(s.bind(n, lists)))
}

// arguments takes lists of generic arguments, the innermost level first.
func (s *swift) arguments() (lists []ref, ok bool) {
	for s.popIf(kRetroactive) != 0 {
	}
	for {
		lists = append(lists, s.types())
		if s.popIf(kEmptyList) != 0 {
			return lists, true
		}
		if s.popIf(kFirst) == 0 {
			return nil, false
		}
	}
}

// bind gives the arguments to a type and to what it is declared in.
func (s *swift) bind(n ref, lists []ref) ref {
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
		outer := s.kid(n, 0)
		switch k := s.kind(outer); {
		case k == kExtension:
			sig := s.kid(outer, 2)
			outer = s.extended(s.kid(outer, 0), s.inner(s.wrap(s.bind(s.inner(s.kid(outer, 1)), lists))), sig)
		case k == kModule || k == kNone:
			return 0
		default:
			outer = s.bind(outer, lists)
		}
		if outer == 0 {
			return 0
		}
		x := s.nodes[n]
		at := int32(len(s.kids))
		s.kids = append(append(s.kids, outer), s.list(n)[1:]...)
		x.kids = span{at, int32(len(s.kids))}
		n = s.node(x)
	}
	switch {
	case !takes || len(s.list(args)) == 0:
		return n
	case kind >= kFunction && kind <= kConstructor:
		return s.add(kBoundFunction, 0, n, args)
	}
	return s.inner(s.bound(n, args))
}

// conformanceOperator reads how a type conforms to a protocol where generic
// arguments need it. Nobody writes that; it must only leave the stack.
func (s *swift) conformanceOperator() ref {
	switch c := s.Next(); c {
	case 'A', 'D', 'I', 'O':
		s.index()
		if c != 'O' {
			s.popProtocol()
		}
		if c != 'I' {
			s.popType()
		}
		if c == 'D' {
			return s.some(kAnyConformance, 0)
		}
		return s.add(kAnyConformance, 0, s.popIf(kAnyConformance))
	case 'C':
		if s.gather(kList, func() ref { return s.popIf(kAnyConformance) }) == 0 {
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
		return s.attribute("HF")
	}
	return s.note(s.Pos - 2)
}

// conformance takes a type, the protocol it conforms to, and the module that
// says so.
func (s *swift) conformance() ref {
	sig := s.popIf(kSignature)
	module := s.popModule()
	proto := s.popProtocol()
	t := s.popType()
	if sig != 0 {
		t = s.phrase(kPhrase, "$0 $1|$0 $1|$1", sig, t)
	}
	return s.phrase(kPhrase, "$0 : $1 in $2|$0", t, proto, module)
}
