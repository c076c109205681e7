package rows

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"symbolon/internal/filter"
	"symbolon/internal/filter/rawjson"
	"symbolon/internal/ident"
)

// body is a request of Symbolicator.
type body struct {
	stacks, images value
	frames         frames
}

// readBody reads a request of Symbolicator and adds its addresses to the query.
func (r *reader) readBody(m *members) body {
	b := body{m[sentryStacks], m[modulesList], frames{from: len(r.frames)}}
	r.listSentryImages(b.images)
	byBase := slices.Clone(r.images)
	slices.SortStableFunc(byBase, func(x, y image) int { return cmp.Compare(x.base, y.base) })
	for ok := r.enter(b.stacks, '['); ok && r.json.Next(); {
		for r.json.Enter('{'); r.json.Next(); {
			if string(r.json.Key()) != "frames" {
				r.json.Skip()
				continue
			}
			first := len(r.frames)
			for r.json.Enter('['); r.json.Next(); {
				r.readSentryFrame()
			}
			step(r.frames[first:])
			for i := range r.frames[first:] {
				r.locate(&r.frames[first+i], byBase)
			}
		}
	}
	b.frames.to = len(r.frames)
	return b
}

// listSentryImages reads the modules of a request into images.
func (r *reader) listSentryImages(list value) {
	r.listImages(list)
	for i := range r.images {
		m := &r.images[i]
		var s stated
		for ok := r.enter(m.at, '{'); ok && r.json.Next(); {
			switch string(r.json.Key()) {
			case "type":
				s.kind = ident.ParseType(string(r.json.Text()))
			case "code_file":
				s.file = r.json.Text()
			case "code_id":
				s.codeID = r.json.Text()
			case "debug_file":
				s.debugFile = r.json.Text()
			case "debug_id":
				s.debugID = r.json.Text()
			case "image_addr":
				m.base, _ = r.sentryAddress()
			case "image_size":
				size, _ := r.json.Int()
				m.size = uint64(max(size, 0))
			default:
				r.json.Skip()
			}
		}
		m.module = r.module(s)
	}
}

// sentryAddress reads an address: a number, or a string with a hexadecimal one after
// 0x, or a decimal one.
func (r *reader) sentryAddress() (addr uint64, ok bool) {
	text := r.json.Data[r.json.Pos:r.json.Pos]
	if r.json.Peek() == '"' {
		if text = r.json.Text(); bytes.HasPrefix(text, []byte("0x")) || bytes.HasPrefix(text, []byte("0X")) {
			return parseHex(text)
		}
	} else {
		text = r.json.Skip()
	}
	addr, err := strconv.ParseUint(string(text), 10, 64)
	return addr, err == nil
}

func (r *reader) readSentryFrame() {
	r.json.Peek()
	f := frame{addr: address{style: styleSentry, module: -1}, lookup: -1, image: -1, at: value{from: r.json.Pos}}
	for r.json.Enter('{'); r.json.Next(); {
		switch string(r.json.Key()) {
		case "instruction_addr":
			f.ip, f.hasAddr = r.sentryAddress()
		case "addr_mode":
			if n, ok := bytes.CutPrefix(r.json.Text(), []byte("rel:")); ok {
				i, err := strconv.ParseUint(string(n), 10, 31)
				if f.image = int32(i); err != nil {
					f.hasAddr, f.image = false, 1<<31-1
				}
			}
		case "adjust_instruction_addr":
			if word := r.json.Skip(); word[0] != 'n' {
				f.adjust = word[0]
			}
		default:
			r.json.Skip()
		}
	}
	f.at.to = r.json.Pos
	r.frames = append(r.frames, f)
}

// step determines which addresses of a stack follow a call: all but the first,
// unless frames state it.
func step(stack []frame) {
	isStated := slices.ContainsFunc(stack, func(f frame) bool { return f.adjust != 0 })
	for i := range stack {
		f := &stack[i]
		f.addr.isReturn = f.adjust == 't' || f.adjust == 0 && (i > 0 || isStated)
	}
}

// locate finds the module of a frame and adds its address to the query. The size of
// a module may be unknown: then it ends where the next one begins.
func (r *reader) locate(f *frame, byBase []image) {
	if !f.hasAddr {
		return
	}
	if f.image >= 0 {
		if int(f.image) < len(r.images) {
			f.addr.module, f.addr.addr = r.images[f.image].module, f.ip
			f.lookup = r.add(f.addr)
		}
		return
	}
	i, _ := slices.BinarySearchFunc(byBase, f.ip, func(m image, ip uint64) int {
		if m.base <= ip {
			return -1
		}
		return 1
	})
	if i == 0 {
		return
	}
	if m := &byBase[i-1]; m.size == 0 || f.ip-m.base <= m.size {
		f.addr.module, f.addr.addr = m.module, f.ip-m.base
		if r.ask(m.module); m.base != 0 { // one at 0 has no absolute addresses
			f.lookup = r.add(f.addr)
		}
	}
}

// addSentry adds the members of a frame for each call, and the entry of the function.
func (l *lookups) addSentry(calls []filter.Frame) {
	for i := range calls {
		f := &calls[i]
		raw := f.Raw
		if len(raw) == 0 {
			raw = f.Function
		}
		dst := rawjson.AppendQuoted(append(l.text, `,"symbol":`...), raw)
		dst = rawjson.AppendQuoted(append(dst, `,"function":`...), f.Function)
		if len(f.File) > 0 {
			dst = rawjson.AppendQuoted(append(dst, `,"filename":`...), base(f.File))
			dst = rawjson.AppendQuoted(append(dst, `,"abs_path":`...), f.File)
		}
		l.addText(strconv.AppendUint(append(dst, `,"lineno":`...), uint64(f.Line), 10))
	}
	l.addText(strconv.AppendUint(l.text, calls[0].Entry, 16))
}

// appendBody appends the answer to a request of Symbolicator. It repeats all other
// members of stacks, frames and modules.
func (r *reader) appendBody(dst, doc []byte, b *body) []byte {
	r.json.Reset(doc)
	r.use(b.frames)
	next, done := b.frames.from, b.stacks.from
	dst = append(dst, `{"status":"completed","stacktraces":`...)
	for ok := r.enter(b.stacks, '['); ok && r.json.Next(); {
		for r.json.Enter('{'); r.json.Next(); {
			isFrames := string(r.json.Key()) == "frames"
			v := r.skip()
			if !isFrames || doc[v.from] != '[' {
				continue
			}
			dst = append(append(dst, doc[done:v.from]...), '[')
			from := len(dst)
			for n := 0; next < b.frames.to && r.frames[next].at.to <= v.to; n++ {
				dst = r.appendSentryFrame(dst, &r.frames[next], n, from)
				next++
			}
			dst, done = append(dst, ']'), v.to
		}
	}
	dst = append(append(dst, doc[done:b.stacks.to]...), `,"modules":[`...)
	r.listSentryImages(b.images)
	from := len(dst)
	for _, m := range r.images {
		dst = append(comma(dst, from), m.at.of(doc)...)
		if object := m.at.of(doc); object[0] == '{' {
			dst = append(appendOpen(dst[:len(dst)-len(object)], object), `"debug_status":"`...)
			dst = append(append(dst, moduleStatus[r.found(m.module)]...), `"}`...)
		}
	}
	return append(dst, "]}"...)
}

// moduleStatus has the status of a module for each value of found_modules.
var moduleStatus = map[string]string{"null": "unused", "true": "found", "false": "missing"}

// appendOpen appends an object up to the place of another member.
func appendOpen(dst, object []byte) []byte {
	object = bytes.TrimRight(object[:len(object)-1], " \t\r\n")
	if dst = append(dst, object...); len(object) > 1 {
		dst = append(dst, ',')
	}
	return dst
}

// appendSentryFrame appends frame n of the list that begins at from, with an entry
// for each call.
func (r *reader) appendSentryFrame(dst []byte, f *frame, n, from int) []byte {
	object := f.at.of(r.json.Data)
	if object[0] != '{' {
		return append(comma(dst, from), object...)
	}
	outcome := "missing_symbol"
	if f.addr.module < 0 {
		outcome = "unknown_image"
	} else if r.found(f.addr.module) != "true" {
		outcome = "missing"
	} else if f.lookup >= 0 {
		if first, end := r.answerTo(f.lookup, f.addr); first < end {
			return r.appendCalls(dst, f, n, from)
		}
	}
	dst = appendStatus(comma(dst, from), outcome, n)
	if rest := bytes.TrimLeft(object[1:], " \t\r\n"); rest[0] != '}' {
		dst = append(append(dst, ','), rest...)
	} else {
		dst = append(dst, '}')
	}
	return dst
}

func appendStatus(dst []byte, outcome string, n int) []byte {
	dst = append(append(append(dst, `{"status":"`...), outcome...), `","original_index":`...)
	return strconv.AppendInt(dst, int64(n), 10)
}

// appendCalls appends an entry for each call of a frame.
func (r *reader) appendCalls(dst []byte, f *frame, n, from int) []byte {
	pos := r.json.Pos
	var trust []byte
	for ok := r.enter(f.at, '{'); ok && r.json.Next(); {
		isTrust := string(r.json.Key()) == "trust"
		if v := r.json.Skip(); isTrust && v[0] == '"' {
			trust = v
		}
	}
	r.json.Pos = pos
	first, end := r.answerTo(f.lookup, f.addr)
	entry, _ := strconv.ParseUint(string(r.textOf(end-1)), 16, 64)
	for k := first; k < end-1; k++ {
		dst = appendStatus(comma(dst, from), "symbolicated", n)
		if f.image >= 0 {
			dst = append(strconv.AppendInt(append(dst, `,"addr_mode":"rel:`...), int64(f.image), 10), '"')
		}
		dst = append(strconv.AppendUint(append(dst, `,"instruction_addr":"0x`...), f.ip, 16), '"')
		dst = rawjson.AppendQuoted(append(dst, `,"package":`...), r.modules[f.addr.module].name)
		if dst = append(dst, r.textOf(k)...); k == end-2 {
			dst = append(strconv.AppendUint(append(dst, `,"sym_addr":"0x`...), f.ip-f.addr.addr+entry, 16), '"')
		}
		if trust != nil {
			dst = append(append(dst, `,"trust":`...), trust...)
		}
		dst = append(dst, '}')
	}
	return dst
}
