package rows

import (
	"errors"
	"strconv"

	"symbolon/internal/ident"
)

var errNoOffset = errors.New("invalid frame: must have an offset of at most 64 bits")

// isList reports whether the first element of a list has an offset and an id, as
// the frames of the shortest kind of row.
func (r *reader) isList(list value) bool {
	hasOffset, hasID := false, false
	if r.enter(list, '[') {
		for n := 0; r.json.Next(); n++ {
			if n > 0 {
				r.json.Skip()
				continue
			}
			for r.json.Enter('{'); r.json.Next(); r.json.Skip() {
				switch string(r.json.Key()) {
				case "offset":
					hasOffset = true
				case "id", "debug_id", "code_id":
					hasID = true
				}
			}
		}
	}
	return hasOffset && hasID
}

// readList reads a list of frames that state their modules themselves.
func (r *reader) readList(list value) frames {
	from := len(r.frames)
	for ok := r.enter(list, '['); ok && r.json.Next(); {
		f := frame{addr: address{module: -1}, lookup: -1}
		var s stated
		for r.json.Enter('{'); r.json.Next(); {
			if key := string(r.json.Key()); key == "offset" {
				f.addr.addr, f.hasAddr = r.number()
			} else {
				r.state(&s, key)
			}
		}
		if f.addr.module = r.module(s); f.hasAddr {
			f.lookup = r.add(f.addr)
		} else {
			f.note = note(errNoOffset)
		}
		r.frames = append(r.frames, f)
	}
	return frames{from, len(r.frames)}
}

// state reads a member of an object that states a module. An id of unknown kind is a
// debug id if it is a UUID and an age; forty digits, and fewer than a UUID has, are a
// build id.
func (r *reader) state(s *stated, key string) {
	switch key {
	case "filename", "code_file", "module":
		s.file = r.json.Text()
	case "debug_file", "debugFile":
		s.debugFile = r.json.Text()
	case "code_id", "codeId":
		s.codeID = r.json.Text()
	case "debug_id", "debugId":
		s.debugID = r.json.Text()
	case "id":
		id := r.json.Text()
		if _, err := ident.ParseDebugID(string(id)); err == nil && len(id) >= 32 && len(id) != 40 {
			s.debugID = id
		} else {
			s.codeID = id
		}
	default:
		r.json.Skip()
	}
}

// number reads an address: a string of hexadecimal digits, or a number.
func (r *reader) number() (v uint64, ok bool) {
	if r.json.Peek() == '"' {
		return parseHex(r.json.Text())
	}
	v, err := strconv.ParseUint(string(r.json.Skip()), 10, 64)
	return v, err == nil
}

// appendList appends the answer to a list of frames: for each frame, its calls with
// the number of the frame.
func (r *reader) appendList(dst []byte, list frames) []byte {
	dst = append(dst, `{"frames":[`...)
	from := len(dst)
	for i := list.from; i < list.to; i++ {
		f := &r.frames[i]
		for k := range r.count(f) {
			dst = strconv.AppendInt(append(comma(dst, from), `{"frame":`...), int64(i-list.from), 10)
			dst = append(r.appendMembers(append(dst, ','), f, k), '}')
		}
	}
	return append(dst, "]}"...)
}
