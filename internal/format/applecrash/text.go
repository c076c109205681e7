package applecrash

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// A section is the part of a text that a line belongs to.
type section int

const (
	inFields section = iota
	inThread
	inException
	inRegisters
	inImages
	inInfo
	inSyslog
)

// sections are the lines that begin a section, except for those of threads.
var sections = []struct {
	prefix string
	section
}{
	{"Binary Images:", inImages},
	{"Application Specific Information:", inInfo},
	{"Filtered syslog:", inSyslog},
	{"Last Exception Backtrace:", inException},
}

type textReader struct {
	r            *Report
	section      section
	line         int
	names        map[uint64]Thread  // names that are in lines of their own
	registers    map[string]Address // of the thread that crashed
	crashed      uint64             // valid if registers is not nil
	info, syslog []string           // lines
}

// readText reads a text that begins after a number of lines.
func readText(text []byte, line int) (*Report, error) {
	if bytes.Count(text, []byte{'\n'}) > maxParts {
		return nil, bad("text", "invalid report: has more than %d lines", maxParts)
	}
	t := textReader{r: newReport(), line: line, names: map[uint64]Thread{}}
	for line := range strings.Lines(string(text)) {
		t.line++
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		if t.isHeader(line) {
			continue
		}
		if !t.add(line) {
			t.section = inFields
			if err := t.field(line); err != nil {
				return nil, err
			}
		}
	}
	t.finish()
	return t.r, nil
}

func (t *textReader) place() string { return fmt.Sprintf("line %d", t.line) }

// isHeader begins the section of a line that is a header.
func (t *textReader) isHeader(line string) bool {
	if rest, ok := strings.CutPrefix(line, "Thread "); ok {
		return t.isThread(rest)
	}
	for _, s := range sections {
		rest, ok := strings.CutPrefix(line, s.prefix)
		if !ok {
			continue
		}
		t.section = s.section
		if s.section == inInfo && rest != "" {
			t.info = append(t.info, strings.TrimSpace(rest))
		}
		return true
	}
	return false
}

// isThread begins a thread, its registers, or neither if the line is a name.
func (t *textReader) isThread(line string) bool {
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	id, err := strconv.ParseUint(line[:digits], 10, 64)
	if err != nil {
		return false
	}
	line = line[digits:]
	if name, ok := strings.CutPrefix(line, " name:"); ok {
		t.names[id] = newThread(id, name)
		t.section = inFields
		return true
	}
	if strings.HasPrefix(line, " crashed with ") {
		t.registers, t.crashed = map[string]Address{}, id
		t.section = inRegisters
		return true
	}
	name, crashed := strings.CutPrefix(line, " Crashed:")
	if !crashed && !strings.HasPrefix(line, ":") {
		return false
	}
	thread := newThread(id, strings.TrimLeft(name, ":"))
	thread.Crashed = crashed
	t.r.Threads = append(t.r.Threads, thread)
	t.section = inThread
	return true
}

// newThread returns a thread from "name  Dispatch queue: queue".
func newThread(id uint64, text string) Thread {
	name, queue, _ := strings.Cut(text, "Dispatch queue:")
	return Thread{ID: id, Name: strings.TrimSpace(name), Queue: strings.TrimSpace(queue), Frames: []Frame{}}
}

// add adds a line to its section. It returns false if that ends before the line.
func (t *textReader) add(line string) bool {
	switch t.section {
	case inThread, inException:
		frames := &t.r.Exception
		if t.section == inThread {
			frames = &t.r.Threads[len(t.r.Threads)-1].Frames
		}
		if f, _, ok := ParseFrame(line); ok {
			*frames = append(*frames, f)
			return true
		}
		if list := addresses(line); t.section == inException && list != nil {
			*frames = append(*frames, list...)
			return true
		}
	case inRegisters:
		return t.addRegisters(line)
	case inImages:
		i, ok := ParseImage(line)
		if ok {
			t.r.addImage(i)
		}
		return ok || line == "" || strings.HasPrefix(strings.TrimLeft(line, " \t"), "0x") // with a damaged range
	case inInfo:
		t.info = append(t.info, line)
		return true
	case inSyslog:
		t.syslog = append(t.syslog, line)
		return true
	}
	return false
}

// addRegisters adds the registers of "rax: 0x0  rbx: 0x1", and reports whether
// there are any.
func (t *textReader) addRegisters(line string) bool {
	name, found := "", false
	for text := range strings.FieldsSeq(line) {
		if value, ok := number(text); ok && strings.HasSuffix(name, ":") {
			t.registers[strings.TrimSuffix(name, ":")] = value
			found = true
		}
		name = text
	}
	return found
}

// field sets the field of a line "key: value".
func (t *textReader) field(line string) error {
	key, value, ok := strings.Cut(line, ":")
	if !ok {
		return nil
	}
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	switch key {
	case "Incident Identifier":
		return t.r.setIncident(t.place(), value)
	case "Date/Time":
		t.r.setTime(value)
	case "Report Version":
		n, err := strconv.ParseUint(strings.TrimPrefix(value, "+"), 10, 32)
		if err != nil && value != "" {
			return bad(t.place(), "invalid report version %.60q: must be a number of 32 bits", value)
		}
		t.r.Version = uint32(n)
	case "Path":
		t.r.Path = value
	case "Code Type":
		t.r.CodeType = value
	default:
		t.r.set(key, value)
	}
	return nil
}

// finish sets the values that are known only at the end.
func (t *textReader) finish() {
	t.r.Info = strings.Trim(strings.Join(t.info, "\n"), "\n")
	t.r.Syslog = strings.Trim(strings.Join(t.syslog, "\n"), "\n")
	for i := range t.r.Threads {
		thread := &t.r.Threads[i]
		name := t.names[thread.ID]
		thread.Name, thread.Queue = cmp.Or(thread.Name, name.Name), cmp.Or(thread.Queue, name.Queue)
		if t.registers != nil && thread.ID == t.crashed {
			thread.Crashed, thread.Registers = true, t.registers
		}
	}
}
