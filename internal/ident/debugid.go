package ident

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// DebugID identifies a debug file and the binary that it belongs to. The zero
// value is the absence of an id.
type DebugID struct {
	uuid  [16]byte // PDB 2.0: the timestamp in the first four bytes, big endian
	age   uint32
	pdb20 bool
}

// NewDebugID returns the id of a UUID in network order and an age.
func NewDebugID(uuid [16]byte, age uint32) DebugID { return DebugID{uuid: uuid, age: age} }

// NewGUID returns the id of a Microsoft GUID, whose first three fields are
// little endian, and an age.
func NewGUID(guid [16]byte, age uint32) DebugID { return DebugID{uuid: swapFields(guid), age: age} }

// NewPDB20 returns the id of a PDB 2.0 file.
func NewPDB20(timestamp, age uint32) DebugID {
	d := DebugID{age: age, pdb20: true}
	binary.BigEndian.PutUint32(d.uuid[:], timestamp)
	return d
}

// ParseDebugID parses an id in any spelling in use: with or without hyphens,
// with or without an age, in any case, and of PDB 2.0. A hyphen precedes the
// age if and only if the UUID has hyphens. Text after the eighth digit of the
// age is ignored.
func ParseDebugID(text string) (DebugID, error) {
	if d, ok := parsePDB20(text); ok {
		return d, nil
	}
	var u [16]byte
	var rest string
	switch {
	case len(text) > 8 && text[8] == '-':
		if len(text) < 36 || !hexUUID(&u, text[:36]) {
			return DebugID{}, badDebugID(text)
		}
		rest = text[36:]
		if rest == "" {
			return NewDebugID(u, 0), nil
		}
		if rest[0] != '-' {
			return DebugID{}, badDebugID(text)
		}
		rest = rest[1:]
	case len(text) >= 32 && hexBytes(u[:], text[:32]):
		rest = text[32:]
		if rest == "" {
			return NewDebugID(u, 0), nil
		}
	default:
		return DebugID{}, badDebugID(text)
	}
	age, ok := hex32(rest[:min(len(rest), 8)])
	if !ok || !ascii(rest) {
		return DebugID{}, badDebugID(text)
	}
	return NewDebugID(u, age), nil
}

// ParseBreakpadID parses the spelling of Breakpad: no hyphens, always an age,
// nothing after it. Case does not matter.
func ParseBreakpadID(text string) (DebugID, error) {
	var u [16]byte
	if len(text) > 32 && hexBytes(u[:], text[:32]) {
		if age, ok := hex32(text[32:]); ok {
			return NewDebugID(u, age), nil
		}
	}
	if len(text) > 8 && text[8] != '-' {
		if d, ok := parsePDB20(text); ok {
			return d, nil
		}
	}
	return DebugID{}, badDebugID(text)
}

// parsePDB20 parses eight digits of a timestamp, an optional hyphen, and one to
// eight digits of an age.
func parsePDB20(text string) (DebugID, bool) {
	if len(text) < 9 {
		return DebugID{}, false
	}
	rest := text[8:]
	if rest[0] == '-' {
		rest = rest[1:]
	}
	timestamp, ok := hex32(text[:8])
	age, okAge := hex32(rest)
	return NewPDB20(timestamp, age), ok && okAge
}

func badDebugID(text string) error {
	return fmt.Errorf("invalid debug id %s: must be a UUID and an age in hex digits", excerpt(text))
}

// excerpt quotes the first 64 bytes of text.
func excerpt(text string) string {
	const most = 64
	if len(text) > most {
		return strconv.Quote(text[:most]) + "..."
	}
	return strconv.Quote(text)
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// IsZero reports whether d is the zero value.
func (d DebugID) IsZero() bool { return d.uuid == [16]byte{} && d.age == 0 }

// UUID returns the UUID in network order. For a PDB 2.0 id it is the timestamp,
// padded with zeros.
func (d DebugID) UUID() [16]byte { return d.uuid }

func (d DebugID) Age() uint32 { return d.age }

// PDB20 returns the timestamp of a PDB 2.0 id. ok is false for all other ids.
func (d DebugID) PDB20() (timestamp uint32, ok bool) {
	return binary.BigEndian.Uint32(d.uuid[:]), d.pdb20
}

// Swapped returns the id with the first fields of its UUID in the other byte
// order.
func (d DebugID) Swapped() DebugID {
	d.uuid = swapFields(d.uuid)
	return d
}

// BuildIDStart returns the first sixteen bytes of the build id that d was made
// from, in the byte order of the binary. A shorter build id is padded with
// zeros.
func (d DebugID) BuildIDStart(bigEndian bool) BuildID {
	if !bigEndian {
		d = d.Swapped()
	}
	return NewBuildID(d.uuid[:])
}

// String returns the canonical text: lower case with hyphens, the age only if
// it is not zero. For PDB 2.0 the timestamp is in upper case and the age is
// always present.
func (d DebugID) String() string {
	buf := make([]byte, 0, 45)
	if d.pdb20 {
		buf = append(appendHex(buf, d.uuid[:4], upperHex), '-')
		return string(strconv.AppendUint(buf, uint64(d.age), 16))
	}
	buf = appendUUID(buf, &d.uuid)
	if d.age != 0 {
		buf = strconv.AppendUint(append(buf, '-'), uint64(d.age), 16)
	}
	return string(buf)
}

// Breakpad returns the text in Breakpad's files and paths: upper case without
// hyphens, followed by the age in lower case.
func (d DebugID) Breakpad() string {
	id := d.uuid[:]
	if d.pdb20 {
		id = id[:4]
	}
	buf := appendHex(make([]byte, 0, 40), id, upperHex)
	return string(strconv.AppendUint(buf, uint64(d.age), 16))
}
