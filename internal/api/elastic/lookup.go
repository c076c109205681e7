package elastic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"

	"symbolon/internal/api"
	"symbolon/internal/api/json"
	"symbolon/internal/ident"
	"symbolon/internal/symbolicate"
)

const linesType = "application/x-ndjson"

// maxFiles limits the files of a request: each is searched in all sources that may
// have it.
const maxFiles = 5000

// lookupOne looks up addresses of one binary, from the URL of a request.
func (d *Door) lookupOne(w http.ResponseWriter, r *http.Request, file ident.FileID, addrs []string) {
	q := query{files: []ident.Module{{FileID: file}}}
	for _, text := range addrs {
		addr, err := parseAddr(text)
		if err != nil {
			api.FailError(w, r, http.StatusBadRequest, fmt.Sprintf("invalid addr %.40q: must be an address such as 0x1234", text))
			return
		}
		q.frames = append(q.frames, symbolicate.Frame{Addr: addr})
	}
	q.lookups = []lookup{{0, len(q.frames)}}
	d.answer(w, r, &q, "application/json", (*encoder).writeObject)
}

// lookupMany looks up addresses of binaries, from the body of a request.
func (d *Door) lookupMany(w http.ResponseWriter, r *http.Request) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	q, err := d.decode(r.Body, kind == linesType)
	var body *api.Refusal
	switch {
	case r.Context().Err() != nil: // the client has left
	case errors.As(err, &body):
		api.FailError(w, r, body.Status, body.Text)
	case err != nil:
		api.FailError(w, r, http.StatusBadRequest, `the body must be JSON such as {"lookups": [{"fileid": ID, "addrs": [ADDRESS, …]}, …]}, `+
			"or with Content-Type "+linesType+` lines such as {"fileid": ID, "addrs": […]}`)
	case api.Weight(r.Header.Values("Accept"), linesType) > 0:
		d.answer(w, r, q, linesType, (*encoder).writeLines)
	default:
		d.answer(w, r, q, "application/json", (*encoder).writeList)
	}
}

// decode reads the lookups of a body: a document with a list, or lines.
func (d *Door) decode(body io.Reader, lines bool) (*query, error) {
	s := json.NewDecoder(body)
	defer s.Release()
	in := &decoder{Decoder: s, limit: d.cfg.MaxAddresses, known: map[ident.FileID]int32{}}
	if lines {
		for s.Peek() == '{' {
			in.readLookup()
		}
	} else {
		in.document()
	}
	s.End()
	return &in.query, s.Err
}

// decoder reads a query.
type decoder struct {
	*json.Decoder
	query
	limit int // of the addresses; 0 or less: none
	known map[ident.FileID]int32
	found bool         // there is a list of lookups
	file  ident.FileID // of the lookup that is being read
}

var errForm = errors.New("not a document of lookups")

var documentMembers = json.NewTable([]json.Member[*decoder]{{Name: "lookups", Read: (*decoder).readLookups}})

var lookupMembers = json.NewTable([]json.Member[*decoder]{
	{Name: "fileid", Read: (*decoder).readFileID},
	{Name: "addr", Read: (*decoder).readAddr},
	{Name: "addrs", Read: (*decoder).readAddrs},
})

func (d *decoder) document() {
	if d.Peek() == '{' {
		documentMembers.Read(d.Decoder, d)
	}
	if !d.found {
		d.Fail(errForm)
	}
}

func (d *decoder) readLookups(string) {
	if d.Peek() != '[' {
		d.Skip()
		return
	}
	d.found = true
	d.Enter()
	for n := 0; d.Next(&n); {
		d.readLookup()
	}
}

// readLookup reads the addresses of one binary.
func (d *decoder) readLookup() {
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
			d.Fail(api.Refuse(http.StatusRequestEntityTooLarge, "a request may have addresses of %d files", maxFiles))
			return
		}
		d.known[d.file], d.files = at, append(d.files, ident.Module{FileID: d.file})
	}
	for i := range d.frames[from:] {
		d.frames[from+i].Module = at
	}
	d.query.lookups = append(d.query.lookups, lookup{at, len(d.frames)})
	if d.limit > 0 && len(d.query.lookups) > d.limit {
		d.tooMany()
	}
}

func (d *decoder) readFileID(string) {
	if d.Peek() != '"' {
		d.Skip()
		return
	}
	d.ReadString(true)
	var err error
	if d.file, err = parseFile(string(d.Text)); err != nil {
		d.Fail(api.Invalid("%v", err))
	}
}

func (d *decoder) readAddrs(name string) {
	if d.Peek() != '[' {
		d.Skip()
		return
	}
	d.Enter()
	for n := 0; d.Next(&n); {
		d.readAddr(name)
	}
}

// readAddr reads an address: a number, or a string with one.
func (d *decoder) readAddr(string) {
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
		d.Fail(api.Invalid(`invalid address: must be a number, or a string such as "0x1234"`))
	}
	if d.frames = append(d.frames, symbolicate.Frame{Addr: addr}); d.limit > 0 && len(d.frames) > d.limit {
		d.tooMany()
	}
}

func (d *decoder) tooMany() {
	d.Fail(api.Refuse(http.StatusRequestEntityTooLarge, "a request may have %d addresses", d.limit))
}

// answer looks up addresses and writes the answer.
func (d *Door) answer(w http.ResponseWriter, r *http.Request, q *query, mediaType string, write func(*encoder)) {
	var look *Lookup
	g, err := d.Grant(r)
	if err == nil {
		look, err = Look(r.Context(), func(ctx context.Context, req *symbolicate.Request) (*symbolicate.Result, error) {
			return d.Run(ctx, g, req)
		}, q.files, q.frames)
	}
	if err != nil {
		if r.Context().Err() == nil {
			d.missing(w, r, err)
		}
		return
	}
	defer look.Release()
	e := &encoder{query: q, look: look}
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
