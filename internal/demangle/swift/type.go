package swift

import "strings"

// A function type has, besides parameters and result, a convention and flags.
const (
	conventionAutoclosure = 1
	conventionBlock       = 4
	conventionMask        = 7

	flagThrows         = 1 << 3
	flagAsync          = 1 << 4
	flagSendable       = 1 << 5
	flagIsolatedAny    = 1 << 6
	flagCallerIsolated = 1 << 7
	flagSendingResult  = 1 << 8
	flagActor          = 1 << 9
	flagThrown         = 1 << 10
	derivativeShift    = 16 // the letter of the kind of derivative
)

// libraryTypes are types of the standard library with a letter of their own.
type libraryTypes []struct {
	letter byte
	kind   kind
	name   string
}

var standardTypes = libraryTypes{
	{'A', kStruct, "AutoreleasingUnsafeMutablePointer"}, {'B', kProtocol, "BinaryFloatingPoint"},
	{'D', kStruct, "Dictionary"}, {'E', kProtocol, "Encodable"}, {'F', kProtocol, "FloatingPoint"},
	{'G', kProtocol, "RandomNumberGenerator"}, {'H', kProtocol, "Hashable"}, {'I', kStruct, "DefaultIndices"},
	{'J', kStruct, "Character"}, {'K', kProtocol, "BidirectionalCollection"}, {'L', kProtocol, "Comparable"},
	{'M', kProtocol, "MutableCollection"}, {'N', kStruct, "ClosedRange"}, {'O', kStruct, "ObjectIdentifier"},
	{'P', kStruct, "UnsafePointer"}, {'Q', kProtocol, "Equatable"}, {'R', kStruct, "UnsafeBufferPointer"},
	{'S', kStruct, "String"}, {'T', kProtocol, "Sequence"}, {'U', kProtocol, "UnsignedInteger"},
	{'V', kStruct, "UnsafeRawPointer"}, {'W', kStruct, "UnsafeRawBufferPointer"},
	{'X', kProtocol, "RangeExpression"}, {'Y', kProtocol, "RawRepresentable"},
	{'Z', kProtocol, "SignedInteger"}, {'a', kStruct, "Array"}, {'b', kStruct, "Bool"},
	{'d', kStruct, "Double"}, {'e', kProtocol, "Decodable"}, {'f', kStruct, "Float"}, {'h', kStruct, "Set"},
	{'i', kStruct, "Int"}, {'j', kProtocol, "Numeric"}, {'k', kProtocol, "RandomAccessCollection"},
	{'l', kProtocol, "Collection"}, {'m', kProtocol, "RangeReplaceableCollection"}, {'n', kStruct, "Range"},
	{'p', kStruct, "UnsafeMutablePointer"}, {'q', kEnum, "Optional"},
	{'r', kStruct, "UnsafeMutableBufferPointer"}, {'s', kStruct, "Substring"},
	{'t', kProtocol, "IteratorProtocol"}, {'u', kStruct, "UInt"}, {'v', kStruct, "UnsafeMutableRawPointer"},
	{'w', kStruct, "UnsafeMutableRawBufferPointer"}, {'x', kProtocol, "Strideable"},
	{'y', kProtocol, "StringProtocol"}, {'z', kProtocol, "BinaryInteger"},
}

// concurrencyTypes are those whose letter follows a c.
var concurrencyTypes = libraryTypes{
	{'A', kProtocol, "Actor"}, {'C', kStruct, "CheckedContinuation"}, {'E', kStruct, "CancellationError"},
	{'F', kProtocol, "Executor"}, {'G', kStruct, "TaskGroup"}, {'I', kProtocol, "AsyncIteratorProtocol"},
	{'J', kStruct, "UnownedJob"}, {'M', kClass, "MainActor"}, {'P', kStruct, "TaskPriority"},
	{'S', kStruct, "AsyncStream"}, {'T', kStruct, "Task"}, {'c', kStruct, "UnsafeContinuation"},
	{'e', kStruct, "UnownedSerialExecutor"}, {'f', kProtocol, "SerialExecutor"},
	{'g', kStruct, "ThrowingTaskGroup"}, {'h', kProtocol, "TaskExecutor"}, {'i', kProtocol, "AsyncSequence"},
	{'s', kStruct, "AsyncThrowingStream"}, {'t', kStruct, "UnsafeCurrentTask"},
}

var builtinTypes = words{
	{"b", "BridgeObject"}, {"B", "UnsafeValueBuffer"}, {"c", "RawUnsafeContinuation"},
	{"D", "DefaultActorStorage"}, {"d", "NonDefaultDistributedActorStorage"}, {"e", "Executor"},
	{"I", "IntLiteral"}, {"j", "Job"}, {"P", "PackIndex"}, {"O", "UnknownObject"}, {"o", "NativeObject"},
	{"p", "RawPointer"}, {"t", "SILToken"}, {"w", "Word"}, {"A", "ImplicitActor"}, {"T", "TheTupleType"},
}

// words are texts by key, a letter or two.
type words []struct{ key, text string }

// find returns the text of a key, or "".
func (w words) find(key string) string {
	for i := range w {
		if w[i].key == key {
			return w[i].text
		}
	}
	return ""
}

// parseLetter returns the text of the next letter. Without a text the letter is
// not read.
func (s *demangler) parseLetter(table words) string {
	if c := s.Peek(); c > ' ' {
		if text := table.find(string(c)); text != "" {
			s.Pos++
			return text
		}
	}
	return ""
}

// parseStandard reads a type or module of the standard library.
func (s *demangler) parseStandard() ref {
	switch {
	case s.Accept('o'):
		return s.addPhrase(kModule, "__C")
	case s.Accept('C'):
		return s.addPhrase(kModule, "__C_Synthesized")
	case s.Accept('g'):
		arg := s.popType()
		return s.addSubstitution(s.addBound(s.addLibraryType(kEnum, "Optional"), s.add(kList, 0, arg)))
	}
	repeat := s.Natural()
	table := standardTypes
	if s.Accept('c') {
		table = concurrencyTypes
	}
	n := s.wrapType(s.findLibraryType(table, s.Next()))
	if n == 0 || !s.Spend(max(repeat, 1)) {
		return 0
	}
	for ; repeat > 1; repeat-- {
		s.stack = append(s.stack, n)
	}
	return n
}

// findLibraryType adds the type of the standard library with a letter.
func (s *demangler) findLibraryType(table libraryTypes, letter byte) ref {
	for i := range table {
		if table[i].letter == letter {
			return s.addLibraryType(table[i].kind, table[i].name)
		}
	}
	return 0
}

// addLibraryType returns a type of the standard library.
func (s *demangler) addLibraryType(kind kind, name string) ref {
	return s.add(kind, 0, s.addPhrase(kModule, "Swift"), s.addPhrase(kIdentifier, name))
}

// addNominal makes a type that has a name.
func (s *demangler) addNominal(kind kind) ref {
	name := s.popName()
	return s.addSubstitution(s.wrapType(s.add(kind, 0, s.popContext(), name)))
}

func (s *demangler) parseBuiltin() ref {
	if word := s.parseLetter(builtinTypes); word != "" {
		return s.wrapType(s.addPhrase(kBuiltin, "Builtin."+word))
	}
	if sized := s.parseLetter(words{{"f", "FPIEEE"}, {"i", "Int"}, {"v", "Vec"}}); sized != "" {
		size := s.parseIndex() - 1
		if size <= 0 || size > 4096 {
			return 0
		}
		if sized == "Vec" {
			return s.addVector(size, s.unwrap(s.popType()))
		}
		return s.wrapType(s.addPhrase(kBuiltin, "Builtin."+sized+itoa(size)))
	}
	if s.Accept('V') {
		element := s.popType()
		return s.addTypePhrase("Builtin.FixedArray<$0, $1>", s.popType(), element)
	}
	return 0
}

// addVector makes a vector of a builtin type.
func (s *demangler) addVector(size int, of ref) ref {
	if s.kind(of) != kBuiltin {
		return 0
	}
	return s.wrapType(s.addPhrase(kBuiltin, "Builtin.Vec"+itoa(size)+"x"+string(s.name(of)[len("Builtin."):])))
}

// parseInteger reads an integer as a generic argument.
func (s *demangler) parseInteger() ref {
	sign := ""
	if s.Accept('n') {
		sign = "-"
	}
	n := s.parseIndex()
	if n < 0 {
		return 0
	}
	return s.addTypePhrase(sign + itoa(n))
}

// parseFunctionType pops a function type: its attributes, then parameters and
// result.
func (s *demangler) parseFunctionType(flags int) ref {
	var actor, thrown ref
	for more := true; more; {
		switch s.topKind() {
		case kFlag:
			flags |= s.num(s.pop())
		case kActor:
			actor = s.pop()
		case kThrown:
			thrown = s.pop()
		default:
			more = false
		}
	}
	params, result := s.parseParameters(), s.parseParameters()
	if params == 0 || result == 0 {
		return 0
	}
	if s.kind(s.unwrap(params)) != kTuple {
		params = s.addOptional(kTuple, 0, params)
	}
	text := conventions[flags&conventionMask]
	if kind := flags >> derivativeShift; kind != 0 {
		text += derivatives.find(string(rune(kind))) + " "
	}
	if actor != 0 {
		flags |= flagActor
	}
	if thrown != 0 {
		flags |= flagThrows | flagThrown
	}
	for _, part := range functionParts {
		if part.flag == 0 || flags&part.flag != 0 {
			text += part.text
		}
	}
	n := s.addText(kFuncType, text, params, result, s.child(thrown, 0), s.child(actor, 0))
	s.Nodes[n].num = int32(flags)
	return s.wrapType(n)
}

// functionParts are the parts of a function type, with their conditions.
var functionParts = [...]struct {
	flag int
	text string
}{
	{flagIsolatedAny, "@isolated(any) "}, {flagCallerIsolated, "nonisolated(nonsending) "}, {flagActor, "@$3 "},
	{flagSendable, "@Sendable "}, {0, "$0"}, {flagAsync, " async"}, {flagThrows, " throws"}, {flagThrown, "($2)"},
	{0, " -> "}, {flagSendingResult, "sending "}, {0, "$1"},
}

// inout is the text of a parameter that the function changes.
const inout = "inout $0"

// conventions are the texts of conventions, by number.
var conventions = [conventionMask + 1]string{
	1: "@autoclosure ", "@convention(thin) ", "@convention(c) ", "@convention(block) ", "@escaping @convention(block) ",
}

// derivatives are the texts of kinds of derivatives.
var derivatives = words{
	{"d", "@differentiable"}, {"l", "@differentiable(_linear)"}, {"f", "@differentiable(_forward)"}, {"r", "@differentiable(reverse)"},
}

// parseParameters takes a tuple or a type. There is a short form for nothing.
func (s *demangler) parseParameters() ref {
	if s.popIf(kEmptyList) != 0 {
		return s.wrapType(s.addOptional(kTuple, 0))
	}
	return s.popType()
}

// parseElement takes one element of a tuple.
func (s *demangler) parseElement() ref {
	text := "$0"
	if s.popIf(kVariadic) != 0 {
		text = "$0..."
	}
	if label := s.popIf(kIdentifier); label != 0 {
		return s.addPhrase(kPhrase, "$1: "+text, s.popType(), label)
	}
	return s.addPhrase(kPhrase, text, s.popType())
}

// addComplexPhrase makes a phrase that is a type of more than one word.
func (s *demangler) addComplexPhrase(text string) ref {
	return s.wrapType(s.addPhrase(kComplex, text, s.popType()))
}

// parseAnnotation reads the annotations of function types and parameters.
func (s *demangler) parseAnnotation() ref {
	if word := s.parseLetter(words{{"g", "@const"}, {"i", "isolated"}, {"k", "@noDerivative"}, {"t", "_const"}, {"u", "sending"}}); word != "" {
		return s.addComplexPhrase(word + " $0")
	}
	c := s.Next()
	if i := strings.IndexByte("abACT", c); i >= 0 {
		return s.addOptional(kFlag, flagAsync<<i)
	}
	switch c {
	case 'c':
		return s.add(kActor, 0, s.popType())
	case 'j':
		return s.addOptional(kFlag, int(s.Next())<<derivativeShift)
	case 'K':
		return s.add(kThrown, 0, s.popType())
	}
	return 0
}

// metatypes are the representations of metatypes, by letter.
var metatypes = words{{"t", "@thin"}, {"T", "@thick"}, {"o", "@objc_metatype"}}

// parseSpecial reads the rarer types.
func (s *demangler) parseSpecial() ref {
	if word := s.parseLetter(words{{"b", "@box"}, {"o", "unowned"}, {"u", "unowned(unsafe)"}, {"w", "weak"}}); word != "" {
		return s.addComplexPhrase(word + " $0")
	}
	c := s.Next()
	if i := strings.IndexByte("KfCBLA", c); i >= 0 {
		return s.parseFunctionType(conventionAutoclosure + i%5)
	}
	switch c {
	case 'E', 'U':
		return s.parseFunctionType(0)
	case 'D':
		if s.popType() == 0 {
			return 0
		}
		return s.addTypePhrase("Self")
	case 'p':
		return s.addTypePhrase("$0.Type", s.popType())
	case 'M', 'm':
		if word := s.parseLetter(metatypes); word != "" && c == 'M' {
			return s.parseMetatype(word + " ")
		} else if word != "" {
			return s.addTypePhrase(word+" $0.Type", s.popType())
		}
	case 'P':
		requirements := s.popList(kList, func() ref { return s.popIf(kRequirement) })
		return s.wrapType(s.addPhrase(kComplex, "any $0<$1>", s.popType(), requirements))
	case 'c', 'l':
		return s.parseExistential(c)
	case 'e':
		return s.addTypePhrase("<ERROR TYPE>")
	case 'Y':
		return s.addNominal(kOtherType)
	case 'X', 'x':
		return s.parseBox(c == 'X')
	case 'Z':
		s.popList(kList, s.popType)
		id := s.popIf(kIdentifier)
		return s.addPhrase(kPlace, "$0.(unknown context at $1)|", s.popContext(), id)
	}
	return 0
}

// parseBox takes the types of captured variables, and those for the generic
// parameters of the box.
func (s *demangler) parseBox(generic bool) ref {
	var sig, args ref
	text := "{ $0 }"
	if generic {
		sig, args = s.popIf(kSignature), s.popList(kList, s.popType)
		text = "$1 { $0 } <$2>"
		if sig == 0 || args == 0 {
			return 0
		}
	}
	fields := s.popList(kList, s.popType)
	var list []ref
	for _, t := range s.list(fields) {
		n := s.unwrap(t)
		if s.kind(n) == kComplex && string(s.name(n)) == inout {
			list = append(list, s.addPhrase(kPhrase, "var $0", s.child(n, 0)))
		} else {
			list = append(list, s.addPhrase(kPhrase, "let $0", t))
		}
	}
	if fields == 0 {
		return 0
	}
	return s.wrapType(s.addText(kPhrase, text, s.addOptional(kList, 0, list...), sig, args))
}

// parenthesize returns the form of a type in a phrase in which the next word would
// otherwise belong to a part of it.
func (s *demangler) parenthesize(t ref) string {
	switch n := s.unwrap(t); s.kind(n) {
	case kFuncType, kComplex, kGeneric:
		return "($0)"
	case kExistential:
		return [...]string{"$0", "($0)"}[s.num(n)]
	}
	return "$0"
}

// parseMetatype takes a type and makes the type of it.
func (s *demangler) parseMetatype(word string) ref {
	t := s.popType()
	if s.kind(s.unwrap(t)) == kExistential {
		return s.addTypePhrase(word+s.parenthesize(t)+".Protocol", t)
	}
	return s.addTypePhrase(word+s.parenthesize(t)+".Type", t)
}

// moreWords is the number of an existential type of more than one word.
const moreWords = 1

// parseExistential takes a list of protocols, perhaps with a class.
func (s *demangler) parseExistential(c byte) ref {
	var super ref
	if c == 'c' {
		if super = s.popType(); super == 0 {
			return 0
		}
	}
	protocols := s.popList(kUnion, s.popProtocol)
	count := len(s.list(protocols))
	text := "$0"
	switch {
	case protocols == 0:
		return 0
	case c == 'c':
		text = "$1 & $0"
	case c == 'l' && count > 0:
		text = "$0 & Swift.AnyObject|$0 & AnyObject"
	case c == 'l':
		text = "Swift.AnyObject|AnyObject"
	case count == 0:
		text = "Any"
	}
	n := s.addText(kExistential, text, protocols, super)
	if count > 1 || strings.IndexByte(text, '&') > 0 {
		s.Nodes[n].num = moreWords
	}
	return s.wrapType(n)
}
