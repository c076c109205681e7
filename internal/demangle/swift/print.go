package swift

import (
	"bytes"
	"strconv"
	"strings"

	"symbolon/internal/demangle/core"
)

func itoa(n int) string { return strconv.Itoa(n) }

// print writes a node. The context of a declaration may have to be written after
// it; if something else comes between, print returns the context.
func (s *demangler) print(n ref, prefix bool) (after ref) {
	if n == 0 || !s.Spend(1) || s.IsFull() {
		s.Failed = true
	}
	if s.Enter(maxDepth) {
		after = s.printKind(n, prefix)
	}
	s.Leave()
	return after
}

func (s *demangler) printKind(n ref, prefix bool) ref {
	switch k := s.kind(n); k {
	case kType:
		return s.print(s.child(n, 0), prefix)
	case kIdentifier, kOperator, kText:
		s.Out = append(s.Out, s.name(n)...)
	case kModule:
		if s.style == core.Full {
			s.Out = append(s.Out, s.name(n)...)
		}
	case kSuffix:
		if s.style == core.Full {
			s.AppendString(` with unmangled suffix "` + string(s.name(n)) + `"`)
		}
	case kList:
		s.printJoined(n, ", ")
	case kPath:
		s.printJoined(n, ".")
	case kUnion:
		s.printJoined(n, " & ")
	case kAll:
		for _, kid := range s.list(n) {
			if kid == 0 || s.kind(kid) == kSuffix {
				s.Out = bytes.TrimSuffix(s.Out, []byte(" for ")) // of nothing
			}
			if kid != 0 {
				s.print(kid, false)
			}
		}
	case kTuple:
		s.printTuple(n)
	case kNested:
		s.printNested(n)
	case kStatic:
		s.AppendString("static ")
		return s.print(s.child(n, 0), prefix)
	case kBoundFunction:
		return s.printContext(s.child(n, 0), prefix, s.child(n, 1))
	default:
		if k >= firstContext && k < kPlace && k != kExtension {
			return s.printContext(n, prefix, 0)
		}
		s.printPhrase(n)
	}
	return 0
}

func (s *demangler) printJoined(n ref, separator string) {
	for i, kid := range s.list(n) {
		if i > 0 {
			s.AppendString(separator)
		}
		s.print(kid, false)
	}
}

// printPhrase writes a phrase in the form for the style.
func (s *demangler) printPhrase(n ref) {
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
		if s.isSpecialized {
			return
		}
		s.isSpecialized = true
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '$' {
			s.Out = append(s.Out, text[i])
		} else if i++; s.child(n, int(text[i]-'0')) != 0 {
			s.print(s.child(n, int(text[i]-'0')), false)
		}
	}
}

// printTuple writes a tuple, or parameters with the labels that wait for them.
func (s *demangler) printTuple(n ref) {
	labels := s.list(s.labels)
	s.labels = 0
	s.AppendString("(")
	for i, kid := range s.list(n) {
		if i > 0 {
			s.AppendString(", ")
		}
		if i < len(labels) {
			s.print(labels[i], false)
			s.AppendString(": ")
		}
		s.print(kid, false)
	}
	s.AppendString(")")
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
	belonging string // the word before the context
	args      ref    // generic arguments, written instead of the parameters
}

// printContext writes a declaration, perhaps with generic arguments.
func (s *demangler) printContext(n ref, prefix bool, args ref) ref {
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
		if n = s.child(n, 0); s.kind(n) == kSubscript {
			d.instead = "subscript"
		} else {
			d.named = true
		}
	case kAllocator, kConstructor:
		d.private, d.typing, d.extra = true, asFunction, "init"
		if k == kAllocator && s.isMethod(n) {
			d.extra = "__allocating_init"
		}
	case kMember:
		m := &members[s.num(n)]
		d.extra, d.belonging = m.text, m.belonging
		if m.class != "" && s.isMethod(n) {
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
	return s.printDeclaration(n, prefix, d)
}

// isMethod reports whether a function belongs to a class.
func (s *demangler) isMethod(n ref) bool { return s.kind(s.child(n, 0)) == kClass }

// printDeclaration writes a declaration with its context. The context precedes it with a
// dot, unless either of them needs more than one word; then the context follows.
func (s *demangler) printDeclaration(n ref, prefix bool, d detail) ref {
	ctx, name := s.child(n, 0), s.child(n, 1)
	words := strings.IndexByte(d.extra, ' ') >= 0 || d.named && s.kind(name) == kLocalName
	typed := d.typing != untyped && s.child(n, 3) != 0
	if prefix && (words || typed && s.style == core.Full) {
		return n
	}
	after := ctx
	if !words {
		before := len(s.Out)
		if after = s.print(ctx, true); len(s.Out) > before {
			s.AppendString(".")
		}
	}
	if words && d.extra != "" && (d.named || d.instead != "") {
		s.AppendString(d.extra + " of ")
		d.extra = ""
	}
	before := len(s.Out)
	if d.instead != "" {
		s.AppendString(d.instead)
	} else if name != 0 && (d.named || d.private && s.style == core.Full) {
		s.print(name, false)
	}
	if len(s.Out) > before && d.extra != "" {
		s.AppendString(".")
	}
	s.AppendString(d.extra)
	if typed {
		s.printType(n, d, words)
	}
	if after != 0 && !prefix {
		s.AppendString(d.belonging)
		s.print(after, false)
		after = 0
	}
	return after
}

// printType writes the type of a declaration; the short styles have only its generic
// parameters.
func (s *demangler) printType(n ref, d detail, words bool) {
	t := s.child(n, 3)
	f := s.unwrap(t)
	for s.kind(f) == kGeneric {
		f = s.unwrap(s.child(f, 1))
	}
	convention := s.num(f) & conventionMask
	if s.kind(f) != kFuncType || convention == conventionAutoclosure || convention >= conventionBlock {
		d.typing = asVariable
	}
	if s.style != core.Full {
		switch t = s.unwrap(t); {
		case d.typing == asVariable || s.style == core.Simple:
		case d.args != 0:
			s.printArguments(d.args)
		case s.kind(t) == kGeneric:
			s.print(s.child(t, 0), false)
		}
		if s.isCalled && d.typing != asVariable {
			s.labels = s.child(n, 2)
			s.print(s.child(f, 0), false)
			s.labels = 0
		}
		return
	}
	if d.typing == asVariable {
		s.AppendString(" : ")
	} else if words {
		s.AppendString(" ")
	}
	if s.kind(f) != kFuncType {
		s.print(t, false)
		return
	}
	s.printArguments(d.args)
	for t = s.unwrap(t); t != f; t = s.unwrap(s.child(t, 1)) {
		if d.args == 0 {
			s.print(s.child(t, 0), false)
		}
	}
	s.labels = s.child(n, 2)
	s.print(f, false)
	s.labels = 0
}

func (s *demangler) printArguments(args ref) {
	if args != 0 {
		s.AppendString("<")
		s.print(args, false)
		s.AppendString(">")
	}
}

// printNested writes a name in a name, such as a function that is always passed as an
// argument.
func (s *demangler) printNested(n ref) {
	if s.Depth < 8 {
		if out, ok := Append(s.Out, s.name(n), core.Full, &s.Steps); ok {
			s.Out = out
			return
		}
	}
	s.Out = append(s.Out, s.name(n)...)
}
