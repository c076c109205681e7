package sentry

import (
	"encoding/binary"
	"strconv"

	"symbolon/internal/bin"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

// question is a request as it came. The frames of all stack traces follow one
// another, in the order in which they were sent.
type question struct {
	scope       string
	signal      uint32
	hasSignal   bool
	sources     []source.Config
	hasSources  bool
	stacks      []stack
	frames      []frame
	extras      []byte // records, see extra
	modules     []module
	listing     bool // name every place that was looked at
	context     bool // with lines of the source
	callerFirst bool // the frames of a stack trace are sent, and wanted, outermost first
	scraping    scraping
}

// stack is a stack trace.
type stack struct {
	end        int // of its frames
	threadID   uint64
	hasID      bool
	threadName optional
	requesting triState
	adjusts    bool // a frame says whether its address is to be adjusted
	registers  []register
}

// register is one with its value, sorted by name.
type register struct {
	name  string
	value uint64
}

// frame is a frame as it was sent. Few have more than an address, so the rest
// is kept apart.
type frame struct {
	addr     uint64
	rel      uint64 // index of the module that the address is relative to, which may be one that is not there
	extra    uint32 // where its record is in question.extras, plus one; zero: it has none
	adjust   triState
	trust    trust
	relative bool
	void     bool // its module is looked up, but not the address: there is none in it
}

// module is a module as it was sent.
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

// trust is how a frame was found by whoever walked the stack.
type trust uint8

const (
	trustNone trust = iota
	trustScan
)

var trusts = [...]string{"none", "scan", "cfiscan", "fp", "cfi", "prewalked", "context"}

// scraping is what may be done to get sources by their links.
type scraping struct {
	enabled bool
	origins []string
	headers map[string]bin.Secret
	verify  bool // certificates
}

// field is one of the rarer parts of a frame.
type field uint8

// The fields in the order in which the answer has them.
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

// isText says whether the record has the text itself; of other fields it has
// the JSON that goes into the answer.
func (f field) isText() bool {
	switch f {
	case fieldPlatform, fieldPackage, fieldLang, fieldSymbol, fieldFunction, fieldFilename, fieldAbsPath, fieldContextLine, fieldSourceLink:
		return true
	}
	return false
}

// A record in question.extras is fields one after the other, each with its
// number, the length of its content and the content, and a zero at the end.
func (q *question) addExtra(f field, content []byte) {
	q.extras = append(q.extras, byte(f))
	q.extras = binary.AppendUvarint(q.extras, uint64(len(content)))
	q.extras = append(q.extras, content...)
}

// footprint is about how many bytes the request takes while it is worked on.
func (q *question) footprint() int64 {
	n := int64(len(q.frames))*frameCost + int64(len(q.extras)) + int64(len(q.stacks))*stackCost + int64(len(q.modules))*moduleCost
	for i := range q.stacks {
		n += int64(len(q.stacks[i].registers)) * registerCost
	}
	return n
}

// asking is about how many bytes it takes at most to ask sources for the
// modules: each is a number of places with an address, and something is known of
// each in the end. Configured is how many sources there are for who names none.
func (q *question) asking(configured int) int64 {
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
	asked := min(len(q.modules), len(q.frames)) // those that no frame is in are not looked for
	unknown = min(unknown, asked)
	places := int64(unknown)*allPlaces + int64(asked-unknown)*usualPlaces
	return places * (sources*placeCost + long)
}

// How many places a source has for a module, of which the kind is known and of
// which it is not, and what one of them takes beside its address.
const (
	usualPlaces = 8
	allPlaces   = 32
	placeCost   = 1000
)

// What the parts of a request take, with the question to the engine.
const (
	frameCost    = 48
	stackCost    = 96
	moduleCost   = 600
	registerCost = 32
)

// extras is what a frame has of each field; nil: it was not sent. Read it with
// question.record, which empties it first.
type extras [fieldCount][]byte

// record reads the record of a frame.
func (q *question) record(f frame, into *extras) {
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

// functionID is the number of the method that a frame is in.
func (x *extras) functionID() (id uint32, ok bool) {
	text := x[fieldFunctionID] // "0x…" in quotes
	if len(text) < 4 {
		return 0, false
	}
	v, err := strconv.ParseUint(string(text[3:len(text)-1]), 16, 32)
	return uint32(v), err == nil
}
