package standin

import (
	"context"
	"path/filepath"
	"strings"

	"symbolon/internal/console"
	"symbolon/internal/ident"
)

const llvmUsage = `OVERVIEW: %[1]s, as Symbolon does it

USAGE: %[1]s [options] addresses...

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
  --untag-addresses, --no-untag-addresses
                                    ignore the highest byte of addresses of symbols
  --no-use-symbol-table             do not name functions by the symbol table
  --default-arch=NAME               of files with several architectures
  --debug-file-directory=DIR, --fallback-debug-path=DIR
  --build-id=ID                     the file with this build id, found in the folders
                                    of debug files or by debuginfod
  --cache-size=N                    no effect
  --debuginfod, --no-debuginfod     ask the servers of DEBUGINFOD_URLS (default)
  --dsym-hint=DIR                   a .dSYM folder with the debug file
  --dwp=FILE                        the package of split debug information
  --filter-markup                   copy a log, with names for its symbolizer markup
  --color[=always|auto|never]       colors of --filter-markup (default auto)
  --llvm=14|19                      print what this version of LLVM prints (default 19)
  --help, -h, --version, -v

Pass @FILE as argument to read options from FILE.

Input lines are [CODE|DATA|FRAME] [[FILE:]FILE] ADDRESS. The address may be that
of a symbol, SYMBOL or SYMBOL+OFFSET.
`

// llvmSymbolizer runs a command line of llvm-symbolizer.
func llvmSymbolizer(ctx context.Context, e *Env, args []string) int {
	return runLLVM(ctx, e, args, false)
}

// llvmAddr2line runs a command line of llvm-addr2line.
func llvmAddr2line(ctx context.Context, e *Env, args []string) int {
	return runLLVM(ctx, e, args, true)
}

// runLLVM runs a command line. Options may also be in the environment.
func runLLVM(ctx context.Context, e *Env, args []string, gnu bool) int {
	o, err := newLLVMOptions(e)
	if err != nil {
		console.Printf(e.Stderr, "%s: %s: %s\n", args[0], LLVMVariable, err)
		return exitFailed
	}
	variable := "LLVM_SYMBOLIZER_OPTS"
	if gnu {
		variable = "LLVM_ADDR2LINE_OPTS"
		o.likeAddr2line()
	}
	p := llvmParser{env: e, llvmOptions: o}
	p.open.Stdin, p.open.Only, p.program = e.Stdin, true, args[0]
	all := append(words(e.Getenv(variable)), args[1:]...)
	switch done, bad := p.options(expand(all, maxNesting)); {
	case bad != "":
		console.Printf(e.Stderr, "%s", console.Printable(bad))
		return exitFailed
	case done:
		return exitDone
	case p.file != "" && len(p.buildID) > 0:
		console.Printf(e.Stderr, "error: cannot specify both --build-id and --obj\n")
		return exitFailed
	}
	return p.run(ctx, e)
}

// An llvmParser reads options. It prints help and warnings.
type llvmParser struct {
	llvmOptions
	env   *Env
	newer string // the text about arguments that LLVM 14 does not have
}

// answered is the text of an option that has been answered.
const answered = "answered"

// options reads the arguments. It returns whether one of them has been answered,
// such as --help, or the text of llvm-symbolizer about all invalid ones.
func (p *llvmParser) options(args []string) (done bool, bad string) {
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		var wrong string
		switch {
		case strings.HasPrefix(a, "--"):
			args, wrong = p.long(a, args)
		case a == "-demangle=true" || a == "-demangle=false":
			p.demangle = a == "-demangle=true"
		case a == "-help", a == "-h":
			args, wrong = nil, p.flag("--help")
		case len(a) > 1 && a[0] == '-':
			args, wrong = p.letters(a[1:], args)
		default:
			p.queries = append(p.queries, a)
		}
		if wrong == answered {
			return true, ""
		}
		bad += wrong
	}
	if p.is14 {
		bad += p.newer
	}
	return false, bad
}

// llvmValues lists the options with a value.
const llvmValues = " --obj --exe --functions --output-style --adjust-vma --print-source-context-lines --default-arch " +
	"--debug-file-directory --dsym-hint --dwp --fallback-debug-path --inlining --use-symbol-table --llvm --build-id --cache-size --color "

// llvmOptional lists those whose value may be missing.
const llvmOptional = " --functions --inlining --color --use-symbol-table "

// llvmNewer lists the options that LLVM 14 does not have.
const llvmNewer = " --build-id --cache-size --color --debuginfod --no-debuginfod --filter-markup "

// long reads an option with a name.
func (p *llvmParser) long(a string, args []string) (rest []string, bad string) {
	name, value, given := strings.Cut(a, "=")
	if strings.Contains(llvmNewer, " "+name+" ") {
		p.newer += unknown(a)
	}
	if given {
		if !strings.Contains(llvmValues, " "+name+" ") {
			return args, unknown(a)
		}
		return args, p.value(name, value)
	}
	if strings.Contains(llvmOptional, " "+name+" ") || !strings.Contains(llvmValues, " "+name+" ") {
		return args, p.flag(name)
	}
	if len(args) == 0 {
		return nil, "error: " + name + ": missing argument\n"
	}
	return args[1:], p.value(name, args[0])
}

// letters reads the options of one letter in an argument.
func (p *llvmParser) letters(s string, args []string) (rest []string, bad string) {
	names := map[byte]string{
		'a': "--addresses", 'C': "--demangle", 'f': "--functions", 'i': "--inlines",
		'p': "--pretty-print", 's': "--basenames", 'v': "--version",
	}
	for i := 0; i < len(s); i++ {
		value := strings.TrimPrefix(s[i+1:], "=")
		switch {
		case s[i] == 'e' && s[i+1:] != "":
			return args, bad + p.value("--obj", value)
		case s[i] == 'e' && len(args) == 0:
			return args, bad + "error: -e: missing argument\n"
		case s[i] == 'e':
			return args[1:], bad + p.value("--obj", args[0])
		case s[i] == 'f' && len(value) < len(s[i+1:]):
			return args, bad + p.value("--functions", value)
		case names[s[i]] == "":
			bad += unknown("-" + s[i:i+1])
		default:
			bad += p.flag(names[s[i]])
		}
	}
	return args, bad
}

// flag sets an option without a value.
func (p *llvmParser) flag(name string) (bad string) {
	switch name {
	case "--addresses", "--print-address":
		p.addresses = true
	case "--functions":
		p.functions = "linkage"
	case "--inlines", "--inlining":
		p.inlines = true
	case "--no-inlines":
		p.inlines = false
	case "--demangle":
		p.demangle = true
	case "--no-demangle":
		p.demangle = false
	case "--pretty-print":
		p.pretty = true
	case "--basenames":
		p.basenames, p.open.Short = true, false
	case "--relativenames":
		p.basenames, p.open.Short = false, true
	case "--verbose":
		p.verbose = true
	case "--relative-address":
		p.relative = true
	case "--debuginfod":
		p.noDebuginfod = false
	case "--no-debuginfod":
		p.noDebuginfod = true
	case "--dia":
	case "--color":
		p.color = "always"
	case "--filter-markup":
		p.markup = true
	case "--untag-addresses":
		p.tagged = false
	case "--no-untag-addresses":
		p.tagged = true
	case "--use-symbol-table":
		p.noSymbols = false
	case "--no-use-symbol-table":
		p.noSymbols = true
	case "--help":
		name := ident.FileName(p.program)
		console.Printf(p.env.Stdout, llvmUsage, name)
		return answered
	case "--version":
		like := "19.1.7"
		if p.is14 {
			like = "14.0.6"
		}
		name := "llvm-symbolizer"
		if p.gnu {
			name = "llvm-addr2line"
		}
		console.Printf(p.env.Stdout, "%s\nSymbolon %s, which prints what LLVM version %s prints\n", name, p.env.Version, like)
		return answered
	default:
		return unknown(name)
	}
	return ""
}

// value sets an option with a value.
func (p *llvmParser) value(name, value string) (bad string) {
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
		p.file = value
	case "--functions":
		p.functions = value
		if value != "none" && value != "short" {
			p.functions = "linkage"
		}
	case "--inlining":
		if value != "true" && value != "false" {
			return unknown("--inlining=" + value)
		}
		p.inlines = value == "true"
	case "--output-style":
		p.style = value
		if value != "GNU" && value != "JSON" {
			p.style = "LLVM"
		}
	case "--adjust-vma":
		return number(&p.adjust)
	case "--color":
		p.color = value
	case "--cache-size": // the memory of open files; library bounds their number
		return number(new(uint64))
	case "--print-source-context-lines":
		return number(&p.context)
	case "--default-arch":
		p.open.Arch = value
	case "--debug-file-directory", "--fallback-debug-path":
		p.open.Dirs = append(p.open.Dirs, value)
	case "--dsym-hint":
		if filepath.Ext(value) != ".dSYM" {
			console.Printf(p.env.Stderr, "Warning: invalid dSYM hint: %q (must have the '.dSYM' extension).\n", value)
			return ""
		}
		p.open.Bundles = append(p.open.Bundles, value)
	case "--dwp":
		p.open.Package = value
	case "--build-id":
		id, err := parseBuildID(value)
		if err != nil {
			return name + "=: expected a build ID, but got '" + value + "'\n"
		}
		p.buildID = id
	case "--llvm":
		if err := p.setVersion(value); err != nil {
			return "error: --llvm: " + err.Error() + "\n"
		}
	case "--use-symbol-table":
		if value != "true" {
			return unknown("--use-symbol-table=" + value)
		}
	}
	return ""
}

// llvmFlags lists the options without a value that an argument may select.
const llvmFlags = " --addresses --print-address --inlines --no-inlines --demangle --no-demangle --pretty-print --basenames --relativenames " +
	"--verbose --debuginfod --no-debuginfod --relative-address --untag-addresses --no-untag-addresses --no-use-symbol-table --help --version "

// unknown returns the text about an option that does not exist, with one that has a
// name of at most one other letter.
func unknown(a string) string {
	name, value, given := strings.Cut(a, "=")
	for known := range strings.FieldsSeq(llvmFlags + llvmValues) {
		if strings.HasPrefix(a, "--") && isNear(name, known) {
			if given {
				known += "=" + value
			}
			return "error: unknown argument '" + a + "', did you mean '" + known + "'?\n"
		}
	}
	return "error: unknown argument '" + a + "'\n"
}

// isNear reports whether two words are equal without one letter of one or of each.
func isNear(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	return len(a) == len(b) && i < len(a) && a[i+1:] == b[i+1:] || len(a)+1 == len(b) && a[i:] == b[i+1:]
}
