package pdb

import (
	"bytes"
	"strings"

	"symbolon/internal/ident"
)

// SourceServer is the index of sources written by a build: variables, and for
// each file a line of fields, the first one of them the path.
type SourceServer struct {
	variables map[string]string   // by name in lower case
	files     map[string][]string // fields by path in lower case
}

// maxSourceServer limits the bytes of the stream that are read.
const maxSourceServer = 64 << 20

// maxVariables limits the bytes that are read for the variables, which come
// first.
const maxVariables = 64 << 10

// SourceServer reads the stream srcsrv. It returns nil if the file has none.
func (f *File) SourceServer() *SourceServer { return f.readSourceServer(maxSourceServer) }

// SourceServerBrief is SourceServer without most of the files.
func (f *File) SourceServerBrief() *SourceServer { return f.readSourceServer(maxVariables) }

func (f *File) readSourceServer(limit int64) *SourceServer {
	s := f.Named("srcsrv")
	text, err := s.Bytes(0, int(min(s.Size(), limit)), nil)
	if err != nil || len(text) == 0 {
		return nil
	}
	out := &SourceServer{map[string]string{}, map[string][]string{}}
	part := ""
	for line := range bytes.Lines(text) {
		l := strings.TrimSpace(string(line))
		if title, ok := strings.CutPrefix(l, "SRCSRV: "); ok {
			part = strings.TrimRight(title, "- ")
			continue
		}
		switch part {
		case "ini", "variables":
			if name, value, ok := strings.Cut(l, "="); ok {
				out.variables[strings.ToLower(name)] = value
			}
		case "source files":
			if fields := strings.Split(l, "*"); len(fields) > 1 {
				out.files[strings.ToLower(fields[0])] = fields
			}
		}
	}
	return out
}

// VersionControl returns the build's name of the version control system, "" if
// it is unknown.
func (s *SourceServer) VersionControl() string { return s.variables["verctrl"] }

// OnWeb reports whether targets are URLs.
func (s *SourceServer) OnWeb() bool {
	e := expansion{s, nil, 0}
	target := e.expand(s.variables["srcsrvtrg"])
	return strings.HasPrefix(target, "https://") || strings.HasPrefix(target, "http://")
}

// Target returns the location of a file according to the build: often a URL, or
// the destination of a command that must be run first. It is "" for an unknown
// file.
func (s *SourceServer) Target(path string) string {
	fields := s.files[strings.ToLower(path)]
	if fields == nil {
		return ""
	}
	e := expansion{s, fields, 0}
	return e.expand(s.variables["srcsrvtrg"])
}

// Perforce returns the depot path and the revision of a file in Perforce.
func (s *SourceServer) Perforce(path string) (depot, revision string) {
	fields := s.files[strings.ToLower(path)]
	if !strings.EqualFold(s.variables["verctrl"], "perforce") || len(fields) < 3 {
		return "", ""
	}
	if len(fields) > 3 {
		revision = fields[3]
	}
	return strings.TrimLeft(fields[2], "/"), revision
}

// expansion replaces variables between percent signs.
type expansion struct {
	s      *SourceServer
	fields []string
	steps  int
}

const (
	// maxExpansions limits the variables of a target.
	maxExpansions = 64
	// maxTarget limits the length of a target.
	maxTarget = 8 << 10
)

func (e *expansion) expand(text string) string {
	var b strings.Builder
	for b.Len() < maxTarget {
		before, rest, ok := strings.Cut(text, "%")
		b.WriteString(before)
		if !ok {
			break
		}
		name, rest, ok := strings.Cut(rest, "%")
		e.steps++
		if !ok || e.steps > maxExpansions {
			break
		}
		name, text = strings.ToLower(name), rest
		if argument, after, ok := call(rest); ok && strings.HasPrefix(name, "fn") {
			b.WriteString(e.apply(name, e.expand(argument)))
			text = after
			continue
		}
		b.WriteString(e.value(name))
	}
	return b.String()[:min(b.Len(), maxTarget)]
}

// call returns the argument in parentheses at the start of text, and the text
// after it.
func call(text string) (argument, after string, ok bool) {
	depth := 0
	for i := range len(text) {
		switch {
		case i == 0 && text[i] != '(':
			return "", "", false
		case text[i] == '(':
			depth++
		case text[i] == ')':
			if depth--; depth == 0 {
				return text[1:i], text[i+1:], true
			}
		}
	}
	return "", "", false
}

// apply returns the result of a function.
func (e *expansion) apply(name, argument string) string {
	switch name {
	case "fnvar":
		return e.value(strings.ToLower(argument))
	case "fnbksl":
		return strings.ReplaceAll(argument, "/", `\`)
	case "fnfile":
		return ident.FileName(argument)
	}
	return argument
}

// value returns the value of a variable: var1 and so on are the fields of the
// file.
func (e *expansion) value(name string) string {
	if number, ok := strings.CutPrefix(name, "var"); ok && len(number) == 1 && number[0] > '0' && int(number[0]-'0') <= len(e.fields) {
		return e.fields[number[0]-'1']
	}
	return e.expand(e.s.variables[name])
}
