package ident

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// DebugID identifies a debug file and the binary that it belongs to. The zero
// value is no id.
type DebugID struct {
	uuid  [16]byte // PDB 2.0: the timestamp in the first four bytes, big endian
	age   uint32
	pdb20 bool
}

// NewDebugID makes an id of a UUID in network order and an age.
func NewDebugID(uuid [16]byte, age uint32) DebugID { return DebugID{uuid: uuid, age: age} }

// NewGUID makes an id of a Microsoft GUID, whose first three fields are little
// endian, and an age.
func NewGUID(guid [16]byte, age uint32) DebugID { return DebugID{uuid: swapFields(guid), age: age} }

// NewPDB20 makes the id of a PDB 2.0 file.
func NewPDB20(timestamp, age uint32) DebugID {
	d := DebugID{age: age, pdb20: true}
	binary.BigEndian.PutUint32(d.uuid[:], timestamp)
	return d
}

// ParseDebugID reads an id in any spelling that is in use: with hyphens or
// without, with an age or without, in any case, of PDB 2.0 too. The age is
// behind a hyphen if and only if the UUID has hyphens, and what follows its
// eighth digit is ignored.
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

// ParseBreakpadID reads the one spelling of Breakpad: no hyphens, the age
// always there, nothing behind it. Case does not matter.
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

// parsePDB20 reads eight digits of a timestamp, perhaps a hyphen, and one to
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
	return fmt.Errorf("%s is not a debug id", excerpt(text))
}

// excerpt quotes a text that may be of any length.
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

// IsZero says that there is no id: neither UUID nor age.
func (d DebugID) IsZero() bool { return d.uuid == [16]byte{} && d.age == 0 }

// UUID is the UUID in network order. Of a PDB 2.0 id it is the timestamp,
// padded with zeros.
func (d DebugID) UUID() [16]byte { return d.uuid }

func (d DebugID) Age() uint32 { return d.age }

// PDB20 tells an id of PDB 2.0, and its timestamp.
func (d DebugID) PDB20() (timestamp uint32, ok bool) {
	return binary.BigEndian.Uint32(d.uuid[:]), d.pdb20
}

// Swapped is the id with the first fields of its UUID in the other byte order.
func (d DebugID) Swapped() DebugID {
	d.uuid = swapFields(d.uuid)
	return d
}

// BuildIDStart returns the first sixteen bytes of the build id that d was made
// of, in the byte order of the binary. Of a shorter one zeros follow.
func (d DebugID) BuildIDStart(bigEndian bool) BuildID {
	if !bigEndian {
		d = d.Swapped()
	}
	return NewBuildID(d.uuid[:])
}

// String is the canonical text: lower case with hyphens, the age only if there
// is one. The timestamp of PDB 2.0 is upper case, and its age always there.
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

// Breakpad is the text in Breakpad's files and paths: upper case without
// hyphens, and the age in lower case, always.
func (d DebugID) Breakpad() string {
	id := d.uuid[:]
	if d.pdb20 {
		id = id[:4]
	}
	buf := appendHex(make([]byte, 0, 40), id, upperHex)
	return string(strconv.AppendUint(buf, uint64(d.age), 16))
}
