package units

import (
	"symbolon/internal/sym"
)

// dwarfLang returns the language of a DW_LANG. Dialects of C that are languages of
// their own are not C, and neither is assembler.
func dwarfLang(lang uint16) sym.Lang {
	switch lang {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x3e: // C89, C, C99, C11, C17, C23
		return sym.LangC
	case 0x04, 0x19, 0x1a, 0x21, 0x2a, 0x2b, 0x3a: // C++, 03, 11, 14, 17, 20, 23
		return sym.LangCpp
	case 0x10:
		return sym.LangObjC
	case 0x11:
		return sym.LangObjCpp
	case 0x13:
		return sym.LangD
	case 0x16:
		return sym.LangGo
	case 0x1c, 0x9000: // 0x9000: before Rust had a number
		return sym.LangRust
	case 0x1e:
		return sym.LangSwift
	case 0x32:
		return sym.LangCSharp
	}
	return sym.LangNone
}
