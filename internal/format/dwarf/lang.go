package dwarf

// Family is what languages have in common as far as names are concerned.
type Family uint8

const (
	FamilyOther Family = iota // or unknown
	FamilyC                   // and assembler: names have no scope
	FamilyCpp
	FamilyObjC
	FamilyObjCpp
	FamilyD
	FamilyGo // names have their scope in them
	FamilyRust
	FamilySwift
	FamilyAda
	FamilyOCaml
)

// FamilyOf is the family of a DW_LANG.
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
	case 0x1c, 0x9000: // 0x9000: before Rust had a number
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

// langOfName is a DW_LANG for a DW_LNAME, which version 6 has instead; 0 if
// nobody asks for it.
func langOfName(n uint64) uint16 {
	const names = "\x00\x0d\x00\x02\x04\x00\x00\x13\x00\x00\x16\x00\x00\x00\x00\x00\x00\x10\x11\x1b\x15\x00\x00\x00\x00\x1c\x1e\x00\x00\x31\x32"
	if n < uint64(len(names)) {
		return uint16(names[n])
	}
	return 0
}

// scoped tells whether names are made with the scope they are declared in.
func scoped(lang uint16) bool {
	f := FamilyOf(lang)
	return f != FamilyC && f != FamilyGo && f != FamilyObjC
}
