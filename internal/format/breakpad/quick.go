package breakpad

// fastSize exceeds the size of a record that parseFast reads, so that it needs
// no bounds checks of its own.
const fastSize = 160

// parseFast parses the record at the start of text if it is a line or INLINE
// record in the common form: one blank between fields, no more digits than code
// and files need, and a newline. It returns the length of the record, or zero,
// with f unchanged, if the record needs the general parser.
func (f *Func) parseFast(text []byte, old bool) int {
	if len(text) < fastSize {
		return 0
	}
	if text[0] == 'I' {
		if old || len(f.Ranges) > maxRanges || string(text[:7]) != "INLINE " {
			return 0
		}
		return f.parseFastInline(text)
	}
	addr, i := fastHex(text, 0)
	size, i := fastHex(text, i)
	line, i := fastDec(text, i, ' ')
	file, i := fastDec(text, i, '\n')
	if i == 0 {
		return 0
	}
	f.Lines = append(f.Lines, Line{Addr: addr, Size: size, File: file, Line: uint32(line)})
	return i
}

func (f *Func) parseFastInline(text []byte) int {
	in := Inline{First: len(f.Ranges)}
	depth, i := fastDec(text, len("INLINE "), ' ')
	line, i := fastDec(text, i, ' ')
	file, i := fastDec(text, i, ' ')
	origin, i := fastDec(text, i, ' ')
	for i > 0 && i+40 < len(text) {
		var r Range
		r.Addr, i = fastHex(text, i)
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

// fastHex parses a number and the blank after it, from i on, and returns the
// offset after them, or zero if they are not there. A zero i is the start of
// the text. Twenty bytes must follow.
func fastHex(text []byte, i int) (v uint64, end int) {
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

// fastDec parses a decimal number of up to nine digits and the byte after it,
// which must be delim. If i is zero, an earlier field was invalid.
func fastDec(text []byte, i int, delim byte) (v uint64, end int) {
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
	if n := i - from; n == 0 || n > 9 || text[i] != delim {
		return 0, 0
	}
	return v, i + 1
}
