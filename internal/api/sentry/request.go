package sentry

import (
	"encoding/binary"
	"strconv"

	"symbolon/internal/bin"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

// request is a decoded request. The frames of all stack traces are in one list, in
// the order in which they were sent.
type request struct {
	scope       string
	signal      uint32
	hasSignal   bool
	sources     []source.Config
	hasSources  bool
	stacks      []stack
	frames      []frame
	extras      []byte // records, see addExtra
	modules     []module
	listing     bool // the answer has the candidates
	context     bool // the answer has source lines
	callerFirst bool // the outermost frame is first, in the request and in the answer
	scraping    scraping
}

// stack is a stack trace.
type stack struct {
	end        int // of its frames in request.frames
	threadID   uint64
	hasID      bool
	threadName optional
	requesting triState
	adjusts    bool       // a frame has adjust_instruction_addr
	registers  []register // by name
}

// register is a register of a stack trace.
type register struct {
	name  string
	value uint64
}

// frame is a frame of a request. Few have more than an address, so the other
// fields are in a record.
type frame struct {
	addr     uint64
	rel      uint64 // index of the module that the address is relative to; it may be invalid
	extra    uint32 // offset of its record in request.extras, plus one; zero: without a record
	adjust   triState
	trust    trust
	relative bool
	void     bool // the module is looked up, but not the address, which is not in it
}

// module is a module of a request.
type module struct {
	kind      ident.Type
	codeID    ident.CodeID
	debugID   ident.DebugID
	hasDebug  bool
	codeFile  optional
	debugFile optional
	checksum  optional
	addr      uint64
	size      uint64
	hasSize   bool
}

// optional is a string that may be missing.
type optional struct {
	text string
	ok   bool
}

// triState is a boolean that may be missing.
type triState uint8

const (
	unset triState = iota
	no
	yes
)

// trust tells how the stack walker found a frame.
type trust uint8

const (
	trustNone trust = iota
	trustScan
)

var trusts = [...]string{"none", "scan", "cfiscan", "fp", "cfi", "prewalked", "context"}

// scraping has the permissions to fetch source files.
type scraping struct {
	enabled bool
	origins []string
	headers map[string]bin.Secret
	verify  bool // certificates
}

// field is a rare field of a frame.
type field uint8

// The fields in the order of the answer.
const (
	fieldEnd field = iota
	fieldPlatform
	fieldFunctionID
	fieldPackage
	fieldLang
	fieldSymbol
	fieldSymAddr
	fieldFunction
	fieldFilename
	fieldAbsPath
	fieldLineno
	fieldPreContext
	fieldContextLine
	fieldPostContext
	fieldSourceLink
	fieldInApp
	fieldVars
	fieldCount
)

var fieldNames = [...]string{
	fieldPlatform: "platform", fieldFunctionID: "function_id", fieldPackage: "package", fieldLang: "lang", fieldSymbol: "symbol",
	fieldSymAddr: "sym_addr", fieldFunction: "function", fieldFilename: "filename", fieldAbsPath: "abs_path", fieldLineno: "lineno",
	fieldPreContext: "pre_context", fieldContextLine: "context_line", fieldPostContext: "post_context", fieldSourceLink: "source_link",
	fieldInApp: "in_app", fieldVars: "vars",
}

// isText reports whether the record has the string itself. For other fields it has
// the JSON of the answer.
func (f field) isText() bool {
	switch f {
	case fieldPlatform, fieldPackage, fieldLang, fieldSymbol, fieldFunction, fieldFilename, fieldAbsPath, fieldContextLine, fieldSourceLink:
		return true
	}
	return false
}

// addExtra adds a field to the record of the last frame. A record has the number,
// the length and the content of each field, and ends with a zero.
func (q *request) addExtra(f field, content []byte) {
	q.extras = append(q.extras, byte(f))
	q.extras = binary.AppendUvarint(q.extras, uint64(len(content)))
	q.extras = append(q.extras, content...)
}

// footprint estimates the memory of the request while it is served.
func (q *request) footprint() int64 {
	n := int64(len(q.frames))*frameCost + int64(len(q.extras)) + int64(len(q.stacks))*stackCost + int64(len(q.modules))*moduleCost
	for i := range q.stacks {
		n += int64(len(q.stacks[i].registers)) * registerCost
	}
	return n
}

// lookupCost estimates the memory of the trails of all modules, which have an entry
// for each path on each source. configured is the number of sources for requests
// that do not name any.
func (q *request) lookupCost(configured int) int64 {
	sources, long := int64(configured), int64(0)
	if q.hasSources {
		sources = int64(len(q.sources))
		for i := range q.sources {
			s := &q.sources[i]
			long += int64(len(s.ID) + len(s.URL.Reveal()) + len(s.Path) + len(s.Bucket) + len(s.Prefix))
		}
	}
	unknown := 0
	for i := range q.modules {
		if q.modules[i].kind == ident.TypeUnknown {
			unknown++
		}
	}
	asked := min(len(q.modules), len(q.frames)) // modules without a frame are not looked up
	unknown = min(unknown, asked)
	places := int64(unknown)*allPlaces + int64(asked-unknown)*usualPlaces
	return places * (sources*placeCost + long)
}

// Estimates for lookupCost.
const (
	usualPlaces = 8    // paths on a source for a module of a known type
	allPlaces   = 32   // paths for one of an unknown type
	placeCost   = 1000 // bytes of a path, besides the address of the source
)

// Bytes of the parts of a request, with those of the query.
const (
	frameCost    = 48
	stackCost    = 96
	moduleCost   = 600
	registerCost = 32
)

// extras has the rare fields of a frame; nil: not sent. request.record fills it.
type extras [fieldCount][]byte

// record reads the record of a frame into extras.
func (q *request) record(f frame, into *extras) {
	if into[fieldEnd] != nil {
		*into = extras{}
	}
	if f.extra == 0 {
		return
	}
	into[fieldEnd] = q.extras[:0] // it is in use
	for rest := q.extras[f.extra-1:]; rest[0] != byte(fieldEnd); {
		n, size := binary.Uvarint(rest[1:])
		from := 1 + size
		to := from + int(n)
		into[rest[0]] = rest[from:to:to]
		rest = rest[to:]
	}
}

// functionID returns the number of the method of a frame.
func (x *extras) functionID() (id uint32, ok bool) {
	text := x[fieldFunctionID] // "0x…" in quotes
	if len(text) < 4 {
		return 0, false
	}
	v, err := strconv.ParseUint(string(text[3:len(text)-1]), 16, 32)
	return uint32(v), err == nil
}
