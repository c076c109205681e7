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
	omitted int    // the number of frames that are left out here
	at      value  // its object, if it is rewritten in place
	image   int32  // in images
}

// value is the place of a value in a document; the zero value if it is missing.
type value struct{ from, to int }

func (v value) of(doc []byte) []byte { return doc[v.from:v.to] }

func (v value) isMissing() bool { return v.to == 0 }

// member is a member of a document by which its shape is determined.
type member uint8

const (
	other member = iota
	crashAddress
	crashInfo
	crashThread
	crashType
	crashingThread
	framesList
	jobsList
	jsonDump
	memoryMap
	modulesList
	payload
	sentryStacks
	stacksList
	status
	stackTraces
	symbolicated
	threadCount
	threadsList
	version
	numMembers
)

// memberOf returns the member with a name. Crash pings of Android have names in
// camel case.
func memberOf(name []byte) member {
	switch string(name) {
	case "crash_address", "crashAddress":
		return crashAddress
	case "crash_info":
		return crashInfo
	case "crash_thread", "crashThread":
		return crashThread
	case "crash_type", "crashType":
		return crashType
	case "crashing_thread":
		return crashingThread
	case "jobs":
		return jobsList
	case "memoryMap":
		return memoryMap
	case "status":
		return status
	case "stacktraces":
		return sentryStacks
	case "stacks":
		return stacksList
	case "version":
		return version
	case "json_dump":
		return jsonDump
	case "thread_count":
		return threadCount
	case "frames":
		return framesList
	case "modules":
		return modulesList
	case "payload":
		return payload
	case "stack_traces", "stackTraces":
		return stackTraces
	case "symbolicated":
		return symbolicated
	case "threads":
		return threadsList
	}
	return other
}

// members has the values of the members of a document.
type members [numMembers]value

// readMembers returns the members of the object at v.
func (r *reader) readMembers(v value) (m members) {
	for ok := r.enter(v, '{'); ok && r.json.Next(); {
		m[memberOf(r.json.Key())] = r.skip()
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
