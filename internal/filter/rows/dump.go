package rows

import "bytes"

// readDump reads the output of a stack walker, which is the member json_dump of a
// processed crash of Socorro.
func (r *reader) readDump(m *members) frames {
	for i := range r.images {
		r.readImage(&r.images[i])
	}
	from := len(r.frames)
	first, second := m.crashingThread, m.threads
	if first.from > second.from {
		first, second = second, first
	}
	for _, v := range [...]value{first, second} {
		if r.enter(v, '[') {
			for r.json.Next() {
				r.eachFrame(r.readDumpFrame)
			}
		} else if !v.isMissing() {
			r.json.Pos = v.from
			r.eachFrame(r.readDumpFrame)
		}
	}
	return frames{from, len(r.frames)}
}

// readDumpFrame reads a frame, and adds its address to the query if its module is
// known and its function is not.
func (r *reader) readDumpFrame() {
	r.json.Peek()
	f := frame{addr: address{style: styleDump}, at: value{from: r.json.Pos}}
	var module []byte
	var isNamed, hasIP bool
	for r.json.Enter('{'); r.json.Next(); {
		switch string(r.json.Key()) {
		case "module":
			module = r.json.Text()
		case "module_offset":
			f.addr.addr, f.hasAddr = parseHex(r.json.Text())
		case "offset":
			f.ip, hasIP = parseHex(r.json.Text())
		case "function":
			isNamed = len(r.json.Text()) > 0
		default:
			r.json.Skip()
		}
	}
	f.at.to = r.json.Pos
	if !f.hasAddr || isNamed && !r.run.Force {
		return
	}
	for i := range r.images {
		// Two modules may have one name.
		if m := &r.images[i]; bytes.Equal(m.file, module) && (!hasIP || !m.hasBase || m.base == f.ip-f.addr.addr) {
			f.addr.module = m.module
			if f.lookup = r.add(f.addr); f.lookup >= 0 {
				r.frames = append(r.frames, f)
			}
			return
		}
	}
}
