package wire

import (
	"encoding"
	stdjson "encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"

	"symbolon/internal/api"
	"symbolon/internal/api/json"
	"symbolon/internal/bin"
	"symbolon/internal/source"
)

const (
	maxString      = 1 << 20   // bytes of one string
	maxSourceBytes = 256 << 10 // JSON of the sources of a request
	maxSources     = 200
)

// Limits bound a request. -1: no limit.
type Limits struct {
	Frames  int // also of stack traces
	Modules int
}

// Decode reads and checks the body of a request. The error is an
// *api.Refusal. As in Symbolicator, bytes after the request are not read.
func Decode(body io.Reader, limits Limits) (*Request, error) {
	q := &Request{Context: true, Scraping: defaultScraping()}
	return q, q.decode(body, limits, func(d *decoder) { d.object("the request", requestMembers) })
}

// decode reads a JSON document into q.
func (q *Request) decode(body io.Reader, limits Limits, read func(*decoder)) error {
	in := json.NewDecoder(body)
	defer in.Release()
	in.MaxString, in.Unique = maxString, true
	d := &decoder{Decoder: in, limits: limits, q: q}
	if in.HasBOM {
		in.Fail(json.ErrSyntax)
	}
	read(d)
	var refused *api.Refusal
	var twice *json.DuplicateError
	switch err := in.Err; {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &twice):
		return api.Refuse(http.StatusUnprocessableEntity, "%s: must occur only once", twice.Name)
	case errors.Is(err, json.ErrDepth):
		return api.Refuse(http.StatusBadRequest, "the body is %v", err)
	}
	return api.Refuse(http.StatusBadRequest, "the body is not JSON")
}

var requestMembers = json.NewTable([]json.Member[*decoder]{
	{Name: "platform", Read: func(d *decoder, name string) { d.optional(name) }},
	{Name: "signal", Read: (*decoder).readSignal},
	{Name: "sources", Read: (*decoder).readSources},
	{Name: "stacktraces", Read: (*decoder).readStacks},
	{Name: "modules", Read: (*decoder).readModules},
	{Name: "options", Read: (*decoder).readOptions},
	{Name: "scraping", Read: (*decoder).readScraping},
})

func (d *decoder) readSignal(name string) {
	v, ok := d.unsigned(name, 32)
	d.q.Signal, d.q.HasSignal = uint32(v), ok
}

// readSources decodes the sources with encoding/json, so that the fields are
// those of source.Config.
func (d *decoder) readSources(name string) {
	if d.null() {
		return
	}
	if d.Peek() != '[' {
		d.mismatch(name, "an array")
		return
	}
	text := d.appendValue(nil, 0)
	if d.Err != nil {
		return
	}
	d.q.HasSources = true
	if len(text) > maxSourceBytes {
		d.Fail(api.Refuse(http.StatusRequestEntityTooLarge, "the sources of a request must be at most 256 KiB"))
		return
	}
	if err := stdjson.Unmarshal(text, &d.q.Sources); err != nil {
		if kind, ok := errors.AsType[*stdjson.UnmarshalTypeError](err); ok {
			d.invalid(strings.TrimSuffix("sources."+kind.Field, "."), jsonType(kind.Type))
		} else {
			d.invalid(name, "an array of source objects") // the error may quote a secret
		}
		return
	}
	if len(d.q.Sources) > maxSources {
		d.Fail(api.Refuse(http.StatusRequestEntityTooLarge, "a request may name %d sources", maxSources))
		return
	}
	for i := range d.q.Sources {
		d.q.Sources[i], _ = d.q.Sources[i].Lenient() // as Symbolicator is
		if err := d.q.Sources[i].Validate(); err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			d.Fail(api.Refuse(http.StatusUnprocessableEntity, "sources: %s", first))
			return
		}
	}
}

// jsonType describes the JSON of a value of type t.
func jsonType(t reflect.Type) string {
	kind := t.Kind()
	switch {
	case t == reflect.TypeFor[source.URL]():
		return "a URL, as a string"
	case kind == reflect.String, reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return "a string"
	case kind == reflect.Bool:
		return "true or false"
	case kind == reflect.Slice:
		return "an array"
	}
	return "an object"
}

var optionMembers = json.NewTable([]json.Member[*decoder]{
	{Name: "dif_candidates", Read: func(d *decoder, name string) { d.q.Listing = d.bool(name) }},
	{Name: "apply_source_context", Read: func(d *decoder, name string) { d.q.Context = d.bool(name) }},
	{Name: "extract_variables", Read: func(d *decoder, name string) { d.bool(name) }},
	{Name: "frame_order", Read: (*decoder).readFrameOrder},
})

// readOptions reads the options. PHP and Lua write [] for an empty object, which
// Symbolicator accepts.
func (d *decoder) readOptions(name string) {
	switch {
	case d.null():
	case d.Peek() == '[':
		d.Enter()
		n := 0
		for d.Next(&n) {
			d.Skip()
		}
		if n > 0 {
			d.invalid(name, "an object")
		}
	default:
		d.object(name, optionMembers)
	}
}

func (d *decoder) readFrameOrder(name string) {
	if !d.text(name) {
		return
	}
	switch string(d.Text) {
	case "callee_first":
	case "caller_first":
		d.q.CallerFirst = true
	default:
		d.invalid(name, "callee_first or caller_first")
	}
}

var scrapingMembers = json.NewTable([]json.Member[*decoder]{
	{Name: "enabled", Required: true, Read: func(d *decoder, name string) { d.q.Scraping.Enabled = d.bool(name) }},
	{Name: "allowed_origins", Required: true, Read: func(d *decoder, name string) { d.q.Scraping.Origins = d.texts(name) }},
	{Name: "headers", Required: true, Read: func(d *decoder, name string) { d.q.Scraping.Headers = d.headers(name) }},
	{Name: "verify_ssl", Read: func(d *decoder, name string) { d.q.Scraping.Verify = d.bool(name) }},
})

// readScraping reads the permissions to fetch source files.
func (d *decoder) readScraping(name string) {
	if !d.null() {
		d.q.Scraping = Scraping{Verify: true}
		d.object(name, scrapingMembers)
	}
}

func (d *decoder) texts(name string) (out []string) {
	if !d.enter(name, '[') {
		return nil
	}
	for n := 0; d.Next(&n); {
		if d.text(name) {
			out = append(out, string(d.Text))
		}
	}
	return out
}

func (d *decoder) headers(name string) map[string]bin.Secret {
	out := map[string]bin.Secret{}
	if !d.enter(name, '{') {
		return nil
	}
	for n := 0; d.Next(&n); {
		key := string(d.Key())
		if d.text(name) {
			out[key] = bin.NewSecret(string(d.Text))
		}
	}
	return out
}
