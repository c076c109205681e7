package rows

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// keepFrames is the number of frames at each end of the stack of a crash ping that
// are answered.
const keepFrames = 50

// ping is a crash ping. Only the stack of the crashing thread is answered.
type ping struct {
	reason value
	frames frames
}

// frames is a range of reader.frames.
type frames struct{ from, to int }

// image is a module of the crash ping that is being read.
type image struct {
	at      value
	isRead  bool
	module  int32 // in lookups.modules
	base    uint64
	hasBase bool
	file    []byte // the last component of its name
}

// readPing reads a crash ping and adds its addresses to the query. Its members are
// those of the metric crash.stack_traces, or of the field StackTraces of .extra
// files and of the ping of Telemetry, whose description of the crash is an object.
func (r *reader) readPing(m *members) ping {
	p := ping{reason: m[crashType]}
	thread, crashAt := m[crashThread], m[crashAddress]
	if r.enter(m[crashInfo], '{') {
		for r.json.Next() {
			switch string(r.json.Key()) {
			case "type":
				p.reason = r.skip()
			case "address":
				crashAt = r.skip()
			case "crashing_thread":
				thread = r.skip()
			default:
				r.json.Skip()
			}
		}
	}
	r.listImages(m[modulesList])
	p.frames.from = len(r.frames)
	r.readThread(m[threadsList], r.index(thread, 0))
	r.omit(p.frames.from)
	if len(r.frames) == p.frames.from && !crashAt.isMissing() {
		r.json.Pos = crashAt.from
		if ip, ok := parseHex(r.json.Text()); ok {
			r.frames = append(r.frames, frame{ip: ip, addr: address{module: -1}, lookup: -1})
		}
	}
	p.frames.to = len(r.frames)
	for i := p.frames.from; i < p.frames.to; i++ {
		r.place(&r.frames[i])
	}
	return p
}

// index returns the number at a value, or instead if there is none.
func (r *reader) index(v value, instead int64) int64 {
	if !v.isMissing() {
		r.json.Pos = v.from
		if i, ok := r.json.Int(); ok {
			return i
		}
	}
	return instead
}

// listImages notes where the modules of a ping are. They are read when a frame
// refers to them.
func (r *reader) listImages(list value) {
	r.images = r.images[:0]
	if r.enter(list, '[') {
		for r.json.Next() {
			r.images = append(r.images, image{at: r.skip()})
		}
	}
}

// readThread reads the frames of a thread.
func (r *reader) readThread(list value, number int64) {
	if !r.enter(list, '[') {
		return
	}
	for n := int64(0); r.json.Next(); n++ {
		if n != number {
			r.json.Skip()
			continue
		}
		for r.json.Enter('{'); r.json.Next(); {
			if string(r.json.Key()) != "frames" {
				r.json.Skip()
				continue
			}
			for r.json.Enter('['); r.json.Next(); {
				r.readFrame()
			}
		}
	}
}

var noIP = note(errors.New("invalid frame: must have an ip"))

// readFrame reads a frame of a ping. Its module is an index in images.
func (r *reader) readFrame() {
	f := frame{addr: address{module: -1}, lookup: -1, note: noIP}
	for r.json.Enter('{'); r.json.Next(); {
		switch string(r.json.Key()) {
		case "ip":
			text, ok := r.json.Text(), false
			if f.ip, ok = parseHex(text); ok {
				f.note = ""
			} else {
				f.note = note(fmt.Errorf("invalid ip %.64q: must be hexadecimal digits", text))
			}
		case "module_index", "moduleIndex":
			if i, ok := r.json.Int(); ok && i >= 0 && i < int64(len(r.images)) {
				f.addr.module = int32(i)
			}
		default:
			r.json.Skip()
		}
	}
	r.frames = append(r.frames, f)
}

// omit replaces the frames in the middle of a long stack.
func (r *reader) omit(from int) {
	if n := len(r.frames) - from - 2*keepFrames; n > 0 {
		at := from + keepFrames
		r.frames = slices.Replace(r.frames, at, at+n, frame{addr: address{module: -1}, lookup: -1, omitted: n})
	}
}

// place finds the address of a frame in its module.
func (r *reader) place(f *frame) {
	if f.addr.module < 0 {
		return
	}
	m := &r.images[f.addr.module]
	if !m.isRead {
		m.isRead = true
		r.readImage(m)
	}
	f.addr.module = m.module
	if f.hasAddr = m.hasBase && f.ip >= m.base && f.note == ""; f.hasAddr {
		f.addr.addr = f.ip - m.base
		if f.ip != 0 {
			f.lookup = r.add(f.addr)
		}
	}
}

func (r *reader) readImage(m *image) {
	var s stated
	if r.enter(m.at, '{') {
		for r.json.Next() {
			switch string(r.json.Key()) {
			case "base_address", "base_addr", "baseAddress":
				m.base, m.hasBase = parseHex(r.json.Text())
			case "filename":
				s.file = r.json.Text()
			case "code_id", "codeId":
				s.codeID = r.json.Text()
			case "debug_file", "debugFile":
				s.debugFile = r.json.Text()
			case "debug_id", "debugId":
				s.debugID = r.json.Text()
			default:
				r.json.Skip()
			}
		}
	}
	m.file, m.module = base(s.file), r.module(s)
}

// appendPing appends the answer to a ping, in the form that Mozilla's generator of
// signatures reads.
func (r *reader) appendPing(dst, doc []byte, p *ping) []byte {
	reason := "null"
	if text := p.reason.of(doc); len(text) > 0 && text[0] == '"' {
		reason = string(text)
	}
	dst = append(append(dst, `{"reason":`...), reason...)
	dst = append(dst, `,"crashing_thread":0,"threads":[{"frames":[`...)
	count := 0
	for i := p.frames.from; i < p.frames.to; i++ {
		count += r.count(&r.frames[i])
	}
	n, omitted, from := 0, 0, len(dst)
	for i := p.frames.from; i < p.frames.to; i++ {
		f := &r.frames[i]
		for k := range r.count(f) {
			if n++; count <= 2*keepFrames || n <= keepFrames || n > count-keepFrames {
				dst = r.appendEntry(comma(dst, from), f, k)
			} else if omitted += max(f.omitted, 1); n == count-keepFrames {
				dst = appendOmitted(comma(dst, from), omitted)
			}
		}
	}
	return append(dst, "]}]}"...)
}

// count returns the number of entries that the answer has for a frame.
func (r *reader) count(f *frame) int {
	if f.lookup < 0 {
		return 1
	}
	from, to := r.answerTo(f.lookup, f.addr)
	return max(int(to-from), 1)
}

// appendEntry appends entry k of a frame.
func (r *reader) appendEntry(dst []byte, f *frame, k int) []byte {
	switch {
	case f.note != "":
		dst = append(append(dst, '{'), f.note...)
	case f.omitted > 0:
		return appendOmitted(dst, f.omitted)
	default:
		dst = appendHex(append(dst, `{"offset":`...), f.ip)
		if f.addr.module >= 0 {
			dst = r.appendMembers(append(dst, ','), f, k)
		}
	}
	return append(dst, '}')
}

// appendMembers appends the members of entry k of a frame in a module.
func (r *reader) appendMembers(dst []byte, f *frame, k int) []byte {
	if f.note != "" {
		return append(dst, f.note...)
	}
	if f.lookup >= 0 {
		if from, to := r.answerTo(f.lookup, f.addr); from < to {
			return append(dst, r.textOf(from+int32(k))...)
		}
	}
	label := r.lookups.modules[f.addr.module].label
	if f.hasAddr {
		return appendPlace(dst, label, f.addr.addr)
	}
	return append(append(dst, `"module":`...), label...)
}

func appendOmitted(dst []byte, n int) []byte {
	dst = strconv.AppendInt(append(dst, `{"omitted":`...), int64(n), 10)
	return append(dst, '}')
}
