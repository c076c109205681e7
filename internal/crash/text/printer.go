package text

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"symbolon/internal/console"
	"symbolon/internal/crash"
	"symbolon/internal/format/minidump"
	"symbolon/internal/unwind"
	"symbolon/internal/unwind/rule"
)

// A printer prints a report.
type printer struct {
	*crash.Report
	w *bufio.Writer
}

func newPrinter(w io.Writer, r *crash.Report) *printer { return &printer{r, bufio.NewWriter(w)} }

// printf prints a piece of text. Errors are those of Flush.
func (p *printer) printf(format string, args ...any) {
	_, _ = p.w.WriteString(console.Printable(fmt.Sprintf(format, args...)))
}

// hex returns an address with all its digits.
func (p *printer) hex(v uint64) string { return fmt.Sprintf("0x%0*x", p.System.Digits(), v) }

// state returns the words for the state of the requesting thread.
func (p *printer) state() string {
	if p.Exception != nil {
		return "crashed"
	}
	return "requested dump, did not crash"
}

// byAddress returns the indices of modules in the order of their addresses.
func byAddress[M any](list []M, base func(*M) uint64) []int {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(base(&list[a]), base(&list[b])) })
	return order
}

// loaded returns the indices of the modules in the order of their addresses, without
// those that overlap one before.
func (p *printer) loaded() []int {
	end := uint64(0)
	return slices.DeleteFunc(byAddress(p.Modules, func(m *minidump.Module) uint64 { return m.Base }), func(i int) bool {
		m := &p.Modules[i]
		isHidden := m.Base < end
		if !isHidden {
			end = m.Base + m.Size
		}
		return isHidden
	})
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

// registerDigits is the number of digits of a register. Dumps of MIPS have 64 bits of
// each, those of 32-bit systems too.
func (p *printer) registerDigits() int {
	if p.System.CPUName == "mips" {
		return 16
	}
	return p.System.Digits()
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

// found returns the words for the technique by which a frame was found.
func found(t unwind.Trust) string {
	switch t {
	case unwind.Context:
		return "given as instruction pointer in context"
	case unwind.CFI:
		return "call frame info"
	case unwind.CFIScan:
		return "call frame info with scanning"
	case unwind.FramePointer:
		return "previous frame's frame pointer"
	case unwind.Scan:
		return "stack scanning"
	}
	return "unknown"
}

// base returns the last part of a path.
func base(name string) string { return name[strings.LastIndexAny(name, `/\`)+1:] }
