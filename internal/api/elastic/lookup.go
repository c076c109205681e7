package elastic

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"symbolon/internal/api"
	"symbolon/internal/api/json"
	"symbolon/internal/ident"
	"symbolon/internal/symbolicate"
)

const linesType = "application/x-ndjson"

// maxFiles is how many files one request may name: each is looked for in all
// sources that may have it.
const maxFiles = 5000

// question is addresses of binaries. Those of a file are in one piece of frames.
type question struct {
	files  []ident.Module
	frames []symbolicate.Frame
	asked  []asked
}

// asked is addresses that were asked for together.
type asked struct {
	file int32
	end  int // in the frames
}

// few looks up addresses of one binary that stand in the address of a request.
func (d *Door) few(w http.ResponseWriter, r *http.Request, file ident.FileID, addrs []string) {
	q := question{files: []ident.Module{{FileID: file}}}
	for _, text := range addrs {
		addr, err := parseAddr(text)
		if err != nil {
			api.FailError(w, r, http.StatusBadRequest, fmt.Sprintf("addr is %.40q; wanted is an address such as 0x1234", text))
			return
		}
		q.frames = append(q.frames, symbolicate.Frame{Addr: addr})
	}
	q.asked = []asked{{0, len(q.frames)}}
	d.answer(w, r, &q, "application/json", (*encoder).writeObject)
}

// many looks up addresses of many binaries.
func (d *Door) many(w http.ResponseWriter, r *http.Request) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	q, err := d.decode(r.Body, kind == linesType)
	var body *api.BodyError
	var own *refusal
	switch {
	case r.Context().Err() != nil: // nobody is there to be told
	case errors.As(err, &body):
		api.FailError(w, r, body.Status, body.Title)
	case errors.As(err, &own):
		api.FailError(w, r, own.status, own.text)
	case err != nil:
		api.FailError(w, r, http.StatusBadRequest, `the body is no JSON of the form {"lookups": [{"fileid": ID, "addrs": [ADDRESS, …]}, …]}, or with Content-Type `+linesType+` lines of {"fileid": ID, "addrs": […]}`)
	case api.Weight(r.Header.Values("Accept"), linesType) > 0:
		d.answer(w, r, q, linesType, (*encoder).writeLines)
	default:
		d.answer(w, r, q, "application/json", (*encoder).writeList)
	}
}

// decode reads the lookups of a body: a document with a list, or lines.
func (d *Door) decode(body io.Reader, lines bool) (*question, error) {
	s := json.NewDecoder(body)
	defer s.Release()
	in := &decoder{Decoder: s, most: d.cfg.MaxAddresses, known: map[ident.FileID]int32{}}
	if lines {
		for s.Peek() == '{' {
			in.lookup()
		}
	} else {
		in.document()
	}
	s.End()
	return &in.question, s.Err
}

// decoder reads a question.
type decoder struct {
	*json.Decoder
	question
	most  int
	known map[ident.FileID]int32
	found bool         // there is a list of lookups
	file  ident.FileID // of the lookup that is being read
}

var errForm = errors.New("not a document of lookups")

var documentMembers = json.NewTable([]json.Member[*decoder]{{Name: "lookups", Read: (*decoder).lookups}})

var lookupMembers = json.NewTable([]json.Member[*decoder]{
	{Name: "fileid", Read: (*decoder).fileID},
	{Name: "addr", Read: (*decoder).addr},
	{Name: "addrs", Read: (*decoder).addrs},
})

func (d *decoder) document() {
	if d.Peek() == '{' {
		documentMembers.Read(d.Decoder, d)
	}
	if !d.found {
		d.Fail(errForm)
	}
}

func (d *decoder) lookups(string) {
	if d.Peek() != '[' {
		d.Skip()
		return
	}
	d.found = true
	d.Enter()
	for n := 0; d.Next(&n); {
		d.lookup()
	}
}

// lookup reads addresses of one binary.
func (d *decoder) lookup() {
	from := len(d.frames)
	d.file = ident.FileID{}
	if d.Peek() == '{' {
		lookupMembers.Read(d.Decoder, d)
	}
	if d.file.IsZero() {
		d.Fail(errForm)
	}
	if d.Err != nil {
		return
	}
	at, ok := d.known[d.file]
	if !ok {
		if at = int32(len(d.files)); at == maxFiles {
			d.Fail(&refusal{http.StatusRequestEntityTooLarge, "", fmt.Sprintf("addresses of more than %d files", maxFiles)})
			return
		}
		d.known[d.file], d.files = at, append(d.files, ident.Module{FileID: d.file})
	}
	for i := range d.frames[from:] {
		d.frames[from+i].Module = at
	}
	d.asked = append(d.asked, asked{at, len(d.frames)})
	if d.most > 0 && len(d.asked) > d.most {
		d.tooMany()
	}
}

func (d *decoder) fileID(string) {
	if d.Peek() != '"' {
		d.Skip()
		return
	}
	d.ReadString(true)
	var err error
	if d.file, err = parseFile(string(d.Text)); err != nil {
		d.Fail(&refusal{http.StatusBadRequest, "", err.Error()})
	}
}

func (d *decoder) addrs(name string) {
	if d.Peek() != '[' {
		d.Skip()
		return
	}
	d.Enter()
	for n := 0; d.Next(&n); {
		d.addr(name)
	}
}

// addr reads an address: a number, or a text with one.
func (d *decoder) addr(string) {
	var addr uint64
	var err error
	switch c := d.Peek(); {
	case c == '"':
		d.ReadString(true)
		addr, err = parseAddr(string(d.Text))
	default:
		v, ok := d.SmallInt()
		if addr = uint64(v); !ok {
			literal, _ := d.ReadNumber()
			addr, err = strconv.ParseUint(string(literal), 10, 64)
		} else if v < 0 {
			err = strconv.ErrRange
		}
	}
	if err != nil {
		d.Fail(&refusal{http.StatusBadRequest, "", "an address is neither a number nor a text such as \"0x1234\""})
	}
	if d.frames = append(d.frames, symbolicate.Frame{Addr: addr}); d.most > 0 && len(d.frames) > d.most {
		d.tooMany()
	}
}

// parseAddr reads hexadecimal digits behind 0x, or decimal ones.
func parseAddr(text string) (uint64, error) {
	if digits, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		return strconv.ParseUint(digits, 16, 64)
	}
	return strconv.ParseUint(text, 10, 64)
}

func (d *decoder) tooMany() {
	d.Fail(&refusal{http.StatusRequestEntityTooLarge, "", fmt.Sprintf("more than %d addresses", d.most)})
}

// answer looks addresses up, and has the answer written.
func (d *Door) answer(w http.ResponseWriter, r *http.Request, q *question, mediaType string, write func(*encoder)) {
	look, err := Look(r.Context(), d.Run, q.files, q.frames)
	if err != nil {
		if r.Context().Err() == nil {
			d.missing(w, r, err)
		}
		return
	}
	defer look.Release()
	e := &encoder{question: q, look: look}
	w.Header().Set("Content-Type", mediaType)
	e.Begin(w)
	defer e.Release()
	write(e)
	switch {
	case !errors.Is(e.Err, symbolicate.ErrTooManyFrames):
		e.Flush()
	case e.Sent: // only a broken connection tells the client now
		panic(http.ErrAbortHandler)
	default:
		w.Header().Del("Content-Type")
		api.FailError(w, r, http.StatusRequestEntityTooLarge, e.Err.Error())
	}
}
