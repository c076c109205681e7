package standin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"symbolon/internal/console"
)

// put writes text. Flush reports the error.
func (t *llvmTool) put(parts ...string) {
	for _, p := range parts {
		_, _ = t.out.WriteString(p)
	}
}

// either returns the text for the option --pretty-print, or that without it.
func (t *llvmTool) either(pretty, plain string) string {
	if t.pretty {
		return pretty
	}
	return plain
}

// code writes the frames of an address.
func (t *llvmTool) code(frames []llvmFrame) {
	for i := range frames {
		p := &frames[i]
		if t.functions != "none" {
			if i > 0 && t.pretty {
				t.put(" (inlined by) ")
			}
			t.put(orUnknown(p.name), t.either(" at ", "\n"))
		}
		line, column := strconv.FormatUint(uint64(p.line), 10), strconv.FormatUint(uint64(p.column), 10)
		switch {
		case t.verbose:
			t.put("  Filename: ", orUnknown(p.file), "\n")
			if p.start != "" {
				t.put("  Function start address: ", p.start, "\n")
			}
			t.put("  Line: ", line, "\n  Column: ", column, "\n")
			if p.discriminator != 0 {
				t.put("  Discriminator: ", strconv.FormatUint(uint64(p.discriminator), 10), "\n")
			}
			continue
		case t.style == "GNU":
			t.put(orUnknown(p.file), ":", line)
			if p.discriminator != 0 {
				t.put(" (discriminator ", strconv.FormatUint(uint64(p.discriminator), 10), ")")
			}
			t.put("\n")
		default:
			t.put(orUnknown(p.file), ":", line, ":", column, "\n")
		}
		t.put(t.source(p))
	}
}

// orUnknown returns s, or the text for an unknown name or file.
func orUnknown(s string) string {
	if s == "" {
		return "??"
	}
	return s
}

// maxSource limits a file of source.
const maxSource = 16 << 20

// source returns the lines of source around a frame, if the options select some.
func (t *llvmTool) source(p *llvmFrame) string {
	if t.context == 0 || p.line == 0 || p.file == "" {
		return ""
	}
	lines, read := t.sources[p.file]
	if !read {
		lines = readLines(p.file)
		if t.sources == nil || len(t.sources) == maxOpen {
			t.sources = map[string][]string{}
		}
		t.sources[p.file] = lines
	}
	at := uint64(p.line)
	first := max(1, at-min(at, t.context/2))
	last := min(uint64(len(lines)), first+t.context-1)
	width := len(strconv.FormatUint(last, 10))
	var b strings.Builder
	for n := first; n <= last; n++ {
		mark := ' '
		if n == at {
			mark = '>'
		}
		fmt.Fprintf(&b, "%*d %c: %s\n", width, n, mark, console.Printable(lines[n-1]))
	}
	return b.String()
}

// readLines returns the lines of a file of source, none if it cannot be read.
func readLines(name string) []string {
	if st, err := os.Stat(name); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSource))
	if err != nil {
		return nil
	}
	lines := strings.Split(string(text), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines
}

// llvmJSON is an answer in JSON, with its keys in alphabetical order.
type llvmJSON struct {
	Address    string        `json:",omitempty"`
	Data       *llvmData     `json:",omitempty"`
	Error      *llvmError    `json:",omitempty"`
	Frame      *[]struct{}   `json:",omitempty"`
	ModuleName *string       `json:",omitempty"`
	Symbol     *[]llvmSymbol `json:",omitempty"`
}

type llvmData struct{ Name, Size, Start string }

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

// jsonAnswer adds the answer to a query.
func (t *llvmTool) jsonAnswer(q *llvmQuery, f *program, frames []llvmFrame) {
	a := llvmJSON{Address: hex(q.addr), ModuleName: &q.file}
	switch q.kind {
	case "DATA":
		name, start, size, _ := t.data(f, q.addr-t.adjust)
		a.Data = &llvmData{name, hex(size), hex(start)}
	case "FRAME":
		a.Frame = &[]struct{}{}
	default:
		list := []llvmSymbol{}
		for i := range frames {
			p := &frames[i]
			list = append(list, llvmSymbol{
				Column: p.column, FileName: p.file, FunctionName: p.name, Line: p.line,
				Source: t.source(p), StartAddress: p.start, Discriminator: p.discriminator,
			})
		}
		a.Symbol = &list
	}
	t.addJSON(a)
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
