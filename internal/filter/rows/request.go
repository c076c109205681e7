package rows

import (
	"errors"
	"fmt"
	"strconv"

	"symbolon/internal/filter"
	"symbolon/internal/filter/rawjson"
)

// request is a request of version 5 or 4 of Mozilla's interface.
type request struct {
	jobs   value // a list; if it is missing, the only job is single
	single value
	isV4   bool
	frames frames
}

// readRequest reads a request and adds its addresses to the query.
func (r *reader) readRequest(v value, m *members) (q request, err error) {
	q = request{jobs: m[jobsList], single: v}
	if n := r.index(m[version], 5); n < 5 && q.jobs.isMissing() {
		q.isV4 = true
	}
	q.frames.from = len(r.frames)
	n := 0
	r.eachJob(&q, func(m *members) {
		if bad := r.readJob(m, q.isV4); bad != nil && err == nil {
			err = fmt.Errorf("invalid request: job %d: %w", n, bad)
		}
		n++
	})
	q.frames.to = len(r.frames)
	return q, err
}

// eachJob calls f with the members of each job.
func (r *reader) eachJob(q *request, f func(m *members)) {
	if q.jobs.isMissing() {
		m := r.readMembers(q.single)
		f(&m)
		return
	}
	var jobs []value
	for ok := r.enter(q.jobs, '['); ok && r.json.Next(); {
		jobs = append(jobs, r.skip())
	}
	for _, v := range jobs {
		m := r.readMembers(v)
		f(&m)
	}
}

// readMap reads the modules of a job into images.
func (r *reader) readMap(list value) error {
	r.images = r.images[:0]
	if !r.enter(list, '[') {
		return errNoMap
	}
	for r.json.Next() {
		var s stated
		n := 0
		for r.json.Enter('['); r.json.Next(); n++ {
			switch text := r.json.Text(); n {
			case 0:
				s.debugFile = text
			case 1:
				s.debugID = text
			case 2:
				s.codeID = text
			}
		}
		if n < 2 || s.debugFile == nil || s.debugID == nil {
			return fmt.Errorf("module %d must be [debug file, debug id]", len(r.images))
		}
		r.images = append(r.images, image{module: r.module(s)})
	}
	return nil
}

var (
	errNoMap    = errors.New("memoryMap must be a list of modules")
	errNoStacks = errors.New("stacks must be a list of lists")
)

// readJob reads the frames of a job.
func (r *reader) readJob(m *members, isV4 bool) error {
	if err := r.readMap(m[memoryMap]); err != nil {
		return err
	}
	if !r.enter(m[stacksList], '[') {
		return errNoStacks
	}
	f := frame{addr: address{style: styleV5}}
	if isV4 {
		f.addr.style = styleV4
	}
	for stack := 0; r.json.Next(); stack++ {
		k := 0
		for r.json.Enter('['); r.json.Next(); k++ {
			if !r.readPair(&f) {
				return fmt.Errorf("stack %d: frame %d must be [index of a module, offset]", stack, k)
			}
			r.frames = append(r.frames, f)
		}
	}
	return nil
}

// readPair reads a frame: the index of a module, or -1, and an offset, or -1.
func (r *reader) readPair(f *frame) (ok bool) {
	n := 0
	f.addr.module, f.lookup = -1, -1
	var i int64
	var offset []byte
	for r.json.Enter('['); r.json.Next(); n++ {
		switch n {
		case 0:
			i, ok = r.json.Int()
		case 1:
			offset = r.json.Skip()
		default:
			r.json.Skip()
		}
	}
	var err error
	f.addr.addr, err = strconv.ParseUint(string(offset), 10, 64)
	f.hasAddr = err == nil
	if n != 2 || !ok || i < -1 || i >= int64(len(r.images)) || err != nil && string(offset) != "-1" {
		return false
	}
	if i >= 0 {
		if f.addr.module = r.images[i].module; f.hasAddr {
			f.lookup = r.add(f.addr)
		} else {
			r.ask(f.addr.module)
		}
	}
	return true
}

// addFunction adds the members of a frame of version 5 that are known only with a
// function.
func (l *lookups) addFunction(addr uint64, calls []filter.Frame) {
	outer, inlined := &calls[len(calls)-1], calls[:len(calls)-1]
	dst := rawjson.AppendQuoted(append(l.text, `,"function":`...), outer.Function)
	dst = append(strconv.AppendUint(append(dst, `,"function_offset":"0x`...), addr-outer.Entry, 16), '"')
	if dst = appendFile(dst, outer); len(inlined) > 0 {
		dst = appendInlined(append(dst, `,"inlines":`...), inlined)
	}
	l.addText(dst)
}

// appendRequest appends the answer to a request.
func (r *reader) appendRequest(dst, doc []byte, q *request) []byte {
	r.json.Reset(doc)
	r.use(q.frames)
	next := q.frames.from
	if !q.isV4 {
		dst = append(dst, `{"results":[`...)
	}
	from := len(dst)
	r.eachJob(q, func(m *members) {
		dst = r.appendJob(comma(dst, from), m, q.isV4, &next)
	})
	if !q.isV4 {
		dst = append(dst, "]}"...)
	}
	return dst
}

// appendJob appends the answer to a job whose first frame is next.
func (r *reader) appendJob(dst []byte, m *members, isV4 bool, next *int) []byte {
	r.readMap(m[memoryMap])
	name := `{"stacks":[`
	if isV4 {
		name = `{"symbolicatedStacks":[`
	}
	dst = append(dst, name...)
	stacks := len(dst)
	for ok := r.enter(m[stacksList], '['); ok && r.json.Next(); {
		dst = append(comma(dst, stacks), '[')
		n := 0
		for r.json.Enter('['); r.json.Next(); n++ {
			r.json.Skip()
			if n > 0 {
				dst = append(dst, ',')
			}
			if f := &r.frames[*next]; isV4 {
				dst = r.appendV4(dst, f)
			} else {
				dst = r.appendV5(dst, f, n)
			}
			*next++
		}
		dst = append(dst, ']')
	}
	if isV4 {
		dst = append(dst, `],"knownModules":[`...)
		from := len(dst)
		for _, i := range r.images {
			dst = append(comma(dst, from), r.found(i.module)...)
		}
		return append(dst, "]}"...)
	}
	dst = append(dst, `],"found_modules":{`...)
	from := len(dst)
	r.job++
	for ok, k := r.enter(m[memoryMap], '['), 0; ok && r.json.Next(); k++ {
		i := r.images[k].module
		var text [2][]byte
		n := 0
		for r.json.Enter('['); r.json.Next(); n++ {
			if v := r.json.Text(); n < len(text) {
				text[n] = v
			}
		}
		if r.modules[i].job != r.job {
			r.modules[i].job = r.job
			r.key = append(append(append(r.key[:0], text[0]...), '/'), text[1]...)
			dst = rawjson.AppendQuoted(comma(dst, from), r.key)
			dst = append(append(dst, ':'), r.found(i)...)
		}
	}
	return append(dst, "}}"...)
}

// use notes the modules of the request whose answer is written next.
func (r *reader) use(list frames) {
	r.row++
	for _, f := range r.frames[list.from:list.to] {
		if f.addr.module >= 0 {
			r.modules[f.addr.module].row = r.row
		}
	}
}

// found returns whether a module has names, or null if the row has no frame in it.
func (r *reader) found(module int32) string {
	m := &r.modules[module]
	switch {
	case m.row != r.row:
		return "null"
	case m.unit == r.unit && r.answer.Missing(m.index) == nil:
		return "true"
	}
	return "false"
}

// appendV5 appends frame n of a stack.
func (r *reader) appendV5(dst []byte, f *frame, n int) []byte {
	dst = strconv.AppendInt(append(dst, `{"frame":`...), int64(n), 10)
	dst = append(append(dst, `,"module":`...), r.labelOf(f)...)
	dst = append(dst, `,"module_offset":"`...)
	dst = append(appendOffset(dst, f), '"')
	if f.lookup >= 0 {
		if from, to := r.answerTo(f.lookup, f.addr); from < to {
			dst = append(dst, r.textOf(from)...)
		}
	}
	return append(dst, '}')
}

// appendV4 appends a frame as a string.
func (r *reader) appendV4(dst []byte, f *frame) []byte {
	dst = append(dst, '"')
	from, to := int32(0), int32(0)
	if f.lookup >= 0 {
		from, to = r.answerTo(f.lookup, f.addr)
	}
	if from < to {
		name := r.textOf(from)
		dst = append(dst, name[1:len(name)-1]...)
	} else {
		dst = appendOffset(dst, f)
	}
	label := r.labelOf(f)
	dst = append(append(dst, " (in "...), label[1:len(label)-1]...)
	return append(dst, `)"`...)
}

// labelOf returns the name of the module of a frame in JSON.
func (r *reader) labelOf(f *frame) []byte {
	if f.addr.module < 0 {
		return []byte(`"<unknown>"`)
	}
	return r.modules[f.addr.module].label
}

func appendOffset(dst []byte, f *frame) []byte {
	if !f.hasAddr {
		return append(dst, "-0x1"...)
	}
	return strconv.AppendUint(append(dst, "0x"...), f.addr.addr, 16)
}
