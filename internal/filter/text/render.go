package text

import (
	"bytes"
	"strconv"

	"symbolon/internal/filter"
)

// appendLines appends a line with another number, and once for each frame if there
// are some.
func appendLines(dst, line []byte, r *record, number int, frames []filter.Frame) []byte {
	if len(frames) == 0 {
		dst, at := appendNumber(dst, line, r, number)
		return append(dst, line[at:]...)
	}
	if r.form == summary || r.form == dotnet {
		frames = frames[:1]
	}
	tail := line[r.rest:]
	if r.form == rust {
		return append(appendRust(append(dst, line[:r.text]...), line[:r.place], frames), tail...)
	}
	if r.form == kernel {
		return append(appendFiles(append(dst, line[:r.text]...), frames), tail...)
	}
	if r.form == fault || r.form == backtrace && bytes.HasPrefix(tail, []byte(`"`)) {
		return append(appendList(append(dst, line[:r.text]...), r, frames), tail...)
	}
	for i := range frames {
		at := 0
		if r.hasNumber() {
			dst, at = appendNumber(dst, line, r, number+i)
		}
		dst = append(dst, line[at:r.text]...)
		dst = appendFrame(dst, line[r.place:r.rest], r, &frames[i])
		dst = append(dst, tail...)
		if i+1 < len(frames) && (len(tail) == 0 || tail[len(tail)-1] != '\n') {
			dst = append(dst, '\n')
		}
	}
	return dst
}

// appendNumber appends the line with another number until its end, and returns the
// position in the line after it. The columns after the number stay if they can.
func appendNumber(dst, line []byte, r *record, number int) ([]byte, int) {
	dst = append(dst, line[:r.digits]...)
	width := r.end - r.digits
	var space [20]byte
	digits := strconv.AppendInt(space[:0], int64(number), 10)
	for i := len(digits); i < width; i++ {
		dst = append(dst, '0')
	}
	at := r.end
	for i := width; i < len(digits) && at+1 < len(line) && line[at] == ' ' && line[at+1] == ' '; i++ {
		at++
	}
	return append(dst, digits...), at
}

// appendFrame appends the part of a line that a frame replaces. Without a file the
// module stays.
func appendFrame(dst, place []byte, r *record, f *filter.Frame) []byte {
	switch r.form {
	case sanitizer:
		dst = append(f.AppendName(append(dst, "in "...)), ' ')
		if len(f.File) == 0 {
			return append(dst, place...)
		}
		return appendFile(dst, f)
	case thread:
		dst = append(f.AppendName(dst), ' ')
		if len(f.File) == 0 {
			dst = append(dst, "<null>"...)
		} else {
			dst = appendFile(dst, f)
		}
		return append(append(dst, ' '), place...)
	case tombstone:
		dst = append(f.AppendName(append(dst, " ("...)), ')')
		return appendSource(append(dst, place...), f)
	case coredump, torch, node:
		dst = append(f.AppendName(dst), ' ')
		return appendSource(append(dst, place...), f)
	case dart:
		dst = f.AppendName(dst)
		if len(f.File) > 0 {
			dst = append(appendFile(append(dst, " ("...), f), ')')
		}
		return dst
	case wine:
		dst = append(f.AppendName(dst), ' ')
		if len(f.File) > 0 {
			dst = append(appendFile(append(dst, '['), f), "] "...)
		}
		return dst
	case mozilla:
		dst = append(f.AppendName(dst), " ("...)
		if len(f.File) > 0 {
			f.Column = 0 // as fix-stacks
			dst = appendFile(dst, f)
		} else {
			dst = strconv.AppendUint(append(append(dst, r.name...), " + 0x"...), r.addr, 16)
		}
		return append(dst, ')')
	case chromium:
		dst = f.AppendName(dst)
		if len(f.File) > 0 {
			dst = append(appendFile(append(dst, " ["...), f), ']')
		}
		return dst
	case backtrace, elfutils:
		return appendSource(f.AppendName(append(dst, " in "...)), f)
	case darwin:
		return appendDarwin(dst, place, r, f)
	case dotnet:
		return strconv.AppendUint(append(filter.AppendText(dst, f.File), ":line "...), uint64(f.Line), 10)
	case java:
		dst = f.AppendName(append(dst, "  "...))
		if len(f.File) > 0 {
			dst = append(appendFile(append(dst, "  ("...), f), ')')
		}
		return dst
	default:
		if len(f.File) > 0 {
			dst = appendFile(dst, f)
		} else {
			if at := bytes.Index(place, []byte(") in ")); at >= 0 {
				place = place[:at+1]
			}
			dst = append(dst, place...)
		}
		return f.AppendName(append(dst, " in "...))
	}
}

// appendDarwin appends NAME + OFFSET (FILE:LINE), or NAME (FILE:LINE) [inlined], as in
// crash reports.
func appendDarwin(dst, place []byte, r *record, f *filter.Frame) []byte {
	switch {
	case f.Inlined:
		dst = f.AppendName(dst)
	case len(r.symbol) > 0:
		dst = append(f.AppendName(dst), place[len(r.symbol):]...)
	default:
		dst = strconv.AppendUint(append(f.AppendName(dst), " + "...), r.addr-min(r.addr, f.Entry), 10)
	}
	if len(f.File) > 0 {
		f.Column = 0
		dst = append(appendFile(append(dst, " ("...), f), ')')
	}
	if f.Inlined {
		dst = append(dst, " [inlined]"...)
	}
	return dst
}

// appendRust appends frames as the standard library of Rust does with full backtraces:
// files on lines of their own, and calls under the name of the inlined one.
func appendRust(dst, prefix []byte, frames []filter.Frame) []byte {
	const (
		nameColumn = "                           " // as after an index of four columns and an address
		fileColumn = nameColumn + "    at "
	)
	for i := range frames {
		if i > 0 {
			dst = append(append(append(dst, '\n'), prefix...), nameColumn...)
		}
		dst = frames[i].AppendName(dst)
		if len(frames[i].File) > 0 {
			dst = append(append(append(dst, '\n'), prefix...), fileColumn...)
			dst = appendFile(dst, &frames[i])
		}
	}
	return dst
}

// appendFiles appends the files of frames, and the names of inlined ones, in place of
// the offset from a name.
func appendFiles(dst []byte, frames []filter.Frame) []byte {
	separator := " ("
	for i := range frames {
		f := &frames[i]
		f.Column = 0 // as addr2line
		dst = append(dst, separator...)
		separator = ", "
		if i+1 < len(frames) {
			dst = append(f.AppendName(dst), " at "...)
		}
		dst = appendFile(dst, f)
	}
	return append(dst, ')')
}

// appendList appends all frames to a line: (NAME at FILE:LINE, NAME at FILE:LINE), or in
// JSON in NAME at FILE:LINE, NAME at FILE:LINE.
func appendList(dst []byte, r *record, frames []filter.Frame) []byte {
	separator, end := " in ", ""
	if r.form == fault {
		separator, end = " (", ")"
	}
	var text []byte
	for i := range frames {
		dst = append(dst, separator...)
		separator = ", "
		text = appendSource(frames[i].AppendName(text[:0]), &frames[i])
		for _, c := range text {
			if r.form == backtrace && (c == '"' || c == '\\') {
				dst = append(dst, '\\')
			}
			dst = append(dst, c)
		}
	}
	return append(dst, end...)
}

// appendSource appends the file after the rest of a line, as debuggers write it.
func appendSource(dst []byte, f *filter.Frame) []byte {
	if len(f.File) == 0 {
		return dst
	}
	return appendFile(append(dst, " at "...), f)
}

// appendFile appends FILE[:LINE[:COLUMN]].
func appendFile(dst []byte, f *filter.Frame) []byte {
	dst = filter.AppendText(dst, f.File)
	if f.Line > 0 {
		dst = strconv.AppendUint(append(dst, ':'), uint64(f.Line), 10)
		if f.Column > 0 {
			dst = strconv.AppendUint(append(dst, ':'), uint64(f.Column), 10)
		}
	}
	return dst
}
