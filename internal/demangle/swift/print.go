package swift

import (
	"bytes"
	"strconv"
	"strings"

	"symbolon/internal/demangle/core"
)

func itoa(n int) string { return strconv.Itoa(n) }

func (s *swift) say(text string) { s.out = append(s.out, text...) }

// print writes a node. What a declaration is in may have to be written after
// it; then that is returned if something still comes after the declaration.
func (s *swift) print(n ref, prefix bool) (after ref) {
	s.depth++
	if n == 0 || s.depth > swiftMaxDepth || !s.take(1) || len(s.out) > s.limit {
		s.failed = true
	}
	if !s.failed {
		after = s.printKind(n, prefix)
	}
	s.depth--
	return after
}

func (s *swift) printKind(n ref, prefix bool) ref {
	switch k := s.kind(n); k {
	case kType:
		return s.print(s.kid(n, 0), prefix)
	case kIdentifier, kOperator, kText:
		s.out = append(s.out, s.name(n)...)
	case kModule:
		if s.style == core.Full {
			s.out = append(s.out, s.name(n)...)
		}
	case kSuffix:
		if s.style == core.Full {
			s.say(` with unmangled suffix "` + string(s.name(n)) + `"`)
		}
	case kList:
		s.join(n, ", ")
	case kPath:
		s.join(n, ".")
	case kUnion:
		s.join(n, " & ")
	case kAll:
		for _, kid := range s.list(n) {
			if kid != 0 {
				s.print(kid, false)
			}
		}
	case kTuple:
		s.printTuple(n)
	case kNested:
		s.printNested(n)
	case kStatic:
		s.say("static ")
		return s.print(s.kid(n, 0), prefix)
	case kBoundFunction:
		return s.printContext(s.kid(n, 0), prefix, s.kid(n, 1))
	default:
		if k >= firstContext && k <= lastContext && k != kExtension {
			return s.printContext(n, prefix, 0)
		}
		s.printPhrase(n)
	}
	return 0
}

func (s *swift) join(n ref, separator string) {
	for i, kid := range s.list(n) {
		if i > 0 {
			s.say(separator)
		}
		s.print(kid, false)
	}
}

// printPhrase writes the form of a phrase that the style asks for.
func (s *swift) printPhrase(n ref) {
	text := s.name(n)
	for range s.style {
		if i := bytes.IndexByte(text, '|'); i >= 0 {
			text = text[i+1:]
		}
	}
	if i := bytes.IndexByte(text, '|'); i >= 0 {
		text = text[:i]
	}
	if string(text) == once {
		if s.specialized {
			return
		}
		s.specialized = true
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '$' {
			s.out = append(s.out, text[i])
		} else if i++; s.kid(n, int(text[i]-'0')) != 0 {
			s.print(s.kid(n, int(text[i]-'0')), false)
		}
	}
}

// printTuple writes a tuple, or parameters with the labels that wait for them.
func (s *swift) printTuple(n ref) {
	labels := s.list(s.labels)
	s.labels = 0
	s.say("(")
	for i, kid := range s.list(n) {
		if i > 0 {
			s.say(", ")
		}
		if i < len(labels) {
			s.print(labels[i], false)
			s.say(": ")
		}
		s.print(kid, false)
	}
	s.say(")")
}

// How the type of a declaration is written.
const (
	untyped    = iota
	asFunction // (parameters) -> result
	asVariable // : type
)

// detail is how a declaration is written.
type detail struct {
	typing    uint8
	named     bool   // with its name
	private   bool   // with the file it is private to, where it has no name
	instead   string // of the name
	extra     string // which of the functions that belong to the declaration
	belonging string // the word before what it belongs to
	args      ref    // generic arguments, written instead of the parameters
}

// printContext writes what is declared, perhaps with generic arguments.
func (s *swift) printContext(n ref, prefix bool, args ref) ref {
	d := detail{belonging: " in ", args: args}
	switch k := s.kind(n); k {
	case kFunction:
		d.named, d.typing = true, asFunction
	case kVariable:
		d.named, d.typing = true, asVariable
	case kSubscript:
		d.instead, d.typing = "subscript", asFunction
	case kAccessor:
		d.typing, d.extra = asVariable, string(s.name(n))
		if n = s.kid(n, 0); s.kind(n) == kSubscript {
			d.instead = "subscript"
		} else {
			d.named = true
		}
	case kAllocator, kConstructor:
		d.private, d.typing, d.extra = true, asFunction, "init"
		if k == kAllocator && s.inClass(n) {
			d.extra = "__allocating_init"
		}
	case kMember:
		m := &members[s.num(n)]
		d.extra, d.belonging = m.text, m.belonging
		if m.class != "" && s.inClass(n) {
			d.extra = m.class
		}
	case kClosure:
		d.typing, d.extra = asFunction, string(s.name(n))
	case kDefault:
		d.extra, d.belonging = "default argument "+itoa(s.num(n)), " of "
	case kMacro:
		d.named, d.extra = true, string(s.name(n))
	default:
		d.named = true
	}
	return s.declaration(n, prefix, d)
}

// inClass says whether a function belongs to a class.
func (s *swift) inClass(n ref) bool { return s.kind(s.kid(n, 0)) == kClass }

// declaration writes a declaration with what it is in. That stands before it,
// with a dot, unless more than one word is needed for either; then it stands
// after the declaration.
func (s *swift) declaration(n ref, prefix bool, d detail) ref {
	ctx, name := s.kid(n, 0), s.kid(n, 1)
	words := strings.IndexByte(d.extra, ' ') >= 0 || d.named && s.kind(name) == kLocalName
	typed := d.typing != untyped && s.kid(n, 3) != 0
	if prefix && (words || typed && s.style == core.Full) {
		return n
	}
	after := ctx
	if !words {
		before := len(s.out)
		if after = s.print(ctx, true); len(s.out) > before {
			s.say(".")
		}
	}
	if words && d.extra != "" && (d.named || d.instead != "") {
		s.say(d.extra + " of ")
		d.extra = ""
	}
	before := len(s.out)
	if d.instead != "" {
		s.say(d.instead)
	} else if name != 0 && (d.named || d.private && s.style == core.Full) {
		s.print(name, false)
	}
	if len(s.out) > before && d.extra != "" {
		s.say(".")
	}
	s.say(d.extra)
	if typed {
		s.printType(n, d, words)
	}
	if after != 0 && !prefix {
		s.say(d.belonging)
		s.print(after, false)
		after = 0
	}
	return after
}

// printType writes the type of a declaration, of which the short styles have
// no more than its generic parameters.
func (s *swift) printType(n ref, d detail, words bool) {
	t := s.kid(n, 3)
	f := s.inner(t)
	for s.kind(f) == kGeneric {
		f = s.inner(s.kid(f, 1))
	}
	convention := s.num(f) & conventionMask
	if s.kind(f) != kFuncType || convention == conventionAutoclosure || convention >= conventionBlock {
		d.typing = asVariable
	}
	if s.style != core.Full {
		switch t = s.inner(t); {
		case d.typing == asVariable || s.style == core.Simple:
		case d.args != 0:
			s.printArguments(d.args)
		case s.kind(t) == kGeneric:
			s.print(s.kid(t, 0), false)
		}
		if s.called && d.typing != asVariable {
			s.labels = s.kid(n, 2)
			s.print(s.kid(f, 0), false)
			s.labels = 0
		}
		return
	}
	if d.typing == asVariable {
		s.say(" : ")
	} else if words {
		s.say(" ")
	}
	if s.kind(f) != kFuncType {
		s.print(t, false)
		return
	}
	s.printArguments(d.args)
	for t = s.inner(t); t != f; t = s.inner(s.kid(t, 1)) {
		if d.args == 0 {
			s.print(s.kid(t, 0), false)
		}
	}
	s.labels = s.kid(n, 2)
	s.print(f, false)
	s.labels = 0
}

func (s *swift) printArguments(args ref) {
	if args != 0 {
		s.say("<")
		s.print(args, false)
		s.say(">")
	}
}

// printNested writes a name in a name, such as that of a function that an
// argument always is.
func (s *swift) printNested(n ref) {
	if s.depth < 8 {
		if out, ok := Append(s.out, s.name(n), core.Full, &s.left); ok {
			s.out = out
			return
		}
	}
	s.out = append(s.out, s.name(n)...)
}
