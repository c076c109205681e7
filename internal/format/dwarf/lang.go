package dwarf

// Family is a group of languages with common rules for names.
type Family uint8

const (
	FamilyOther Family = iota // or unknown
	FamilyC                   // and assembler: names have no scope
	FamilyCpp
	FamilyObjC
	FamilyObjCpp
	FamilyD
	FamilyGo // names include their scope
	FamilyRust
	FamilySwift
	FamilyAda
	FamilyOCaml
)

// FamilyOf returns the family of a DW_LANG.
func FamilyOf(lang uint16) Family {
	switch lang {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x3e, // C89, C, C99, C11, C17, C23
		0x12, 0x15, 0x8e57, // UPC, OpenCL, RenderScript
		0x31, 0x8001, 0x9001: // assembler: standard, MIPS, Sun
		return FamilyC
	case 0x04, 0x19, 0x1a, 0x21, 0x2a, 0x2b, 0x3a: // C++, 03, 11, 14, 17, 20, 23
		return FamilyCpp
	case 0x10:
		return FamilyObjC
	case 0x11:
		return FamilyObjCpp
	case 0x13:
		return FamilyD
	case 0x16:
		return FamilyGo
	case 0x1c, 0x9000: // 0x9000: used before Rust had a number
		return FamilyRust
	case 0x1e:
		return FamilySwift
	case 0x03, 0x0d, 0x2e, 0x2f: // Ada 83, 95, 2005, 2012
		return FamilyAda
	case 0x1b:
		return FamilyOCaml
	}
	return FamilyOther
}

// langOfLname maps a DW_LNAME, which version 6 uses, to a DW_LANG. Other
// languages are omitted.
var langOfLname = [...]uint16{
	0x01: 0x0d, // Ada
	0x03: 0x02, // C
	0x04: 0x04, // C++
	0x07: 0x13, // D
	0x0a: 0x16, // Go
	0x11: 0x10, // Objective-C
	0x12: 0x11, // Objective-C++
	0x13: 0x1b, // OCaml
	0x14: 0x15, // OpenCL C
	0x19: 0x1c, // Rust
	0x1a: 0x1e, // Swift
	0x1d: 0x31, // assembler
	0x1e: 0x32, // C#
}

// langOfName returns a DW_LANG for a DW_LNAME, 0 if it is unknown.
func langOfName(n uint64) uint16 {
	if n < uint64(len(langOfLname)) {
		return langOfLname[n]
	}
	return 0
}

// isScoped reports whether names of a language include their scope.
func isScoped(lang uint16) bool {
	f := FamilyOf(lang)
	return f != FamilyC && f != FamilyGo && f != FamilyObjC
}
