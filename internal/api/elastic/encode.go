package elastic

import (
	"symbolon/internal/api/json"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
)

// encoder writes the answer to a question.
type encoder struct {
	json.Pieces
	*question
	look *Lookup
	text []byte // on its way
	over bool   // the answer would have too many frames
}

// object is the answer to a question about one binary.
func (e *encoder) object() { e.lookup(0, e.asked[0]) }

// list is the answer to a document.
func (e *encoder) list() {
	e.Raw(`{"lookups":[`)
	at := 0
	for i, a := range e.asked {
		if i > 0 {
			e.Raw(",")
		}
		if e.lookup(at, a); e.over || !e.Spill() {
			return
		}
		at = a.end
	}
	e.Raw("]}")
}

// lines is a line for each address.
func (e *encoder) lines() {
	at := 0
	for _, a := range e.asked {
		for ; at < a.end; at++ {
			e.file(a)
			e.Raw(",")
			if e.address(at); e.over {
				return
			}
			e.Raw("}\n")
			if !e.Spill() {
				return
			}
		}
	}
}

// lookup is the answer to addresses of one binary, from this one on.
func (e *encoder) lookup(at int, a asked) {
	e.file(a)
	e.Raw(`,"results":[`)
	for first := at; at < a.end; at++ {
		if at > first {
			e.Raw(",")
		}
		e.Raw("{")
		if e.address(at); e.over {
			return
		}
		e.Raw("}")
		if !e.Spill() {
			return
		}
	}
	e.Raw("]}")
}

// file begins an object with the binary, and says what is missing of it.
func (e *encoder) file(a asked) {
	e.Raw(`{"fileid":"` + e.files[a.file].FileID.Base64() + `"`)
	if why := e.look.Missing(a.file); why != nil {
		e.Raw(`,"missing":"`)
		e.Buf = json.AppendEscaped(e.Buf, why.outside())
		e.Raw(`"`)
	}
}

// address is what is known of an address.
func (e *encoder) address(i int) {
	e.Raw(`"addr":"`)
	e.Hex(e.frames[i].Addr)
	e.Raw(`"`)
	found, err := e.look.At(i)
	if err != nil {
		e.over = true
		return
	}
	if len(found.Frames) > 0 {
		e.Raw(`,"from":"` + from[found.which] + `"`)
	}
	e.Raw(`,"frames":[`)
	for n := range found.Frames {
		if n > 0 {
			e.Raw(",")
		}
		e.frame(&found, e.frames[i].Module, &found.Frames[n])
	}
	e.Raw("]")
}

func (e *encoder) frame(a *Answer, m int32, f *sym.Frame) {
	e.Raw(`{"function":`)
	e.string(a.Result, m, f.Func)
	if f.File != 0 {
		e.Raw(`,"file":`)
		e.string(a.Result, m, f.File)
	}
	if f.Line != 0 {
		e.Raw(`,"line":`)
		e.Int(int(f.Line))
	}
	if off, ok := a.Offset(f); ok {
		e.Raw(`,"offset":"`)
		e.Hex(off)
		e.Raw(`"`)
	}
	if f.Inlined {
		e.Raw(`,"inlined":true}`)
	} else {
		e.Raw(`,"inlined":false}`)
	}
}

// string appends what a handle stands for. Symbfiles have names for people.
func (e *encoder) string(res *symbolicate.Result, m int32, t sym.Text) {
	e.Buf = append(e.Buf, '"')
	at := len(e.Buf)
	out, plain := res.AppendRaw(e.Buf, m, t)
	if !plain {
		e.text = append(e.text[:0], out[at:]...)
		out = json.AppendEscaped(out[:at], e.text)
	}
	e.Buf = append(out, '"')
}
