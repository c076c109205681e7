package mozilla

import (
	"net/http"
	"strings"

	"symbolon/internal/api/json"
)

// superseded is the first of January 2022, when v5 replaced v4, in the form of
// RFC 9745.
const superseded = "@1640995200"

// deprecate sets the headers that announce the newer version.
func deprecate(h http.Header) {
	h.Set("Deprecation", superseded)
	h.Add("Link", `</symbolicate/v5>; rel="successor-version"`)
}

func (d *Door) v4(w http.ResponseWriter, r *http.Request) {
	deprecate(w.Header())
	a := d.answer(w, r, dialect{tecken: d.isTecken(), limits: d.cfg}, d.failV4)
	if a == nil {
		return
	}
	defer a.Release()
	w.Header().Set("Content-Type", "application/json")
	e := &v4Encoder{tecken: d.isTecken()}
	e.begin(a, w)
	e.Open('{')
	e.Key("symbolicatedStacks")
	e.writeStacks()
	e.Key("knownModules").Open('[')
	for _, m := range e.maps {
		if e.tecken && !e.isLookedUp(m) {
			e.Bool(false)
		} else {
			e.hasSymbols(m)
		}
		e.Spill()
	}
	e.Close(']')
	if a.debug || e.tecken && wantsTeckenDebug(r) {
		e.Key("debug")
		e.debugV4(a)
	}
	e.Close('}')
	d.finish(r, &e.encoder, d.failV4)
}

// wantsTeckenDebug reports whether the header requests the debug block of Tecken.
func wantsTeckenDebug(r *http.Request) bool {
	switch strings.ToLower(r.Header.Get("Debug")) {
	case "1", "true", "yes":
		return true
	}
	return false
}

// v4Encoder writes frames as strings.
type v4Encoder struct {
	encoder
	tecken bool
}

func (e *v4Encoder) writeStacks() {
	e.Open('[')
	frame, special := 0, 0
	for _, end := range e.stacks {
		e.Open('[')
		for ; frame < int(end) && e.Spill(); frame++ {
			var o *specialOffset
			if special < len(e.special) && e.special[special].frame == frame {
				o = &e.special[special]
				special++
			}
			e.writeFrame(frame, o)
		}
		e.Close(']')
	}
	e.Close(']')
}

// writeFrame writes "FUNCTION (in MODULE)", or the part of it that is known.
func (e *v4Encoder) writeFrame(i int, o *specialOffset) {
	f := e.query.Frames[i]
	e.OpenString()
	switch {
	case o != nil:
		e.Buf = append(e.Buf, o.text...)
	case f.Module < 0 || !e.function(i, f.Module):
		e.Buf = json.AppendHex(e.Buf, f.Addr)
	}
	if !(o != nil && o.isBare) && !(e.tecken && f.Module < 0) {
		e.Buf = append(e.Buf, " (in "...)
		e.Buf = json.AppendEscaped(e.Buf, e.name(f.Module))
		e.Buf = append(e.Buf, ')')
	}
	e.CloseString()
}

// function appends the name of the function at frame i, not inlined ones. It
// returns false if the function is unknown.
func (e *v4Encoder) function(i int, m int32) bool {
	calls, err := e.Frames(i)
	if err != nil {
		e.Err = err
	}
	if len(calls) == 0 {
		return false
	}
	e.appendText(m, calls[len(calls)-1].Func)
	return true
}

// name returns the name of a module: in Tecken always that of the request.
func (e *v4Encoder) name(m int32) string {
	if e.tecken && m >= 0 {
		return e.modules[m].file
	}
	return e.moduleName(m)
}
