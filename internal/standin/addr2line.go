package standin

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"symbolon/internal/companion"
	"symbolon/internal/console"
	"symbolon/internal/demangle"
	"symbolon/internal/format/elf"
	"symbolon/internal/sym"
)

// gnuOptions are the options of addr2line.
type gnuOptions struct {
	program  string // name in messages
	path     string
	open     companion.Options
	relative bool // addresses are relative to the image
	target   string
	section  string // addresses are relative to this section; empty: to none

	addresses, basenames, functions, inlines, pretty, demangle bool

	addrs []string // empty: lines of standard input
}

// maxGNULine is the size of addr2line's buffer: it answers each piece of a longer
// line, with its newline, as an address.
const maxGNULine = 99

// run writes the answers like addr2line of GNU binutils.
func (o gnuOptions) run(ctx context.Context, e *Env) int {
	o.open.GNU = true
	lib := library{opt: o.open}
	defer lib.close()
	t := gnuTool{gnuOptions: o, out: bufio.NewWriter(e.Stdout)}
	if text, ok := t.openFile(&lib); !ok {
		if text != "" {
			console.Printf(e.Stderr, "%s: %s\n", o.program, console.Printable(text))
		}
		return exitFailed
	}
	for _, a := range o.addrs {
		t.answer(a)
	}
	var err error
	if len(o.addrs) == 0 {
		err = console.EachLine(ctx, e.Stdin, func(line string) error {
			line += "\n"
			for len(line) > 0 {
				n := min(len(line), maxGNULine)
				t.answer(line[:n])
				line = line[n:]
			}
			return t.out.Flush()
		})
	}
	if errors.Join(err, t.out.Flush()) != nil {
		return exitFailed
	}
	return exitDone
}

// A gnuTool answers from one file.
type gnuTool struct {
	gnuOptions
	out  *bufio.Writer
	file *program
	elf  *elfSymbols // of the debug file if there is one; nil: the file has another format
	base uint64      // added to addresses
	size uint64      // of the section that has all addresses
}

// gnuTargets lists the formats that -b accepts.
const gnuTargets = " elf64-x86-64 elf32-i386 elf32-iamcu elf32-x86-64 pei-i386 pe-x86-64 pei-x86-64 elf64-little elf64-big " +
	"elf32-little elf32-big pe-bigobj-x86-64 pe-i386 pdb srec symbolsrec verilog tekhex binary ihex plugin "

// openFile opens the file. It returns false with the text of addr2line if it
// cannot; addr2line prints nothing about an empty file.
func (t *gnuTool) openFile(lib *library) (text string, ok bool) {
	name := t.path
	st, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "'" + name + "': No such file", false
	case err != nil:
		return "Warning: could not locate '" + name + "'.  reason: " + systemText(err), false
	case st.IsDir():
		return "Warning: '" + name + "' is a directory", false
	case !st.Mode().IsRegular():
		return "Warning: '" + name + "' is not an ordinary file", false
	case st.Size() == 0:
		return "", false
	case t.target != "" && !strings.Contains(gnuTargets, " "+t.target+" "):
		return name + ": invalid bfd target", false
	}
	t.file = lib.open(name, t.open.Arch)
	if err := t.file.err; err != nil {
		if text := systemText(err); text != "" {
			return name + ": " + text, false
		}
		return name + ": file format not recognized", false
	}
	if t.elf = t.file.symbols(); t.elf != nil && t.file.file.Binary() != nil {
		if f, err := elf.Open(t.file.file.Source().Source); err == nil {
			t.elf = readELF(f)
		}
	}
	if t.section == "" {
		if t.relative {
			t.base = t.file.info.LoadAddress
		}
		return "", true
	}
	place, ok := t.file.binary().Select(t.section)
	if !ok {
		return name + ": cannot find section " + t.section, false
	}
	if s := t.elf; s != nil {
		s.all = slices.DeleteFunc(s.all, func(x elf.Symbol) bool { return x.Section < 1 || s.elf.Sections[x.Section].Name != t.section })
	}
	t.base, t.size = t.file.info.LoadAddress+place.Addr, place.Size
	return "", true
}

// answer writes the frames of an address.
func (t *gnuTool) answer(text string) {
	addr := t.address(text)
	digits := t.file.digits()
	if digits == 8 {
		addr &= 1<<32 - 1
	}
	if t.addresses {
		hex := strconv.FormatUint(addr, 16)
		t.put("0x", strings.Repeat("0", max(0, digits-len(hex))), hex, t.either(": ", "\n"))
	}
	frames := t.file.lookup(addr + t.base)
	symbol := t.symbol(addr + t.base)
	switch {
	case len(frames) == 0 && symbol != nil: // after the end of a function
		row := t.file.row(addr + t.base)
		frames = []sym.Frame{{File: row.File, Line: row.Line}}
	case len(frames) > 0 && frames[0].File == 0 && symbol == nil && t.elf != nil:
		frames = nil // in another section than the symbol
	}
	if len(frames) == 0 || t.section != "" && addr >= t.size {
		if t.functions {
			t.put("??", t.either(" ", "\n"))
		}
		t.put("??:0\n")
		return
	}
	mark := uint32(0)
	if kind := t.file.info.Kind; kind != "pe" && kind != "coff" { // binutils omits those of Windows
		mark = t.file.row(addr + t.base).Discriminator
	}
	for i := range frames {
		if i > 0 {
			t.put(t.either(" (inlined by) ", ""))
			symbol = nil
		}
		t.frame(&frames[i], symbol)
		if mark != 0 && frames[i].Line > 0 {
			t.put(" (discriminator ", strconv.FormatUint(uint64(mark), 10), ")")
		}
		t.put("\n")
		if !t.inlines {
			return
		}
	}
}

// address reads an address, or finds that of a symbol with an offset; zero if there
// is none.
func (t *gnuTool) address(text string) uint64 {
	name, offset, ok := gnuSymbol(text)
	if !ok {
		return gnuAddress(text)
	}
	if found := t.file.named(name, true); len(found) > 0 {
		return found[0].Addr + offset
	}
	if s := t.file.symbols(); s != nil {
		if addr, ok := s.demangled()[name]; ok {
			return addr + offset
		}
	}
	return 0
}

// symbol returns the symbol of an address in an ELF file, or nil.
func (t *gnuTool) symbol(addr uint64) *elf.Symbol {
	if t.elf != nil {
		return t.elf.gnu(addr)
	}
	return nil
}

// frame writes the function and the line of a frame, the innermost one with the
// symbol of the address.
func (t *gnuTool) frame(f *sym.Frame, symbol *elf.Symbol) {
	file, line := "??", "?"
	if f.Line > 0 {
		line = strconv.FormatUint(uint64(f.Line), 10)
	}
	switch {
	case f.File != 0:
		if file = t.file.text(f.File); file == "" { // not in the table of files
			file, line = "??", "?"
		}
	case symbol != nil:
		if source, ok := t.elf.sourceOf(symbol, true); ok {
			file = source
		}
	}
	if t.functions {
		name := withoutNumber(t.file.function(f.Func))
		if symbol != nil {
			// addr2line uses the name of the symbol without debug information, and in
			// most languages if that lacks the linkage name, even for an inlined call.
			text := t.elf.name(symbol)
			if name == "" || f.File == 0 || !isMangled(name) && (isMangled(text) || f.Lang == sym.LangCpp) || f.Lang == sym.LangD && !strings.HasPrefix(name, "_D") ||
				f.Lang != sym.LangC && withoutNumber(text) == name {
				name = text
			}
		}
		if t.demangle {
			name = demangle.Name(name, demangle.Full)
		}
		if name == "" {
			name = "??"
		}
		t.put(name, t.either(" at ", "\n"))
	}
	if t.basenames {
		file = baseName(file)
	}
	t.put(file, ":", line)
}

// either returns the text for the option --pretty-print, or that without it.
func (t *gnuTool) either(pretty, plain string) string {
	if t.pretty {
		return pretty
	}
	return plain
}

// put writes text. Flush reports the error.
func (t *gnuTool) put(parts ...string) {
	for _, p := range parts {
		_, _ = t.out.WriteString(p)
	}
}
