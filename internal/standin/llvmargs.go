package standin

import (
	"context"
	"path/filepath"
	"strings"

	"symbolon/internal/console"
)

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

Input lines are FILE ADDRESS, CODE FILE ADDRESS or DATA FILE ADDRESS. Other
lines are printed unchanged.
`

// llvmSymbolizer runs a command line of llvm-symbolizer. Options may also be in
// the environment.
func llvmSymbolizer(ctx context.Context, e *Env, args []string) int {
	p := llvmParser{env: e, llvmOptions: newLLVMOptions()}
	p.open.Stdin, p.open.Only = e.Stdin, true
	all := append(words(e.Getenv("LLVM_SYMBOLIZER_OPTS")), args[1:]...)
	switch done, bad := p.options(expand(all, maxNesting)); {
	case bad != "":
		console.Printf(e.Stderr, "%s", console.Printable(bad))
		return exitFailed
	case done:
		return exitDone
	}
	return p.run(ctx, e)
}

// An llvmParser reads options. It prints help and warnings.
type llvmParser struct {
	llvmOptions
	env *Env
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
	return false, bad
}

// llvmValues lists the options with a value.
const llvmValues = " --obj --exe --functions --output-style --adjust-vma --print-source-context-lines --default-arch " +
	"--debug-file-directory --dsym-hint --dwp --fallback-debug-path --inlining --use-symbol-table "

// long reads an option with a name.
func (p *llvmParser) long(a string, args []string) (rest []string, bad string) {
	name, value, given := strings.Cut(a, "=")
	if given {
		if !strings.Contains(llvmValues, " "+name+" ") {
			return args, "error: unknown argument '" + a + "'\n"
		}
		return args, p.value(name, value)
	}
	if name == "--functions" || name == "--inlining" || name == "--use-symbol-table" || !strings.Contains(llvmValues, " "+name+" ") {
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
			bad += "error: unknown argument '-" + s[i:i+1] + "'\n"
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
	case "--dia", "--untag-addresses", "--no-untag-addresses":
	case "--help":
		console.Printf(p.env.Stdout, "%s", llvmUsage)
		return answered
	case "--version":
		console.Printf(p.env.Stdout, "llvm-symbolizer\nSymbolon %s, which prints what LLVM version 14.0.6 prints\n", p.env.Version)
		return answered
	default:
		return "error: unknown argument '" + name + "'\n"
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
			return "error: unknown argument '--inlining=" + value + "'\n"
		}
		p.inlines = value == "true"
	case "--output-style":
		p.style = value
		if value != "GNU" && value != "JSON" {
			p.style = "LLVM"
		}
	case "--adjust-vma":
		return number(&p.adjust)
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
	case "--use-symbol-table":
		if value != "true" {
			return "error: unknown argument '--use-symbol-table=" + value + "'\n"
		}
	}
	return ""
}
