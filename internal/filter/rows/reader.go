package rows

import "symbolon/internal/filter/rawjson"

// reader reads the documents of a unit.
type reader struct {
	lookups
	options *Options
	json    rawjson.Reader
	frames  []frame
	images  []image
	strings []byte // texts of strings
	scratch []byte
}

// frame is a frame of a document.
type frame struct {
	ip      uint64
	addr    address // its module is -1 if it has none, or hasAddr is false
	hasAddr bool
	lookup  int32  // index in the query, or -1
	note    string // the answer, in JSON, if the frame cannot be read
	at      value  // its object, if it is rewritten in place
	image   int32  // in images
}

// value is the place of a value in a document; the zero value if it is missing.
type value struct{ from, to int }

func (v value) of(doc []byte) []byte { return doc[v.from:v.to] }

func (v value) isMissing() bool { return v.to == 0 }

// members has the values of the members of a document by which its shape is
// determined.
type members struct {
	crashAddress, crashInfo, crashThread, crashType, crashingThread, frames, jobs, jsonDump, memoryMap, modules, payload,
	stacks, stackTraces, stacktraces, status, symbolicated, threadCount, threads, version, other value
}

// named returns the member with a name. Crash pings of Android have names in camel
// case.
func (m *members) named(name []byte) *value {
	switch string(name) {
	case "crash_address", "crashAddress":
		return &m.crashAddress
	case "crash_info":
		return &m.crashInfo
	case "crash_thread", "crashThread":
		return &m.crashThread
	case "crash_type", "crashType":
		return &m.crashType
	case "crashing_thread":
		return &m.crashingThread
	case "frames":
		return &m.frames
	case "jobs":
		return &m.jobs
	case "json_dump":
		return &m.jsonDump
	case "memoryMap":
		return &m.memoryMap
	case "modules":
		return &m.modules
	case "payload":
		return &m.payload
	case "stacks":
		return &m.stacks
	case "stack_traces", "stackTraces":
		return &m.stackTraces
	case "stacktraces":
		return &m.stacktraces
	case "status":
		return &m.status
	case "symbolicated":
		return &m.symbolicated
	case "thread_count":
		return &m.threadCount
	case "threads":
		return &m.threads
	case "version":
		return &m.version
	}
	return &m.other
}

// readMembers returns the members of the object at v. The places of its modules are
// in r.images until members of another object are read.
func (r *reader) readMembers(v value) (m members) {
	r.images = r.images[:0]
	for ok := r.enter(v, '{'); ok && r.json.Next(); {
		if to := m.named(r.json.Key()); to == &m.modules {
			*to = r.listImages()
		} else {
			*to = r.skip()
		}
	}
	return m
}

// skip reads a value.
func (r *reader) skip() value {
	r.json.Peek()
	from := r.json.Pos
	r.json.Skip()
	return value{from, r.json.Pos}
}

// enter enters the array or object at a value, which has been read before. It
// returns false if there is none.
func (r *reader) enter(v value, bracket byte) bool {
	if v.isMissing() || r.json.Data[v.from] != bracket {
		return false
	}
	r.json.Pos = v.from
	r.json.Enter(bracket)
	return true
}

// eachFrame calls read at each frame of the thread that is read next.
func (r *reader) eachFrame(read func()) {
	for r.json.Enter('{'); r.json.Next(); {
		if string(r.json.Key()) != "frames" {
			r.json.Skip()
			continue
		}
		for r.json.Enter('['); r.json.Next(); {
			read()
		}
	}
}
