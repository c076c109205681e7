package standin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"symbolon/internal/console"
	"symbolon/internal/demangle"
)

func (t *llvmTool) put(parts ...string) {
	for _, p := range parts {
		_, _ = t.out.WriteString(p) // told by Flush
	}
}

// code writes the frames of an address.
func (t *llvmTool) code(places []place) {
	for i := range places {
		p := &places[i]
		if t.functions != "none" {
			if i > 0 && t.pretty {
				t.put(" (inlined by) ")
			}
			t.put(known(p.name), map[bool]string{true: " at ", false: "\n"}[t.pretty])
		}
		line, column := strconv.FormatUint(uint64(p.line), 10), strconv.FormatUint(uint64(p.column), 10)
		switch {
		case t.verbose:
			t.put("  Filename: ", known(p.file), "\n")
			if p.start != "" {
				t.put("  Function start address: ", p.start, "\n")
			}
			t.put("  Line: ", line, "\n  Column: ", column, "\n")
			if p.mark != 0 {
				t.put("  Discriminator: ", strconv.FormatUint(uint64(p.mark), 10), "\n")
			}
			continue
		case t.style == "GNU":
			t.put(known(p.file), ":", line)
			if p.mark != 0 {
				t.put(" (discriminator ", strconv.FormatUint(uint64(p.mark), 10), ")")
			}
			t.put("\n")
		default:
			t.put(known(p.file), ":", line, ":", column, "\n")
		}
		t.put(t.source(p))
	}
}

func known(s string) string {
	if s == "" {
		return "??"
	}
	return s
}

// maxSource is how much of a file of source is read.
const maxSource = 16 << 20

// source is the lines around a place, if they are wanted and can be had.
func (t *llvmTool) source(p *place) string {
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

// readLines reads a file of source, nothing where there is none.
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

// llvmJSON is an answer as JSON, with its keys in the order of the alphabet.
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

func (t *llvmTool) jsonAnswer(q *query, d *debugged, places []place) {
	a := llvmJSON{Address: hex(q.addr), ModuleName: &q.file}
	switch q.kind {
	case "DATA":
		name, start, size, _ := t.data(d, q.addr-t.adjust)
		a.Data = &llvmData{name, hex(size), hex(start)}
	case "FRAME":
		a.Frame = &[]struct{}{}
	default:
		list := []llvmSymbol{}
		for i := range places {
			p := &places[i]
			list = append(list, llvmSymbol{
				Column: p.column, FileName: p.file, FunctionName: p.name, Line: p.line,
				Source: t.source(p), StartAddress: p.start, Discriminator: p.mark,
			})
		}
		a.Symbol = &list
	}
	t.addJSON(a)
}

// addJSON keeps an answer until it is time to write it.
func (t *llvmTool) addJSON(a llvmJSON) { t.ready = append(t.ready, t.encode(a)) }

// flushJSON writes what is ready, an answer on a line.
func (t *llvmTool) flushJSON() {
	for _, a := range t.ready {
		t.putJSON(a)
	}
	t.ready = t.ready[:0]
}

func (t *llvmTool) encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // strings and numbers always encode
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func (t *llvmTool) putJSON(v any) {
	text := t.encode(v)
	if t.pretty {
		var b bytes.Buffer
		if json.Indent(&b, text, "", "  ") == nil {
			text = b.Bytes()
		}
	}
	t.put(string(text), "\n")
}

// shortName is what a function is called in its source: without the scopes
// and the parameters of its name.
func shortName(name string) string {
	if !isMangled(name) {
		return name
	}
	return abiTag.ReplaceAllString(lastPart(demangle.Name(name, demangle.NoParams)), "")
}

var abiTag = regexp.MustCompile(`\[abi:[^\]]*\]`)

// llvmMarks are the marks of parts and variants behind a readable name.
var llvmMarks = regexp.MustCompile(`( (\[clone |\()\.[^ \])]*(\]|\)))+$`)

// llvmSpelling is a readable name as LLVM 14 spells it: with blanks between
// closing brackets, and all marks behind the name as one.
func llvmSpelling(name string) string {
	marks := ""
	if at := llvmMarks.FindStringIndex(name); at != nil {
		marks = " (" + strings.NewReplacer(" [clone ", "", "]", "", " (", "", ")", "").Replace(name[at[0]:]) + ")"
		name = name[:at[0]]
	}
	name = strings.ReplaceAll(strings.ReplaceAll(name, "operator<< <", "operator<<<"), "operator< <", "operator<<")
	if !strings.Contains(name, ">>") {
		return name + marks
	}
	var b strings.Builder
	for i := range len(name) {
		b.WriteByte(name[i])
		if strings.HasPrefix(name[i:], ">>") && !strings.HasSuffix(name[:i], "operator") {
			b.WriteByte(' ')
		}
	}
	return b.String() + marks
}
