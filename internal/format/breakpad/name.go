package breakpad

// nameless is the name of an INLINE_ORIGIN without one, in the spelling of
// current writers.
const nameless = "<name omitted>"

// FuncName returns the name in the FUNC record at the start of text. Like all
// names it aliases text, may not be valid UTF-8, and ends where text does.
func FuncName(text []byte) []byte {
	line := firstLine(text)
	if !hasWord(line, "FUNC") {
		return nil
	}
	b, _, _ := flag(body(line, "FUNC"))
	return orDefault(skipFields(b, 3), unknownName)
}

// PublicName returns the name in a PUBLIC record.
func PublicName(text []byte) []byte {
	line := firstLine(text)
	if !hasWord(line, "PUBLIC") {
		return nil
	}
	b, _, _ := flag(body(line, "PUBLIC"))
	return orDefault(skipFields(b, 2), unknownName)
}

// OriginName returns the name in an INLINE_ORIGIN record; old is Index.Old.
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
	return orDefault(b, nameless)
}

// FileName returns the path in a FILE record, empty if it has none.
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

func orDefault(name []byte, def string) []byte {
	if len(name) == 0 {
		return []byte(def)
	}
	return name
}
