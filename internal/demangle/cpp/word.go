package cpp

// Word is a text that is not part of the mangled name: an index of words. The
// first 26 are the builtin types with a letter of their own, in the order of the
// letters.
type Word uint8

const (
	WordInt      Word = 'i' - 'a'
	WordChar     Word = 'c' - 'a'
	WordVoid     Word = 'v' - 'a'
	WordEllipsis Word = 'z' - 'a'
)

const (
	WordDecimal32 Word = 26 + iota
	WordDecimal64
	WordDecimal128
	WordHalf
	WordChar8
	WordChar16
	WordChar32
	WordAuto
	WordDecltypeAuto
	WordBFloat16
	WordAccum
	WordFract
	WordSat
	WordUnsigned
	WordStd
	WordAllocator
	WordBasicString
	WordString
	WordIstream
	WordOstream
	WordIostream
	WordBasicIstream
	WordBasicOstream
	WordBasicIostream
	WordCharTraits
	WordAnonymous
	WordStringLiteral
	WordBlock
	WordStruct
	WordUnion
	WordEnum
	WordBitInt
	WordUnsignedBitInt
	WordFloat
	WordFloatX
	WordComplex
	WordImaginary
	WordType
	WordValue
	WordTemplate
	WordThis
	WordThrow
	WordVtable
	WordVTT
	WordTypeinfo
	WordTypeinfoName
	WordTypeinfoFunction
	WordJavaClass
	WordParameterObject
	WordConstruction
	WordThunk
	WordVirtualThunk
	WordCovariantThunk
	WordTLSInit
	WordTLSWrapper
	WordGuard
	WordTemporary
	WordTransaction
	WordNonTransaction
	WordHidden
	WordInitializer
	WordBlockInvoke
)

// Words has the texts in GNU's spelling.
var Words = [...]string{
	"signed char", "bool", "char", "double", "long double", "float", "__float128", "unsigned char", "int", "unsigned int", "",
	"long", "unsigned long", "__int128", "unsigned __int128", "", "", "", "short", "unsigned short", "", "void", "wchar_t",
	"long long", "unsigned long long", "...",
	WordDecimal32:        "decimal32",
	WordDecimal64:        "decimal64",
	WordDecimal128:       "decimal128",
	WordHalf:             "half",
	WordChar8:            "char8_t",
	WordChar16:           "char16_t",
	WordChar32:           "char32_t",
	WordAuto:             "auto",
	WordDecltypeAuto:     "decltype(auto)",
	WordBFloat16:         "std::bfloat16_t",
	WordAccum:            "_Accum",
	WordFract:            "_Fract",
	WordSat:              "_Sat",
	WordUnsigned:         "unsigned",
	WordStd:              "std",
	WordAllocator:        "allocator",
	WordBasicString:      "basic_string",
	WordString:           "string",
	WordIstream:          "istream",
	WordOstream:          "ostream",
	WordIostream:         "iostream",
	WordBasicIstream:     "basic_istream",
	WordBasicOstream:     "basic_ostream",
	WordBasicIostream:    "basic_iostream",
	WordCharTraits:       "char_traits",
	WordAnonymous:        "(anonymous namespace)",
	WordStringLiteral:    "string literal",
	WordBlock:            "'block-literal'",
	WordStruct:           "struct",
	WordUnion:            "union",
	WordEnum:             "enum",
	WordBitInt:           "_BitInt",
	WordUnsignedBitInt:   "unsigned _BitInt",
	WordFloat:            "_Float",
	WordFloatX:           "_Float",
	WordComplex:          " _Complex",
	WordImaginary:        " _Imaginary",
	WordType:             "$T",
	WordValue:            "$N",
	WordTemplate:         "$TT",
	WordThis:             "this",
	WordThrow:            "throw",
	WordVtable:           "vtable for ",
	WordVTT:              "VTT for ",
	WordTypeinfo:         "typeinfo for ",
	WordTypeinfoName:     "typeinfo name for ",
	WordTypeinfoFunction: "typeinfo fn for ",
	WordJavaClass:        "java Class for ",
	WordParameterObject:  "template parameter object for ",
	WordConstruction:     "construction vtable for ",
	WordThunk:            "non-virtual thunk to ",
	WordVirtualThunk:     "virtual thunk to ",
	WordCovariantThunk:   "covariant return thunk to ",
	WordTLSInit:          "TLS init function for ",
	WordTLSWrapper:       "TLS wrapper function for ",
	WordGuard:            "guard variable for ",
	WordTemporary:        "reference temporary for ",
	WordTransaction:      "transaction clone for ",
	WordNonTransaction:   "non-transaction clone for ",
	WordHidden:           "hidden alias for ",
	WordInitializer:      "initializer for module ",
	WordBlockInvoke:      "invocation function for block in ",
}

// spelling returns the text of a word.
func (w Word) spelling(isLLVM bool) string {
	if isLLVM {
		switch w {
		case WordComplex:
			return " complex"
		case WordImaginary:
			return " imaginary"
		case WordTLSInit:
			return "thread-local initialization routine for "
		case WordTLSWrapper:
			return "thread-local wrapper routine for "
		}
	}
	return Words[w]
}
