package mozilla

import (
	"net/http"
	"strings"

	"symbolon/internal/api"
	"symbolon/internal/api/json"
	"symbolon/internal/fault"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
)

func (d *Door) v5(w http.ResponseWriter, r *http.Request) {
	a := d.answer(w, r, dialect{jobs: true, limits: d.cfg}, api.Fail)
	if a == nil {
		return
	}
	defer a.Release()
	w.Header().Set("Content-Type", "application/json")
	e := &v5Encoder{more: a.extensions || d.cfg.Extensions}
	e.begin(a, w)
	e.Open('{')
	e.Key("results").Open('[')
	seen := make([]int, len(a.modules))
	for i, job := range a.jobs {
		e.result(job, i+1, seen)
	}
	e.Close(']')
	if wantsDebug(r) {
		e.Key("debug")
		e.debugV5(a)
	}
	e.Close('}')
	d.finish(r, &e.encoder, api.Fail)
}

// v5Encoder writes results, job by job.
type v5Encoder struct {
	encoder
	more     bool     // with the extensions
	frame    int      // the next frame
	next     int      // the next element of special
	labels   []string // names of modules, as JSON; "": not made yet
	distinct []int32  // modules of a job
}

// result writes the result of a job. seen has the number of the last job with
// each module.
func (e *v5Encoder) result(job job, number int, seen []int) {
	e.Open('{')
	e.Key("stacks").Open('[')
	for _, end := range e.stacks[job.stacks.from:job.stacks.to] {
		e.Open('[')
		for first := e.frame; e.frame < int(end) && e.Spill(); e.frame++ {
			e.writeFrame(e.frame - first)
		}
		e.Close(']')
	}
	e.Close(']')
	distinct := e.distinct[:0]
	for _, m := range e.maps[job.maps.from:job.maps.to] {
		if seen[m] != number {
			seen[m] = number
			distinct = append(distinct, m)
		}
	}
	e.distinct = distinct
	e.Key("found_modules").Open('{')
	for _, m := range distinct {
		e.Spill()
		e.moduleKey(m)
		e.hasSymbols(m)
	}
	e.Close('}')
	if e.more {
		e.moduleErrors(distinct)
	}
	e.Close('}')
}

func (e *v5Encoder) writeFrame(n int) {
	f := e.query.Frames[e.frame]
	e.Open('{')
	e.Key("frame").Int(n)
	e.Key("module").Raw(e.label(f.Module))
	e.Key("module_offset")
	if e.next < len(e.special) && e.special[e.next].frame == e.frame {
		e.String(e.special[e.next].text)
		e.next++
	} else {
		e.Hex(f.Addr)
		if f.Module >= 0 {
			calls, err := e.Frames(e.frame)
			if err != nil {
				e.Err = err
				return
			}
			e.function(f, calls)
		}
	}
	e.Close('}')
}

// label returns the name of a module as a JSON string.
func (e *v5Encoder) label(m int32) string {
	if m < 0 {
		return `"<unknown>"`
	}
	if e.labels == nil {
		e.labels = make([]string, len(e.modules))
	}
	if e.labels[m] == "" {
		e.labels[m] = string(json.AppendQuoted(nil, e.moduleName(m)))
	}
	return e.labels[m]
}

// function writes the function at an address, if it is known. calls has the
// innermost call first; the protocol has the function that is not inlined first,
// and the others in inlines.
func (e *v5Encoder) function(f symbolicate.Frame, calls []sym.Frame) {
	if len(calls) == 0 {
		return
	}
	outer, inlines := &calls[len(calls)-1], calls[:len(calls)-1]
	e.Key("function")
	e.text(f.Module, outer.Func)
	e.Key("function_offset").Hex(f.Addr - outer.Entry)
	if e.more && outer.Size > 0 {
		e.Key("function_size").Hex(outer.Size)
	}
	e.place(f.Module, outer)
	if len(inlines) == 0 {
		return
	}
	e.Key("inlines").Open('[')
	for i := range inlines {
		e.Open('{')
		e.Key("function")
		e.text(f.Module, inlines[i].Func)
		e.place(f.Module, &inlines[i])
		e.Close('}')
	}
	e.Close(']')
}

// place writes file and line. It writes nothing if the file is unknown.
func (e *v5Encoder) place(m int32, f *sym.Frame) {
	if f.File == 0 {
		return
	}
	before := len(e.Buf)
	e.Key("file")
	if !e.file(m, f.File) {
		e.Buf = e.Buf[:before]
		return
	}
	if f.Line > 0 {
		e.Key("line").Int(int(f.Line))
	}
}

// kindNames has the names of the kinds of fault in module_errors.
var kindNames = [...]string{
	fault.Internal: "Internal", fault.NotFound: "NotFound", fault.Denied: "Denied", fault.Timeout: "Timeout",
	fault.Transport: "Transport", fault.Malformed: "Malformed", fault.Unsupported: "Unsupported",
}

// moduleErrors writes the faults of the modules that were looked up and not
// found. Without any it writes nothing.
func (e *v5Encoder) moduleErrors(modules []int32) {
	isOpen := false
	for _, m := range modules {
		k := &e.found[m]
		if !e.isLookedUp(m) || k.Found {
			continue
		}
		if !isOpen {
			isOpen = true
			e.Key("module_errors").Open('{')
		}
		e.moduleKey(m)
		e.Open('[')
		hasFault := false
		for i := range k.Report.Tried {
			if t := &k.Report.Tried[i]; t.Fault != nil {
				e.moduleError(t.Source+": ", t.Fault)
				hasFault = true
			}
		}
		if !hasFault && k.Report.Fault != nil {
			e.moduleError("", k.Report.Fault)
		}
		e.Close(']')
	}
	if isOpen {
		e.Close('}')
	}
}

// moduleError writes the source of a fault, but not the place in it, which only
// the operator may see.
func (e *v5Encoder) moduleError(from string, f *fault.Error) {
	e.Open('{')
	e.Key("name").String(kindNames[f.Kind])
	e.Key("message").String(from + f.Kind.String() + ": " + f.Detail)
	e.Close('}')
}

// wantsDebug reports whether the header requests the debug block. People who write
// false do not want it.
func wantsDebug(r *http.Request) bool {
	switch strings.ToLower(r.Header.Get("Debug")) {
	case "", "0", "false", "no":
		return false
	}
	return true
}
