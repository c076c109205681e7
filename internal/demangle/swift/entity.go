package swift

// declare takes a declaration of a type: its name, unless it has none or was
// taken already, and its context. The labels belong to the function type in it.
func (s *swift) declare(kind swiftKind, name, f, t ref) ref {
	labels, ok := s.takeLabels(f)
	if kind == kFunction || kind == kVariable {
		name = s.popName()
		ok = ok && name != 0
	}
	ctx := s.popContext()
	if !ok || t == 0 || ctx == 0 {
		return 0
	}
	return s.some(kind, 0, ctx, name, labels, t)
}

// entity takes a declaration that may be private to a file.
func (s *swift) entity(kind swiftKind) ref {
	private := s.popIf(kPrivateName)
	t := s.popType()
	return s.declare(kind, private, t, t)
}

// function takes a function, which may be generic.
func (s *swift) function() ref {
	sig := s.popIf(kSignature)
	f := s.functionType(0)
	if sig == 0 {
		return s.declare(kFunction, 0, f, f)
	}
	return s.declare(kFunction, 0, f, s.wrap(s.phrase(kGeneric, "$0$1", sig, f)))
}

// takeLabels takes the labels of the parameters of a function type. There is
// one for each parameter, or an empty list. In the old form they are inside of
// the type.
func (s *swift) takeLabels(t ref) (ref, bool) {
	if s.old || t == 0 {
		return 0, t != 0
	}
	if s.popIf(kEmptyList) != 0 {
		return 0, true
	}
	f := s.inner(t)
	if s.kind(f) == kGeneric {
		f = s.inner(s.kid(f, 1))
	}
	if s.kind(f) != kFuncType {
		return 0, true
	}
	var labels []ref
	named := false
	for range s.list(s.inner(s.kid(f, 0))) {
		label := s.popIf(kIdentifier)
		named = named || label != 0
		if label == 0 && s.popIf(kFirst) == 0 {
			return 0, false
		} else if label == 0 {
			label = s.phrase(kText, "_")
		}
		labels = append(labels, label)
	}
	if !named {
		return 0, true
	}
	return s.reversed(kList, labels), true
}

// accessors are the functions behind a variable by letter, addressors by the
// second of two letters.
const (
	accessors = "ggetter ssetter Ggetter Mmodify rread xmodify2 yread2 wwillset Wdidset iinit mmaterializeForSet " +
		"bborrow zmutate "
	addressors        = "uunsafeAddressor OowningAddressor onativeOwningAddressor pnativePinningAddressor "
	mutableAddressors = "uunsafeMutableAddressor OowningMutableAddressor onativeOwningMutableAddressor PnativePinningMutableAddressor "
)

// accessor reads which accessor of a variable or subscript is meant.
func (s *swift) accessor(storage ref) ref {
	table := accessors
	switch {
	case s.Accept('p'):
		return storage
	case s.Accept('a'):
		table = mutableAddressors
	case s.Accept('l'):
		table = addressors
	}
	word := s.letter(table)
	if word == "" {
		return 0
	}
	return s.phrase(kAccessor, word, storage)
}

func (s *swift) subscript() ref { return s.accessor(s.entity(kSubscript)) }

// members are functions that are told by their letter alone: what they are,
// what they are in a class, and the word before what they belong to.
var members = [...]struct {
	letter                 byte
	text, class, belonging string
}{
	{'D', "deinit", "__deallocating_deinit", " in "},
	{'d', "deinit", "deinit", " in "},
	{'Z', "deinit", "__isolated_deallocating_deinit", " in "},
	{'E', "__ivar_destroyer", "__ivar_destroyer", " in "},
	{'e', "__ivar_initializer", "__ivar_initializer", " in "},
	{'i', "variable initialization expression", "", " of "},
	{'P', "property wrapper backing initializer", "", " of "},
	{'W', "property wrapper init from projected value", "", " of "},
	{'F', "property wrapped field init accessor", "", " of "},
}

// functionEntity reads functions that have no name of their own.
func (s *swift) functionEntity() ref {
	c := s.Next()
	for i := range members {
		if members[i].letter == c {
			return s.add(kMember, i, s.popContext())
		}
	}
	switch c {
	case 'C':
		return s.entity(kAllocator)
	case 'c':
		return s.entity(kConstructor)
	case 'U':
		return s.closure("closure #")
	case 'u':
		return s.closure("implicit closure #")
	case 'A':
		if i := s.index(); i >= 0 {
			return s.add(kDefault, i, s.popContext())
		}
	case 'M':
		return s.macroExpansion()
	}
	return 0
}

func (s *swift) closure(text string) ref {
	i := s.index()
	t := s.popType()
	ctx := s.popContext()
	if i < 0 || t == 0 || ctx == 0 {
		return 0
	}
	return s.loose(kClosure, text+itoa(i+1), ctx, 0, 0, t)
}

// macros are what a macro can be, by letter.
const macros = "aaccessor rmemberAttribute ffreestanding mmember ppeer cconformance eextension qpreamble bbody uunique "

// macroExpansion takes what a macro wrote.
func (s *swift) macroExpansion() ref {
	word := s.letter(macros)
	i := itoa(s.index() + 1)
	s.popIf(kPrivateName)
	macro := s.popName()
	on := macro
	switch word {
	case "":
		return 0
	case "unique":
		word += " name #" + i
	case "freestanding":
		word += " macro expansion #" + i
	default:
		word += " macro @" + string(s.name(macro)) + " expansion #" + i
		on = s.popName()
	}
	ctx := s.popContext()
	if i == "0" || macro == 0 || on == 0 || ctx == 0 {
		return 0
	}
	return s.loose(kMacro, word, ctx, on)
}

// extension takes the module, the type that is extended, and the requirements
// that the extension makes.
func (s *swift) extension() ref {
	sig := s.popIf(kSignature)
	module := s.popModule()
	return s.extended(module, s.popNominal(), sig)
}

func (s *swift) extended(module, t, sig ref) ref {
	if module == 0 || t == 0 {
		return 0
	}
	return s.loose(kExtension, "(extension in $0):$1$2|$1$2|$1", module, t, sig)
}
