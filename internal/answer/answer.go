// Package answer has the answers of resolve and the formats that they are
// printed in.
package answer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"

	"symbolon/internal/console"
)

// Answer is the answer to one address.
type Answer struct {
	Addr   string  `json:"addr"`
	Frames []Frame `json:"frames"`
}

// Frame is a frame of an answer.
type Frame struct {
	Function string `json:"function"`
	File     string `json:"file,omitempty"`
	Line     uint32 `json:"line,omitempty"`
	Column   uint32 `json:"column,omitempty"`
	Offset   string `json:"offset,omitempty"`
	Inlined  bool   `json:"inlined"`
	Link     string `json:"source_link,omitempty"`
	Path     string `json:"vcs_path,omitempty"`
	Revision string `json:"vcs_revision,omitempty"`
}

// Formats are the ways of writing an answer.
var Formats = map[string]func(dst []byte, a *Answer) []byte{
	"text":  TextIn(console.Plain),
	"json":  appendJSON,
	"jsonl": func(dst []byte, a *Answer) []byte { return append(appendJSON(dst, a), '\n') },
}

// unknown is the text for a function without a name.
const unknown = "??"

// TextIn returns the format text in a look.
func TextIn(look console.Look) func(dst []byte, a *Answer) []byte {
	return func(dst []byte, a *Answer) []byte { return appendText(dst, a, look) }
}

func appendText(dst []byte, a *Answer, look console.Look) []byte {
	dst = append(append(dst, look.Paint(console.Faint, console.Printable(a.Addr))...), '\n')
	for _, f := range a.Frames {
		dst = append(append(dst, "  "...), look.Paint(console.Bold, console.Printable(cmp.Or(f.Function, unknown)))...)
		if f.Offset != "" && f.Offset != "0x0" {
			dst = append(append(dst, '+'), f.Offset...)
		}
		if f.File != "" {
			dst = append(append(dst, "  "...), console.Printable(f.File)...)
			if f.Line > 0 {
				dst = strconv.AppendUint(append(dst, ':'), uint64(f.Line), 10)
			}
			if f.Column > 0 {
				dst = strconv.AppendUint(append(dst, ':'), uint64(f.Column), 10)
			}
		}
		if f.Inlined {
			dst = append(append(dst, "  "...), look.Paint(console.Faint, "(inlined)")...)
		}
		dst = append(dst, '\n')
	}
	if len(a.Frames) == 0 {
		dst = append(append(dst, "  "...), unknown+"\n"...)
	}
	return dst
}

func appendJSON(dst []byte, a *Answer) []byte {
	b := bytes.NewBuffer(dst)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a); err != nil { // strings and numbers always encode
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
