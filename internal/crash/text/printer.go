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

// digits is the number of hexadecimal digits of an address.
func (p *printer) digits() int {
	if p.System.CPU == nil {
		return 16
	}
	return 2 * p.System.CPU.Word
}

// hex returns an address with all its digits.
func (p *printer) hex(v uint64) string { return fmt.Sprintf("0x%0*x", p.digits(), v) }

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

// offset returns the distance of an address in f from the start of its line or, without
// a line, of its function.
func (p *printer) offset(f *crash.Frame, addr uint64, innermost bool) (offset uint64, ok bool) {
	fn := &f.Functions[len(f.Functions)-1]
	if fn.File == "" {
		return addr - fn.Entry, true
	}
	start, ok := p.LineStart(f, innermost)
	return addr - start, ok
}

// registers prints the known registers of a frame in lines of at most 80 characters.
// The names have a width.
func (p *printer) registers(f *crash.Frame, list []rule.Reg, width int, indent string) {
	line := ""
	for _, k := range list {
		v, ok := f.Registers.Get(k)
		if !ok {
			continue
		}
		next := fmt.Sprintf(" %*s = %s", width, p.System.CPU.RegName(k), p.hex(v))
		if len(line)+len(next) > 80 {
			p.printf("%s%s\n", indent, line)
			line = ""
		}
		line += next
	}
	if line != "" {
		p.printf("%s%s\n", indent, line)
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
