package sentry

import (
	"encoding"
	stdjson "encoding/json"
	"errors"
	"fmt"
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

// decode reads and checks the body of a request. The error is a *refusal or
// an *api.BodyError. As in Symbolicator, bytes after the request are not read.
func decode(body io.Reader, cfg Config) (*request, error) {
	in := json.NewDecoder(body)
	defer in.Release()
	in.MaxString, in.Unique = maxString, true
	d := &decoder{Decoder: in, cfg: cfg, q: &request{context: true, scraping: defaultScraping()}}
	if in.HasBOM {
		in.Fail(json.ErrSyntax)
	}
	d.object("the request", requestMembers)
	var unread *api.BodyError
	var refused *refusal
	var twice *json.DuplicateError
	switch err := in.Err; {
	case err == nil:
		return d.q, nil
	case errors.As(err, &unread):
		return nil, unread
	case errors.As(err, &refused):
		return nil, refused
	case errors.As(err, &twice):
		return nil, &refusal{http.StatusUnprocessableEntity, twice.Name + ": must occur only once"}
	case errors.Is(err, json.ErrDepth):
		return nil, &refusal{http.StatusBadRequest, "the body is " + err.Error()}
	}
	return nil, &refusal{http.StatusBadRequest, "the body is not JSON"}
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
	d.q.signal, d.q.hasSignal = uint32(v), ok
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
	d.q.hasSources = true
	if len(text) > maxSourceBytes {
		d.Fail(&refusal{http.StatusRequestEntityTooLarge, "the sources of a request must be at most 256 KiB"})
		return
	}
	if err := stdjson.Unmarshal(text, &d.q.sources); err != nil {
		var kind *stdjson.UnmarshalTypeError
		if errors.As(err, &kind) {
			d.invalid(strings.TrimSuffix("sources."+kind.Field, "."), jsonType(kind.Type))
		} else {
			d.invalid(name, "an array of source objects") // the error may quote a secret
		}
		return
	}
	if len(d.q.sources) > maxSources {
		d.Fail(&refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("a request may name %d sources", maxSources)})
		return
	}
	for i := range d.q.sources {
		d.q.sources[i], _ = d.q.sources[i].Lenient() // as Symbolicator is
		if err := d.q.sources[i].Validate(); err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			d.Fail(&refusal{http.StatusUnprocessableEntity, "sources: " + first})
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
	{Name: "dif_candidates", Read: func(d *decoder, name string) { d.q.listing = d.bool(name) }},
	{Name: "apply_source_context", Read: func(d *decoder, name string) { d.q.context = d.bool(name) }},
	{Name: "extract_variables", Read: func(d *decoder, name string) { d.bool(name) }},
	{Name: "frame_order", Read: (*decoder).readFrameOrder},
})

func (d *decoder) readOptions(name string) {
	if !d.null() {
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
		d.q.callerFirst = true
	default:
		d.invalid(name, "callee_first or caller_first")
	}
}

var scrapingMembers = json.NewTable([]json.Member[*decoder]{
	{Name: "enabled", Required: true, Read: func(d *decoder, name string) { d.q.scraping.enabled = d.bool(name) }},
	{Name: "allowed_origins", Required: true, Read: func(d *decoder, name string) { d.q.scraping.origins = d.texts(name) }},
	{Name: "headers", Required: true, Read: func(d *decoder, name string) { d.q.scraping.headers = d.headers(name) }},
	{Name: "verify_ssl", Read: func(d *decoder, name string) { d.q.scraping.verify = d.bool(name) }},
})

// readScraping reads the permissions to fetch source files.
func (d *decoder) readScraping(name string) {
	if !d.null() {
		d.q.scraping = scraping{verify: true}
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
