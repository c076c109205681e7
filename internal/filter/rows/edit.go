package rows

import (
	"slices"
	"strconv"

	"symbolon/internal/api/json"
	"symbolon/internal/filter"
	"symbolon/internal/ident"
)

// The members of a frame whose values are the first texts of an answer in the style. With
// an empty text the member is not changed.
var membersOf = [...][]string{
	styleDump:   {"function", "function_offset", "file", "line", "inlines", "missing_symbols"},
	styleReport: {"symbol", "symbolLocation", "sourceFile", "sourceLine"},
}

// addDump adds the values of a frame of a stack walker.
func (l *lookups) addDump(addr uint64, calls []filter.Frame) {
	outer, inlined := &calls[len(calls)-1], calls[:len(calls)-1]
	l.addText(json.AppendQuoted(l.text, outer.Function))
	l.addText(appendHex(l.text, addr-outer.Entry))
	l.addPlace(outer.File, outer.Line)
	if len(inlined) > 0 {
		l.addText(appendInlined(l.text, inlined))
	} else {
		l.addText(l.text)
	}
	l.addText(append(l.text, "false"...))
}

// addReport adds the values of a frame of a crash report of Apple, and then the
// members of a frame for each inlined call.
func (l *lookups) addReport(addr uint64, calls []filter.Frame) {
	outer, inlined := &calls[len(calls)-1], calls[:len(calls)-1]
	l.addText(json.AppendQuoted(l.text, outer.Function))
	l.addText(strconv.AppendUint(l.text, addr-outer.Entry, 10))
	l.addPlace(ident.FileName(outer.File), outer.Line)
	for i := range inlined {
		f := &inlined[i]
		dst := json.AppendQuoted(append(l.text, `"symbol":`...), f.Function)
		if len(f.File) > 0 {
			dst = json.AppendQuoted(append(dst, `,"sourceFile":`...), ident.FileName(f.File))
			dst = strconv.AppendUint(append(dst, `,"sourceLine":`...), uint64(f.Line), 10)
		}
		l.addText(append(dst, `,"inline":true`...))
	}
}

// addPlace adds a file and a line, or two empty texts.
func (l *lookups) addPlace(file []byte, line uint32) {
	if len(file) == 0 {
		l.addText(l.text)
		l.addText(l.text)
		return
	}
	l.addText(json.AppendQuoted(l.text, file))
	if line > 0 {
		l.addText(strconv.AppendUint(l.text, uint64(line), 10))
	} else {
		l.addText(l.text)
	}
}

// appendFrames appends doc with the names of frames, in the order of their places.
func (r *reader) appendFrames(dst, doc []byte, list frames) []byte {
	r.json.Reset(doc)
	done := 0
	for i := list.from; i < list.to; i++ {
		f := &r.frames[i]
		if f.lookup < 0 {
			continue
		}
		from, to := r.answerTo(f.lookup, f.addr)
		if from == to {
			continue
		}
		dst = append(dst, doc[done:f.at.from]...)
		done = f.at.to
		for k := from + int32(len(membersOf[f.addr.style])); k < to; k++ {
			dst = strconv.AppendUint(append(dst, `{"imageOffset":`...), f.addr.addr, 10)
			dst = strconv.AppendInt(append(dst, `,"imageIndex":`...), int64(f.image), 10)
			dst = append(append(append(dst, ','), r.textOf(k)...), "},"...)
		}
		dst = r.appendFrame(dst, f, from)
	}
	return append(dst, doc[done:]...)
}

// appendFrame appends the object of a frame with other values of its members, which
// are the texts of an answer from the index from on.
func (r *reader) appendFrame(dst []byte, f *frame, from int32) []byte {
	names, doc := membersOf[f.addr.style], r.json.Data
	written, done := 0, f.at.from
	r.enter(f.at, '{')
	for r.json.Next() {
		k := slices.Index(names, string(r.json.Key()))
		v := r.skip()
		if k < 0 || len(r.textOf(from+int32(k))) == 0 {
			continue
		}
		written |= 1 << k
		dst = append(append(dst, doc[done:v.from]...), r.textOf(from+int32(k))...)
		done = v.to
	}
	dst = append(dst, doc[done:f.at.to-1]...)
	for k, name := range names {
		if text := r.textOf(from + int32(k)); written&(1<<k) == 0 && len(text) > 0 {
			dst = append(append(append(dst, `,"`...), name...), `":`...)
			dst = append(dst, text...)
		}
	}
	return append(dst, '}')
}
