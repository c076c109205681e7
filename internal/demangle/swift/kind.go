package swift

// kind is the meaning of a node. The order matters: kinds that may occur in the same
// place are neighbors.
type kind uint8

const (
	kNone kind = iota
	// Names. The first two and kText are written as their text is.
	kIdentifier
	kOperator
	kLocalName
	kPrivateName // kids: file, name (may be missing)
	kRelatedName
	// Markers and other values on the stack.
	kText
	kEmptyList
	kFirst
	kVariadic
	kFlag // num: of a function type
	kThrown
	kActor
	kRetroactive
	kConformanceRef
	kAnyConformance
	kMarker // num: parameter; text: its other property
	kRequirement
	kSignature
	kAttribute // of a function
	kSuffix
	kModule
	// A type, and the contexts of declarations.
	kType
	kClass // kids of a type: context, name
	kEnum
	kStruct
	kProtocol
	kAlias
	kOtherType
	kExtension
	kFunction // kids of these: context, name, labels, type
	kVariable
	kSubscript
	kAllocator
	kConstructor
	kAccessor // text: which; kid: storage
	kMember   // num: row of members; kid: context
	kClosure  // num: which one; text: what; kids as of a function
	kDefault  // num: which argument; kid: context
	kMacro    // text: what; kids as of a function
	kBoundFunction
	kStatic
	kPlace // a phrase: a context without a name
	// The rest is written by its text with kids in it.
	kPhrase
	kComplex // a phrase of which a part must not be taken for the whole
	kNominalArgs
	kExistential
	kBuiltin
	kParameter // num: depth<<16 | index
	kGeneric   // kids: signature, type
	kFuncType  // num: convention and flags; kids: parameters, result, thrown type, actor
	kTuple     // kids: elements
	kOpaqueOf
	kList   // kids with commas
	kPath   // kids with dots
	kUnion  // kids with ampersands
	kNested // a name in a name
	kAll    // the whole name
)

const (
	firstContext = kClass
	lastContext  = kPlace
)
