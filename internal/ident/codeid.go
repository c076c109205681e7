package ident

import (
	"fmt"
	"strconv"
)

// CodeID identifies a binary: hex digits in lower case, empty if the file
// has none. The number of digits may be odd.
type CodeID string

// ParseCodeID keeps the hex digits of text and ignores all other characters, as
// the peers do.
func ParseCodeID(text string) CodeID {
	clean := make([]byte, 0, len(text))
	for i := range len(text) {
		if d := nibble(text[i]); d <= 15 {
			clean = append(clean, lowerHex[d])
		}
	}
	return CodeID(clean)
}

// PECodeID returns the id of a PE file: the timestamp of its COFF header and
// the size of its image.
func PECodeID(timestamp, imageSize uint32) CodeID {
	return CodeID(fmt.Sprintf("%08x%x", timestamp, imageSize))
}

// UUIDCodeID returns the id of a Mach-O file.
func UUIDCodeID(uuid [16]byte) CodeID {
	return CodeID(appendHex(nil, uuid[:], lowerHex))
}

func (c CodeID) IsZero() bool { return c == "" }

func (c CodeID) String() string { return string(c) }

// PE returns the timestamp and the image size of the id of a PE file. ok is
// false if c cannot be such an id.
func (c CodeID) PE() (timestamp, imageSize uint32, ok bool) {
	if len(c) < 9 {
		return 0, 0, false
	}
	timestamp, ok = hex32(string(c[:8]))
	imageSize, okSize := hex32(string(c[8:]))
	return timestamp, imageSize, ok && okSize
}

// UUID returns the id as a UUID. ok is false if its length differs.
func (c CodeID) UUID() (uuid [16]byte, ok bool) {
	ok = hexBytes(uuid[:], string(c))
	return uuid, ok
}

// BuildID is the GNU build id of an ELF file: pairs of hex digits in lower
// case, empty if the file has no id.
type BuildID string

// maxBuildID limits the bytes of a build id. Linkers write 8 to 20; users may
// set any value.
const maxBuildID = 64

// NewBuildID returns the id of the bytes in a file's note.
func NewBuildID(raw []byte) BuildID { return BuildID(appendHex(nil, raw, lowerHex)) }

// ParseBuildID parses 1 to 64 bytes in hex digits of any case.
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
	return fmt.Errorf("invalid build id %s: must be pairs of hex digits, at most %d", excerpt(text), maxBuildID)
}

func (b BuildID) String() string { return string(b) }

func (b BuildID) IsZero() bool { return b == "" }

// CodeID returns the id as a CodeID.
func (b BuildID) CodeID() CodeID { return CodeID(b) }

// DebugID returns the debug id that belongs to the build id: its first sixteen
// bytes, padded with zeros, and read as a struct in the byte order of the
// binary. The build id cannot be computed from it.
func (b BuildID) DebugID(bigEndian bool) DebugID {
	var u [16]byte
	text := string(b[:min(len(b), 32)])
	hexBytes(u[:len(text)/2], text)
	if !bigEndian {
		u = swapFields(u)
	}
	return NewDebugID(u, 0)
}

// Fits reports whether d is the debug id of a binary with this build id, in
// either byte order.
func (b BuildID) Fits(d DebugID) bool {
	return !b.IsZero() && (b.DebugID(false) == d || b.DebugID(true) == d)
}

// SymName returns the name of the Breakpad file for a debug file: ".sym"
// replaces a trailing ".pdb" in lower case, and is appended to all other names.
func SymName(debugFile string) string {
	const ext = ".pdb"
	if n := len(debugFile) - len(ext); n >= 0 && debugFile[n:] == ext {
		debugFile = debugFile[:n]
	}
	return debugFile + ".sym"
}

// quoteUint returns the text of a number without a name.
func quoteUint(kind string, v uint8) string {
	return kind + " " + strconv.Itoa(int(v))
}
