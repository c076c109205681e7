package triage

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"symbolon/internal/console"
	"symbolon/internal/crash"
	"symbolon/internal/crash/text"
	"symbolon/internal/format/applecrash"
	"symbolon/internal/ident"
	"symbolon/internal/unwind/rule"
)

// A Crash is the report on a crash.
type Crash struct {
	Reason    string      `json:"reason"`
	Facts     [][2]string `json:"facts"`
	Registers [][2]string `json:"registers,omitempty"` // of the first thread
	Stacks    []Stack     `json:"threads"`             // the one that crashed is the first
	IsCut     bool        `json:"is_cut"`

	Text      string `json:"-"` // as the command crash prints it
	IsTextCut bool   `json:"-"`
	stacks    stacks
}

// WriteReport writes the report as the command crash does: as text if there is one, or as
// JSON.
func WriteReport(w io.Writer, report any, asText bool, now time.Time) error {
	if r, ok := report.(*crash.Report); ok && asText {
		return text.WriteHuman(w, r, text.Options{Now: now})
	}
	return crash.WriteJSON(w, report, false)
}

// NewCrash returns a report for a page.
func NewCrash(report any, now time.Time) *Crash {
	x := &Crash{}
	if r, ok := report.(*crash.Report); ok {
		x.addDump(r)
	} else {
		x.addApple(report.(*applecrash.Report))
	}
	x.Stacks, x.IsCut = x.stacks.list, x.stacks.isCut
	out := Cutter{Most: MaxStacks}
	_ = WriteReport(&out, report, true, now) // errCut
	x.Text, x.IsTextCut = out.String(), out.IsCut
	return x
}

// fact adds a fact, unless it is unknown.
func (x *Crash) fact(name, value string) {
	if value = strings.TrimSpace(value); value != "" {
		x.Facts = append(x.Facts, [2]string{name, value})
	}
}

func (x *Crash) addDump(r *crash.Report) {
	x.Reason = "No crash"
	if e := r.Exception; e != nil {
		x.Reason = e.String()
		x.fact("Address", r.Hex(e.CrashAddress()))
	}
	x.fact("Instruction", r.Hints.Instruction)
	x.fact("Assertion", r.Assertion)
	x.fact("System", r.System.OSName+" "+r.System.Version+" "+r.System.Build)
	x.fact("CPU", r.System.CPUName+" "+r.System.CPUInfo)
	x.fact("Written", console.Time(r.Written))
	for _, p := range r.Problems {
		x.fact("Damaged", p.String())
	}
	if i := r.Requesting; i >= 0 {
		x.addThread(r, i)
		if cpu := r.System.CPU; cpu != nil {
			for reg := range rule.Reg(cpu.Count()) {
				if value, ok := r.Threads[i].Registers.Get(reg); ok {
					x.Registers = append(x.Registers, [2]string{cpu.RegName(reg), fmt.Sprintf("%0*x", r.System.RegisterDigits(), value)})
				}
			}
		}
	}
	for i := range r.Threads {
		if i != r.Requesting {
			x.addThread(r, i)
		}
	}
}

// addThread adds the stack of a thread, with inlined calls.
func (x *Crash) addThread(r *crash.Report, i int) {
	t := &r.Threads[i]
	x.stacks.begin(threadTitle(i, uint64(t.ID), t.Name, i == r.Requesting && r.Exception != nil), r.Stacks[i].Absent)
	for k := range r.Stacks[i].Frames {
		f := &r.Stacks[i].Frames[k]
		out := Frame{Function: r.Hex(f.Addr), Trust: f.Trust.String()}
		if f.Module >= 0 {
			m := &r.Modules[f.Module]
			out.Module, out.Function = ident.FileName(m.CodeFile), fmt.Sprintf("+0x%x", f.Addr-m.Base)
		} else if len(f.Unloaded) > 0 {
			place := f.Unloaded[0]
			out.Module, out.Function = ident.FileName(r.Unloaded[place.Module].Name)+" (unloaded)", fmt.Sprintf("+0x%x", place.Offset)
		}
		for c, fn := range f.Functions {
			out.Function, out.File, out.Line = fn.Name, fn.File, fn.Line
			if out.Inlined = c < len(f.Functions)-1; out.Inlined {
				x.stacks.add(out)
			}
		}
		x.stacks.add(out)
	}
}

func (x *Crash) addApple(r *applecrash.Report) {
	x.Reason = cmp.Or(r.Metadata[applecrash.KeyException], "No exception")
	for _, key := range []string{applecrash.KeyProcess, applecrash.KeyOS, applecrash.KeyModel, applecrash.KeyExceptionCodes, applecrash.KeyExceptionMessage} {
		x.fact(key, r.Metadata[key])
	}
	add := func(title string, frames []applecrash.Frame) {
		x.stacks.begin(title, "")
		for _, f := range frames {
			x.stacks.add(Frame{Function: cmp.Or(f.Symbol, fmt.Sprintf("0x%x", uint64(f.Addr))), File: f.File, Line: f.Line, Inlined: f.Inline, Module: f.Module})
		}
	}
	if len(r.Exception) > 0 {
		add("Where the exception was thrown", r.Exception)
	}
	for _, hasCrashed := range []bool{true, false} {
		for i := range r.Threads {
			if t := &r.Threads[i]; t.Crashed == hasCrashed {
				add(threadTitle(i, t.ID, t.Name, t.Crashed), t.Frames)
			}
		}
	}
}

// threadTitle returns the heading of the stack of a thread.
func threadTitle(number int, id uint64, name string, hasCrashed bool) string {
	title := fmt.Sprintf("Thread %d", number)
	if name != "" {
		title += " " + name
	}
	if id != uint64(number) {
		title += fmt.Sprintf(" (id %d)", id)
	}
	if hasCrashed {
		title += ", crashed"
	}
	return title
}
