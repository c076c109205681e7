package swift

// addDeclaration takes a declaration of a type: its name, unless it has none or was
// taken already, and its context. The labels belong to the function type in it.
func (s *demangler) addDeclaration(kind kind, name, f, t ref) ref {
	labels, ok := s.popLabels(f)
	if kind == kFunction || kind == kVariable {
		name = s.popName()
		ok = ok && name != 0
	}
	ctx := s.popContext()
	if !ok || t == 0 || ctx == 0 {
		return 0
	}
	return s.addOptional(kind, 0, ctx, name, labels, t)
}

// parseEntity takes a declaration that may be private to a file. Swift writes the file
// of a constructor, and not that of the function that allocates as well.
func (s *demangler) parseEntity(kind kind) ref {
	private := s.popIf(kPrivateName)
	if kind == kAllocator {
		private = 0
	}
	t := s.popType()
	return s.addDeclaration(kind, private, t, t)
}

// parseFunction takes a function, which may be generic.
func (s *demangler) parseFunction() ref {
	sig := s.popIf(kSignature)
	f := s.parseFunctionType(0)
	if sig == 0 {
		return s.addDeclaration(kFunction, 0, f, f)
	}
	return s.addDeclaration(kFunction, 0, f, s.wrapType(s.addPhrase(kGeneric, "$0$1", sig, f)))
}

// popLabels takes the labels of the parameters of a function type. There is
// one for each parameter, or an empty list. In the old form they are inside of
// the type.
func (s *demangler) popLabels(t ref) (ref, bool) {
	if s.hasOldLabels || t == 0 {
		return 0, t != 0
	}
	if s.popIf(kEmptyList) != 0 {
		return 0, true
	}
	f := s.unwrap(t)
	if s.kind(f) == kGeneric {
		f = s.unwrap(s.child(f, 1))
	}
	if s.kind(f) != kFuncType {
		return 0, true
	}
	var labels []ref
	named := false
	for range s.list(s.unwrap(s.child(f, 0))) {
		label := s.popIf(kIdentifier)
		named = named || label != 0
		if label == 0 && s.popIf(kFirst) == 0 {
			return 0, false
		} else if label == 0 {
			label = s.addPhrase(kText, "_")
		}
		labels = append(labels, label)
	}
	if !named {
		return 0, true
	}
	return s.addReversed(kList, labels), true
}

// accessors are the functions of a variable by letter, addressors by the second
// of two letters.
var (
	accessors = words{
		{"g", "getter"}, {"s", "setter"}, {"G", "getter"}, {"M", "modify"}, {"r", "read"}, {"x", "modify2"},
		{"y", "read2"}, {"w", "willset"}, {"W", "didset"}, {"i", "init"}, {"m", "materializeForSet"},
		{"b", "borrow"}, {"z", "mutate"},
	}
	addressors = words{
		{"u", "unsafeAddressor"}, {"O", "owningAddressor"}, {"o", "nativeOwningAddressor"},
		{"p", "nativePinningAddressor"},
	}
	mutableAddressors = words{ // p is of Swift 3
		{"u", "unsafeMutableAddressor"}, {"O", "owningMutableAddressor"}, {"o", "nativeOwningMutableAddressor"},
		{"P", "nativePinningMutableAddressor"}, {"p", "nativePinningMutableAddressor"},
	}
)

// parseAccessor reads the kind of an accessor of a variable or subscript.
func (s *demangler) parseAccessor(storage ref) ref {
	if s.Accept('p') {
		return storage
	}
	word := s.parseAccessorWord()
	if word == "" {
		return 0
	}
	return s.addPhrase(kAccessor, word, storage)
}

func (s *demangler) parseAccessorWord() string {
	switch {
	case s.Accept('a'):
		return s.parseLetter(mutableAddressors)
	case s.Accept('l'):
		return s.parseLetter(addressors)
	}
	return s.parseLetter(accessors)
}

func (s *demangler) parseSubscript() ref { return s.parseAccessor(s.parseEntity(kSubscript)) }

// members are functions with a letter of their own: their name, that in a class,
// and the word before their context.
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

// parseFunctionEntity reads functions that have no name of their own.
func (s *demangler) parseFunctionEntity() ref {
	c := s.Next()
	for i := range members {
		if members[i].letter == c {
			return s.add(kMember, i, s.popContext())
		}
	}
	switch c {
	case 'C':
		return s.parseEntity(kAllocator)
	case 'c':
		return s.parseEntity(kConstructor)
	case 'U':
		return s.parseClosure("closure #")
	case 'u':
		return s.parseClosure("implicit closure #")
	case 'A':
		if i := s.parseIndex(); i >= 0 {
			return s.add(kDefault, i, s.popContext())
		}
	case 'M':
		return s.parseMacroExpansion()
	case 'm':
		return s.parseEntity(kFunction)
	}
	return 0
}

func (s *demangler) parseClosure(text string) ref {
	i := s.parseIndex()
	t := s.popType()
	return s.addClosure(text, i, s.popContext(), t)
}

func (s *demangler) addClosure(text string, i int, ctx, t ref) ref {
	if i < 0 || t == 0 || ctx == 0 {
		return 0
	}
	return s.addText(kClosure, text+itoa(i+1), ctx, 0, 0, t)
}

// macros are the roles of a macro, by letter.
var macros = words{
	{"a", "accessor"}, {"r", "memberAttribute"}, {"f", "freestanding"}, {"m", "member"}, {"p", "peer"},
	{"c", "conformance"}, {"e", "extension"}, {"q", "preamble"}, {"b", "body"}, {"u", "unique"},
}

// parseMacroExpansion reads a declaration that a macro expanded to.
func (s *demangler) parseMacroExpansion() ref {
	if s.Accept('X') {
		return s.parsePlace()
	}
	word := s.parseLetter(macros)
	i := itoa(s.parseIndex() + 1)
	macro := s.popName()
	on := macro
	if word == "freestanding" && s.topKind() == kPrivateName {
		on = s.addPhrase(kPhrase, "$0$1", macro, s.pop())
	}
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
	return s.addText(kMacro, word, ctx, on)
}

// parsePlace reads the line and column at which a macro is used outside of
// declarations.
func (s *demangler) parsePlace() ref {
	line := s.parseIndex()
	column := s.parseIndex()
	file := s.popIf(kIdentifier)
	if line < 0 || column < 0 {
		return 0
	}
	return s.addPhrase(kPlace, "module $0 file $1 line "+itoa(line)+" column "+itoa(column), s.popIf(kIdentifier), file)
}

// parseExtension takes the module, the type that is extended, and the requirements
// that the extension makes.
func (s *demangler) parseExtension() ref {
	sig := s.popIf(kSignature)
	module := s.popModule()
	return s.addExtension(module, s.popNominal(), sig)
}

func (s *demangler) addExtension(module, t, sig ref) ref {
	if module == 0 || t == 0 {
		return 0
	}
	return s.addText(kExtension, "(extension in $0):$1$2|$1$2|$1", module, t, sig)
}
