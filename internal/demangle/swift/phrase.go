package swift

// phrases are the texts of the artifacts of the compiler, by operator. After a |
// is the text of the short style, if it is another one.
type phrases []struct {
	operator string
	takes    string // letters of the values that it pops, see notes
	text     string // with $0 for the first value
}

// attributes are the phrases of operators that come after a function and are
// written before it.
var attributes = phrases{
	{"TA", "", "partial apply forwarder for |partial apply for "},
	{"Ta", "", "partial apply ObjC forwarder for |partial apply for "},
	{"TD", "", "dynamic "},
	{"Td", "", "super "},
	{"To", "", "@objc "},
	{"TO", "", "@nonobjc "},
	{"Tm", "", "merged |"},
	{"TE", "", "distributed thunk |"},
	{"TF", "", "distributed accessor for |"},
	{"TI", "", "dynamically replaceable thunk for |"},
	{"Tx", "", "dynamically replaceable key for |"},
	{"TX", "", "dynamically replaceable variable for |"},
	{"Tu", "", "async function pointer to "},
	{"TQ", "", "($0) await resume partial function for |"},
	{"TY", "", "($0) suspend resume partial function for |"},
	{"Twb", "", "back deployment thunk for |"},
	{"TwB", "", "back deployment fallback for "},
	{"Twc", "", "coro function pointer to "},
	{"Twd", "", "default override of "},
	{"TwS", "", "#_hasSymbol query for "},
	{"HF", "", "accessible function runtime record for |"},
	{"Tg", "", "generic specialization <$0> of |specialized "},
	{"TB", "", "generic specialization <$0> of |specialized "},
	{"TG", "", "generic not re-abstracted specialization <$0> of |specialized "},
	{"Ts", "", "generic pre-specialization <$0> of |specialized "},
	{"Ti", "", "inlined generic function <$0> of |specialized "},
	{"Tp", "", "generic partial specialization <$0> of |specialized "},
	{"TP", "", "generic not-reabstracted partial specialization <$0> of |specialized "},
	{"Tf", "", "function signature specialization <$0> of |specialized "},
	{"Tv", "", "outlined variable #$0 of "},
	{"Tvr", "", "outlined read-only object #$0 of "},
	{"Te", "", "outlined bridged method ($0) of "},
}

// once is written once, however often a function was specialized.
const once = "specialized "

// notes are the phrases that contain their subject. The values that they pop are
// c conformance, e declaration, f the same or a phrase,
// i associated type, a chain of them, m module, n name, o opaque type, p protocol,
// s signature with a blank and S without, both of which may be missing, t type,
// x context, y types, k anything.
var notes = phrases{
	{"N", "t", "type metadata for $0"},
	{"Ma", "t", "type metadata accessor for $0"},
	{"Mb", "k", "canonical specialized generic type metadata accessor for $0"},
	{"Mf", "t", "full type metadata for $0"},
	{"Mg", "k", "opaque type descriptor accessor for $0"},
	{"Mh", "k", "opaque type descriptor accessor impl for $0"},
	{"Mi", "t", "type metadata instantiation function for $0"},
	{"Mj", "k", "opaque type descriptor accessor key for $0"},
	{"Mk", "k", "opaque type descriptor accessor var for $0"},
	{"Ml", "t", "type metadata singleton initialization cache for $0"},
	{"Mm", "t", "metaclass for $0"},
	{"Mn", "t", "nominal type descriptor for $0"},
	{"Mo", "t", "class metadata base offset for $0"},
	{"Mp", "p", "protocol descriptor for $0"},
	{"Mq", "k", "uniquable $0"},
	{"Mr", "t", "type metadata completion function for $0"},
	{"Ms", "t", "ObjC resilient class stub for $0"},
	{"Mt", "t", "full ObjC resilient class stub for $0"},
	{"Mu", "t", "method lookup function for $0"},
	{"Mz", "k", "flag for loading of canonical specialized generic type metadata for $0"},
	{"MB", "t", "reflection metadata builtin descriptor $0"},
	{"MC", "t", "reflection metadata superclass descriptor $0"},
	{"MD", "t", "demangling cache variable for type metadata for $0"},
	{"MF", "t", "reflection metadata field descriptor $0"},
	{"MI", "t", "type metadata instantiation cache for $0"},
	{"MJ", "k", "cache variable for noncanonical specialized generic type metadata for $0"},
	{"MK", "k", "metadata instantiation cache for $0"},
	{"ML", "t", "lazy cache variable for type metadata for $0"},
	{"MM", "k", "specialized generic metaclass for $0"},
	{"MN", "k", "noncanonical specialized generic type metadata for $0"},
	{"MP", "t", "generic type metadata pattern for $0"},
	{"MQ", "k", "opaque type descriptor for $0"},
	{"MS", "p", "protocol self-conformance descriptor for $0"},
	{"MU", "t", "ObjC metadata update function for $0"},
	{"MV", "k", "property descriptor for $0"},
	{"Mc", "c", "protocol conformance descriptor for $0"},
	{"MA", "c", "reflection metadata associated type descriptor $0"},
	{"MXM", "m", "module descriptor $0"},
	{"MXE", "x", "extension descriptor $0"},
	{"MXX", "x", "anonymous descriptor $0"},
	{"MXY", "nx", "anonymous descriptor $1"},
	{"Hr", "p", "protocol descriptor runtime record for $0"},
	{"Hn", "t", "nominal type descriptor runtime record for $0"},
	{"Ho", "o", "opaque type descriptor runtime record for $0"},
	{"Hc", "c", "protocol conformance descriptor runtime record for $0"},
	{"WV", "t", "value witness table for $0"},
	{"WP", "c", "protocol witness table for $0"},
	{"Wp", "c", "protocol witness table pattern for $0"},
	{"Wa", "c", "protocol witness table accessor for $0"},
	{"Wr", "c", "resilient protocol witness table for $0"},
	{"WG", "c", "generic protocol witness table for $0"},
	{"WI", "c", "instantiation function for generic protocol witness table for $0"},
	{"WS", "p", "protocol self-conformance witness table for $0"},
	{"Wl", "ct", "lazy protocol witness table accessor for type $1 and conformance $0"},
	{"WL", "ct", "lazy protocol witness table cache variable for type $1 and conformance $0"},
	{"Wt", "nc", "associated type metadata accessor for $0 in $1"},
	{"WT", "tac", "associated type witness table accessor for $1 : $0 in $2"},
	{"Wb", "tc", "base witness table accessor for $0 in $1"},
	{"WC", "e", "enum case for $0"},
	{"Wvd", "e", "direct field offset for $0"},
	{"Wvi", "e", "indirect field offset for $0"},
	{"WZ", "", "one-time initialization function for $0"},
	{"Wz", "", "one-time initialization token for $0"},
	{"Tc", "f", "curry thunk of $0"},
	{"Tj", "f", "dispatch thunk of $0"},
	{"Tq", "f", "method descriptor for $0"},
	{"TTI", "f", "identity thunk of $0"},
	{"TS", "f", "protocol self-conformance witness for $0"},
	{"TC", "t", "coroutine continuation prototype for $0"},
	{"TL", "p", "protocol requirements base descriptor for $0"},
	{"Tl", "i", "associated type descriptor for $0"},
	{"TM", "i", "default associated type metadata accessor for $0"},
	{"TV", "ee", "vtable thunk for $0 dispatching to $1"},
	{"TW", "ec", "protocol witness for $0 in conformance $1"},
	{"Tb", "pt", "base conformance descriptor for $1: $0"},
	{"Tn", "pat", "associated conformance descriptor for $2.$1: $0"},
	{"TN", "pat", "default associated conformance accessor for $2.$1: $0"},
	{"TR", "stt", "reabstraction thunk helper $0from $2 to $1|thunk for $2"},
	{"Tr", "stt", "reabstraction thunk $0from $2 to $1|thunk for $2"},
	{"Ty", "sttt", "reabstraction thunk $0from $3 to $2 self $1"},
	{"TU", "tk", "$1 with global actor constraint $0"},
	{"Tz", "stt", "objc-to-swift-async completion handler block implementation for $2 with result type $1"},
	{"TZ", "stt", "predefined objc-to-swift-async completion handler block implementation for $2 with result type $1"},
	{"TK", "ySe", "key path getter for $2 : $1$0"},
	{"TKmu", "ySe", "key path unapplied method $2 : $1$0"},
	{"TKMA", "ySe", "key path applied method $2 : $1$0"},
	{"Tk", "ySe", "key path setter for $2 : $1$0"},
	{"TH", "Sy", "key path index equality operator for $0($1)"},
	{"Th", "Sy", "key path index hash operator for $0($1)"},
}

// outlined are the operations that the optimizer moved out of functions.
var outlined = words{
	{"b", "init with take"}, {"B", "init with take"}, {"c", "init with copy"}, {"C", "init with copy"},
	{"d", "assign with take"}, {"D", "assign with take"}, {"e", "consume"}, {"f", "assign with copy"},
	{"F", "assign with copy"}, {"g", "enum get tag"}, {"h", "destroy"}, {"H", "destroy"}, {"r", "retain"},
	{"s", "release"}, {"y", "copy"}, {"i", "enum tag store"}, {"j", "enum project data for load"},
}

// valueWitnesses are the functions that handle values of a type, by two
// letters.
var valueWitnesses = words{
	{"al", "allocateBuffer"}, {"ca", "assignWithCopy"}, {"ta", "assignWithTake"}, {"de", "deallocateBuffer"},
	{"xx", "destroy"}, {"XX", "destroyBuffer"}, {"Xx", "destroyArray"},
	{"CP", "initializeBufferWithCopyOfBuffer"}, {"Cp", "initializeBufferWithCopy"},
	{"cp", "initializeWithCopy"}, {"Cc", "initializeArrayWithCopy"}, {"TK", "initializeBufferWithTakeOfBuffer"},
	{"Tk", "initializeBufferWithTake"}, {"tk", "initializeWithTake"},
	{"Tt", "initializeArrayWithTakeFrontToBack"}, {"tT", "initializeArrayWithTakeBackToFront"},
	{"pr", "projectBuffer"}, {"xs", "storeExtraInhabitant"}, {"xg", "getExtraInhabitantIndex"},
	{"ug", "getEnumTag"}, {"up", "destructiveProjectEnumData"}, {"ui", "destructiveInjectEnumTag"},
	{"et", "getEnumTagSinglePayload"}, {"st", "storeEnumTagSinglePayload"},
}

// addAttribute makes a phrase about the function before it.
func (s *demangler) addAttribute(operator string, parts ...ref) ref {
	return s.addTablePhrase(kAttribute, attributes, operator, parts)
}

// addNote adds the phrase of the operator that begins at a position of the name.
// It pops the values that the operator lists.
func (s *demangler) addNote(at int, parts ...ref) ref {
	return s.addTablePhrase(kPhrase, notes, s.Since(at), parts)
}

func (s *demangler) addTablePhrase(kind kind, table phrases, operator string, parts []ref) ref {
	for i := range table {
		if p := &table[i]; p.operator == operator {
			for _, value := range p.takes {
				parts = append(parts, patternArguments[value](s))
			}
			return s.addPhrase(kind, p.text, parts...)
		}
	}
	return 0
}

// patternArguments has the function that pops a value, by its letter in a pattern.
var patternArguments = map[rune]func(*demangler) ref{
	'c': (*demangler).parseConformance,
	'e': (*demangler).popEntity,
	'i': (*demangler).parseAssociatedName,
	'k': (*demangler).pop,
	'm': (*demangler).popModule,
	'n': (*demangler).popName,
	'p': (*demangler).popProtocol,
	't': (*demangler).popType,
	'x': (*demangler).popContext,
	'a': func(s *demangler) ref {
		// A protocol on top is that of the last name of a path.
		if s.topKind() == kType && s.kind(s.unwrap(s.stack[len(s.stack)-1])) != kProtocol {
			return s.popType()
		}
		return s.popList(kPath, s.parseAssociatedName)
	},
	'f': func(s *demangler) ref {
		if s.topKind() == kPhrase {
			return s.pop()
		}
		return s.popEntity()
	},
	'o': func(s *demangler) ref { return s.popIf(kOpaqueOf) },
	'S': func(s *demangler) ref { return s.addText(kPhrase, "$0", s.popIf(kSignature)) },
	's': func(s *demangler) ref {
		if sig := s.popIf(kSignature); sig != 0 {
			return s.addPhrase(kPhrase, "$0 ", sig)
		}
		return s.addPhrase(kText, "")
	},
	'y': func(s *demangler) ref {
		if s.topKind() == kType {
			return s.parseTypes()
		}
		return 0
	},
}
