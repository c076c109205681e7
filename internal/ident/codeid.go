package ident

import (
	"fmt"
	"strconv"
)

// CodeID identifies a binary: hex digits in lower case, empty where there is
// no id. The number of digits may be odd.
type CodeID string

// ParseCodeID keeps the hex digits of text and drops everything else, as the
// peers do.
func ParseCodeID(text string) CodeID {
	clean := make([]byte, 0, len(text))
	for i := range len(text) {
		if d := nibble(text[i]); d <= 15 {
			clean = append(clean, lowerHex[d])
		}
	}
	return CodeID(clean)
}

// PECodeID makes the id of a PE file from the timestamp of its COFF header and
// the size of its image.
func PECodeID(timestamp, imageSize uint32) CodeID {
	return CodeID(fmt.Sprintf("%08x%x", timestamp, imageSize))
}

// UUIDCodeID makes the id of a Mach-O file.
func UUIDCodeID(uuid [16]byte) CodeID {
	return CodeID(appendHex(nil, uuid[:], lowerHex))
}

func (c CodeID) IsZero() bool { return c == "" }

func (c CodeID) String() string { return string(c) }

// PE is the id as timestamp and image size; ok is false for what cannot be the
// id of a PE file.
func (c CodeID) PE() (timestamp, imageSize uint32, ok bool) {
	if len(c) < 9 {
		return 0, 0, false
	}
	timestamp, ok = hex32(string(c[:8]))
	imageSize, okSize := hex32(string(c[8:]))
	return timestamp, imageSize, ok && okSize
}

// UUID is the id as a UUID; ok is false for what has another length.
func (c CodeID) UUID() (uuid [16]byte, ok bool) {
	ok = hexBytes(uuid[:], string(c))
	return uuid, ok
}

// BuildID is the GNU build id of an ELF file: pairs of hex digits in lower
// case, empty where there is none.
type BuildID string

// maxBuildID bounds the bytes of a build id. Linkers write 8 to 20; users may
// set any.
const maxBuildID = 64

// NewBuildID makes an id of the bytes in a file's note.
func NewBuildID(raw []byte) BuildID { return BuildID(appendHex(nil, raw, lowerHex)) }

// ParseBuildID reads whole bytes in hex digits of any case, and nothing else.
func ParseBuildID(text string) (BuildID, error) {
	if text == "" || len(text)%2 != 0 || len(text) > 2*maxBuildID {
		return "", badBuildID(text)
	}
	raw := make([]byte, len(text)/2)
	if !hexBytes(raw, text) {
		return "", badBuildID(text)
	}
	return NewBuildID(raw), nil
}

func badBuildID(text string) error {
	return fmt.Errorf("%s is not a build id", excerpt(text))
}

func (b BuildID) String() string { return string(b) }

func (b BuildID) IsZero() bool { return b == "" }

// CodeID is the same id under its other name.
func (b BuildID) CodeID() CodeID { return CodeID(b) }

// DebugID is the debug id that belongs to the build id: its first sixteen
// bytes, padded with zeros, and read as a struct in the byte order of the
// binary. There is no way back.
func (b BuildID) DebugID(bigEndian bool) DebugID {
	var u [16]byte
	text := string(b[:min(len(b), 32)])
	hexBytes(u[:len(text)/2], text)
	if !bigEndian {
		u = swapFields(u)
	}
	return NewDebugID(u, 0)
}

// Fits tells whether the debug id of a binary with this build id is d, in either
// byte order.
func (b BuildID) Fits(d DebugID) bool {
	return !b.IsZero() && (b.DebugID(false) == d || b.DebugID(true) == d)
}

// SymName is the name of the Breakpad file for a debug file: a trailing ".pdb"
// in lower case becomes ".sym", to everything else ".sym" is added.
func SymName(debugFile string) string {
	const ext = ".pdb"
	if n := len(debugFile) - len(ext); n >= 0 && debugFile[n:] == ext {
		debugFile = debugFile[:n]
	}
	return debugFile + ".sym"
}

// quoteUint is used by texts of numbers that are not known by a name.
func quoteUint(kind string, v uint8) string {
	return kind + " " + strconv.Itoa(int(v))
}
