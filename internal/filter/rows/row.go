package rows

import (
	"bytes"
	"errors"
	"strings"

	"symbolon/internal/api/json"
)

// shape is the kind of a document.
type shape uint8

const (
	unknown shape = iota // it is copied
	plainText
	crashPing
	frameList
	inPlace
	request
	invalid // the answer is err
)

var (
	errUnknown = errors.New("unknown row: must be a crash ping, a processed crash, a request, or a list of frames")
	errNotJSON = errors.New("invalid row: must be JSON")
)

// row is a line of the input.
type row struct {
	line  []byte // with its end
	value value  // the part of line that is rewritten
	// doc is the text of value. If isString, it is the text of the string.
	doc      []byte
	isString bool
	shape    shape
	err      error // why there is no answer
	// The answer replaces a part of doc. With isNew it becomes a member.
	at    value
	isNew bool
	ping  ping
	list  frames
	// A request is the value asked, sent to path; its answer is text.
	asked value
	path  string
	text  []byte
}

// maxNested is the number of values in each other that are opened: a ping, its
// payload, the stack traces in it, and the text of a string.
const maxNested = 4

// open finds the part of a row that is rewritten, and reads it.
func (r *reader) open(line []byte) row {
	w := row{line: line}
	w.value.to = len(bytes.TrimRight(line, " \t\r\n"))
	w.value.from = w.value.to - len(bytes.TrimLeft(line[:w.value.to], " \t"))
	w.doc = w.value.of(line)
	r.openDoc(&w, r.options.Field, maxNested)
	if r.options.OnlyRows && !w.isString && len(w.doc) > 0 && (w.shape == plainText || w.doc[0] != '{') {
		w.shape, w.err = unknown, errNotJSON
	}
	return w
}

// openDoc reads the value at a path in w.doc.
func (r *reader) openDoc(w *row, path string, depth int) {
	if len(w.doc) == 0 {
		return
	}
	r.json.Reset(w.doc)
	if path == "" && r.json.Peek() == '{' { // once through it is enough
		v := value{from: r.json.Pos, to: len(w.doc)}
		m := r.readMembers(v)
		v.to = r.json.Pos
		if r.json.End(); r.json.Err != nil {
			w.shape = plainText
		} else {
			r.openObject(w, v, &m, depth)
		}
		return
	}
	v := r.skip()
	if r.json.End(); r.json.Err != nil {
		w.shape = plainText
		return
	}
	whole := v
	for path != "" && !v.isMissing() && w.doc[v.from] != 'n' { // null has no members
		v, path = r.step(v, path)
	}
	if v.isMissing() {
		r.refuse(w, whole, errUnknown)
	} else {
		r.openValue(w, v, depth)
	}
}

// step returns the member that a path begins with in the object at v, and the rest
// of the path. Names may have dots.
func (r *reader) step(v value, path string) (found value, rest string) {
	if !r.enter(v, '{') {
		return value{}, ""
	}
	for r.json.Next() {
		name := string(r.json.Key())
		after, ok := strings.CutPrefix(path, name)
		if v := r.skip(); ok && after == "" {
			found, rest = v, ""
		} else if ok && after[0] == '.' && found.isMissing() {
			found, rest = v, after[1:]
		}
	}
	return found, rest
}

// openValue reads the value at v.
func (r *reader) openValue(w *row, v value, depth int) {
	switch c := w.doc[v.from]; {
	case depth == 0:
		r.refuse(w, v, errUnknown)
	case c == '{':
		m := r.readMembers(v)
		r.openObject(w, v, &m, depth)
	case c == '"' && !w.isString:
		r.json.Pos = v.from
		from := len(r.strings)
		r.strings = append(r.strings, r.json.Text()...)
		w.isString, w.doc = true, r.strings[from:]
		w.value = value{w.value.from + v.from, w.value.from + v.to}
		r.openDoc(w, "", depth-1)
	}
}

// openObject reads a document, or one in it.
func (r *reader) openObject(w *row, v value, m *members, depth int) {
	if w.at = v; !r.options.Replace {
		w.at, w.isNew = value{v.to - 1, v.to - 1}, true // before the last bracket
		if old := m.symbolicated; !old.isMissing() {
			w.at, w.isNew = old, false
		}
	}
	switch {
	case !m.symbolicated.isMissing() && !r.run.Force:
	case !m.stacktraces.isMissing() && !m.status.isMissing(): // it is an answer
	case !m.jsonDump.isMissing():
		dump := r.readMembers(m.jsonDump)
		w.shape, w.list = inPlace, r.readDump(&dump)
	case !m.threadCount.isMissing():
		w.shape, w.list = inPlace, r.readDump(m)
	case !m.jobs.isMissing(), !m.memoryMap.isMissing() && !m.stacks.isMissing():
		w.shape, w.asked, w.path = request, v, "/symbolicate/v5"
		if m.jobs.isMissing() && r.index(m.version, 5) < 5 {
			w.path = "/symbolicate/v4"
		}
	case !m.stacktraces.isMissing() && !m.modules.isMissing():
		w.shape, w.asked, w.path = request, v, "/symbolicate"
	case m.isPing():
		w.shape, w.ping = crashPing, r.readPing(m)
	case r.isList(m.frames):
		w.shape, w.list = frameList, r.readList(m.frames)
	case !m.stackTraces.isMissing():
		r.openValue(w, m.stackTraces, depth-1)
	case !m.payload.isMissing():
		r.openValue(w, m.payload, depth-1)
	default:
		r.refuse(w, v, errUnknown)
	}
}

// refuse makes an error the answer to the document at v. One of an unknown shape is
// copied, if there may be other rows than these.
func (r *reader) refuse(w *row, v value, err error) {
	if w.err = err; err != errUnknown {
		w.shape = invalid
	} else if r.options.Strict {
		w.shape, w.at, w.isNew = invalid, v, false
	}
}

// isPing reports whether an object is a crash ping. One without a stack has at
// least the address of the crash.
func (m *members) isPing() bool {
	return !m.threads.isMissing() && !m.modules.isMissing() || !m.crashAddress.isMissing()
}

// appendRow appends a row with its answer.
func (r *reader) appendRow(dst []byte, w *row) []byte {
	if w.shape == unknown {
		return append(dst, w.line...)
	}
	dst = append(dst, w.line[:w.value.from]...)
	if w.isString {
		r.scratch = r.appendDoc(r.scratch[:0], w)
		dst = json.AppendQuoted(dst, r.scratch)
	} else {
		dst = r.appendDoc(dst, w)
	}
	return append(dst, w.line[w.value.to:]...)
}

func (r *reader) appendDoc(dst []byte, w *row) []byte {
	if w.shape == inPlace {
		return r.appendFrames(dst, w.doc, w.list)
	}
	dst = append(dst, w.doc[:w.at.from]...)
	if w.isNew {
		dst = append(dst, `,"symbolicated":`...)
	}
	switch w.shape {
	case crashPing:
		dst = r.appendPing(dst, w.doc, &w.ping)
	case request:
		dst = append(dst, w.text...)
	case invalid:
		dst = append(append(append(dst, '{'), note(w.err)...), '}')
	default:
		dst = r.appendList(dst, w.list)
	}
	return append(dst, w.doc[w.at.to:]...)
}
