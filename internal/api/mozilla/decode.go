package mozilla

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"unicode/utf8"

	"symbolon/internal/api"
	"symbolon/internal/api/json"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/metric"
	"symbolon/internal/symbolicate"
)

// refusal is why a request is not served.
type refusal struct {
	status int
	title  string
}

func (r *refusal) Error() string { return r.title }

// payload is a request as it came. The frames of all jobs follow one another
// in req, those of a job stack by stack.
type payload struct {
	jobs       []job
	stacks     []int32  // where each stack ends in the frames
	maps       []int32  // the memoryMaps, as indexes into modules
	modules    []module // distinct, in the order in which they first appear
	odd        []odd    // rising by frame
	req        symbolicate.Request
	debug      bool // v4: the body asks for the block
	extensions bool
}

// job is its parts of payload.stacks and payload.maps.
type job struct{ stacks, maps span }

type span struct{ from, to int }

// module is a file and its ids as they were sent. The code id is empty where
// there is none; it does not tell modules apart.
type module struct{ file, id, code string }

func (m module) key() string { return m.file + "/" + m.id }

// Bounds of what is looked up. The name of a file has that of ident.CheckFileName.
const (
	maxCodeID = 128     // hex digits of the longest build id that is read
	maxText   = 4 << 10 // bytes of a name or id that the engine gets, and of a name in frames
)

// ask makes the question to the engine. The error is why the module cannot be
// looked up; what the engine finds wrong is in its report.
func (m module) ask() (ident.Module, error) {
	code := ident.ParseCodeID(m.code)
	switch {
	case len(m.file) > maxText:
		return ident.Module{}, fault.New(fault.NotFound, "", "%w", ident.CheckFileName(m.file))
	case len(m.id) > maxText:
		return ident.Module{}, fault.New(fault.NotFound, "", "invalid debug id %.64q: must be at most %d bytes", m.id, maxText)
	case len(code) != len(m.code) || len(code) > maxCodeID:
		return ident.Module{}, fault.New(fault.NotFound, "", "invalid code id %.64q: must be at most %d hexadecimal digits", m.code, maxCodeID)
	}
	id, err := ident.ParseDebugID(m.id)
	if err != nil || len(m.id) < shortestID {
		id = ident.DebugID{}
	}
	if len(code) >= shortestID && !id.IsZero() && !ident.BuildID(code).Fits(id) {
		return ident.Module{}, fault.New(fault.NotFound, "", "code id %s does not belong to debug id %s", code, id.Breakpad())
	}
	return ident.Module{DebugFile: m.file, DebugID: id, DebugIDText: m.id, CodeID: code}, nil
}

// named is false for the modules that are never looked up.
func (m module) named() bool { return m.file != "" && m.id != "" }

// odd is a frame whose offset is no address.
type odd struct {
	frame  int
	offset string // what is shown of it
	bare   bool   // it is shown alone, without its module
}

// dialect is what differs between the versions of the request.
type dialect struct {
	jobs   bool // the body may be a list of jobs
	tecken bool
	limits Config
}

// strict says that names and ids may have only the characters that Eliot allows.
func (is dialect) strict() bool { return is.limits.Strict && !is.tecken }

// either is the text of the predecessor, or that of Eliot.
func (is dialect) either(tecken, eliot string) string {
	if is.tecken {
		return tecken
	}
	return eliot
}

// strictJobs is the number of jobs that Eliot allows.
const strictJobs = 10

// decode reads and checks the body of a request. The error is a *refusal or
// an *api.BodyError.
func decode(body io.Reader, is dialect) (*payload, error) {
	s := json.NewDecoder(body)
	defer s.Release()
	p := document(s, is)
	var unread *api.BodyError
	var refused *refusal
	switch {
	case s.Err == nil:
		p.ask(is)
		return p, nil
	case errors.As(s.Err, &unread):
		return nil, unread
	case errors.As(s.Err, &refused):
		return nil, refused
	}
	return nil, &refusal{http.StatusBadRequest, is.either("Invalid JSON passed in", "Payload is not valid JSON")}
}

// document reads the whole body: the list of jobs in it, or else the job that
// it is itself. What is wrong with them counts only if the JSON is right.
func document(s *json.Decoder, is dialect) *payload {
	if s.Peek() != '{' {
		s.Skip()
		s.End()
		s.Fail(&refusal{http.StatusBadRequest, is.either("Not a dict", "job 0 is invalid")})
		return nil
	}
	single := newDraft(s, is)
	var list *draft
	var debug, extensions, four bool
	s.Enter()
	for n := 0; s.Next(&n); {
		switch key := string(s.Key()); {
		case key == "stacks":
			single.readStacks()
		case key == "memoryMap":
			single.readMap()
		case key == "jobs" && is.jobs:
			list = newDraft(s, is)
			list.readJobs()
		case key == "debug" && !is.jobs:
			debug = s.IsTruthy()
		case key == "extensions":
			extensions = s.IsTruthy()
		case key == "version" && is.tecken:
			four = isFour(s)
		default:
			s.Skip()
		}
	}
	s.End()
	chosen := single
	if list != nil {
		chosen = list
	} else {
		single.endJob(is.tecken && !four)
	}
	if refused := chosen.verdict(); refused != nil {
		s.Fail(refused)
	}
	chosen.p.debug, chosen.p.extensions = debug, extensions
	return &chosen.p
}

// isFour reads a value and says whether it is the number 4.
func isFour(s *json.Decoder) bool {
	if c := s.Peek(); c < '0' || c > '9' {
		s.Skip()
		return false
	}
	lit, _ := s.ReadNumber()
	v, err := strconv.ParseFloat(string(lit), 64)
	return err == nil && v == 4
}

// readJobs reads the value of "jobs". Anything that has a length counts as that
// many jobs, of which only objects can be good ones.
func (b *draft) readJobs() {
	switch c := b.Peek(); c {
	case '[':
		b.Enter()
		for b.Next(&b.count) {
			b.readJob()
		}
		return
	case '{':
		b.Enter()
		for b.Next(&b.count) {
			b.Key()
			b.Skip()
		}
	case '"':
		b.ReadString(true)
		b.count = utf8.RuneCount(b.Text)
	default:
		b.SkipScalar(c)
		b.refused = "job 0 is invalid"
	}
	if b.count > 0 {
		b.refused = "job 0 is invalid"
	}
}

// readJob reads one element of "jobs". Behind a bad one they only have to be
// JSON.
func (b *draft) readJob() {
	if most := b.is.limits.MaxJobs; !b.is.limits.Strict && most >= 0 && b.count > most {
		b.tooMany("jobs", most)
	}
	switch {
	case b.refused != "" || b.is.limits.Strict && b.count > strictJobs:
		b.Skip()
		return
	case b.Peek() != '{':
		b.Skip()
		b.refused = "job " + strconv.Itoa(len(b.p.jobs)) + " is invalid"
		return
	}
	b.beginJob()
	b.Enter()
	for n := 0; b.Next(&n); {
		switch string(b.Key()) {
		case "stacks":
			b.readStacks()
		case "memoryMap":
			b.readMap()
		default:
			b.Skip()
		}
	}
	b.endJob(false)
}

// verdict is why the jobs are refused, or nil.
func (b *draft) verdict() *refusal {
	if b.is.limits.Strict && b.count > strictJobs {
		return &refusal{http.StatusBadRequest, limitTitle("jobs", strictJobs)}
	}
	if b.refused != "" {
		return &refusal{http.StatusBadRequest, b.refused}
	}
	return nil
}

// tooMany ends the reading: a limit of ours is passed.
func (b *draft) tooMany(what string, most int) {
	metric.Refused.Add(1, what)
	b.Fail(&refusal{http.StatusRequestEntityTooLarge, limitTitle(what, most)})
}

func limitTitle(what string, most int) string {
	return "please limit number of " + what + " in a single request to <= " + strconv.Itoa(most)
}

// shortestID is the length of a UUID in hex digits. What is shorter would be a
// timestamp with an age, which no .sym has; here it is a code id, sent in the
// place of a debug id.
const shortestID = 32

// ask makes the question to the engine of what was read.
func (p *payload) ask(is dialect) {
	p.req.Nearest = is.tecken
	p.req.Modules = make([]ident.Module, len(p.modules))
	for i, m := range p.modules {
		p.req.Modules[i], _ = m.ask() // the empty module is in no source; Door.ask says why
	}
}
