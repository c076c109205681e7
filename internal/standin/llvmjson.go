package standin

import (
	"bytes"
	"encoding/json"

	"symbolon/internal/object"
)

// llvmJSON is an answer in JSON, with its keys in alphabetical order.
type llvmJSON struct {
	Address    string        `json:",omitempty"`
	Data       *llvmData     `json:",omitempty"`
	Error      *llvmError    `json:",omitempty"`
	Frame      *[]llvmLocal  `json:",omitempty"`
	Loc        *[]llvmSymbol `json:",omitempty"` // of a symbol
	ModuleName *string       `json:",omitempty"`
	SymName    string        `json:",omitempty"`
	Symbol     *[]llvmSymbol `json:",omitempty"`
}

type llvmData struct{ Name, Size, Start string }

type llvmLocal struct {
	DeclFile     string
	DeclLine     uint32
	FrameOffset  *int64 `json:",omitempty"`
	FunctionName string
	Name         string
	Size         string
	TagOffset    string
}

type llvmError struct{ Message string }

type llvmSymbol struct {
	Column        uint32
	Discriminator uint32
	FileName      string
	FunctionName  string
	Line          uint32
	Source        string `json:",omitempty"`
	StartAddress  string
	StartFileName string
	StartLine     uint32
}

// jsonFrames adds frames of a query.
func (t *llvmTool) jsonFrames(q *llvmQuery, frames []llvmFrame) {
	list := []llvmSymbol{}
	for i := range frames {
		p := &frames[i]
		s := llvmSymbol{
			Column: p.column, FileName: p.file, FunctionName: p.name, Line: p.line,
			StartAddress: p.start, Discriminator: p.discriminator,
			StartFileName: p.startFile, StartLine: p.startLine,
		}
		if q.symbol == "" {
			s.Source = t.source(p)
		}
		list = append(list, s)
	}
	if q.symbol != "" {
		t.addJSON(llvmJSON{Loc: &list, ModuleName: &q.file, SymName: q.symbol})
		return
	}
	t.addJSON(llvmJSON{Address: q.address(), ModuleName: &q.file, Symbol: &list})
}

// jsonData adds a symbol of data.
func (t *llvmTool) jsonData(q *llvmQuery, d llvmDatum) {
	if d.name == "??" {
		d.name = ""
	}
	t.addJSON(llvmJSON{
		Address: q.address(), ModuleName: &q.file, SymName: q.symbol,
		Data: &llvmData{Name: d.name, Size: hex(d.size), Start: hex(d.start)},
	})
}

// jsonLocals adds the variables of a function.
func (t *llvmTool) jsonLocals(q *llvmQuery, p *program, list []object.Local) {
	frame := []llvmLocal{}
	for i := range list {
		l := &list[i]
		v := llvmLocal{FunctionName: p.text(l.Function), Name: p.text(l.Name), DeclFile: p.text(l.File), DeclLine: l.Line}
		if l.HasOffset {
			v.FrameOffset = &l.Offset
		}
		if l.HasSize {
			v.Size = hex(l.Size)
		}
		if l.HasTag {
			v.TagOffset = hex(l.Tag)
		}
		frame = append(frame, v)
	}
	t.addJSON(llvmJSON{Address: q.address(), ModuleName: &q.file, SymName: q.symbol, Frame: &frame})
}

// addJSON adds an answer to those that are not written.
func (t *llvmTool) addJSON(a llvmJSON) { t.ready = append(t.ready, encode(a)) }

// encode returns a value as JSON.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // strings and numbers always encode
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// putJSONLines writes the answers, a line for each.
func (t *llvmTool) putJSONLines() {
	for _, a := range t.ready {
		t.putJSON(a)
	}
	t.ready = t.ready[:0]
}

// putJSON writes a value and a newline.
func (t *llvmTool) putJSON(v any) {
	text := encode(v)
	if t.pretty {
		var b bytes.Buffer
		if json.Indent(&b, text, "", "  ") == nil {
			text = b.Bytes()
		}
	}
	t.put(string(text), "\n")
}
