package apple

import (
	"strconv"

	"symbolon/internal/filter"
)

// appendTo appends the report with names.
func (r *report) appendTo(dst, data []byte, answer filter.Answer) []byte {
	done, last, added := 0, 0, 0
	for i := range r.frames {
		f := &r.frames[i]
		if f.number != last+1 {
			added = 0
		}
		last = f.number
		var frames []filter.Frame
		if f.index >= 0 {
			frames = answer.Frames(f.index)
		}
		if len(frames) == 0 && added == 0 {
			continue
		}
		lineEnd := "\n"
		if f.to < len(data) && data[f.to] == '\r' {
			lineEnd = "\r\n"
		}
		dst = append(dst, data[done:f.from]...)
		done = f.to
		if len(frames) == 0 {
			dst = append(appendNumber(dst, data, f, f.number+added, f.symbol), data[f.symbol:f.to]...)
			continue
		}
		for k := range frames {
			if k > 0 {
				dst = append(dst, lineEnd...)
			}
			dst = appendNumber(dst, data, f, f.number+added+k, f.symbol)
			dst = appendFrame(dst, &frames[k], r.query.Addresses[f.index].Addr)
		}
		added += len(frames) - 1
	}
	return append(dst, data[done:]...)
}

// appendNumber appends a line with another number until a position. The columns after
// the number stay if they can.
func appendNumber(dst, data []byte, f *frame, number, until int) []byte {
	dst = append(dst, data[f.from:f.digits]...)
	start := len(dst)
	dst = strconv.AppendInt(dst, int64(number), 10)
	at := f.end
	for i := f.end - f.digits; i < len(dst)-start && data[at] == ' ' && data[at+1] == ' '; i++ {
		at++
	}
	return append(dst, data[at:until]...)
}

// appendFrame appends NAME + OFFSET (FILE:LINE), or NAME (FILE:LINE) [inlined].
func appendFrame(dst []byte, f *filter.Frame, addr uint64) []byte {
	dst = f.AppendName(dst)
	if !f.Inlined && f.Entry <= addr {
		dst = strconv.AppendUint(append(dst, " + "...), addr-f.Entry, 10)
	}
	if len(f.File) > 0 && f.Line > 0 {
		dst = filter.AppendText(append(dst, " ("...), f.File)
		dst = append(strconv.AppendUint(append(dst, ':'), uint64(f.Line), 10), ')')
	}
	if f.Inlined {
		dst = append(dst, " [inlined]"...)
	}
	return dst
}
