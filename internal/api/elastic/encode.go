package elastic

import (
	"symbolon/internal/api"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
)

// encoder writes the answer to a question.
type encoder struct {
	api.Pieces
	*question
	results [2]*symbolicate.Result // of return pads, then of ranges
	text    []byte                 // on its way
	over    bool                   // the answer would have too many frames
}

// from says where an answer comes from.
var from = [...]string{"returnpads", "ranges"}

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
	mod := &e.results[1].Modules[a.file]
	if mod.Found || e.results[0].Modules[a.file].Found || !mod.Asked {
		return
	}
	e.Raw(`,"missing":"`)
	if why := mod.Report.Fault; why != nil {
		e.Buf = api.AppendEscaped(e.Buf, why.Error())
	}
	e.Raw(`"`)
}

// address is what is known of an address: a return pad if there is one, else
// what the ranges say.
func (e *encoder) address(i int) {
	e.Raw(`"addr":"`)
	e.Hex(e.frames[i].Addr)
	e.Raw(`"`)
	for k, res := range e.results {
		frames, err := res.Frames(i)
		if err != nil {
			e.over = true
			return
		}
		if len(frames) == 0 && k == 0 {
			continue
		}
		if len(frames) > 0 {
			e.Raw(`,"from":"` + from[k] + `"`)
		}
		e.Raw(`,"frames":[`)
		for n := range frames {
			if n > 0 {
				e.Raw(",")
			}
			e.frame(res, i, &frames[n])
		}
		e.Raw("]")
		return
	}
}

func (e *encoder) frame(res *symbolicate.Result, i int, f *sym.Frame) {
	m := e.frames[i].Module
	e.Raw(`{"function":`)
	e.string(res, m, f.Func)
	if f.File != 0 {
		e.Raw(`,"file":`)
		e.string(res, m, f.File)
	}
	if f.Line != 0 {
		e.Raw(`,"line":`)
		e.Int(int(f.Line))
	}
	if addr := e.frames[i].Addr; !f.Inlined && f.Size > 0 && addr >= f.Entry && res == e.results[1] {
		e.Raw(`,"offset":"`)
		e.Hex(addr - f.Entry)
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
		out = api.AppendEscaped(out[:at], e.text)
	}
	e.Buf = append(out, '"')
}
