package swift

import "strings"

// What a function type is besides parameters and result: a convention, and
// flags.
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

// standardTypes are the types of the standard library that have a letter:
// the letter, what they are, and the name.
const standardTypes = "AVAutoreleasingUnsafeMutablePointer BPBinaryFloatingPoint DVDictionary EPEncodable " +
	"FPFloatingPoint GPRandomNumberGenerator HPHashable IVDefaultIndices JVCharacter KPBidirectionalCollection " +
	"LPComparable MPMutableCollection NVClosedRange OVObjectIdentifier PVUnsafePointer QPEquatable " +
	"RVUnsafeBufferPointer SVString TPSequence UPUnsignedInteger VVUnsafeRawPointer WVUnsafeRawBufferPointer " +
	"XPRangeExpression YPRawRepresentable ZPSignedInteger aVArray bVBool dVDouble ePDecodable fVFloat hVSet iVInt " +
	"jPNumeric kPRandomAccessCollection lPCollection mPRangeReplaceableCollection nVRange pVUnsafeMutablePointer " +
	"qOOptional rVUnsafeMutableBufferPointer sVSubstring tPIteratorProtocol uVUInt vVUnsafeMutableRawPointer " +
	"wVUnsafeMutableRawBufferPointer xPStrideable yPStringProtocol zPBinaryInteger "

// concurrencyTypes are those whose letter stands behind a c.
const concurrencyTypes = "APActor CVCheckedContinuation EVCancellationError FPExecutor GVTaskGroup " +
	"IPAsyncIteratorProtocol JVUnownedJob MCMainActor PVTaskPriority SVAsyncStream TVTask cVUnsafeContinuation " +
	"eVUnownedSerialExecutor fPSerialExecutor gVThrowingTaskGroup hPTaskExecutor iPAsyncSequence " +
	"sVAsyncThrowingStream tVUnsafeCurrentTask "

const builtinTypes = "bBridgeObject BUnsafeValueBuffer cRawUnsafeContinuation DDefaultActorStorage " +
	"dNonDefaultDistributedActorStorage eExecutor IIntLiteral jJob PPackIndex OUnknownObject " +
	"oNativeObject pRawPointer tSILToken wWord AImplicitActor TTheTupleType "

// entry is what a table, of words that begin with their key and end with a
// blank, has for a key.
func entry(table, key string) string {
	for key != "" && table != "" {
		word, rest, _ := strings.Cut(table, " ")
		if strings.HasPrefix(word, key) {
			return word[len(key):]
		}
		table = rest
	}
	return ""
}

// letter is what a table has for the next letter. If it has nothing the letter
// is not taken.
func (s *swift) letter(table string) string {
	if c := s.Peek(); c > ' ' {
		if word := entry(table, string(c)); word != "" {
			s.Pos++
			return word
		}
	}
	return ""
}

// standard reads a type or module of the standard library.
func (s *swift) standard() ref {
	switch {
	case s.Accept('o'):
		return s.phrase(kModule, "__C")
	case s.Accept('C'):
		return s.phrase(kModule, "__C_Synthesized")
	case s.Accept('g'):
		arg := s.popType()
		return s.substitute(s.bound(s.library(kEnum, "Optional"), s.add(kList, 0, arg)))
	}
	repeat := s.Natural()
	table := standardTypes
	if s.Accept('c') {
		table = concurrencyTypes
	}
	word := s.letter(table)
	if word == "" || !s.take(max(repeat, 1)) {
		return 0
	}
	n := s.wrap(s.library(map[byte]swiftKind{'V': kStruct, 'P': kProtocol, 'O': kEnum, 'C': kClass}[word[0]], word[1:]))
	for ; repeat > 1; repeat-- {
		s.stack = append(s.stack, n)
	}
	return n
}

// library is a type of the standard library.
func (s *swift) library(kind swiftKind, name string) ref {
	return s.add(kind, 0, s.phrase(kModule, "Swift"), s.phrase(kIdentifier, name))
}

// declared makes a type that has a name.
func (s *swift) declared(kind swiftKind) ref {
	name := s.popName()
	return s.substitute(s.wrap(s.add(kind, 0, s.popContext(), name)))
}

func (s *swift) builtin() ref {
	word := s.letter(builtinTypes)
	if sized := s.letter("fFPIEEE iInt vVec "); sized != "" {
		size := s.index() - 1
		if size <= 0 || size > 4096 {
			return 0
		}
		if word = sized + itoa(size); sized == "Vec" {
			of := s.inner(s.popType())
			if s.kind(of) != kBuiltin {
				return 0
			}
			word += "x" + string(s.name(of)[len("Builtin."):])
		}
	}
	if word == "" {
		return 0
	}
	return s.wrap(s.phrase(kBuiltin, "Builtin."+word))
}

// functionType takes a function type from the stack: first what is said about
// it, then parameters and result.
func (s *swift) functionType(flags int) ref {
	var actor, thrown ref
	for more := true; more; {
		switch s.top() {
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
	params, result := s.parameters(), s.parameters()
	if params == 0 || result == 0 {
		return 0
	}
	if s.kind(s.inner(params)) != kTuple {
		params = s.some(kTuple, 0, params)
	}
	text := entry(conventions, itoa(flags&conventionMask))
	if kind := flags >> derivativeShift; kind != 0 {
		text += entry(derivatives, string(rune(kind))) + "_"
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
	n := s.loose(kFuncType, strings.ReplaceAll(text, "_", " "), params, result, s.kid(thrown, 0), s.kid(actor, 0))
	s.nodes[n].num = int32(flags)
	return s.wrap(n)
}

// functionParts are the parts of a function type, with what they need.
var functionParts = [...]struct {
	flag int
	text string
}{
	{flagIsolatedAny, "@isolated(any) "}, {flagCallerIsolated, "nonisolated(nonsending) "}, {flagActor, "@$3 "},
	{flagSendable, "@Sendable "}, {0, "$0"}, {flagAsync, " async"}, {flagThrows, " throws"}, {flagThrown, "($2)"},
	{0, " -> "}, {flagSendingResult, "sending "}, {0, "$1"},
}

// What is written for a convention and for a kind of derivative. An underscore
// is a blank.
const (
	conventions = "1@autoclosure_ 2@convention(thin)_ 3@convention(c)_ 4@convention(block)_ 5@escaping_@convention(block)_ "
	derivatives = "d@differentiable l@differentiable(_linear) f@differentiable(_forward) r@differentiable(reverse) "
)

// parameters takes a tuple or a type. There is a short form for nothing.
func (s *swift) parameters() ref {
	if s.popIf(kEmptyList) != 0 {
		return s.wrap(s.some(kTuple, 0))
	}
	return s.popType()
}

// element takes one element of a tuple.
func (s *swift) element() ref {
	text := "$0"
	if s.popIf(kVariadic) != 0 {
		text = "$0..."
	}
	if label := s.popIf(kIdentifier); label != 0 {
		return s.phrase(kPhrase, "$1: "+text, s.popType(), label)
	}
	return s.phrase(kPhrase, text, s.popType())
}

// complex makes a phrase that is a type of more than one word.
func (s *swift) complex(text string) ref { return s.wrap(s.phrase(kComplex, text, s.popType())) }

// annotation reads what is said about function types and parameters.
func (s *swift) annotation() ref {
	if word := s.letter("g@const iisolated k@noDerivative t_const usending "); word != "" {
		return s.complex(word + " $0")
	}
	c := s.Next()
	if i := strings.IndexByte("abACT", c); i >= 0 {
		return s.some(kFlag, flagAsync<<i)
	}
	switch c {
	case 'c':
		return s.add(kActor, 0, s.popType())
	case 'j':
		return s.some(kFlag, int(s.Next())<<derivativeShift)
	case 'K':
		return s.add(kThrown, 0, s.popType())
	}
	return 0
}

// special reads the rarer types.
func (s *swift) special() ref {
	if word := s.letter("b@box ounowned uunowned(unsafe) wweak "); word != "" {
		return s.complex(word + " $0")
	}
	c := s.Next()
	if i := strings.IndexByte("KfCBLA", c); i >= 0 {
		return s.functionType(conventionAutoclosure + i%5)
	}
	switch c {
	case 'E', 'U':
		return s.functionType(0)
	case 'D':
		if s.popType() == 0 {
			return 0
		}
		return s.typed("Self")
	case 'p':
		return s.typed("$0.Type", s.popType())
	case 'M', 'm':
		if word := s.letter("t@thin T@thick o@objc_metatype "); word != "" && c == 'M' {
			return s.metatype(word + " ")
		} else if word != "" {
			return s.typed(word+" $0.Type", s.popType())
		}
	case 'P':
		requirements := s.gather(kList, func() ref { return s.popIf(kRequirement) })
		return s.wrap(s.phrase(kComplex, "any $0<$1>", s.popType(), requirements))
	case 'c', 'l':
		return s.existential(c)
	case 'e':
		return s.typed("<ERROR TYPE>")
	case 'Y':
		return s.declared(kOtherType)
	}
	return 0
}

// simple is how a type stands in a phrase where what follows would belong to a
// part of it otherwise.
func (s *swift) simple(t ref) string {
	switch n := s.inner(t); s.kind(n) {
	case kFuncType, kComplex, kGeneric:
		return "($0)"
	case kExistential:
		return [...]string{"$0", "($0)"}[s.num(n)]
	}
	return "$0"
}

// metatype takes a type and makes the type of it.
func (s *swift) metatype(word string) ref {
	t := s.popType()
	if s.kind(s.inner(t)) == kExistential {
		return s.typed(word+s.simple(t)+".Protocol", t)
	}
	return s.typed(word+s.simple(t)+".Type", t)
}

// moreWords is what an existential type of more than one word has as number.
const moreWords = 1

// existential takes a list of protocols, perhaps with a class.
func (s *swift) existential(c byte) ref {
	var super ref
	if c == 'c' {
		if super = s.popType(); super == 0 {
			return 0
		}
	}
	protocols := s.gather(kUnion, s.popProtocol)
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
	n := s.loose(kExistential, text, protocols, super)
	if count > 1 || strings.IndexByte(text, '&') > 0 {
		s.nodes[n].num = moreWords
	}
	return s.wrap(n)
}
