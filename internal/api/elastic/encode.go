package elastic

import (
	"symbolon/internal/api/json"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
)

// encoder writes the answer to a query.
type encoder struct {
	json.Encoder
	*query
	look *Lookup
}

// writeObject writes the answer to a query for one binary.
func (e *encoder) writeObject() { e.writeLookup(0, e.lookups[0]) }

// writeList writes the answers to a document.
func (e *encoder) writeList() {
	e.Open('{')
	e.Key("lookups").Open('[')
	at := 0
	for _, a := range e.lookups {
		e.writeLookup(at, a)
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
	for _, a := range e.lookups {
		for ; at < a.end && e.Spill(); at++ {
			e.Open('{')
			e.file(a)
			e.address(at)
			e.Close('}')
			e.EndLine()
		}
	}
}

// writeLookup writes the answers to the addresses of one binary, which begin at this
// index.
func (e *encoder) writeLookup(at int, a lookup) {
	e.Open('{')
	e.file(a)
	e.Key("results").Open('[')
	for ; at < a.end && e.Spill(); at++ {
		e.Open('{')
		e.address(at)
		e.Close('}')
	}
	e.Close(']')
	e.Close('}')
}

// file writes the id of the binary, and the reason if it has no symbols.
func (e *encoder) file(a lookup) {
	e.Key("fileid").String(e.files[a.file].FileID.Base64())
	if why := e.look.Missing(a.file); why != nil {
		e.Key("missing").String(why.message())
	}
}

// address writes the answer to address i.
func (e *encoder) address(i int) {
	e.Key("addr").Hex(e.frames[i].Addr)
	found, err := e.look.At(i)
	if err != nil {
		e.Err = err
		return
	}
	if len(found.Frames) > 0 {
		e.Key("from").String(from[found.which])
	}
	e.Key("frames").Open('[')
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
		e.Key("line").Int(int(f.Line))
	}
	if off, ok := a.Offset(f); ok {
		e.Key("offset").Hex(off)
	}
	e.Key("inlined").Bool(f.Inlined)
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
