package standin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"symbolon/internal/companion"
	"symbolon/internal/console"
	"symbolon/internal/demangle"
	"symbolon/internal/ident"
	"symbolon/internal/sym"
)

// llvmTool is one run in the place of llvm-symbolizer. bench/README.md says what
// of its output differs.
type llvmTool struct {
	env  *Env
	file string   // if it is the same for all addresses
	arch string   // of files with several
	call []string // addresses on the command line

	functions string // none, short or linkage
	style     string // LLVM, GNU or JSON
	basenames bool   // paths without folders

	inlines, demangle, pretty, addresses, verbose, relative bool

	hex     bool // all addresses are hexadecimal
	adjust  uint64
	context uint64 // lines of source
	lib     library
	out     *bufio.Writer
	sources map[string][]string
	ready   []json.RawMessage // answers to the command line, as JSON
}

const llvmUsage = `OVERVIEW: llvm-symbolizer, as Symbolon does it

USAGE: llvm-symbolizer [options] addresses...

  --obj=FILE, -e FILE, --exe=FILE   the file; without it each input line is FILE ADDRESS
  --functions[=none|short|linkage], -f[=...]
  --inlines, -i, --inlining, --no-inlines
  --demangle, -C, --no-demangle
  --pretty-print, -p                print each place on one line
  --basenames, -s                   print file names without folders
  --relativenames                   print paths without the folder of the unit
  --addresses, -a, --print-address
  --output-style=LLVM|GNU|JSON
  --verbose                         print all that is known
  --print-source-context-lines=N    print lines of source
  --adjust-vma=N                    subtracted from each address
  --relative-address                addresses are relative to the image base
  --default-arch=NAME               of files with several architectures
  --debug-file-directory=DIR, --fallback-debug-path=DIR
  --dsym-hint=DIR                   a .dSYM folder with the debug file
  --dwp=FILE                        the package of split debug information
  --help, --version
  @FILE                             read arguments from FILE

Input lines are FILE ADDRESS, CODE FILE ADDRESS or DATA FILE ADDRESS. What is
none of these is printed as it is.
`

func llvmSymbolizer(ctx context.Context, e *Env, args []string) int {
	return newLLVMTool(e).run(ctx, args)
}

func newLLVMTool(e *Env) *llvmTool {
	return &llvmTool{
		env: e, functions: "linkage", style: "LLVM", inlines: true, demangle: true,
		lib: library{env: e, opt: companion.Options{Stdin: e.Stdin, Only: true}}, out: bufio.NewWriter(e.Stdout),
	}
}

func (t *llvmTool) run(ctx context.Context, args []string) int {
	e := t.env
	defer t.lib.shut()
	all := append(words(e.Getenv("LLVM_SYMBOLIZER_OPTS")), args[1:]...)
	switch done, bad := t.options(expand(all, maxNesting)); {
	case bad != "":
		console.Printf(e.Stderr, "%s", console.Printable(bad))
		return exitFailed
	case done:
		return exitDone
	}
	for _, line := range t.call {
		t.line(line)
	}
	var err error
	switch {
	case len(t.call) == 0:
		err = console.EachLine(ctx, e.Stdin, func(line string) error {
			t.line(line)
			t.flushJSON()
			return t.out.Flush()
		})
	case t.style == "JSON":
		t.putJSON(t.ready)
	}
	if errors.Join(err, t.out.Flush()) != nil {
		return exitFailed
	}
	return exitDone
}

// options takes the arguments. It tells whether nothing else is to be done, or
// what is wrong.
func (t *llvmTool) options(args []string) (done bool, bad string) {
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		var wrong string
		switch {
		case strings.HasPrefix(a, "--"):
			args, wrong = t.long(a, args)
		case a == "-demangle=true" || a == "-demangle=false":
			t.demangle = a == "-demangle=true"
		case a == "-help", a == "-h":
			args, wrong = nil, t.flag("--help")
		case len(a) > 1 && a[0] == '-':
			args, wrong = t.letters(a[1:], args)
		default:
			t.call = append(t.call, a)
		}
		if wrong == "answered" {
			return true, ""
		}
		bad += wrong
	}
	return false, bad
}

// llvmValues are the options with a value.
const llvmValues = " --obj --exe --functions --output-style --adjust-vma --print-source-context-lines --default-arch --debug-file-directory --dsym-hint --dwp --fallback-debug-path --inlining --use-symbol-table "

// long takes an option with a name.
func (t *llvmTool) long(a string, args []string) (rest []string, bad string) {
	name, value, given := strings.Cut(a, "=")
	if given {
		if !strings.Contains(llvmValues, " "+name+" ") {
			return args, "error: unknown argument '" + a + "'\n"
		}
		return args, t.value(name, value)
	}
	if name == "--functions" || name == "--inlining" || name == "--use-symbol-table" || !strings.Contains(llvmValues, " "+name+" ") {
		return args, t.flag(name)
	}
	if len(args) == 0 {
		return nil, "error: " + name + ": missing argument\n"
	}
	return args[1:], t.value(name, args[0])
}

// letters takes options of one letter, which may stand together.
func (t *llvmTool) letters(s string, args []string) (rest []string, bad string) {
	names := map[byte]string{
		'a': "--addresses", 'C': "--demangle", 'f': "--functions", 'i': "--inlines",
		'p': "--pretty-print", 's': "--basenames", 'v': "--version",
	}
	for i := 0; i < len(s); i++ {
		value := strings.TrimPrefix(s[i+1:], "=")
		switch {
		case s[i] == 'e' && s[i+1:] != "":
			return args, bad + t.value("--obj", value)
		case s[i] == 'e' && len(args) == 0:
			return args, bad + "error: -e: missing argument\n"
		case s[i] == 'e':
			return args[1:], bad + t.value("--obj", args[0])
		case s[i] == 'f' && len(value) < len(s[i+1:]):
			return args, bad + t.value("--functions", value)
		case names[s[i]] == "":
			bad += "error: unknown argument '-" + s[i:i+1] + "'\n"
		default:
			bad += t.flag(names[s[i]])
		}
	}
	return args, bad
}

// flag takes an option without a value.
func (t *llvmTool) flag(name string) (bad string) {
	switch name {
	case "--addresses", "--print-address":
		t.addresses = true
	case "--functions":
		t.functions = "linkage"
	case "--inlines", "--inlining":
		t.inlines = true
	case "--no-inlines":
		t.inlines = false
	case "--demangle":
		t.demangle = true
	case "--no-demangle":
		t.demangle = false
	case "--pretty-print":
		t.pretty = true
	case "--basenames":
		t.basenames, t.lib.opt.Short = true, false
	case "--relativenames":
		t.basenames, t.lib.opt.Short = false, true
	case "--verbose":
		t.verbose = true
	case "--relative-address":
		t.relative = true
	case "--dia", "--untag-addresses", "--no-untag-addresses":
	case "--help":
		console.Printf(t.env.Stdout, "%s", llvmUsage)
		return "answered"
	case "--version":
		console.Printf(t.env.Stdout, "llvm-symbolizer\nSymbolon %s, which prints what LLVM version 14.0.6 prints\n", t.env.Version)
		return "answered"
	default:
		return "error: unknown argument '" + name + "'\n"
	}
	return ""
}

// value takes an option with its value.
func (t *llvmTool) value(name, value string) (bad string) {
	number := func(to *uint64) string {
		n, ok := llvmNumber(value)
		if !ok {
			return name + "=: expected a non-negative integer, but got '" + value + "'"
		}
		*to = n
		return ""
	}
	switch name {
	case "--obj", "--exe":
		t.file = value
	case "--functions":
		t.functions = value
		if value != "none" && value != "short" {
			t.functions = "linkage"
		}
	case "--inlining":
		if value != "true" && value != "false" {
			return "error: unknown argument '--inlining=" + value + "'\n"
		}
		t.inlines = value == "true"
	case "--output-style":
		t.style = value
		if value != "GNU" && value != "JSON" {
			t.style = "LLVM"
		}
	case "--adjust-vma":
		return number(&t.adjust)
	case "--print-source-context-lines":
		return number(&t.context)
	case "--default-arch":
		t.arch = value
	case "--debug-file-directory", "--fallback-debug-path":
		t.lib.opt.Dirs = append(t.lib.opt.Dirs, value)
	case "--dsym-hint":
		if filepath.Ext(value) != ".dSYM" {
			console.Printf(t.env.Stderr, "Warning: invalid dSYM hint: %q (must have the '.dSYM' extension).\n", value)
			return ""
		}
		t.lib.opt.Bundles = append(t.lib.opt.Bundles, value)
	case "--dwp":
		t.lib.opt.Package = value
	case "--use-symbol-table":
		if value != "true" {
			return "error: unknown argument '--use-symbol-table=" + value + "'\n"
		}
	}
	return ""
}

// llvmNumber reads a number whose beginning tells its base.
func llvmNumber(s string) (n uint64, ok bool) {
	if strings.ContainsAny(s, "_+-") {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 0, 64)
	return n, err == nil
}

// query is an input line that was understood.
type query struct {
	kind string // CODE, DATA or FRAME
	file string
	addr uint64
}

// parse reads an input line. If it is no query, its file is what comes nearest
// to one.
func (t *llvmTool) parse(line string) (q query, ok bool) {
	q.kind = "CODE"
	for _, kind := range [...]string{"CODE", "DATA", "FRAME"} {
		if rest, ok := strings.CutPrefix(line, kind+" "); ok {
			q.kind, line = kind, rest
			break
		}
	}
	if q.file = t.file; q.file == "" {
		if q.file, line, ok = cutFile(line); !ok {
			return q, false
		}
	}
	number, _, _ := strings.Cut(strings.TrimLeft(line, " "), " ")
	if t.hex {
		addr, err := parseAddr(number)
		q.addr = addr
		return q, err == nil
	}
	q.addr, ok = llvmNumber(number)
	return q, ok
}

// cutFile cuts the name of a file off, which may be in quotes.
func cutFile(line string) (name, rest string, ok bool) {
	line = strings.TrimLeft(line, " ")
	if line != "" && (line[0] == '"' || line[0] == '\'') {
		name, rest, ok = strings.Cut(line[1:], line[:1])
		if !ok {
			return line, "", false
		}
		return name, rest, true
	}
	name, rest, _ = strings.Cut(line, " ")
	return name, rest, name != ""
}

// line answers an input line.
func (t *llvmTool) line(line string) {
	q, ok := t.parse(line)
	switch {
	case !ok && t.style == "JSON":
		t.addJSON(llvmJSON{Error: &llvmError{"unable to parse arguments: " + line}, ModuleName: &q.file})
		return
	case !ok:
		t.put(console.Printable(line), "\n")
		return
	}
	d, message := t.open(q.file)
	if message != "" && t.style == "JSON" {
		t.addJSON(llvmJSON{Address: hex(q.addr), Error: &llvmError{message}, ModuleName: &q.file})
		return
	}
	if message != "" {
		console.Printf(t.env.Stderr, "LLVMSymbolizer: error reading file: %s\n", message)
	}
	var places []place
	switch {
	case q.kind == "CODE" && d.err == nil:
		places = t.places(d, q.addr-t.adjust)
	case q.kind == "CODE" && t.style != "JSON", q.kind == "CODE" && message != "":
		places = []place{{}}
	}
	if t.style == "JSON" {
		t.jsonAnswer(&q, d, places)
		return
	}
	if t.addresses {
		t.put(hex(q.addr), map[bool]string{true: ": ", false: "\n"}[t.pretty])
	}
	switch q.kind {
	case "DATA":
		name, start, size, ok := t.data(d, q.addr-t.adjust)
		if !ok {
			name = "??"
		}
		t.put(name, "\n", strconv.FormatUint(start, 10), " ", strconv.FormatUint(size, 10), "\n")
	case "FRAME":
		t.put("??\n")
	default:
		t.code(places)
	}
	if t.style == "LLVM" {
		t.put("\n")
	}
}

// open opens a file. The message is empty if all is well, and if it was given
// before.
func (t *llvmTool) open(name string) (d *debugged, message string) {
	arch := t.arch
	if i := strings.LastIndexByte(name, ':'); i > 0 && ident.ParseArch(name[i+1:]) != ident.ArchUnknown {
		name, arch = name[:i], name[i+1:]
	}
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		// It is refused with its own words.
		d, message = t.lib.open(name, arch), "Is a directory"
	} else if d = t.lib.open(name, arch); d.err != nil {
		if message = systemWords(d.err); message == "" {
			message = "The file was not recognized as a valid object file"
		}
	}
	if d.told {
		return d, ""
	}
	d.told = message != ""
	return d, message
}

// place is a frame as it is shown.
type place struct {
	name, file   string
	line, column uint32
	mark         uint32 // discriminator
	start        string // of the function, if it was called
}

// places are the frames of an address, at least one.
func (t *llvmTool) places(d *debugged, addr uint64) []place {
	info := d.obj.Info()
	if t.relative && (info.Kind == "pe" || info.Kind == "pdb") {
		addr += info.LoadAddress
	}
	frames := d.lookup(addr)
	if !t.inlines && len(frames) > 1 {
		f := frames[0]
		f.Func, f.Inlined = frames[len(frames)-1].Func, false
		frames = []sym.Frame{f}
	}
	var places []place
	for _, f := range frames {
		p := place{name: t.name(d.name(f.Func)), line: f.Line, column: f.Column}
		if f.File != 0 {
			p.file = d.text(f.File)
			if t.basenames {
				p.file = baseName(p.file)
			}
		}
		if !f.Inlined {
			p.start = hex(f.Entry + info.LoadAddress)
		}
		places = append(places, p)
	}
	if base := info.LoadAddress; addr >= base && len(places) > 0 {
		places[0].mark = d.obj.Discriminator(addr - base)
	}
	if len(places) == 0 {
		places = []place{{}}
	}
	t.symbol(d, addr, &places[len(places)-1])
	return places
}

// symbol gives the called function the name that it has in the symbol table.
func (t *llvmTool) symbol(d *debugged, addr uint64, p *place) {
	s := d.symbols()
	switch {
	case s == nil || t.functions == "none":
	case t.functions == "short":
		if p.file == "" && p.line == 0 {
			*p = place{} // what only the symbol table knows
		}
	default:
		if x := s.llvm(addr); x != nil {
			p.name, p.start = t.name(s.name(x)), hex(x.Addr)
		}
	}
}

// data is what is known about data at an address.
func (t *llvmTool) data(d *debugged, addr uint64) (name string, start, size uint64, ok bool) {
	if d.err != nil || d.symbols() == nil {
		return "", 0, 0, false
	}
	x := d.elf.llvmData(addr)
	if x == nil {
		return "", 0, 0, false
	}
	if name = d.elf.name(x); t.demangle {
		name = llvmSpelling(demangle.Name(name, demangle.LLVM))
	}
	return name, x.Addr, x.Size, true
}

// name is the name of a function as it is wanted.
func (t *llvmTool) name(name string) string {
	switch {
	case t.functions == "none":
		return ""
	case t.functions == "short":
		return shortName(name)
	case !t.demangle:
		return name
	}
	readable := demangle.Name(name, demangle.LLVM)
	if strings.HasPrefix(name, "?") {
		return readable
	}
	return llvmSpelling(readable)
}

func hex(addr uint64) string { return "0x" + strconv.FormatUint(addr, 16) }
