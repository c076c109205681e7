package standin

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"symbolon/internal/console"
	"symbolon/internal/object"
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

// frames writes frames of a query.
func (t *llvmTool) frames(q *llvmQuery, frames []llvmFrame) {
	if t.style == "JSON" {
		t.jsonFrames(q, frames)
		return
	}
	t.header(q)
	for i := range frames {
		t.frame(&frames[i], i > 0)
	}
	t.footer()
}

// header writes the address of a query, if the options select it. For data and
// variables that of a symbol is 0, for code it is not printed.
func (t *llvmTool) header(q *llvmQuery) {
	addr := q.address()
	if addr == "" && q.kind != "CODE" {
		addr = "0x0"
	}
	if t.addresses && addr != "" {
		t.put(addr, t.either(": ", "\n"))
	}
}

// footer writes the empty line after an answer.
func (t *llvmTool) footer() {
	if t.style == "LLVM" {
		t.put("\n")
	}
}

// frame writes a frame.
func (t *llvmTool) frame(p *llvmFrame, isCaller bool) {
	if t.functions != "none" {
		if isCaller && t.pretty {
			t.put(" (inlined by) ")
		}
		t.put(orUnknown(p.name), t.either(" at ", "\n"))
	}
	line, column := strconv.FormatUint(uint64(p.line), 10), strconv.FormatUint(uint64(p.column), 10)
	mark := strconv.FormatUint(uint64(p.discriminator), 10)
	switch {
	case t.verbose:
		t.put("  Filename: ", orUnknown(p.file), "\n")
		if p.startLine != 0 {
			t.put("  Function start filename: ", p.startFile, "\n  Function start line: ", strconv.FormatUint(uint64(p.startLine), 10), "\n")
		}
		if p.start != "" && t.style == "LLVM" {
			t.put("  Function start address: ", p.start, "\n")
		}
		t.put("  Line: ", line, "\n  Column: ", column, "\n")
		if p.discriminator != 0 {
			t.put("  Discriminator: ", mark, "\n")
		}
		return
	case t.style != "GNU":
		t.put(orUnknown(p.file), ":", line, ":", column, "\n")
	case p.discriminator != 0:
		t.put(orUnknown(p.file), ":", line, " (discriminator ", mark, ")\n")
	default:
		t.put(orUnknown(p.file), ":", line, "\n")
	}
	t.put(t.source(p))
}

// printData writes a symbol of data.
func (t *llvmTool) printData(q *llvmQuery, d llvmDatum) {
	if t.style == "JSON" {
		t.jsonData(q, d)
		return
	}
	t.header(q)
	t.put(d.name, "\n", strconv.FormatUint(d.start, 10), " ", strconv.FormatUint(d.size, 10), "\n")
	switch {
	case t.is14:
	case d.file == "":
		t.put("??:?\n")
	default:
		t.put(d.file, ":", strconv.FormatUint(uint64(d.line), 10), "\n")
	}
	t.footer()
}

// printLocals writes the variables of a function.
func (t *llvmTool) printLocals(q *llvmQuery, p *program, list []object.Local) {
	if t.style == "JSON" {
		t.jsonLocals(q, p, list)
		return
	}
	t.header(q)
	for i := range list {
		l := &list[i]
		t.put(orUnknown(p.text(l.Function)), "\n", orUnknown(p.text(l.Name)), "\n")
		t.put(orUnknown(p.text(l.File)), ":", strconv.FormatUint(uint64(l.Line), 10), "\n")
		t.put(known(l.HasOffset, strconv.FormatInt(l.Offset, 10)), " ", known(l.HasSize, strconv.FormatUint(l.Size, 10)), " ",
			known(l.HasTag, strconv.FormatUint(l.Tag, 10)), "\n")
	}
	if len(list) == 0 {
		t.put("??\n")
	}
	t.footer()
}

// known returns a number, or the text for an unknown one.
func known(isKnown bool, number string) string {
	if !isKnown {
		return "??"
	}
	return number
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
	if t.context == 0 || p.file == "" {
		return ""
	}
	lines, read := t.sources[p.file]
	if !read {
		if lines = nil; p.source != nil {
			lines = splitLines(p.source())
		}
		if lines == nil {
			lines = readLines(p.file)
		}
		if t.sources == nil || len(t.sources) == maxOpen {
			t.sources = map[string][]string{}
		}
		t.sources[p.file] = lines
	}
	at := uint64(p.line)
	first := max(1, at-min(at, t.context/2))
	last := first + t.context - 1
	width := len(strconv.FormatUint(last-1, 10)) // LLVM rounds the logarithm of the last line up
	last = min(uint64(len(lines)), last)
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
	return splitLines(text)
}

// splitLines returns the lines of a text.
func splitLines(text []byte) []string {
	if len(text) == 0 {
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
