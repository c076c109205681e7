package rows

import (
	"strconv"

	"symbolon/internal/api/json"
	"symbolon/internal/filter"
)

// appendCall appends the members of a call, but for the offset, which differs for
// each process.
func appendCall(dst, label []byte, addr uint64, f *filter.Frame) []byte {
	dst = appendPlace(dst, label, addr)
	dst = json.AppendQuoted(append(dst, `,"function":`...), f.Function)
	dst = appendHex(append(dst, `,"function_offset":`...), addr-f.Entry)
	return appendFile(dst, f)
}

// appendFile appends a file and a line, if they are known.
func appendFile(dst []byte, f *filter.Frame) []byte {
	if len(f.File) > 0 {
		dst = json.AppendQuoted(append(dst, `,"file":`...), f.File)
		if f.Line > 0 {
			dst = strconv.AppendUint(append(dst, `,"line":`...), uint64(f.Line), 10)
		}
	}
	return dst
}

// appendInlined appends a list of calls that were inlined.
func appendInlined(dst []byte, calls []filter.Frame) []byte {
	dst = append(dst, '[')
	from := len(dst)
	for i := range calls {
		dst = json.AppendQuoted(append(comma(dst, from), `{"function":`...), calls[i].Function)
		dst = append(appendFile(dst, &calls[i]), '}')
	}
	return append(dst, ']')
}

// comma appends a comma before all elements of a list that begins at from, but
// the first.
func comma(dst []byte, from int) []byte {
	if len(dst) > from {
		dst = append(dst, ',')
	}
	return dst
}

// appendPlace appends the name of a module and the offset in it.
func appendPlace(dst, label []byte, addr uint64) []byte {
	dst = append(append(dst, `"module":`...), label...)
	return appendHex(append(dst, `,"module_offset":`...), addr)
}

// appendHex appends a string of sixteen hexadecimal digits after 0x.
func appendHex(dst []byte, v uint64) []byte {
	dst = append(dst, `"0x0000000000000000"`...)
	for at := len(dst) - 2; v != 0; at-- {
		dst[at] = "0123456789abcdef"[v&15]
		v >>= 4
	}
	return dst
}

// parseHex parses hexadecimal digits, with 0x before them or not.
func parseHex(text []byte) (v uint64, ok bool) {
	if len(text) > 2 && text[0] == '0' && text[1]|0x20 == 'x' {
		text = text[2:]
	}
	v, err := strconv.ParseUint(string(text), 16, 64)
	return v, err == nil
}

// note returns an error as a member of an answer.
func note(err error) string {
	return string(json.AppendQuoted([]byte(`"error":`), err.Error()))
}
