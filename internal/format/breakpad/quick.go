package breakpad

// roomy is more than a record takes that quick reads.
const roomy = 160

// quick reads the record that text begins with, if it is a line or INLINE
// record written as all writers do: one blank between fields, no more digits
// than code and files need, and a newline. It returns how long the record is,
// and zero, with f as it was, for all that must be looked at more closely.
func (f *Func) quick(text []byte, old bool) int {
	if len(text) < roomy {
		return 0
	}
	if text[0] == 'I' {
		if old || len(f.Ranges) > maxRanges || string(text[:7]) != "INLINE " {
			return 0
		}
		return f.quickInline(text)
	}
	addr, i := quickHex(text, 0)
	size, i := quickHex(text, i)
	line, i := quickDec(text, i, ' ')
	file, i := quickDec(text, i, '\n')
	if i == 0 {
		return 0
	}
	f.Lines = append(f.Lines, Line{Addr: addr, Size: size, File: file, Line: uint32(line)})
	return i
}

func (f *Func) quickInline(text []byte) int {
	in := Inline{First: len(f.Ranges)}
	depth, i := quickDec(text, len("INLINE "), ' ')
	line, i := quickDec(text, i, ' ')
	file, i := quickDec(text, i, ' ')
	origin, i := quickDec(text, i, ' ')
	for i > 0 && i+40 < len(text) {
		var r Range
		r.Addr, i = quickHex(text, i)
		from := i
		for i > 0 && digit[text[i]] <= 15 {
			r.Size = r.Size<<4 | uint64(digit[text[i]])
			i++
		}
		if i == from || i-from > 15 {
			break
		}
		f.Ranges = append(f.Ranges, r)
		switch text[i] {
		case ' ':
			i++
			continue
		case '\n':
			in.Depth, in.CallLine, in.CallFile, in.Origin = uint32(depth), uint32(line), file, origin
			in.N = len(f.Ranges) - in.First
			f.Inlines = append(f.Inlines, in)
			return i + 1
		}
		break
	}
	f.Ranges = f.Ranges[:in.First]
	return 0
}

// quickHex reads a number and the blank behind it, from i on, and returns where
// it ends. That is zero when there is something else, or when i is zero but at
// the beginning. There must be twenty bytes more.
func quickHex(text []byte, i int) (v uint64, end int) {
	from := i
	for ; i < from+16; i++ {
		d := digit[text[i]]
		if d > 15 {
			break
		}
		v = v<<4 | uint64(d)
	}
	if i == from || text[i] != ' ' {
		return 0, 0
	}
	return v, i + 1
}

// quickDec reads a decimal number of up to nine digits, and the byte behind it.
func quickDec(text []byte, i int, behind byte) (v uint64, end int) {
	if i == 0 {
		return 0, 0
	}
	from := i
	for ; i < from+10; i++ {
		d := text[i] - '0'
		if d > 9 {
			break
		}
		v = v*10 + uint64(d)
	}
	if n := i - from; n == 0 || n > 9 || text[i] != behind {
		return 0, 0
	}
	return v, i + 1
}
