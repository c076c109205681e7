package mozilla

import (
	"net/http"

	"symbolon/internal/api"
	"symbolon/internal/api/json"
	"symbolon/internal/fault"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
)

func (d *Door) v5(w http.ResponseWriter, r *http.Request) {
	a := d.ask(w, r, dialect{jobs: true, limits: d.cfg}, api.Fail)
	if a == nil {
		return
	}
	defer a.Release()
	w.Header().Set("Content-Type", "application/json")
	e := &v5Encoder{more: a.extensions || d.cfg.Extensions}
	e.begin(a, w)
	e.open('{')
	e.key("results")
	e.open('[')
	seen := make([]int, len(a.modules))
	for i, job := range a.jobs {
		e.element()
		e.result(job, i+1, seen)
	}
	e.shut(']')
	if debugHeader(r) {
		e.key("debug")
		e.debugV5(a)
	}
	e.shut('}')
	d.finish(r, &e.encoder, api.Fail)
}

// v5Encoder writes results, job by job.
type v5Encoder struct {
	encoder
	more     bool     // with the extensions
	frame    int      // the next one
	odds     int      // of answer.odd, those that are done
	labels   []string // of modules, escaped
	distinct []int32  // modules of a job
}

// result writes what became of a job. In seen are the numbers of the jobs that
// had a module last.
func (e *v5Encoder) result(job job, number int, seen []int) {
	e.open('{')
	e.key("stacks")
	e.open('[')
	for _, end := range e.stacks[job.stacks.from:job.stacks.to] {
		e.element()
		e.open('[')
		for first := e.frame; e.frame < int(end) && e.Spill(); e.frame++ {
			e.element()
			e.writeFrame(e.frame - first)
		}
		e.shut(']')
	}
	e.shut(']')
	distinct := e.distinct[:0]
	for _, m := range e.maps[job.maps.from:job.maps.to] {
		if seen[m] != number {
			seen[m] = number
			distinct = append(distinct, m)
		}
	}
	e.distinct = distinct
	e.key("found_modules")
	e.open('{')
	for _, m := range distinct {
		e.Spill()
		e.keyOfModule(m)
		e.found(m)
	}
	e.shut('}')
	if e.more {
		e.moduleErrors(distinct)
	}
	e.shut('}')
}

func (e *v5Encoder) writeFrame(n int) {
	f := e.req.Frames[e.frame]
	e.Raw(`{"frame":`)
	e.Int(n)
	e.Raw(`,"module":"`)
	e.Raw(e.label(f.Module))
	e.Raw(`","module_offset":"`)
	if e.odds < len(e.odd) && e.odd[e.odds].frame == e.frame {
		e.Buf = json.AppendEscaped(e.Buf, e.odd[e.odds].offset)
		e.odds++
		e.Raw(`"}`)
		return
	}
	e.Hex(f.Addr)
	e.Raw(`"`)
	if f.Module >= 0 {
		calls, err := e.Frames(e.frame)
		if err != nil {
			e.Err = err
			return
		}
		e.function(f, calls)
	}
	e.Raw(`}`)
}

// label is the name of a module as it stands in the answer.
func (e *v5Encoder) label(m int32) string {
	if m < 0 {
		return "<unknown>"
	}
	if e.labels == nil {
		e.labels = make([]string, len(e.modules))
	}
	if e.labels[m] == "" {
		name := e.module(m)
		if e.txt = json.AppendEscaped(e.txt[:0], name); string(e.txt) != name {
			name = string(e.txt)
		}
		e.labels[m] = name
	}
	return e.labels[m]
}

// function writes what is known of an address, if anything is. The answer has
// the innermost call first; the wire wants the function that was really called
// first, and the rest of them in inlines.
func (e *v5Encoder) function(f symbolicate.Frame, calls []sym.Frame) {
	if len(calls) == 0 {
		return
	}
	outer, inlines := &calls[len(calls)-1], calls[:len(calls)-1]
	e.Raw(`,"function":`)
	e.string(f.Module, outer.Func)
	e.Raw(`,"function_offset":"`)
	e.Hex(f.Addr - outer.Entry)
	e.Raw(`"`)
	if e.more && outer.Size > 0 {
		e.Raw(`,"function_size":"`)
		e.Hex(outer.Size)
		e.Raw(`"`)
	}
	e.place(f.Module, outer)
	if len(inlines) == 0 {
		return
	}
	e.Raw(`,"inlines":[`)
	for i := range inlines {
		if i > 0 {
			e.Raw(`,`)
		}
		e.Raw(`{"function":`)
		e.string(f.Module, inlines[i].Func)
		e.place(f.Module, &inlines[i])
		e.Raw(`}`)
	}
	e.Raw(`]`)
}

// place writes file and line. A line without a file says nothing.
func (e *v5Encoder) place(m int32, f *sym.Frame) {
	if f.File == 0 {
		return
	}
	before := len(e.Buf)
	e.Raw(`,"file":`)
	if !e.string(m, f.File) {
		e.Buf = e.Buf[:before]
		return
	}
	if f.Line > 0 {
		e.Raw(`,"line":`)
		e.Int(int(f.Line))
	}
}

// kindNames are the names of kinds of failure in module_errors.
var kindNames = [...]string{
	fault.Internal: "Internal", fault.NotFound: "NotFound", fault.Denied: "Denied", fault.Timeout: "Timeout",
	fault.Transport: "Transport", fault.Malformed: "Malformed", fault.Unsupported: "Unsupported",
}

// moduleErrors writes why modules were not found. It is left out when all
// that were looked up were.
func (e *v5Encoder) moduleErrors(modules []int32) {
	some := false
	for _, m := range modules {
		k := &e.known[m]
		if !e.looked(m) || k.Found {
			continue
		}
		if !some {
			some = true
			e.key("module_errors")
			e.open('{')
		}
		e.keyOfModule(m)
		e.open('[')
		told := false
		for i := range k.Report.Tried {
			if t := &k.Report.Tried[i]; t.Fault != nil {
				e.moduleError(t.Source+": ", t.Fault)
				told = true
			}
		}
		if !told && k.Report.Fault != nil {
			e.moduleError("", k.Report.Fault)
		}
		e.shut(']')
	}
	if some {
		e.shut('}')
	}
}

// moduleError names the source and not the place in it: where files lie is
// for the operator to see.
func (e *v5Encoder) moduleError(from string, f *fault.Error) {
	e.element()
	e.open('{')
	e.key("name")
	e.text(kindNames[f.Kind])
	e.key("message")
	e.text(from + f.Kind.String() + ": " + f.Detail)
	e.shut('}')
}
