package standin

import (
	"cmp"
	"context"
	encoding "encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"symbolon/internal/console"
	"symbolon/internal/demangle"
	"symbolon/internal/filter/markup"
)

// llvmInvalid is LLVM's text for an unknown function or file in markup.
const llvmInvalid = "<invalid>"

// A markupTool prints logs with symbolizer markup: addresses with their names, and
// the lines with modules and maps summarized.
type markupTool struct {
	*llvmTool
	colors colorWriter
	memory markup.Context
	input  []byte // the line
	at     int    // where the element that is read starts in it

	module *markup.Module // of the summary that is being written, to which maps are added
	maps   []*markup.Map
}

// filterMarkup copies standard input.
func (t *llvmTool) filterMarkup(ctx context.Context) int {
	isOn := t.color == "always" || t.color != "never" && t.env.HasColors
	m := markupTool{llvmTool: t, colors: colorWriter{out: t.out, isOn: isOn, color: noColor}}
	m.memory.Report = m.report
	err := console.EachFullLine(ctx, t.env.Stdin, func(line string) error {
		m.input = append(append(m.input[:0], strings.TrimSuffix(line, "\n")...), '\n')
		m.colors.reset()
		m.filter()
		return t.out.Flush()
	})
	m.endModule()
	m.colors.reset()
	if errors.Join(err, t.out.Flush()) != nil {
		return exitFailed
	}
	return exitDone
}

// filter prints a line. Before its first element about modules all is printed unless
// the element adds to the summary before, and after that element nothing is.
func (m *markupTool) filter() {
	var e markup.Element
	for rest, ok := m.input, true; ok; {
		if _, rest, ok = e.Next(rest); !ok {
			break
		}
		before := m.input[:len(m.input)-len(rest)-len(e.Text)]
		m.at = len(before)
		switch string(e.Tag) {
		case "mmap":
			m.addMap(&e, before)
		case "reset":
			m.reset(&e, before)
		case "module":
			m.addModule(&e, before)
		default:
			continue
		}
		return
	}
	m.endModule()
	m.text(m.input)
}

func (m *markupTool) addMap(e *markup.Element, before []byte) {
	x := m.memory.AddMap(e)
	if x == nil {
		return
	}
	if m.module != x.Module {
		m.endModule()
		m.text(before)
		m.beginModule(x.Module)
		m.put("; adds")
	}
	m.maps = append(m.maps, x)
}

func (m *markupTool) reset(e *markup.Element, before []byte) {
	if !m.memory.Exactly(e, 0) || m.memory.IsEmpty() {
		return
	}
	m.endModule()
	m.text(before)
	m.raw(e)
	m.put(m.lineEnding())
	m.memory.Reset()
}

func (m *markupTool) addModule(e *markup.Element, before []byte) {
	x := m.memory.AddModule(e)
	if x == nil {
		return
	}
	m.endModule()
	m.text(before)
	m.beginModule(x)
	m.put("; BuildID=")
	m.colors.value(encoding.EncodeToString(x.BuildID))
}

// beginModule begins a summary.
func (m *markupTool) beginModule(x *markup.Module) {
	m.colors.highlight()
	m.put("[[[ELF module")
	m.colors.value(" #" + hex(x.ID) + " ")
	m.put(`"`)
	m.colors.value(x.Name)
	m.put(`"`)
	m.module = x
}

// endModule ends the summary, if there is one.
func (m *markupTool) endModule() {
	if m.module == nil {
		return
	}
	slices.SortStableFunc(m.maps, func(a, b *markup.Map) int { return cmp.Compare(a.Addr, b.Addr) })
	for i, x := range m.maps {
		separator := ","
		if i == 0 {
			separator = " "
		}
		m.put(separator, "[")
		m.colors.value(hex(x.Addr))
		m.put("-")
		m.colors.value(hex(x.Addr + x.Size - 1))
		m.put("](")
		m.colors.value(x.Mode)
		m.put(")")
	}
	m.put("]]]", m.lineEnding())
	m.colors.restore()
	m.module, m.maps = nil, m.maps[:0]
}

// lineEnding returns how the line ends.
func (m *markupTool) lineEnding() string {
	if strings.HasSuffix(string(m.input), "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// text prints the start of the line, which has no elements about modules.
func (m *markupTool) text(text []byte) {
	var e markup.Element
	for rest := text; ; {
		before, after, ok := e.Next(rest)
		if !ok {
			m.colors.copy(rest)
			return
		}
		m.colors.copy(before)
		m.at = len(text) - len(rest) + len(before)
		m.element(&e)
		rest = after
	}
}

// element prints an element.
func (m *markupTool) element(e *markup.Element) {
	for _, c := range e.Tag {
		if c < 'a' || c > 'z' {
			m.report(e, len("{{{"), false, "tags must be all lowercase characters")
			return
		}
	}
	switch string(e.Tag) {
	case "symbol":
		if m.memory.Exactly(e, 1) {
			m.colors.highlight()
			m.put(demangle.Name(string(e.Field(0)), demangle.LLVM))
			m.colors.restore()
		}
	case "bt", "pc", "data":
		if p, ok := m.memory.Place(e); ok && (p.Map == nil || !m.place(e, &p)) {
			m.raw(e)
		}
	default:
		m.put(string(e.Text))
	}
}

// place prints an address. It returns false if nothing is known.
func (m *markupTool) place(e *markup.Element, at *markup.Place) bool {
	q := llvmQuery{kind: "CODE", buildID: at.Map.Module.BuildID}
	if string(e.Tag) == "data" {
		q.kind = "DATA"
	}
	p, message := m.open(&q)
	if message != "" {
		console.Printf(m.env.Stderr, "error: %s\n", message)
		return false
	}
	switch string(e.Tag) {
	case "bt":
		m.colors.highlight()
		if p.err == nil {
			m.backtrace(at, m.all(p, m.linked(p, at.Linked())))
		}
	case "data":
		name := m.data(p, at.Linked()).name
		if name == "??" {
			name = llvmInvalid
		}
		m.colors.highlight()
		m.put(name)
	default:
		if p.err != nil {
			return false
		}
		f := m.outer(p, m.linked(p, at.Linked()))
		if isEmpty(&f) {
			return false
		}
		m.colors.highlight()
		m.colors.value(orInvalid(f.name))
		m.put("[")
		m.colors.value(orInvalid(f.file))
		m.put(":")
		m.colors.value(strconv.FormatUint(uint64(f.line), 10))
		m.put("]")
	}
	m.colors.restore()
	return true
}

// backtrace prints the frames of an address, each on its own line.
func (m *markupTool) backtrace(at *markup.Place, frames []llvmFrame) {
	number := strconv.FormatUint(at.Frame, 10)
	for i := range frames {
		f := &frames[i]
		m.put(strings.Repeat(" ", max(0, 5-len(number))), "#")
		m.colors.value(number)
		if i == len(frames)-1 {
			m.put("   ")
		} else {
			m.put(".")
			m.colors.value(fmt.Sprintf("%-2d", i+1))
		}
		m.colors.value(fmt.Sprintf(" 0x%016x ", at.Addr))
		if !isEmpty(f) {
			m.colors.value(orInvalid(f.name))
			m.put(" ")
			m.colors.value(orInvalid(f.file))
			m.put(":")
			m.colors.value(strconv.FormatUint(uint64(f.line), 10))
			m.put(":")
			m.colors.value(strconv.FormatUint(uint64(f.column), 10))
			m.put(" ")
		}
		m.put("(")
		m.colors.value(at.Map.Module.Name)
		m.put("+")
		m.colors.value(hex(at.Linked()))
		m.put(")")
		if i < len(frames)-1 {
			m.put(m.lineEnding())
		}
	}
}

// isEmpty reports whether nothing is known about a frame.
func isEmpty(f *llvmFrame) bool { return f.name == "" && f.file == "" && f.line == 0 }

func orInvalid(s string) string {
	if s == "" {
		return llvmInvalid
	}
	return s
}

// raw prints an element whose address has no name.
func (m *markupTool) raw(e *markup.Element) {
	m.colors.highlight()
	m.put("[[[")
	for i, part := range strings.Split(string(e.Text[len("{{{"):len(e.Text)-len("}}}")]), ":") {
		if i > 0 {
			m.put(":")
		}
		m.colors.value(part)
	}
	m.put("]]]")
	m.colors.restore()
}

// report prints the error in an element, and points to its place in the line.
func (m *markupTool) report(_ *markup.Element, at int, isWarning bool, text string) {
	kind := "error"
	if isWarning {
		kind = "warning"
	}
	line := console.Printable(strings.TrimSuffix(string(m.input), m.lineEnding())) + strings.TrimSuffix(m.lineEnding(), "\n")
	console.Printf(m.env.Stderr, "%s: %s\n%s\n%*s\n", kind, console.Printable(text), line, m.at+at+1, "^")
}
