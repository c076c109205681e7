package ident

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"strings"
)

// FileID identifies a file to Elastic's profilers. It is a hash over the size
// of the file, its beginning and its end; a file that was stripped or signed
// has another one.
type FileID [16]byte

// fileIDPart is how much of each end of a file is hashed. Of a small file the
// two parts overlap, and of one below this size both are the whole file.
const fileIDPart = 4096

// NewFileID computes the id of a file of this size.
func NewFileID(r io.ReaderAt, size int64) (FileID, error) {
	if size < 0 {
		return FileID{}, fmt.Errorf("file of %d bytes", size)
	}
	h := sha256.New()
	n := min(size, fileIDPart)
	for _, off := range [...]int64{0, size - n} {
		got, err := io.Copy(h, io.NewSectionReader(r, off, n))
		if err == nil && got < n {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return FileID{}, fmt.Errorf("read %d bytes at offset %d: %w", n, off, err)
		}
	}
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(size)))
	return FileID(h.Sum(nil)[:16]), nil
}

// KernelFileID is the id of a Linux kernel or module, which profilers cannot
// read as a file: a hash over the lower-case text of its build id.
func KernelFileID(buildID BuildID) FileID {
	h := fnv.New128a()
	io.WriteString(h, string(buildID))
	return FileID(h.Sum(nil))
}

// ParseFileID reads 32 hex digits of any case, perhaps behind 0x and with
// hyphens anywhere, or base64 in either alphabet with or without padding.
// Stray bits in the last character of base64 are refused: one id has one text.
func ParseFileID(text string) (FileID, error) {
	var id FileID
	switch len(text) {
	case 22, 23, 24:
		text = strings.TrimRight(text, "=")
		for _, alphabet := range [...]*base64.Encoding{base64.RawURLEncoding, base64.RawStdEncoding} {
			raw, err := alphabet.Strict().DecodeString(text)
			// The decoder passes over line breaks.
			if err == nil && len(raw) == len(id) && len(text) == 22 {
				return FileID(raw), nil
			}
		}
	default:
		// The longest form is 0x and a hyphen at each place around 32 digits.
		if len(text) < 32 || len(text) > 2+32+33 {
			break
		}
		if hexBytes(id[:], strings.ReplaceAll(strings.TrimPrefix(text, "0x"), "-", "")) {
			return id, nil
		}
	}
	return FileID{}, fmt.Errorf("%s is not a file id", excerpt(text))
}

// Hex is 32 digits in lower case.
func (f FileID) Hex() string { return string(appendHex(nil, f[:], lowerHex)) }

func (f FileID) String() string { return f.Hex() }

// Base64 is 22 characters of the URL alphabet.
func (f FileID) Base64() string { return base64.RawURLEncoding.EncodeToString(f[:]) }

// UUID is the form 8-4-4-4-12.
func (f FileID) UUID() string { return string(appendUUID(nil, (*[16]byte)(&f))) }

// Swapped has its halves exchanged: the id of the debug file that belongs to a
// kernel.
func (f FileID) Swapped() FileID {
	return FileID(append(f[8:16:16], f[:8]...))
}

func (f FileID) IsZero() bool { return f == FileID{} }
