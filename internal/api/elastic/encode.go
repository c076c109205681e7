package elastic

import (
	"symbolon/internal/api/json"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
)

// encoder writes the answer to a question.
type encoder struct {
	json.Encoder
	*question
	look *Lookup
}

// writeObject writes the answer to a question about one binary.
func (e *encoder) writeObject() { e.lookup(0, e.asked[0]) }

// writeList writes the answers to a document.
func (e *encoder) writeList() {
	e.Open('{')
	e.Key("lookups")
	e.Open('[')
	at := 0
	for _, a := range e.asked {
		e.lookup(at, a)
		if !e.Spill() {
			return
		}
		at = a.end
	}
	e.Close(']')
	e.Close('}')
}

// writeLines writes a line for each address.
func (e *encoder) writeLines() {
	at := 0
	for _, a := range e.asked {
		for ; at < a.end && e.Spill(); at++ {
			e.Open('{')
			e.file(a)
			e.address(at)
			e.Close('}')
			e.EndLine()
		}
	}
}

// lookup writes the answers to the addresses of one binary, which begin at this
// index.
func (e *encoder) lookup(at int, a asked) {
	e.Open('{')
	e.file(a)
	e.Key("results")
	e.Open('[')
	for ; at < a.end && e.Spill(); at++ {
		e.Open('{')
		e.address(at)
		e.Close('}')
	}
	e.Close(']')
	e.Close('}')
}

// file writes the id of the binary, and the reason if it has no symbols.
func (e *encoder) file(a asked) {
	e.Key("fileid")
	e.String(e.files[a.file].FileID.Base64())
	if why := e.look.Missing(a.file); why != nil {
		e.Key("missing")
		e.String(why.outside())
	}
}

// address writes the answer to address i.
func (e *encoder) address(i int) {
	e.Key("addr")
	e.Hex(e.frames[i].Addr)
	found, err := e.look.At(i)
	if err != nil {
		e.Err = err
		return
	}
	if len(found.Frames) > 0 {
		e.Key("from")
		e.String(from[found.which])
	}
	e.Key("frames")
	e.Open('[')
	for n := range found.Frames {
		e.frame(&found, e.frames[i].Module, &found.Frames[n])
	}
	e.Close(']')
}

func (e *encoder) frame(a *Answer, m int32, f *sym.Frame) {
	e.Open('{')
	e.Key("function")
	e.text(a.Result, m, f.Func)
	if f.File != 0 {
		e.Key("file")
		e.text(a.Result, m, f.File)
	}
	if f.Line != 0 {
		e.Key("line")
		e.Int(int(f.Line))
	}
	if off, ok := a.Offset(f); ok {
		e.Key("offset")
		e.Hex(off)
	}
	e.Key("inlined")
	e.Bool(f.Inlined)
	e.Close('}')
}

// text writes a string of module m. Names in symbfiles are not mangled.
func (e *encoder) text(res *symbolicate.Result, m int32, t sym.Text) {
	e.OpenString()
	from := len(e.Buf)
	out, plain := res.AppendRaw(e.Buf, m, t)
	e.Escape(out, from, plain)
	e.CloseString()
}
