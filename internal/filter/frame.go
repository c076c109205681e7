package filter

// AppendName appends the name of the function, as text.
func (f *Frame) AppendName(dst []byte) []byte {
	switch {
	case len(f.Function) > 0:
		return AppendText(dst, f.Function)
	case len(f.Raw) > 0:
		return AppendText(dst, f.Raw)
	}
	return append(dst, "??"...)
}

// AppendText appends text of a debug file to a line. Control characters, which would
// end the line, become question marks.
func AppendText(dst, text []byte) []byte {
	for i, c := range text {
		switch {
		case c < ' ' || c == 0x7f:
			c = '?'
		case c >= 0x80 && c < 0xa0 && i > 0 && text[i-1] == 0xc2: // U+0080 to U+009F
			dst[len(dst)-1], c = '?', '?'
		}
		dst = append(dst, c)
	}
	return dst
}
