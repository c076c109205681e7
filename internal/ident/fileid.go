package ident

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// FileID identifies a file to Elastic's profilers. It is a hash of the size of
// the file, its beginning and its end, so it changes when a file is stripped or
// signed.
type FileID [16]byte

// fileIDPart is the number of bytes that are hashed at each end of a file. In a
// small file the two parts overlap, and below this size both are the whole
// file.
const fileIDPart = 4096

// NewFileID computes the id of a file of the given size.
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

// ParseFileID parses 32 hex digits of any case, with an optional 0x and with
// hyphens anywhere, or base64 in either alphabet with or without padding.
// Unused bits in the last character of base64 must be zero, so that an id has
// one text.
func ParseFileID(text string) (FileID, error) {
	var id FileID
	switch len(text) {
	case 22, 23, 24:
		text = strings.TrimRight(text, "=")
		for _, alphabet := range [...]*base64.Encoding{base64.RawURLEncoding, base64.RawStdEncoding} {
			raw, err := alphabet.Strict().DecodeString(text)
			// The decoder skips line breaks.
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
	return FileID{}, fmt.Errorf("invalid file id %s: must be 32 hex digits or 22 characters of base64", excerpt(text))
}

// Hex returns 32 digits in lower case.
func (f FileID) Hex() string { return string(appendHex(nil, f[:], lowerHex)) }

func (f FileID) String() string { return f.Hex() }

// Base64 returns 22 characters of the URL alphabet.
func (f FileID) Base64() string { return base64.RawURLEncoding.EncodeToString(f[:]) }

// UUID returns the form 8-4-4-4-12.
func (f FileID) UUID() string { return string(appendUUID(nil, (*[16]byte)(&f))) }

// Swapped returns f with its halves exchanged: the id of the debug file that
// belongs to a kernel.
func (f FileID) Swapped() FileID {
	return FileID(append(f[8:16:16], f[:8]...))
}

func (f FileID) IsZero() bool { return f == FileID{} }
