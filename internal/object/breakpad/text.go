package breakpad

import (
	"bytes"
	"unicode/utf8"

	"symbolon/internal/format/breakpad"
	"symbolon/internal/sym"
)

// A Text is the offset of the record that holds the string, and the kind of that record.
const (
	textNone  = iota // zero is not a Text
	textEmpty        // a string without characters
	textFunc
	textPublic
	textOrigin
	textFile
	_        // 6 is a TextMapped
	textBits = 3
)

func textOf(kind int, off int64) sym.Text {
	return sym.Text(uint64(off)<<textBits | uint64(kind))
}

const (
	// firstPiece is how much of a record is read at first: most names fit.
	firstPiece = 1 << 10
	// nextPiece holds nearly all others.
	nextPiece = 8 << 10
	// allPiece holds the longest name.
	allPiece = breakpad.MaxName
)

// AppendText appends the string of t to dst.
func (f *file) AppendText(dst []byte, t sym.Text) []byte {
	kind, off := int(t&(1<<textBits-1)), int64(t>>textBits)
	if kind < textFunc || kind > textFile || off >= f.ix.Size {
		return dst
	}
	if f.whole != nil {
		if off >= int64(len(f.whole)) {
			return dst
		}
		return f.appendName(dst, kind, f.whole[off:])
	}
	from := len(dst)
	if dst, ok := f.names.find(dst, t); ok {
		return dst
	}
	s := f.scratch()
	defer scratches.Put(s)
	for _, n := range [...]int64{firstPiece, nextPiece, allPiece} {
		n = min(n, f.ix.Size-off)
		piece, err := s.read(f.src, off, int(n))
		if err != nil {
			return dst
		}
		if n == allPiece || off+n == f.ix.Size || bytes.IndexByte(piece, '\n') >= 0 {
			dst = f.appendName(dst, kind, piece)
			f.names.add(t, dst[from:])
			return dst
		}
	}
	return dst
}

// appendName appends the name in the record that text begins with.
func (f *file) appendName(dst []byte, kind int, text []byte) []byte {
	var name []byte
	switch kind {
	case textFunc:
		name = breakpad.FuncName(text)
	case textPublic:
		name = breakpad.PublicName(text)
	case textOrigin:
		name = breakpad.OriginName(text, f.ix.Old)
	case textFile:
		name = breakpad.FileName(text)
	}
	from := len(dst)
	dst = append(dst, name...)
	if utf8.Valid(dst[from:]) {
		return dst
	}
	return append(dst[:from], bytes.ToValidUTF8(dst[from:], []byte("\uFFFD"))...)
}
