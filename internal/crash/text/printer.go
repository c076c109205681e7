package text

import (
	"bufio"
	"cmp"
	"fmt"
	"io"

	"symbolon/internal/console"
	"symbolon/internal/crash"
	"symbolon/internal/ident"
	"symbolon/internal/unwind"
	"symbolon/internal/unwind/rule"
)

// A printer prints a report.
type printer struct {
	*crash.Report
	w    *bufio.Writer
	look console.Look
}

func newPrinter(w io.Writer, r *crash.Report) *printer {
	return &printer{Report: r, w: bufio.NewWriter(w)}
}

// printf prints a piece of text. Errors are those of Flush.
func (p *printer) printf(format string, args ...any) {
	_, _ = p.w.WriteString(console.Printable(fmt.Sprintf(format, args...)))
}

// paint prints a piece of text in a style.
func (p *printer) paint(s console.Style, format string, args ...any) {
	_, _ = p.w.WriteString(p.look.Paint(s, console.Printable(fmt.Sprintf(format, args...))))
}

// state returns the words for the state of the requesting thread.
func (p *printer) state() string {
	if p.Exception != nil {
		return "crashed"
	}
	return "requested dump, did not crash"
}

func (p *printer) machine(version string, isPlural bool) {
	s, plural := &p.System, ""
	p.printf("Operating system: %s\n", s.OSName)
	if version != "" {
		p.printf("                  %s\n", version)
	}
	p.printf("CPU: %s\n", s.CPUName)
	if s.CPUInfo != "" {
		p.printf("     %s\n", s.CPUInfo)
	}
	if isPlural {
		plural = "s"
	}
	if s.CPUs > 0 || p.Minidump != nil { // core files do not have it
		p.printf("     %d CPU%s\n", s.CPUs, plural)
	}
}

func (p *printer) uptime() {
	if p.Uptime != nil {
		p.printf("Process uptime: %d seconds\n", *p.Uptime)
	} else {
		p.printf("Process uptime: not available\n")
	}
}

// module prints the line of a module, without its end.
func (p *printer) module(i int) {
	m := &p.Modules[i]
	p.printf("0x%08x - 0x%08x  %s  %s", m.Base, m.Base+m.Size-1, ident.FileName(m.CodeFile), cmp.Or(m.Version, "???"))
	if m.Base == p.Modules[0].Base {
		p.printf("  (main)")
	}
}

// A column is a register in the order of an output, with its name there.
type column struct {
	reg  rule.Reg
	name string
}

// columns returns all registers; none for an unknown CPU, whose stacks are empty.
func (p *printer) columns() (list []column) {
	if p.System.CPU != nil {
		for k := range p.System.CPU.Count() {
			list = append(list, column{rule.Reg(k), p.System.CPU.RegName(rule.Reg(k))})
		}
	}
	return list
}

// registers prints the known registers of a frame in lines of at most 80 characters.
func (p *printer) registers(f *crash.Frame, list []column, width, digits int) {
	used := 0
	for _, c := range list {
		v, ok := f.Registers.Get(c.reg)
		if !ok {
			continue
		}
		next := fmt.Sprintf(" %*s = 0x%0*x", width, c.name, digits, v)
		if used+len(next) > 80 {
			p.printf("\n")
			used = 0
		}
		if used == 0 {
			p.printf(" ")
		}
		p.printf("%s", next)
		used += len(next)
	}
	if used > 0 {
		p.printf("\n")
	}
}

// found has the words for the techniques by which frames are found.
var found = map[unwind.Trust]string{
	unwind.Context:      "given as instruction pointer in context",
	unwind.CFI:          "call frame info",
	unwind.CFIScan:      "call frame info with scanning",
	unwind.FramePointer: "previous frame's frame pointer",
	unwind.Scan:         "stack scanning",
}
