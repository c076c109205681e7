package triage

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"symbolon/internal/filter"
)

// MaxRequest limits a request of an interface, which is decoded in memory.
const MaxRequest = 4 << 20

// InterfaceOf returns the path of the interface whose request a text is, or "".
func InterfaceOf(text []byte) string {
	var doc struct {
		Jobs, MemoryMap, Stacks, Stacktraces, Modules, Status json.RawMessage
		Version                                               json.Number
	}
	isRequest := json.Unmarshal(text, &doc) == nil
	switch {
	case !isRequest:
	case doc.Jobs == nil && doc.MemoryMap != nil && doc.Stacks != nil && doc.Version == "4":
		return "/symbolicate/v4"
	case doc.Jobs != nil, doc.MemoryMap != nil && doc.Stacks != nil:
		return "/symbolicate/v5"
	case doc.Stacktraces != nil && doc.Modules != nil && doc.Status == nil:
		return "/symbolicate"
	}
	return ""
}

// An answered is the answer of an interface: of Mozilla's, version 5 or 4, or of
// Symbolicator's.
type answered struct {
	Results []struct {
		Stacks [][]struct {
			call
			Module string
			Offset string `json:"module_offset"`
			Inline []call `json:"inlines"`
		}
	}
	Old    [][]string `json:"symbolicatedStacks"`
	Traces []struct {
		ID     *uint64 `json:"thread_id"`
		Name   string  `json:"thread_name"`
		Frames []struct {
			call
			Symbol  string
			Package string
			Path    string `json:"abs_path"`
			Number  uint32 `json:"lineno"`
			Code    string `json:"context_line"`
			Addr    string `json:"instruction_addr"`
			Trust   string
			Index   int `json:"original_index"`
		}
	} `json:"stacktraces"`
}

// A call is a function of a frame.
type call struct {
	Function, File string
	Line           uint32
}

// Request has the interface at a path answer a request, and returns the stacks of the
// answer, and whether some are left out.
func Request(ctx context.Context, run *filter.Run, path string, text []byte) (list []Stack, isCut bool, err error) {
	answer, err := run.Ask(ctx, path, text)
	if err != nil {
		return nil, false, err
	}
	var a answered
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, false, fmt.Errorf("answer of %s: %w", path, err)
	}
	var s stacks
	for _, job := range a.Results {
		for _, list := range job.Stacks {
			s.begin(fmt.Sprintf("Stack %d", len(s.list)), "")
			for _, f := range list {
				for _, c := range f.Inline {
					s.add(Frame{Function: c.Function, File: c.File, Line: c.Line, Inlined: true, Module: f.Module})
				}
				s.add(Frame{Function: cmp.Or(f.Function, f.Offset), File: f.File, Line: f.Line, Module: f.Module})
			}
		}
	}
	for _, list := range a.Old {
		s.begin(fmt.Sprintf("Stack %d", len(s.list)), "")
		for _, text := range list {
			s.add(Frame{Function: text})
		}
	}
	for i, trace := range a.Traces {
		title := fmt.Sprintf("Stack %d", i)
		if trace.ID != nil {
			title = fmt.Sprintf("Thread %d", *trace.ID)
		}
		s.begin(strings.TrimSpace(title+" "+trace.Name), "")
		for k, f := range trace.Frames {
			s.add(Frame{
				Function: cmp.Or(f.Function, f.Symbol, f.Addr), File: f.Path, Line: f.Number, Module: f.Package, Trust: f.Trust, Source: f.Code,
				Inlined: k+1 < len(trace.Frames) && trace.Frames[k+1].Index == f.Index && trace.Frames[k+1].Addr == f.Addr,
			})
		}
	}
	return s.list, s.isCut, nil
}
