// Package strtab builds the strings of a table: names whose common parts are
// stored once. The section "Strings" of the comment of package symcache is the
// format; TokenSize and Ref decode it.
//
// A Builder belongs to one goroutine. The same texts in the same order give the
// same bytes. Memory is proportional to the texts; 400 strings nest, and 64
// brackets of a text are shared.
package strtab

import "encoding/binary"

const (
	// MaxText is the limit of the length of a text.
	MaxText = 1 << 20

	worthEntry = 8  // shortest marked text that becomes an entry
	maxOpen    = 64 // limit of nested brackets; deeper ones are not shared
	maxLevel   = 99 // limit of nested entries
)

// References in the strings section: the first lead byte of each length, and
// the first number.
const (
	Lead1  = 0x80 // one byte
	lead2  = 0xc0
	lead3  = 0xe0
	lead4  = 0xf8
	lead5  = 0xfc // the number follows in four bytes
	Escape = 0xff // a literal byte follows

	first2 = lead2 - Lead1
	first3 = first2 + (lead3-lead2)<<8
	first4 = first3 + (lead4-lead3)<<16
	first5 = first4 + (lead5-lead4)<<24

	Group     = 16  // strings of a record of the index
	MaxString = 255 // limit of bytes of a string in the section

	// MaxDecode is the limit of nested strings. Entries are nested up to
	// maxLevel+1, and each of them may be split into pieces up to three times.
	MaxDecode = 4 * (maxLevel + 1)
)

// appendRef appends a reference to a string.
func appendRef(b []byte, id uint32) []byte {
	switch {
	case id < first2:
		return append(b, byte(Lead1+id))
	case id < first3:
		id -= first2
		return append(b, byte(lead2+id>>8), byte(id))
	case id < first4:
		id -= first3
		return append(b, byte(lead3+id>>16), byte(id>>8), byte(id))
	case id < first5:
		id -= first4
		return append(b, byte(lead4+id>>24), byte(id>>16), byte(id>>8), byte(id))
	}
	return binary.BigEndian.AppendUint32(append(b, lead5), id)
}

// TokenSize returns the size of the token that starts with lead.
func TokenSize(lead byte) int {
	switch {
	case lead < lead2:
		return 1
	case lead < lead3 || lead == Escape:
		return 2
	case lead < lead4:
		return 3
	case lead < lead5:
		return 4
	}
	return 5
}

// Ref returns the number of a reference.
func Ref(s []byte) uint64 {
	switch len(s) {
	case 1:
		return uint64(s[0] - Lead1)
	case 2:
		return first2 + uint64(s[0]-lead2)<<8 + uint64(s[1])
	case 3:
		return first3 + uint64(s[0]-lead3)<<16 + uint64(s[1])<<8 + uint64(s[2])
	case 4:
		return first4 + uint64(s[0]-lead4)<<24 + uint64(s[1])<<16 + uint64(s[2])<<8 + uint64(s[3])
	}
	return uint64(binary.BigEndian.Uint32(s[1:]))
}
