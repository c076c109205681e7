package wire

import (
	"encoding/binary"
	"strconv"

	"symbolon/internal/bin"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

// A Request is a decoded request. The frames of all stack traces are in one list, in
// the order in which they were sent.
type Request struct {
	Signal      uint32
	HasSignal   bool
	Sources     []source.Config
	HasSources  bool
	Stacks      []Stack
	Frames      []Frame
	extras      []byte // records, see addExtra
	Modules     []Module
	Listing     bool // the answer has the candidates
	Context     bool // the answer has source lines
	CallerFirst bool // the outermost frame is first, in the request and in the answer
	Scraping    Scraping
	rewrites    []rewrite
}

// Stack is a stack trace.
type Stack struct {
	End        int // of its frames in Request.Frames
	ThreadID   uint64
	HasID      bool
	ThreadName Optional
	Requesting TriState
	Adjusts    bool       // a frame has adjust_instruction_addr
	Registers  []Register // by name
}

// Register is a register of a stack trace.
type Register struct {
	Name  string
	Value uint64
}

// Frame is a frame of a request. Few have more than an address, so the other
// fields are in a record.
type Frame struct {
	Addr     uint64
	Rel      uint64 // index of the module that the address is relative to; it may be invalid
	extra    uint32 // offset of its record in Request.extras, plus one; zero: without a record
	Adjust   TriState
	Trust    Trust
	Relative bool
	Void     bool // the module is looked up, but not the address, which is not in it
}

// Module is a module of a request.
type Module struct {
	Kind      ident.Type
	CodeID    ident.CodeID
	DebugID   ident.DebugID
	HasDebug  bool
	CodeFile  Optional
	DebugFile Optional
	Checksum  Optional
	Addr      uint64
	Size      uint64
	HasSize   bool
}

// Optional is a string that may be missing.
type Optional struct {
	Text string
	OK   bool
}

// TriState is a boolean that may be missing.
type TriState uint8

const (
	Unset TriState = iota
	No
	Yes
)

// Trust tells how the stack walker found a frame.
type Trust uint8

const (
	TrustNone Trust = iota
	TrustScan
	TrustCFIScan
	TrustFP
	TrustCFI
	TrustPrewalked
	TrustContext
)

var Trusts = [...]string{"none", "scan", "cfiscan", "fp", "cfi", "prewalked", "context"}

// Scraping has the permissions to fetch source files.
type Scraping struct {
	Enabled bool
	Origins []string
	Headers map[string]bin.Secret
	Verify  bool // certificates
}

// Field is a rare field of a frame.
type Field uint8

// The fields in the order of the answer.
const (
	fieldEnd Field = iota
	FieldPlatform
	FieldFunctionID
	FieldPackage
	FieldLang
	FieldSymbol
	FieldSymAddr
	FieldFunction
	FieldFilename
	FieldAbsPath
	fieldLineno
	fieldPreContext
	fieldContextLine
	fieldPostContext
	fieldSourceLink
	FieldInApp
	FieldVars
	FieldCount
)

var FieldNames = [...]string{
	FieldPlatform: "platform", FieldFunctionID: "function_id", FieldPackage: "package", FieldLang: "lang", FieldSymbol: "symbol",
	FieldSymAddr: "sym_addr", FieldFunction: "function", FieldFilename: "filename", FieldAbsPath: "abs_path", fieldLineno: "lineno",
	fieldPreContext: "pre_context", fieldContextLine: "context_line", fieldPostContext: "post_context", fieldSourceLink: "source_link",
	FieldInApp: "in_app", FieldVars: "vars",
}

// IsText reports whether the record has the string itself. For other fields it has
// the JSON of the answer.
func (f Field) IsText() bool {
	switch f {
	case FieldPlatform, FieldPackage, FieldLang, FieldSymbol, FieldFunction, FieldFilename, FieldAbsPath, fieldContextLine, fieldSourceLink:
		return true
	}
	return false
}

// AddFrame adds a frame with the names of its package and its function, if they are
// not empty.
func (q *Request) AddFrame(f Frame, pack, function string) {
	if pack != "" || function != "" {
		f.extra = uint32(len(q.extras)) + 1
		if pack != "" {
			q.addExtra(FieldPackage, []byte(pack))
		}
		if function != "" {
			q.addExtra(FieldFunction, []byte(function))
		}
		q.extras = append(q.extras, byte(fieldEnd))
	}
	q.Frames = append(q.Frames, f)
}

// addExtra adds a field to the record of the last frame. A record has the number,
// the length and the content of each field, and ends with a zero.
func (q *Request) addExtra(f Field, content []byte) {
	q.extras = append(q.extras, byte(f))
	q.extras = binary.AppendUvarint(q.extras, uint64(len(content)))
	q.extras = append(q.extras, content...)
}

// Footprint estimates the memory of the request while it is served.
func (q *Request) Footprint() int64 {
	n := int64(len(q.Frames))*frameCost + int64(len(q.extras)) + int64(len(q.Stacks))*stackCost + int64(len(q.Modules))*moduleCost
	for i := range q.Stacks {
		n += int64(len(q.Stacks[i].Registers)) * registerCost
	}
	return n
}

// LookupCost estimates the memory of the trails of all modules, which have an entry
// for each path on each source. configured is the number of sources for requests
// that do not name any, asked how many modules may be looked up.
func (q *Request) LookupCost(configured, asked int) int64 {
	sources, long := int64(configured), int64(0)
	if q.HasSources {
		sources = int64(len(q.Sources))
		for i := range q.Sources {
			s := &q.Sources[i]
			long += int64(len(s.ID) + len(s.URL.Reveal()) + len(s.Path) + len(s.Bucket) + len(s.Prefix))
		}
	}
	unknown := 0
	for i := range q.Modules {
		if q.Modules[i].Kind == ident.TypeUnknown {
			unknown++
		}
	}
	asked = min(asked, len(q.Modules))
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

// Extras has the rare fields of a frame; nil: not sent. Request.Record fills it.
type Extras [FieldCount][]byte

// Record reads the record of a frame into extras.
func (q *Request) Record(f Frame, into *Extras) {
	if into[fieldEnd] != nil {
		*into = Extras{}
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

// FunctionID returns the number of the method of a frame.
func (x *Extras) FunctionID() (id uint32, ok bool) {
	text := x[FieldFunctionID] // "0x…" in quotes
	if len(text) < 4 {
		return 0, false
	}
	v, err := strconv.ParseUint(string(text[3:len(text)-1]), 16, 32)
	return uint32(v), err == nil
}

// defaultScraping returns the scraping of requests without one.
func defaultScraping() Scraping {
	return Scraping{Enabled: true, Origins: []string{"*"}, Verify: true}
}
