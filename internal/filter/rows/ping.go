package rows

import (
	"errors"
	"fmt"
	"strconv"

	"symbolon/internal/ident"
)

// keepFrames is the number of entries at each end of the stack of a crash ping that
// its answer has.
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

// readPing reads a crash ping and adds its addresses to the query. It has the members of
// the metric crash.stack_traces, or those of the field StackTraces of .extra files and of
// Telemetry's ping, where the description of the crash is an object.
func (r *reader) readPing(m *members) ping {
	p := ping{reason: m.crashType}
	thread, crashAt := m.crashThread, m.crashAddress
	for ok := r.enter(m.crashInfo, '{'); ok && r.json.Next(); {
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
	p.frames.from = len(r.frames)
	number := r.index(thread, 0)
	for ok, n := r.enter(m.threads, '['), int64(0); ok && r.json.Next(); n++ {
		if n == number {
			r.eachFrame(r.readFrame)
		} else {
			r.json.Skip()
		}
	}
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

// listImages reads a list of modules and notes where they are. They are read when a
// frame refers to them.
func (r *reader) listImages() value {
	r.json.Peek()
	list := value{from: r.json.Pos}
	r.images = r.images[:0]
	for r.json.Enter('['); r.json.Next(); {
		r.images = append(r.images, image{at: r.skip()})
	}
	list.to = r.json.Pos
	return list
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
	for ok := r.enter(m.at, '{'); ok && r.json.Next(); {
		switch key := string(r.json.Key()); key {
		case "base_address", "base_addr", "baseAddress":
			m.base, m.hasBase = parseHex(r.json.Text())
		default:
			r.state(&s, key)
		}
	}
	m.file, m.module = ident.FileName(s.file), r.module(s)
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
	n, from := 0, len(dst)
	for i := p.frames.from; i < p.frames.to; i++ {
		f := &r.frames[i]
		for k := range r.count(f) {
			if n++; count <= 2*keepFrames || n <= keepFrames || n > count-keepFrames {
				dst = r.appendEntry(comma(dst, from), f, k)
			} else if n == keepFrames+1 {
				dst = strconv.AppendInt(append(comma(dst, from), `{"omitted":`...), int64(count-2*keepFrames), 10)
				dst = append(dst, '}')
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
	if f.note != "" {
		dst = append(append(dst, '{'), f.note...)
	} else if dst = appendHex(append(dst, `{"offset":`...), f.ip); f.addr.module >= 0 {
		dst = r.appendMembers(append(dst, ','), f, k)
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
