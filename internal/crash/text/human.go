package text

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"symbolon/internal/console"
	"symbolon/internal/crash"
	"symbolon/internal/crash/hint"
	"symbolon/internal/crash/reason"
	"symbolon/internal/format/minidump"
	"symbolon/internal/ident"
)

// Options select parts of the text of WriteHuman.
type Options struct {
	Brief   bool // without the other threads, the modules and the list of streams
	Explain bool // with the reasons for frames, and for missing symbols
	Now     time.Time
	Look    console.Look
}

// WriteHuman writes r as rust-minidump does.
func WriteHuman(w io.Writer, r *crash.Report, opt Options) error {
	p := newPrinter(w, r)
	p.look = opt.Look
	p.system()
	p.crash()
	if i := r.Requesting; i >= 0 {
		p.paint(console.Bold, "Thread %d %s (%s) - tid: %d", i, r.Threads[i].Name, p.state(), r.Threads[i].ID)
		p.printf("\n")
		p.stack(i)
		p.printf("\n")
	}
	if !opt.Brief {
		p.rest()
	}
	if opt.Explain {
		p.assumed()
		p.missing(opt.Now)
	}
	return p.w.Flush()
}

// rest prints the parts that a brief text does not have.
func (p *printer) rest() {
	r := p.Report
	for i := range r.Threads {
		if t := &r.Threads[i]; i != r.Requesting && !t.IsWriter {
			p.paint(console.Bold, "Thread %d %s - tid: %d", i, t.Name, t.ID)
			p.printf("\n")
			p.stack(i)
		}
	}
	p.modules()
	if f := r.Minidump; f != nil {
		p.streams(f)
		var text bytes.Buffer
		if e := f.SoftErrors(); len(e) > len("[]") && json.Indent(&text, e, "", "  ") == nil {
			p.printf("\nSoft errors were encountered when minidump was written:\n%s\n", &text)
		}
	}
}

// system prints the operating system and the machine.
func (p *printer) system() {
	p.machine(strings.TrimSpace(p.System.Version+" "+p.System.Build), p.System.CPUs > 1)
	if p.Minidump != nil {
		if x := p.Minidump.LSB(); x != nil {
			p.printf("Linux %s %s - %s (%s)\n", x.ID, x.Release, x.Codename, x.Description)
		}
	}
	p.printf("\n")
}

// crash prints the reason of the crash and the facts on the process.
func (p *printer) crash() {
	if e := p.Exception; e == nil {
		p.printf("No crash\n")
	} else {
		p.printf("Crash reason:  ")
		p.paint(console.Bad, "%s", e)
		p.printf("\n")
		p.address(e)
		p.instruction()
		p.guesses()
	}
	if p.Assertion != "" {
		p.printf("Assertion: %s\n", p.Assertion)
	}
	if p.Minidump != nil {
		p.mac(p.Minidump)
	}
	p.uptime()
	p.printf("\n")
	if p.Minidump != nil && p.Minidump.LinuxMaps != nil {
		p.printf("Linux memory map count: %d\n\n", len(p.Minidump.LinuxMaps))
	}
}

func (p *printer) address(e *reason.Exception) {
	address, adjusted := p.Hex(e.CrashAddress()), p.Hex(p.Hints.Address)
	switch p.Hints.Adjusted {
	case hint.NonCanonical:
		p.printf("Crash address: %s **\n    ** Non-canonical address detected: %s\n", address, adjusted)
	case hint.NullPointer:
		p.printf("Crash address: %s **\n    ** Null pointer detected with offset: %s\n", address, adjusted)
	default:
		p.printf("Crash address: %s\n", address)
	}
}

// instruction prints the instruction that crashed, and its accesses to memory.
func (p *printer) instruction() {
	h := &p.Hints
	if h.Instruction != "" {
		p.printf("Crashing instruction: `%s`\n", h.Instruction)
	}
	switch {
	case len(h.Accesses) > 0:
		p.printf("Memory accessed by instruction:\n")
	case h.Accesses != nil:
		p.printf("No memory accessed by instruction\n")
	}
	for i, a := range h.Accesses {
		size := "Unknown"
		if a.Size > 0 {
			size = fmt.Sprint(a.Size)
		}
		p.printf("  %d. Address: %s\n     Size: %s\n", i, p.Hex(a.Address), size)
		if a.Guard {
			p.printf("     This address falls in a likely guard page.\n")
		}
		if word := accesses[a.Kind]; word != "" {
			p.printf("     Access type: %s\n", word)
		}
	}
	switch {
	case h.Update != nil:
		p.printf("Instruction pointer update done by instruction:\n  Address: %s\n", p.Hex(*h.Update))
	case h.Instruction != "":
		p.printf("No instruction pointer update by instruction\n")
	}
}

// accesses has the words for the kinds of accesses.
var accesses = map[hint.Kind]string{hint.Read: "Read", hint.Write: "Write", hint.ReadWrite: "ReadWrite"}

// guesses prints flipped bits, the most probable first, and contradictions.
func (p *printer) guesses() {
	flips := slices.SortedStableFunc(slices.Values(p.Hints.Flips), func(a, b hint.Flip) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.Address, b.Address))
	})
	for i, f := range flips {
		if i == 0 {
			p.printf("Crashing address may be the result of a flipped bit:\n")
		}
		from := ""
		if f.Register != "" {
			from = f.Register + "="
		}
		p.printf("  %d. Valid address: %s%s (%.3f)\n", i, from, p.Hex(f.Address), f.Confidence)
	}
	for i, x := range p.Hints.Inconsistencies {
		if i == 0 {
			p.printf("Crash is inconsistent:\n")
		}
		p.printf("  %s\n", contradictions[x])
	}
}

// contradictions has the sentences of rust-minidump.
var contradictions = map[hint.Inconsistency]string{
	hint.NotDivision:      "Crash reason is an integer division by zero but the crashing instruction is not a division",
	hint.NotPrivileged:    "Crash reason is a privileged instruction but crashing instruction is not a privileged one",
	hint.NotNonCanonical:  "Crash address is reported as a non-canonical x86-64 address but the actual address is a canonical one",
	hint.AccessAllowed:    "Crash reason is access violation exception but access is allowed",
	hint.AccessNotOfCrash: "Crash address not found among the memory accesses of the crashing instruction",
}

// mac prints the information that only macOS has.
func (p *printer) mac(f *minidump.File) {
	if f.MacCrash != nil {
		p.printf("Mac Crash Info:\n")
		for i := range f.MacCrash {
			x := &f.MacCrash[i]
			p.printf("  Record %d\n", i)
			for _, n := range []struct{ name, value string }{
				{"thread", decimal(x.Thread)}, {"dialog mode", decimal(x.DialogMode)}, {"abort_cause", decimal(x.AbortCause)},
				{"module", x.Module}, {"message", x.Message}, {"signature string", x.Signature},
				{"backtrace", x.Backtrace}, {"message2", x.Message2},
			} {
				if n.value != "" {
					p.printf("    %s: %s\n", n.name, n.value)
				}
			}
		}
		p.printf("\n")
	}
	if f.BootArgs != nil {
		p.printf("Mac Boot Args: %s\n\n", *f.BootArgs)
	}
}

// decimal returns a number in decimal digits after 0x, as the peer does, empty for zero.
func decimal(v uint64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("0x%d", v)
}

func (p *printer) stack(i int) {
	frames := p.Stacks[i].Frames
	if len(frames) == 0 {
		p.printf("<no frames>\n")
	}
	n := 0
	all := p.columns()
	for k := range frames {
		f := &frames[k]
		for c := range max(len(f.Functions)-1, 0) {
			x := &f.Functions[c]
			p.printf("%2d  %s!", n, ident.FileName(p.Modules[f.Module].CodeFile))
			p.paint(console.Bold, "%s", x.Name)
			if x.File != "" && x.Line != 0 {
				p.printf(" [%s : %d]", ident.FileName(x.File), x.Line)
			}
			p.printf("\n    Found by: inlining\n")
			n++
		}
		p.printf("%2d  ", n)
		n++
		p.place(f)
		p.printf("\n")
		p.registers(f, all, 6, p.System.RegisterDigits())
		p.printf("    Found by: %s\n", found[f.Trust])
		for _, why := range f.Why {
			p.printf("        %s\n", why)
		}
	}
}

// place prints the place of a frame: its function, or else its module, or else its
// address.
func (p *printer) place(f *crash.Frame) {
	if f.Module < 0 {
		p.printf("0x%x", f.Addr)
		p.unloaded(f)
		return
	}
	m := &p.Modules[f.Module]
	p.printf("%s", ident.FileName(m.CodeFile))
	if len(f.Functions) == 0 {
		p.printf(" + 0x%x", f.Addr-m.Base)
		return
	}
	fn := &f.Functions[len(f.Functions)-1]
	p.printf("!")
	p.paint(console.Bold, "%s", fn.Name)
	start, ok := p.LineStart(f, false)
	switch {
	case fn.File == "" || fn.Line == 0:
		p.printf(" + 0x%x", f.Addr-fn.Entry)
	case ok:
		p.printf(" [%s : %d + 0x%x]", ident.FileName(fn.File), fn.Line, f.Addr-start)
	default:
		p.printf(" [%s : %d]", ident.FileName(fn.File), fn.Line)
	}
}

// unloaded prints the places of a frame in unloaded modules.
func (p *printer) unloaded(f *crash.Frame) {
	for k, u := range f.Unloaded {
		name := p.Unloaded[u.Module].Name
		switch {
		case k > 0 && p.Unloaded[f.Unloaded[k-1].Module].Name == name:
			p.printf("|0x%x", u.Offset)
		default:
			p.printf(" (unloaded %s@0x%x", name, u.Offset)
		}
		if k == len(f.Unloaded)-1 || p.Unloaded[f.Unloaded[k+1].Module].Name != name {
			p.printf(")")
		}
	}
}

// modules prints the modules in the order of their addresses.
func (p *printer) modules() {
	p.printf("\nLoaded modules:\n")
	for _, i := range p.Loaded() {
		p.module(i)
		p.printf("%s\n", p.certificate(ident.FileName(p.Modules[i].CodeFile)))
	}
	p.printf("\nUnloaded modules:\n")
	byAddress := func(a, b minidump.Unloaded) int { return cmp.Compare(a.Base, b.Base) }
	for _, m := range slices.SortedStableFunc(slices.Values(p.Unloaded), byAddress) {
		p.printf("0x%08x - 0x%08x  %s%s\n", m.Base, m.Base+m.Size-1, ident.FileName(m.Name), p.certificate(ident.FileName(m.Name)))
	}
}

// certificate returns the subject of the certificate of a file, if it is known.
func (p *printer) certificate(file string) string {
	if subject := p.Certificates[file]; subject != "" {
		return " (" + subject + ")"
	}
	return ""
}

// streams lists the streams of f that rust-minidump does not read, then those that it
// does not know.
func (p *printer) streams(f *minidump.File) {
	list := slices.Clone(f.Streams)
	slices.SortStableFunc(list, func(a, b minidump.Stream) int { return cmp.Compare(a.Type, b.Type) })
	for _, known := range []bool{true, false} {
		isFirst := true
		for i, s := range list {
			if s.Type.IsRead() || s.Type.IsKnown() != known || i+1 < len(list) && list[i+1].Type == s.Type {
				continue
			}
			title, name := "Unknown", ""
			if known {
				title, name = "Unimplemented", s.Type.String()+" "
			}
			if isFirst {
				p.printf("\n%s streams encountered:\n", title)
			}
			isFirst = false
			vendor := cmp.Or(vendors[s.Type>>16], "Unknown Extension")
			p.printf("Stream 0x%08x %s(%s) @ 0x%08x\n", uint32(s.Type), name, vendor, s.Off)
		}
	}
}

// vendors has the words for those that assign the numbers of streams, by the upper half.
var vendors = map[minidump.StreamType]string{0: "Official", 0x4767: "Google Extension", 0x4d7a: "Mozilla Extension"}
