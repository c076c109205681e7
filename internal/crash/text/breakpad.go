package text

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"symbolon/internal/crash"
	"symbolon/internal/ident"
)

// BreakpadOptions select parts of the text of WriteBreakpad.
type BreakpadOptions struct {
	Brief          bool // places of the frames of the requesting thread only
	OnlyRequesting bool
}

// WriteBreakpad writes r as Breakpad does for people.
func WriteBreakpad(w io.Writer, r *crash.Report, opt BreakpadOptions) error {
	p := newPrinter(w, r)
	if opt.Brief {
		p.brief()
		return p.w.Flush()
	}
	p.machine(p.version(), r.System.CPUs != 1)
	p.printf("\nGPU: UNKNOWN\n\n")
	if e := r.Exception; e == nil {
		p.printf("No crash\n")
	} else {
		p.printf("Crash reason:  %s\nCrash address: 0x%x\n", e.Breakpad(), e.CrashAddress())
	}
	if r.Assertion != "" {
		p.printf("Assertion: %s\n", r.Assertion)
	}
	p.uptime()
	for _, t := range p.walked() {
		switch {
		case t.index == r.Requesting:
			p.printf("\nThread %d (%s)\n", t.number, p.state())
		case opt.OnlyRequesting:
			continue
		default:
			p.printf("\nThread %d\n", t.number)
		}
		p.breakpadStack(t.index)
	}
	p.printf("\nLoaded modules:\n")
	for _, i := range p.Loaded() {
		p.module(i)
		if s := &r.Symbols[i].Debug; s.Asked && !s.Found {
			p.printf("  (WARNING: No symbols, %s, %s)", ident.FileName(r.Modules[i].DebugFile), r.Modules[i].DebugID.Breakpad())
		}
		p.printf("\n")
	}
	return p.w.Flush()
}

// WriteMachine writes r as Breakpad does for programs, with a bar between fields.
func WriteMachine(w io.Writer, r *crash.Report) error {
	p := newPrinter(w, r)
	s := &r.System
	p.row("OS", s.OSName, p.version())
	p.row("CPU", s.CPUName, s.CPUInfo, fmt.Sprint(s.CPUs))
	p.row("GPU", "", "", "")
	reason, address, thread := cmp.Or(r.Assertion, "No crash"), "", ""
	if e := r.Exception; e != nil {
		reason, address = e.Breakpad(), fmt.Sprintf("0x%x", e.CrashAddress())
	}
	list := p.walked()
	if r.Requesting >= 0 {
		thread = fmt.Sprint(list[0].number)
	}
	p.row("Crash", reason, address, thread)
	for _, i := range p.Loaded() {
		m, main := &r.Modules[i], "0"
		if m.Base == r.Modules[0].Base {
			main = "1"
		}
		end := fmt.Sprintf("0x%08x", m.Base+m.Size-1)
		p.row("Module", ident.FileName(m.CodeFile), m.Version, ident.FileName(m.DebugFile), m.DebugID.Breakpad(), fmt.Sprintf("0x%08x", m.Base), end, main)
	}
	p.printf("\n")
	for _, t := range list {
		for k, x := range p.places(t.index) {
			line := ""
			if x.file != "" {
				line = fmt.Sprint(x.line)
			}
			p.row(fmt.Sprint(t.number), fmt.Sprint(k), x.module, x.function, x.file, line, fmt.Sprintf("0x%x", x.offset))
		}
	}
	return p.w.Flush()
}

// row prints fields. They cannot have bars or ends of lines.
func (p *printer) row(fields ...string) {
	for i, f := range fields {
		fields[i] = strings.NewReplacer("|", "", "\n", "").Replace(f)
	}
	p.printf("%s\n", strings.Join(fields, "|"))
}

// A walked is a thread with a stack: that which wrote the dump has none, nor a number.
type walked struct{ number, index int }

// walked returns the threads, the requesting one first.
func (p *printer) walked() (list []walked) {
	for i := range p.Threads {
		if i != p.Requesting && p.Threads[i].IsWriter {
			continue
		}
		t := walked{len(list), i}
		if list = append(list, t); i == p.Requesting {
			list = slices.Insert(list[:len(list)-1], 0, t)
		}
	}
	return list
}

func (p *printer) version() string {
	if p.Minidump == nil {
		return strings.TrimSpace(p.System.Version + " " + p.System.Build)
	}
	s := p.Minidump.System
	return fmt.Sprintf("%d.%d.%d %s", s.Major, s.Minor, s.Build, s.ServicePack)
}

// A place is the place of a frame or of an inlined call.
type place struct {
	frame                  *crash.Frame
	isInlined              bool
	module, function, file string // empty: unknown
	line                   uint32
	offset                 uint64 // from the first known one of line, function, module and zero
}

// places returns the places in a stack. On x86 and amd64 the address of a frame is that
// of its next instruction.
func (p *printer) places(i int) (list []place) {
	isNext := p.System.CPUName == "x86" || p.System.CPUName == "amd64"
	for k := range p.Stacks[i].Frames {
		f := &p.Stacks[i].Frames[k]
		addr := f.Addr
		if isNext {
			addr = f.Resume
		}
		x := place{frame: f, offset: addr}
		if f.Module < 0 {
			if len(f.Unloaded) > 0 {
				m := &p.Unloaded[f.Unloaded[0].Module]
				x.module, x.offset = ident.FileName(m.Name), addr-m.Base
			}
			list = append(list, x)
			continue
		}
		m := &p.Modules[f.Module]
		x.module, x.offset = ident.FileName(m.CodeFile), addr-m.Base
		if len(f.Functions) == 0 {
			list = append(list, x)
			continue
		}
		start, ok := p.LineStart(f, true)
		for c, fn := range f.Functions {
			at := addr
			if x.isInlined = c < len(f.Functions)-1; x.isInlined {
				at = f.Addr
			}
			if x.function, x.file, x.line, x.offset = fn.Name, fn.File, fn.Line, at-fn.Entry; ok && fn.File != "" {
				x.offset = at - start
			}
			list = append(list, x)
		}
	}
	return list
}

// head prints the line of a place.
func (p *printer) head(k int, x *place) {
	p.printf("%2d  %s", k, x.module)
	if x.function != "" {
		p.printf("!%s", x.function)
	}
	switch {
	case x.file != "":
		p.printf(" [%s : %d + 0x%x]\n", ident.FileName(x.file), x.line, x.offset)
	case x.module != "":
		p.printf(" + 0x%x\n", x.offset)
	default:
		p.printf("0x%x\n", x.offset)
	}
}

// brief prints the places of the requesting thread.
func (p *printer) brief() {
	if p.Requesting < 0 {
		p.printf(" <no crashing or requesting dump thread identified>\n")
		return
	}
	p.printf("Thread %d (%s)\n", p.walked()[0].number, p.state())
	for k, x := range p.places(p.Requesting) {
		p.head(k, &x)
	}
}

func (p *printer) breakpadStack(i int) {
	list := p.places(i)
	if len(list) == 0 {
		p.printf(" <no frames>\n")
		return
	}
	columns, digits := p.breakpadColumns()
	for k := range list {
		x := &list[k]
		p.head(k, x)
		if x.isInlined {
			p.printf(" \n    Found by: inline record\n")
			continue
		}
		p.registers(x.frame, columns, 5, digits)
		p.printf("    Found by: %s\n", found[x.frame.Trust])
	}
}

// breakpadColumns returns the registers that Breakpad prints, and their digits.
func (p *printer) breakpadColumns() (list []column, digits int) {
	cpu, names, digits := p.System.CPU, "", p.System.RegisterDigits()
	switch cpu.Name {
	case "ppc", "ppc64":
		names = "srr0 r1"
	case "sparc":
		names, digits = "g_r14=sp g_r30=fp pc", 8
	case "x86":
		names = "eip esp ebp ebx esi edi eax ecx edx eflags=efl"
	}
	for n := range strings.FieldsSeq(names) {
		n, shown, _ := strings.Cut(n, "=")
		reg, _ := cpu.Reg(n)
		list = append(list, column{reg, cmp.Or(shown, n)})
	}
	if list == nil {
		list = p.columns()
	}
	return list, digits
}
