package mozilla

import (
	"net/http"
	"strings"

	"symbolon/internal/api/json"
)

// superseded is since when v5 takes the place of v4: the first of January
// 2022, as RFC 9745 writes it.
const superseded = "@1640995200"

// The headers in which v4 says that it is the old version.
func deprecate(h http.Header) {
	h.Set("Deprecation", superseded)
	h.Add("Link", `</symbolicate/v5>; rel="successor-version"`)
}

func (d *Door) v4(w http.ResponseWriter, r *http.Request) {
	deprecate(w.Header())
	a := d.ask(w, r, dialect{tecken: d.tecken(), limits: d.cfg}, d.failV4)
	if a == nil {
		return
	}
	defer a.Release()
	w.Header().Set("Content-Type", "application/json")
	e := &v4Encoder{tecken: d.tecken()}
	e.begin(a, w)
	e.open('{')
	e.key("symbolicatedStacks")
	e.writeStacks()
	e.key("knownModules")
	e.open('[')
	for _, m := range e.maps {
		e.element()
		if e.tecken && !e.looked(m) {
			e.bool(false)
		} else {
			e.found(m)
		}
		e.Spill()
	}
	e.shut(']')
	if a.debug || e.tecken && teckenDebug(r) {
		e.key("debug")
		e.debugV4(a)
	}
	e.shut('}')
	d.finish(r, &e.encoder, d.failV4)
}

// teckenDebug says whether the header asks the older service for its block.
func teckenDebug(r *http.Request) bool {
	switch strings.ToLower(r.Header.Get("Debug")) {
	case "1", "true", "yes":
		return true
	}
	return false
}

// v4Encoder writes frames as text.
type v4Encoder struct {
	encoder
	tecken bool
}

func (e *v4Encoder) writeStacks() {
	e.open('[')
	frame, odds := 0, 0
	for _, end := range e.stacks {
		e.element()
		e.open('[')
		for ; frame < int(end) && e.Spill(); frame++ {
			e.element()
			var o *odd
			if odds < len(e.odd) && e.odd[odds].frame == frame {
				o = &e.odd[odds]
				odds++
			}
			e.writeFrame(frame, o)
		}
		e.shut(']')
	}
	e.shut(']')
}

// writeFrame writes "FUNCTION (in MODULE)", or with what there is instead.
func (e *v4Encoder) writeFrame(i int, o *odd) {
	f := e.req.Frames[i]
	e.Raw(`"`)
	switch {
	case o != nil:
		e.Raw(o.offset)
	case f.Module < 0 || !e.function(i, f.Module):
		e.Hex(f.Addr)
	}
	if !(o != nil && o.bare) && !(e.tecken && f.Module < 0) {
		e.Raw(" (in ")
		e.Buf = json.AppendEscaped(e.Buf, e.name(f.Module))
		e.Raw(")")
	}
	e.Raw(`"`)
}

// function writes the name of the function that was really called at frame i.
func (e *v4Encoder) function(i int, m int32) bool {
	calls, err := e.Frames(i)
	if err != nil {
		e.Err = err
	}
	if len(calls) == 0 {
		return false
	}
	e.inside(m, calls[len(calls)-1].Func)
	return true
}

// name is what a module is called: in the older service always as it was
// asked for.
func (e *v4Encoder) name(m int32) string {
	if e.tecken && m >= 0 {
		return e.modules[m].file
	}
	return e.module(m)
}
