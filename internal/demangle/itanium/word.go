package itanium

// word is a text that is not part of the mangled name: an index of words. The
// first 26 are the builtin types with a letter of their own, in the order of the
// letters.
type word uint8

const (
	wordInt      word = 'i' - 'a'
	wordChar     word = 'c' - 'a'
	wordVoid     word = 'v' - 'a'
	wordEllipsis word = 'z' - 'a'
)

const (
	wordDecimal32 word = 26 + iota
	wordDecimal64
	wordDecimal128
	wordHalf
	wordChar8
	wordChar16
	wordChar32
	wordAuto
	wordDecltypeAuto
	wordBFloat16
	wordStd
	wordAllocator
	wordBasicString
	wordString
	wordIstream
	wordOstream
	wordIostream
	wordBasicIstream
	wordBasicOstream
	wordBasicIostream
	wordCharTraits
	wordAnonymous
	wordStringLiteral
	wordBlock
	wordStruct
	wordUnion
	wordEnum
	wordBitInt
	wordUnsignedBitInt
	wordFloat
	wordFloatX
	wordComplex
	wordImaginary
	wordType
	wordValue
	wordTemplate
	wordThis
	wordThrow
	wordVtable
	wordVTT
	wordTypeinfo
	wordTypeinfoName
	wordTypeinfoFunction
	wordJavaClass
	wordParameterObject
	wordConstruction
	wordThunk
	wordVirtualThunk
	wordCovariantThunk
	wordTLSInit
	wordTLSWrapper
	wordGuard
	wordTemporary
	wordTransaction
	wordNonTransaction
	wordHidden
	wordInitializer
	wordBlockInvoke
)

// words has the texts in GNU's spelling.
var words = [...]string{
	"signed char", "bool", "char", "double", "long double", "float", "__float128", "unsigned char", "int", "unsigned int", "",
	"long", "unsigned long", "__int128", "unsigned __int128", "", "", "", "short", "unsigned short", "", "void", "wchar_t",
	"long long", "unsigned long long", "...",
	wordDecimal32:        "decimal32",
	wordDecimal64:        "decimal64",
	wordDecimal128:       "decimal128",
	wordHalf:             "half",
	wordChar8:            "char8_t",
	wordChar16:           "char16_t",
	wordChar32:           "char32_t",
	wordAuto:             "auto",
	wordDecltypeAuto:     "decltype(auto)",
	wordBFloat16:         "std::bfloat16_t",
	wordStd:              "std",
	wordAllocator:        "allocator",
	wordBasicString:      "basic_string",
	wordString:           "string",
	wordIstream:          "istream",
	wordOstream:          "ostream",
	wordIostream:         "iostream",
	wordBasicIstream:     "basic_istream",
	wordBasicOstream:     "basic_ostream",
	wordBasicIostream:    "basic_iostream",
	wordCharTraits:       "char_traits",
	wordAnonymous:        "(anonymous namespace)",
	wordStringLiteral:    "string literal",
	wordBlock:            "'block-literal'",
	wordStruct:           "struct ",
	wordUnion:            "union ",
	wordEnum:             "enum ",
	wordBitInt:           "_BitInt",
	wordUnsignedBitInt:   "unsigned _BitInt",
	wordFloat:            "_Float",
	wordFloatX:           "_Float",
	wordComplex:          " _Complex",
	wordImaginary:        " _Imaginary",
	wordType:             "$T",
	wordValue:            "$N",
	wordTemplate:         "$TT",
	wordThis:             "this",
	wordThrow:            "throw",
	wordVtable:           "vtable for ",
	wordVTT:              "VTT for ",
	wordTypeinfo:         "typeinfo for ",
	wordTypeinfoName:     "typeinfo name for ",
	wordTypeinfoFunction: "typeinfo fn for ",
	wordJavaClass:        "java Class for ",
	wordParameterObject:  "template parameter object for ",
	wordConstruction:     "construction vtable for ",
	wordThunk:            "non-virtual thunk to ",
	wordVirtualThunk:     "virtual thunk to ",
	wordCovariantThunk:   "covariant return thunk to ",
	wordTLSInit:          "TLS init function for ",
	wordTLSWrapper:       "TLS wrapper function for ",
	wordGuard:            "guard variable for ",
	wordTemporary:        "reference temporary for ",
	wordTransaction:      "transaction clone for ",
	wordNonTransaction:   "non-transaction clone for ",
	wordHidden:           "hidden alias for ",
	wordInitializer:      "initializer for module ",
	wordBlockInvoke:      "invocation function for block in ",
}

// spelling returns the text of a word.
func (w word) spelling(isLLVM bool) string {
	if isLLVM {
		switch w {
		case wordComplex:
			return " complex"
		case wordImaginary:
			return " imaginary"
		case wordTLSInit:
			return "thread-local initialization routine for "
		case wordTLSWrapper:
			return "thread-local wrapper routine for "
		}
	}
	return words[w]
}
