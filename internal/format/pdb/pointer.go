package pdb

import "encoding/binary"

// Attributes of pointers.
const (
	pointerModeShift = 5
	pointerModeMask  = 7
	pointerConst     = 1 << 10
)

// Modes of pointers.
const (
	modePointer = iota
	modeReference
	modeMember
	modeMethod
	modeRValue
)

// sigil is the part of a name for one level of pointers, after its type.
type sigil struct {
	mode      uint32
	text      string // after the sigil: const
	toConst   bool
	memberOf  uint32 // class of the member
	hasMember bool
}

// pointer writes a pointer: the type at the end of the chain of pointers, then
// their sigils.
func (s *speller) pointer(r record, text string) {
	var way []sigil
	var number uint32
	for {
		to, attributes := binary.LittleEndian.Uint32(r.data), binary.LittleEndian.Uint32(r.data[4:])
		p := sigil{mode: attributes >> pointerModeShift & pointerModeMask, text: text}
		if attributes&pointerConst != 0 {
			p.text = " const"
		}
		if p.mode == modeMember && len(r.data) >= 12 {
			p.memberOf, p.hasMember = binary.LittleEndian.Uint32(r.data[8:]), true
		}
		number, text = to, ""
		next, ok := s.target(number)
		if ok && next.kind == leafModifier && len(next.data) >= 6 {
			p.toConst = next.data[4]&modifierConst != 0
			number = binary.LittleEndian.Uint32(next.data)
			next, ok = s.target(number)
		}
		way = append(way, p)
		if !ok || next.kind != leafPointer || len(next.data) < 8 {
			s.pointee(number, next, ok, way)
			return
		}
		r = next
	}
}

// target returns the record of a type that is not primitive.
func (s *speller) target(number uint32) (record, bool) {
	if number < s.f.types.begin {
		return record{}, false
	}
	return s.open(s.f.types, number)
}

// pointee writes the type at the end of a chain and the sigils.
func (s *speller) pointee(number uint32, r record, known bool, way []sigil) {
	t, isRoutine := routine{}, false
	if known {
		t, isRoutine = readRoutine(r)
	}
	if !isRoutine {
		s.typ(number)
		s.sigils(way, " ")
		return
	}
	s.result(t)
	s.add("(")
	if r.kind == leafMemberProc {
		s.typ(t.class)
	}
	s.sigils(way, "")
	s.add(")")
	if r.kind == leafMemberProc {
		s.arguments(t)
		return
	}
	s.add("(")
	s.list(t.args, false)
	s.add(")")
}

// sigils writes the sigils in reverse order. Blank precedes a word at the
// start.
func (s *speller) sigils(way []sigil, blank string) {
	for i := len(way) - 1; i >= 0; i-- {
		p := &way[i]
		if p.toConst {
			s.add(blank + "const")
			blank = " "
		}
		switch p.mode {
		case modeReference:
			s.add("&")
		case modeRValue:
			s.add("&&")
		case modeMember:
			if p.hasMember {
				s.add(" ")
				s.typ(p.memberOf)
			}
			s.add("::*")
		case modeMethod:
			s.add("::*")
		default:
			s.add("*")
		}
		s.add(p.text)
		blank = " "
	}
}

const (
	// primitivePointer masks the bits of a pointer to a primitive type.
	primitivePointer = 0x700
	// nullptrType has the encoding of a 16-bit pointer to void.
	nullptrType = 0x103
)

// primitive is a type with a fixed number.
type primitive struct {
	name string
	size uint64
}

var primitives = map[uint32]primitive{
	0x00: {"<NoType>", 0},
	0x03: {"void", 0},
	0x08: {"HRESULT", 4},
	0x10: {"signed char", 1},
	0x11: {"short", 2},
	0x12: {"long", 4},
	0x13: {"long long", 8},
	0x14: {"int128_t", 16},
	0x20: {"unsigned char", 1},
	0x21: {"unsigned short", 2},
	0x22: {"unsigned long", 4},
	0x23: {"unsigned long long", 8},
	0x24: {"uint128_t", 16},
	0x30: {"bool", 1},
	0x31: {"bool16_t", 2},
	0x32: {"bool32_t", 4},
	0x33: {"bool64_t", 8},
	0x40: {"float", 4},
	0x41: {"double", 8},
	0x42: {"long double", 10},
	0x43: {"long double", 16},
	0x44: {"float48_t", 6},
	0x45: {"float", 4},
	0x46: {"float16_t", 2},
	0x50: {"complex<float>", 8},
	0x51: {"complex<double>", 16},
	0x52: {"complex<long double>", 20},
	0x53: {"complex<long double>", 32},
	0x68: {"int8_t", 1},
	0x69: {"uint8_t", 1},
	0x70: {"char", 1},
	0x71: {"wchar_t", 2},
	0x72: {"int16_t", 2},
	0x73: {"uint16_t", 2},
	0x74: {"int", 4},
	0x75: {"unsigned int", 4},
	0x76: {"int64_t", 8},
	0x77: {"uint64_t", 8},
	0x78: {"int128_t", 16},
	0x79: {"uint128_t", 16},
	0x7a: {"char16_t", 2},
	0x7b: {"char32_t", 4},
	0x7c: {"char8_t", 1},
}

func (s *speller) primitive(number uint32) {
	if number == nullptrType {
		s.add("std::nullptr_t")
		return
	}
	p, ok := primitives[number&0xff]
	if !ok {
		p.name = "<NoType>"
	}
	s.add(p.name)
	if number&primitivePointer != 0 {
		s.add("*")
	}
}

// primitiveSize returns the size of a primitive type, or of a pointer to one.
func (s *speller) primitiveSize(number uint32) uint64 {
	const near64 = 0x600
	switch number & primitivePointer {
	case 0:
		return primitives[number&0xff].size
	case near64:
		return 8
	}
	return 4
}
