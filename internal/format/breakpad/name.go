package breakpad

// nameless is the name of an INLINE_ORIGIN without one, as writers of today
// would spell it.
const nameless = "<name omitted>"

// FuncName is the name in the FUNC record that text begins with. Like all
// names it is bytes in place, not always UTF-8, and ends where text does.
func FuncName(text []byte) []byte {
	line := firstLine(text)
	if !hasWord(line, "FUNC") {
		return nil
	}
	b, _, _ := flag(body(line, "FUNC"))
	return named(skipFields(b, 3), unknownName)
}

// PublicName is the name in a PUBLIC record.
func PublicName(text []byte) []byte {
	line := firstLine(text)
	if !hasWord(line, "PUBLIC") {
		return nil
	}
	b, _, _ := flag(body(line, "PUBLIC"))
	return named(skipFields(b, 2), unknownName)
}

// OriginName is the name in an INLINE_ORIGIN record; old is Index.Old.
func OriginName(text []byte, old bool) []byte {
	line := firstLine(text)
	if !hasWord(line, "INLINE_ORIGIN") {
		return nil
	}
	b := skipFields(body(line, "INLINE_ORIGIN"), 1)
	if old {
		if _, rest, ok := decField(b); ok {
			b = rest
		}
	}
	return named(b, nameless)
}

// FileName is the path in a FILE record, empty where there is none.
func FileName(text []byte) []byte {
	line := firstLine(text)
	if !hasWord(line, "FILE") {
		return nil
	}
	return skipFields(body(line, "FILE"), 1)
}

func skipFields(b []byte, n int) []byte {
	for range n {
		_, b = word(b)
	}
	return b
}

func named(name []byte, otherwise string) []byte {
	if len(name) == 0 {
		return []byte(otherwise)
	}
	return name
}
