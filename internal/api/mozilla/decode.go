package mozilla

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"unicode/utf8"

	"symbolon/internal/api"
	"symbolon/internal/api/json"
)

// decode reads and checks the body of a request. The error is an
// *api.Refusal. Errors of a job count only if the whole body is JSON, and
// then the first of them counts, as in Eliot.
func decode(body io.Reader, is dialect) (*request, error) {
	in := json.NewDecoder(body)
	defer in.Release()
	d := &decoder{Decoder: in, is: is, single: &jobReader{Decoder: in, is: is}}
	req := d.document()
	var refused *api.Refusal
	switch {
	case in.Err == nil:
		req.prepare(is.tecken)
		return req, nil
	case errors.As(in.Err, &refused):
		return nil, refused
	}
	return nil, &api.Refusal{Status: http.StatusBadRequest, Text: is.either("Invalid JSON passed in", "Payload is not valid JSON")}
}

// decoder reads a document: the list of jobs in it, or else the job that it is
// itself.
type decoder struct {
	*json.Decoder
	is         dialect
	single     *jobReader
	list       *jobReader // nil: the document is a job
	debug      bool
	extensions bool
	isVersion4 bool
}

var v5Members = json.NewTable([]json.Member[*decoder]{
	{Name: "jobs", Read: (*decoder).readJobs},
	{Name: "stacks", Read: func(d *decoder, _ string) { d.single.readStacks("") }},
	{Name: "memoryMap", Read: func(d *decoder, _ string) { d.single.readMap("") }},
	{Name: "extensions", Read: func(d *decoder, _ string) { d.extensions = d.IsTruthy() }},
})

var v4Members = json.NewTable([]json.Member[*decoder]{
	{Name: "stacks", Read: func(d *decoder, _ string) { d.single.readStacks("") }},
	{Name: "memoryMap", Read: func(d *decoder, _ string) { d.single.readMap("") }},
	{Name: "version", Read: (*decoder).readVersion},
	{Name: "debug", Read: func(d *decoder, _ string) { d.debug = d.IsTruthy() }},
	{Name: "extensions", Read: func(d *decoder, _ string) { d.extensions = d.IsTruthy() }},
})

func (d *decoder) document() *request {
	if d.Peek() != '{' {
		d.Skip()
		d.End()
		d.Fail(&api.Refusal{Status: http.StatusBadRequest, Text: d.is.either("Not a dict", "job 0 is invalid")})
		return nil
	}
	members := v4Members
	if d.is.jobs {
		members = v5Members
	}
	members.Read(d.Decoder, d)
	d.End()
	jobs := d.list
	if jobs == nil {
		jobs = d.single
		jobs.endJob(d.is.tecken && !d.isVersion4)
	}
	if refused := jobs.refusal(); refused != nil {
		d.Fail(refused)
	}
	jobs.req.debug, jobs.req.extensions = d.debug, d.extensions
	return &jobs.req
}

// readVersion reads a value and compares it with the number 4.
func (d *decoder) readVersion(string) {
	d.isVersion4 = false
	if c := d.Peek(); c < '0' || c > '9' {
		d.Skip()
		return
	}
	literal, _ := d.ReadNumber()
	v, err := strconv.ParseFloat(string(literal), 64)
	d.isVersion4 = err == nil && v == 4
}

// readJobs reads the list of jobs. Of several lists the last one counts.
func (d *decoder) readJobs(string) {
	d.list = &jobReader{Decoder: d.Decoder, is: d.is}
	d.list.readJobs()
}

var jobMembers = json.NewTable([]json.Member[*jobReader]{
	{Name: "stacks", Read: (*jobReader).readStacks},
	{Name: "memoryMap", Read: (*jobReader).readMap},
})

// strictJobs is the number of jobs that Eliot allows.
const strictJobs = 10

// readJobs reads the value of "jobs". In Eliot anything that has a length counts
// as that many jobs, but only an object can be a valid job.
func (j *jobReader) readJobs() {
	switch c := j.Peek(); c {
	case '[':
		j.Enter()
		for j.Next(&j.count) {
			j.readJob()
		}
		return
	case '{':
		j.Enter()
		for j.Next(&j.count) {
			j.Key()
			j.Skip()
		}
	case '"':
		j.ReadString(true)
		j.count = utf8.RuneCount(j.Text)
	default:
		j.SkipScalar(c)
		j.refused = "job 0 is invalid"
	}
	if j.count > 0 {
		j.refused = "job 0 is invalid"
	}
}

// readJob reads an element of "jobs". After an invalid one the others must only
// be JSON.
func (j *jobReader) readJob() {
	if limit := j.is.limits.MaxJobs; !j.is.limits.Strict && limit >= 0 && j.count > limit {
		j.tooMany("jobs", limit)
	}
	switch {
	case j.refused != "" || j.is.limits.Strict && j.count > strictJobs:
		j.Skip()
		return
	case j.Peek() != '{':
		j.Skip()
		j.refused = "job " + strconv.Itoa(len(j.req.jobs)) + " is invalid"
		return
	}
	j.job = job{stacks: span{from: len(j.req.stacks)}, maps: span{from: len(j.req.maps)}}
	j.frames, j.special = len(j.req.query.Frames), len(j.req.special)
	j.stacks, j.memoryMap = member{}, member{}
	jobMembers.Read(j.Decoder, j)
	j.endJob(false)
}

// endJob checks the present job and adds it to the request.
func (j *jobReader) endJob(isWrongVersion bool) {
	switch {
	case !j.stacks.isPresent:
		j.refuse(`Missing key JSON "'stacks'"`, " is invalid: ", "no stacks specified")
	case !j.memoryMap.isPresent:
		j.refuse(`Missing key JSON "'memoryMap'"`, " is invalid: ", "no memoryMap specified")
	case isWrongVersion:
		j.refused = "Expect version==4"
	case j.memoryMap.invalid != "":
		j.refuse(j.memoryMap.invalid, " has invalid modules: ", j.memoryMap.invalid)
	default:
		if invalid := j.resolve(); invalid != "" {
			j.refuse(invalid, " has invalid stacks: ", invalid)
			return
		}
		j.job.stacks.to, j.job.maps.to = len(j.req.stacks), len(j.req.maps)
		j.req.jobs = append(j.req.jobs, j.job)
	}
}

func (j *jobReader) refuse(tecken, intro, eliot string) {
	j.refused = j.is.either(tecken, "job "+strconv.Itoa(len(j.req.jobs))+intro+eliot)
}

// refusal returns the reason to refuse the jobs, or nil.
func (j *jobReader) refusal() *api.Refusal {
	if j.is.limits.Strict && j.count > strictJobs {
		return &api.Refusal{Status: http.StatusBadRequest, Text: limitTitle("jobs", strictJobs)}
	}
	if j.refused != "" {
		return &api.Refusal{Status: http.StatusBadRequest, Text: j.refused}
	}
	return nil
}
