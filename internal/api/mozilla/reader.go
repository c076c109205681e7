package mozilla

import (
	"net/http"
	"strconv"

	"symbolon/internal/api"
	"symbolon/internal/api/json"
	"symbolon/internal/metric"
)

// dialect is a version of the request.
type dialect struct {
	jobs   bool // v5: the body may have a list of jobs
	tecken bool
	limits Config
}

// strict reports whether names and ids may have only the characters that Eliot
// allows.
func (is dialect) strict() bool { return is.limits.Strict && !is.tecken }

// either returns the text of Tecken or of Eliot.
func (is dialect) either(tecken, eliot string) string {
	if is.tecken {
		return tecken
	}
	return eliot
}

// jobReader reads jobs into a request. A job may have its members in any order,
// and several with the same name, the last one counts. So it is checked at its
// end; until then its frames have indexes of its own memoryMap.
type jobReader struct {
	*json.Decoder
	is      dialect
	req     request
	count   int    // elements of "jobs"
	refused string // the error of the first invalid job

	job       job // the present one
	frames    int // where its frames begin
	special   int // where its special offsets begin
	stacks    member
	memoryMap member
	texts     [3][]byte           // file, id and code id of the present module
	known     map[[2]string]int32 // index of each module by file and id; nil: there are few
}

// member is the state of a member of the present job.
type member struct {
	isPresent bool
	invalid   string // the first error in it
}

// tooMany ends the reading because of a limit.
func (j *jobReader) tooMany(things string, limit int) {
	metric.Refused.Add(1, things)
	j.Fail(&api.Refusal{Status: http.StatusRequestEntityTooLarge, Text: limitTitle(things, limit)})
}

func limitTitle(things string, limit int) string {
	return "please limit number of " + things + " in a single request to <= " + strconv.Itoa(limit)
}
