package ui

import (
	"cmp"
	"net/url"

	"symbolon/internal/filter"
	"symbolon/internal/ident"
)

// A stack is the stack of a thread, innermost call first.
type stack struct {
	Title  string  `json:"title"`
	Frames []frame `json:"frames"`
	Absent string  `json:"absent,omitempty"` // why there are no frames
}

const (
	maxStacks = 100 << 10 // bytes of stacks on a page
	stackCost = 200       // bytes of a frame or a title besides their texts
)

// stacks collects stacks until they have maxStacks bytes.
type stacks struct {
	list  []stack
	bytes int
	isCut bool
}

// begin begins a stack.
func (s *stacks) begin(title, absent string) {
	if s.fits(title, absent) {
		s.list = append(s.list, stack{Title: title, Absent: absent, Frames: []frame{}})
	}
}

// add adds a frame to the stack that was begun last.
func (s *stacks) add(f frame) {
	if s.fits(f.Function, f.File, f.Module, f.Source) {
		last := &s.list[len(s.list)-1]
		last.Frames = append(last.Frames, f)
	}
}

func (s *stacks) fits(texts ...string) bool {
	s.bytes += stackCost
	for _, text := range texts {
		s.bytes += min(len(text), maxShown)
	}
	s.isCut = s.isCut || s.bytes > maxStacks
	return !s.isCut
}

// An absence is a module without symbols.
type absence struct {
	Name   string `json:"name"`
	ID     string `json:"id,omitempty"`
	Code   string `json:"code,omitempty"`   // NAME/ID of the program, if the id is one of a debug file
	Frames int    `json:"frames,omitempty"` // zero: unknown
	Why    string `json:"why"`
}

// path returns the path of the page of the module, or "" without an id.
func (a *absence) path() string {
	if a.ID == "" || a.Name == "" {
		return ""
	}
	path := modulePath(a.Name, a.ID)
	if a.Code != "" {
		path += "?" + url.Values{"code": {a.Code}}.Encode()
	}
	return path
}

// maxAbsences limits the modules on a page.
const maxAbsences = 100

// absences returns the modules of a run without symbols, and the number of all.
func absences(run *filter.Run) (list []absence, all int) {
	missing := run.Missing()
	list = []absence{}
	for _, m := range missing[:min(len(missing), maxAbsences)] {
		debug, code := ident.FileName(m.Module.DebugFile), ident.FileName(m.Module.CodeFile)
		a := absence{Name: cmp.Or(code, debug, m.Name), ID: m.Module.CodeID.String(), Frames: m.Addresses, Why: m.Why.Error()}
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
