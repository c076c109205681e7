package standin

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"symbolon/internal/companion"
	"symbolon/internal/console"
	"symbolon/internal/demangle"
	"symbolon/internal/sym"
)

// addr2lineTool is one run in the place of addr2line of GNU binutils, whose
// output it writes to the byte.
type addr2lineTool struct {
	env     *Env
	program string // as it was called
	file    string
	dirs    []string // where separate debug files may be
	arch    string   // of the object, empty: any
	object  int      // which of those
	rva     bool     // addresses are relative to the image
	target  string
	section string

	addresses, basenames, functions, inlines, pretty, demangle bool

	out  *bufio.Writer
	obj  *debugged
	base uint64 // added to the addresses: that of the section
	mark uint32 // discriminator of the address
}

// addr2lineOptions are the options. Several are accepted that change nothing.
var addr2lineOptions = optionSet{
	short: "ab:Ce:fhHij:prRsvV",
	long: []longOption{
		{"addresses", 'a', false, false}, {"target", 'b', true, false}, {"demangle", 'C', false, true},
		{"exe", 'e', true, false}, {"functions", 'f', false, false}, {"help", 'h', false, false},
		{"inlines", 'i', false, false}, {"section", 'j', true, false}, {"pretty-print", 'p', false, false},
		{"no-recurse-limit", 'r', false, false}, {"no-recursion-limit", 'r', false, false},
		{"recurse-limit", 'R', false, false}, {"recursion-limit", 'R', false, false},
		{"basenames", 's', false, false}, {"version", 'v', false, false},
	},
}

const addr2lineUsage = `Usage: addr2line [options] [addresses]
Turns addresses into file names and line numbers. Without addresses on the
command line they are read from standard input, one per line.

  -e, --exe=FILE         the file with the debug information (default a.out)
  -f, --functions        print the functions too
  -i, --inlines          print the callers of inlined functions too
  -a, --addresses        print the addresses too
  -p, --pretty-print     print each place on one line
  -s, --basenames        print file names without folders
  -C, --demangle[=STYLE] print readable names
  -j, --section=NAME     addresses are relative to this section
  -b, --target=NAME      accepted, the format is always found out
  -r, -R                 accepted
  -h, --help             print this
  -v, --version          print the version
  @FILE                  read arguments from FILE
`

// gnuTargets are formats that -b may name.
const gnuTargets = " elf64-x86-64 elf32-i386 elf32-iamcu elf32-x86-64 pei-i386 pe-x86-64 pei-x86-64 elf64-little elf64-big elf32-little elf32-big pe-bigobj-x86-64 pe-i386 pdb srec symbolsrec verilog tekhex binary ihex plugin "

// gnuStyles are the styles of names that -C may name.
const gnuStyles = " none auto gnu-v3 java gnat dlang rust "

func addr2line(ctx context.Context, e *Env, args []string) int {
	t := addr2lineTool{env: e, program: args[0], file: "a.out", out: bufio.NewWriter(e.Stdout)}
	return t.run(ctx, args)
}

func (t *addr2lineTool) run(ctx context.Context, args []string) int {
	e := t.env
	rest, err := addr2lineOptions.parse(expand(args[1:], maxNesting), t.option)
	switch {
	case errors.Is(err, errAnswered):
		return exitDone
	case err != nil:
		console.Printf(e.Stderr, "%s: %s\n", t.program, console.Printable(err.Error()))
		if _, usage := err.(optionError); usage {
			console.Printf(e.Stderr, "%s", addr2lineUsage)
		}
		return exitFailed
	}
	lib := library{env: e, opt: companion.Options{Stdin: e.Stdin, Dirs: t.dirs, Object: t.object}}
	defer lib.shut()
	if text := t.open(&lib); text != "" {
		if text != quiet {
			console.Printf(e.Stderr, "%s: %s\n", t.program, console.Printable(text))
		}
		return exitFailed
	}
	for _, a := range rest {
		t.answer(a)
	}
	if len(rest) == 0 {
		err = console.EachLine(ctx, e.Stdin, func(line string) error {
			line += "\n"
			for len(line) > 0 { // it reads lines in pieces
				n := min(len(line), 99)
				t.answer(line[:n])
				line = line[n:]
			}
			return t.out.Flush()
		})
	}
	if err = errors.Join(err, t.out.Flush()); err != nil {
		return exitFailed
	}
	return exitDone
}

// errAnswered says that an option has told all that was asked.
var errAnswered = errors.New("answered")

// option takes an option.
func (t *addr2lineTool) option(key byte, value string) error {
	switch key {
	case 'a':
		t.addresses = true
	case 'b':
		t.target = value
	case 'C':
		t.demangle = value != "none"
		if value != "" && !strings.Contains(gnuStyles, " "+value+" ") {
			return errors.New("unknown demangling style `" + value + "'")
		}
	case 'e':
		t.file = value
	case 'f':
		t.functions = true
	case 'h', 'H':
		console.Printf(t.env.Stdout, "%s", addr2lineUsage)
		return errAnswered
	case 'i':
		t.inlines = true
	case 'j':
		t.section = value
	case 'p':
		t.pretty = true
	case 's':
		t.basenames = true
	case 'v', 'V':
		console.Printf(t.env.Stdout, "addr2line (Symbolon %s), which prints what GNU addr2line 2.40 prints\n", t.env.Version)
		return errAnswered
	}
	return nil
}

// quiet is a failure of which addr2line tells nothing.
const quiet = "\x00"

// open opens the file, and tells what is wrong.
func (t *addr2lineTool) open(lib *library) string {
	st, err := os.Stat(t.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "'" + t.file + "': No such file"
	case err != nil:
		return "Warning: could not locate '" + t.file + "'.  reason: " + systemWords(err)
	case st.IsDir():
		return "Warning: '" + t.file + "' is a directory"
	case !st.Mode().IsRegular():
		return "Warning: '" + t.file + "' is not an ordinary file"
	case st.Size() == 0:
		return quiet
	case t.target != "" && !strings.Contains(gnuTargets, " "+t.target+" "):
		return t.file + ": invalid bfd target"
	}
	t.obj = lib.open(t.file, t.arch)
	if err := t.obj.err; err != nil {
		if words := systemWords(err); words != "" {
			return t.file + ": " + words
		}
		return t.file + ": file format not recognized"
	}
	if t.section == "" {
		if t.rva {
			t.base = t.obj.obj.Info().LoadAddress
		}
		return ""
	}
	if s := t.obj.symbols(); s != nil {
		var ok bool
		if t.base, ok = s.section(t.section); ok {
			return ""
		}
	}
	return t.file + ": cannot find section " + t.section
}

// answer writes what is known about an address.
func (t *addr2lineTool) answer(text string) {
	addr := gnuAddress(text)
	digits := t.obj.digits()
	if digits == 8 {
		addr &= 1<<32 - 1
	}
	if t.addresses {
		hex := strconv.FormatUint(addr, 16)
		t.put("0x", strings.Repeat("0", max(0, digits-len(hex))), hex, t.either(": ", "\n"))
	}
	frames := t.obj.lookup(addr + t.base)
	if len(frames) == 0 {
		if t.functions {
			t.put("??", t.either(" ", "\n"))
		}
		t.put("??:0\n")
		return
	}
	t.mark = 0
	if a, base := addr+t.base, t.obj.obj.Info().LoadAddress; a >= base {
		t.mark = t.obj.obj.Discriminator(a - base)
	}
	for i := range frames {
		if i > 0 {
			t.put(t.either(" (inlined by) ", ""))
		}
		t.frame(&frames[i], addr+t.base, i == 0)
		if !t.inlines {
			return
		}
	}
}

// frame writes a frame of an address.
func (t *addr2lineTool) frame(f *sym.Frame, addr uint64, innermost bool) {
	file := "??"
	if f.File != 0 {
		file = t.obj.text(f.File)
	}
	if t.functions {
		name := t.obj.name(f.Func)
		if s := t.obj.symbols(); s != nil && innermost {
			// Without debug information it takes the name of the symbol, and so it
			// does in C++ where the debug information has no mangled name.
			if symbol, ok := s.gnu(addr); ok && (f.File == 0 || isMangled(symbol) && !isMangled(name)) {
				name = symbol
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
	line := "?"
	if f.Line > 0 {
		line = strconv.FormatUint(uint64(f.Line), 10)
	}
	t.put(file, ":", line)
	if t.mark != 0 && f.Line > 0 {
		t.put(" (discriminator ", strconv.FormatUint(uint64(t.mark), 10), ")")
	}
	t.put("\n")
}

func (t *addr2lineTool) either(pretty, plain string) string {
	if t.pretty {
		return pretty
	}
	return plain
}

func (t *addr2lineTool) put(parts ...string) {
	for _, p := range parts {
		_, _ = t.out.WriteString(p) // told by Flush
	}
}

// gnuAddress reads an address as addr2line does: as many hexadecimal digits as
// there are. What begins with none is zero, what is too large is the greatest.
func gnuAddress(s string) uint64 {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	if len(s) > 0 && s[0] == '+' {
		s = s[1:]
	}
	if len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x' {
		s = s[2:]
	}
	n := 0
	for n < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[n]) >= 0 {
		n++
	}
	addr, _ := strconv.ParseUint(s[:n], 16, 64) // the greatest if it is out of range
	return addr
}
