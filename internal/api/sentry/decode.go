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
	longestText = 1 << 20   // of one string
	mostSources = 256 << 10 // bytes of the sources of a request
	maxSources  = 200
)

// decode reads and checks the body of a request. The error is a *refusal or
// an *api.BodyError. As the peer has it, what follows the request is not read.
func decode(body io.Reader, cfg Config) (*question, error) {
	s := json.NewScanner(body)
	defer s.Free()
	s.Most = longestText
	d := &decoder{Scanner: s, cfg: cfg, q: &question{context: true, scraping: openScraping()}}
	if s.BOM {
		s.Fail(json.ErrSyntax)
	}
	d.document()
	var unread *api.BodyError
	var refused *refusal
	switch {
	case s.Err == nil:
		return d.q, nil
	case errors.As(s.Err, &unread):
		return nil, unread
	case errors.As(s.Err, &refused):
		return nil, refused
	case errors.Is(s.Err, json.ErrDepth):
		return nil, &refusal{http.StatusBadRequest, "the body is " + s.Err.Error()}
	}
	return nil, &refusal{http.StatusBadRequest, "the body is not JSON"}
}

func (d *decoder) document() {
	if !d.begin("the request", '{') {
		return
	}
	members := [...]struct {
		name string
		read func()
	}{
		{"platform", func() { d.optional("platform") }},
		{"signal", d.signal},
		{"sources", d.sources},
		{"stacktraces", d.stacks},
		{"modules", d.modules},
		{"options", d.options},
		{"scraping", d.scraping},
	}
	var seen uint32
	for n := 0; d.Next(&n); {
		key, known := d.Key(), false
		for i := range members {
			if m := &members[i]; m.name == string(key) {
				d.once(&seen, i, m.name)
				known = true
				m.read()
				break
			}
		}
		if !known {
			d.Skip()
		}
	}
}

func (d *decoder) signal() {
	v, there := d.unsigned("signal", 32)
	d.q.signal, d.q.hasSignal = uint32(v), there
}

// sources reads the sources by way of their JSON, so that they have the fields
// that source.Config has.
func (d *decoder) sources() {
	if d.null() {
		return
	}
	if d.Peek() != '[' {
		d.mismatch("sources", "an array")
		return
	}
	text := d.value(nil, 0)
	if d.Err != nil {
		return
	}
	d.q.hasSources = true
	if len(text) > mostSources {
		d.Fail(&refusal{http.StatusRequestEntityTooLarge, "the sources of a request may have 256 KiB"})
		return
	}
	if err := stdjson.Unmarshal(text, &d.q.sources); err != nil {
		var kind *stdjson.UnmarshalTypeError
		if errors.As(err, &kind) {
			d.wrong(strings.TrimSuffix("sources."+kind.Field, "."), jsonOf(kind.Type))
		} else {
			d.wrong("sources", "an array of source objects") // the text of the error may repeat a secret
		}
		return
	}
	if len(d.q.sources) > maxSources {
		d.Fail(&refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("a request may name %d sources", maxSources)})
		return
	}
	for i := range d.q.sources {
		d.q.sources[i], _ = d.q.sources[i].Lenient() // as the peer is
		if err := d.q.sources[i].Validate(); err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			d.Fail(&refusal{http.StatusUnprocessableEntity, "sources: " + first})
			return
		}
	}
}

// jsonOf says what a value of a type is in JSON, for people.
func jsonOf(t reflect.Type) string {
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

func (d *decoder) options() {
	if d.null() || !d.begin("options", '{') {
		return
	}
	var seen uint32
	for n := 0; d.Next(&n); {
		switch string(d.Key()) {
		case "dif_candidates":
			d.once(&seen, 0, "dif_candidates")
			d.q.listing = d.bool("dif_candidates")
		case "apply_source_context":
			d.once(&seen, 1, "apply_source_context")
			d.q.context = d.bool("apply_source_context")
		case "extract_variables":
			d.once(&seen, 2, "extract_variables")
			d.bool("extract_variables")
		case "frame_order":
			d.once(&seen, 3, "frame_order")
			if d.text("frame_order") {
				d.frameOrder()
			}
		default:
			d.Skip()
		}
	}
}

func (d *decoder) frameOrder() {
	switch string(d.Text) {
	case "callee_first":
	case "caller_first":
		d.q.callerFirst = true
	default:
		d.wrong("frame_order", "callee_first or caller_first")
	}
}

// scraping reads what may be done to get sources. Of an object that is there,
// three members have to be.
func (d *decoder) scraping() {
	if d.null() || !d.begin("scraping", '{') {
		return
	}
	s := scraping{verify: true}
	var seen uint32
	for n := 0; d.Next(&n); {
		switch string(d.Key()) {
		case "enabled":
			d.once(&seen, 0, "enabled")
			s.enabled = d.bool("enabled")
		case "allowed_origins":
			d.once(&seen, 1, "allowed_origins")
			s.origins = d.texts("allowed_origins")
		case "headers":
			d.once(&seen, 2, "headers")
			s.headers = d.headers()
		case "verify_ssl":
			d.once(&seen, 3, "verify_ssl")
			s.verify = d.bool("verify_ssl")
		default:
			d.Skip()
		}
	}
	if seen&7 != 7 {
		d.wrong("scraping", "an object with enabled, allowed_origins and headers")
	}
	d.q.scraping = s
}

func (d *decoder) texts(name string) (out []string) {
	if !d.begin(name, '[') {
		return nil
	}
	for n := 0; d.Next(&n); {
		if d.text(name) {
			out = append(out, string(d.Text))
		}
	}
	return out
}

func (d *decoder) headers() map[string]bin.Secret {
	out := map[string]bin.Secret{}
	if !d.begin("headers", '{') {
		return nil
	}
	for n := 0; d.Next(&n); {
		name := string(d.Key())
		if d.text("headers") {
			out[name] = bin.NewSecret(string(d.Text))
		}
	}
	return out
}
