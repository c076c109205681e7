package triage

import (
	"cmp"
	"strconv"

	"symbolon/internal/filter"
	"symbolon/internal/ident"
)

// A Stack is the stack of a thread, innermost call first.
type Stack struct {
	Title  string  `json:"title"`
	Frames []Frame `json:"frames"`
	Absent string  `json:"absent,omitempty"` // why there are no frames
}

// A Frame is a call at an address.
type Frame struct {
	Function string `json:"function"`
	File     string `json:"file,omitempty"`
	Line     uint32 `json:"line,omitempty"`
	Inlined  bool   `json:"inlined"`
	Module   string `json:"module,omitempty"` // of a stack
	Trust    string `json:"trust,omitempty"`  // of a walked stack: how the frame was found
	Source   string `json:"source,omitempty"` // the line, if the answer has it
}

// Place returns the file and the line of a frame.
func (f *Frame) Place() string {
	if f.Line == 0 {
		return f.File
	}
	return f.File + ":" + strconv.FormatUint(uint64(f.Line), 10)
}

// Limits of a page.
const (
	MaxStacks = 100 << 10 // bytes of stacks on a page
	stackCost = 200       // bytes of a frame or a title besides their texts
	MaxText   = 600       // characters of a text that a page shows
)

// stacks collects stacks until they have MaxStacks bytes.
type stacks struct {
	list  []Stack
	bytes int
	isCut bool
}

// begin begins a stack.
func (s *stacks) begin(title, absent string) {
	if s.fits(title, absent) {
		s.list = append(s.list, Stack{Title: title, Absent: absent, Frames: []Frame{}})
	}
}

// add adds a frame to the stack that was begun last.
func (s *stacks) add(f Frame) {
	if s.fits(f.Function, f.File, f.Module, f.Source) {
		last := &s.list[len(s.list)-1]
		last.Frames = append(last.Frames, f)
	}
}

func (s *stacks) fits(texts ...string) bool {
	s.bytes += stackCost
	for _, text := range texts {
		s.bytes += min(len(text), MaxText)
	}
	s.isCut = s.isCut || s.bytes > MaxStacks
	return !s.isCut
}

// An Absence is a module without symbols.
type Absence struct {
	Name   string `json:"name"`
	ID     string `json:"id,omitempty"`
	Code   string `json:"code,omitempty"`   // NAME/ID of the program, if the id is one of a debug file
	Frames int    `json:"frames,omitempty"` // zero: unknown
	Why    string `json:"why"`
}

// maxAbsences limits the modules on a page.
const maxAbsences = 100

// Absences returns the modules of a run without symbols, and the number of all.
func Absences(run *filter.Run) (list []Absence, all int) {
	missing := run.Missing()
	list = []Absence{}
	for _, m := range missing[:min(len(missing), maxAbsences)] {
		debug, code := ident.FileName(m.Module.DebugFile), ident.FileName(m.Module.CodeFile)
		a := Absence{Name: cmp.Or(code, debug, m.Name), ID: m.Module.CodeID.String(), Frames: m.Addresses, Why: m.Why.Error()}
		if !m.Module.DebugID.IsZero() {
			if a.ID != "" && code != "" {
				a.Code = code + "/" + a.ID
			}
			a.Name, a.ID = cmp.Or(debug, a.Name), m.Module.DebugID.Breakpad()
		}
		list = append(list, a)
	}
	return list, len(missing)
}
