// Package standin answers in the place of addr2line and llvm-symbolizer, and for
// resolve.
package standin

import (
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"symbolon/internal/companion"
	"symbolon/internal/console"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// Env is the world around a tool.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(name string) string
	Version        string // of this program
}

// The exit statuses of tools.
const (
	exitDone   = 0
	exitFailed = 1
)

// Tool is a program that this one stands in for. args are those of the command
// line with the name of the program before them.
type Tool func(ctx context.Context, e *Env, args []string) int

// For is the tool that a program of this name is expected to be, or nil.
// The name may have a folder, the prefix of a target, a version and ".exe".
func For(program string) Tool {
	name := program[strings.LastIndexAny(program, `/\`)+1:]
	name = strings.TrimSuffix(strings.ToLower(name), ".exe")
	if i := strings.LastIndexByte(name, '-'); i > 0 && isVersion(name[i+1:]) {
		name = name[:i]
	}
	switch {
	case name == "addr2line" || strings.HasSuffix(name, "-addr2line"):
		return addr2line
	case name == "llvm-symbolizer" || strings.HasSuffix(name, "-llvm-symbolizer"):
		return llvmSymbolizer
	}
	return nil
}

func isVersion(s string) bool {
	return s != "" && strings.Trim(s, "0123456789.") == ""
}

// maxOpen is how many files a stand-in keeps open.
const maxOpen = 64

// library is the files that were asked for, each opened once.
type library struct {
	env   *Env
	opt   companion.Options // but for the architecture
	files map[fileKey]*debugged
	order []fileKey // the one used last is the last
}

// fileKey is a file, and which object of it.
type fileKey struct{ name, arch string }

// debugged is an open file, or why there is none.
type debugged struct {
	env    *Env
	path   string
	file   *companion.File
	obj    *object.Object
	elf    *elfSymbols
	looked bool // for elf
	err    error
	told   bool // of err
	frames []sym.Frame
	buf    []byte
}

// open opens a file, unless it is open.
func (l *library) open(name, arch string) *debugged {
	key := fileKey{name, arch}
	if i := slices.Index(l.order, key); i >= 0 {
		l.order = append(slices.Delete(l.order, i, i+1), key)
		return l.files[key]
	}
	if len(l.order) == maxOpen {
		l.files[l.order[0]].shut()
		delete(l.files, l.order[0])
		l.order = slices.Delete(l.order, 0, 1)
	}
	d := &debugged{env: l.env, path: name}
	opt := l.opt
	opt.Arch, opt.Columns, opt.Written = arch, true, true
	d.file, d.err = companion.Open(name, opt)
	if d.err == nil {
		d.obj = d.file.Object()
	}
	if l.files == nil {
		l.files = map[fileKey]*debugged{}
	}
	l.files[key], l.order = d, append(l.order, key)
	return d
}

// shut closes all files.
func (l *library) shut() {
	for _, d := range l.files {
		d.shut()
	}
}

func (d *debugged) shut() {
	if d.file != nil {
		_ = d.file.Close() // it was only read
	}
	if d.elf != nil {
		_ = d.elf.file.Close()
	}
}

// lookup is what is known about an address as it is linked, innermost first.
// It is good until the next one.
func (d *debugged) lookup(addr uint64) []sym.Frame {
	d.frames = d.frames[:0]
	if base := d.obj.Info().LoadAddress; addr >= base {
		d.frames = d.obj.Lookup(d.frames, addr-base)
	}
	return d.frames
}

func (d *debugged) text(t sym.Text) string {
	d.buf = d.obj.AppendText(d.buf[:0], t)
	return console.Printable(string(d.buf))
}

// name is the name of a function as the debug information has it. What is
// added elsewhere is taken away: the scope of one without a mangled name, and
// the mark of a part or a variant.
func (d *debugged) name(t sym.Text) string {
	name := d.text(t)
	if info := d.obj.Info(); !d.obj.Mangled() || info.Kind == "pdb" {
		return name
	}
	name = variant.ReplaceAllString(name, "")
	if isMangled(name) {
		return name
	}
	return lastPart(name)
}

// variant is what compilers put behind the names of parts and variants.
var variant = regexp.MustCompile(`(\.(isra|part|constprop|cold|lto_priv|localalias|llvm)(\.[0-9]+)?)+$`)

func isMangled(name string) bool {
	return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R") || strings.HasPrefix(name, "?")
}

// lastPart is a name without the scopes before it.
func lastPart(name string) string {
	from, depth := 0, 0
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case depth == 0 && i == from && strings.HasPrefix(name[i:], "operator"):
			return name[i:]
		case c == '<' || c == '(' || c == '{':
			depth++
		case c == '>' || c == ')' || c == '}':
			depth = max(0, depth-1)
		case depth == 0 && c == ':' && strings.HasPrefix(name[i:], "::"):
			i++
			from = i + 1
		}
	}
	return name[from:]
}

// digits is how many hexadecimal digits an address has.
func (d *debugged) digits() int {
	switch a := d.obj.Info().Module.Arch; a {
	case ident.ArchX86, ident.ArchARM64_32, ident.ArchARM64_32v8, ident.ArchPPC, ident.ArchMIPS, ident.ArchMIPSel,
		ident.ArchRISCV32, ident.ArchS390, ident.ArchSPARC, ident.ArchWasm32:
		return 8
	default:
		if a >= ident.ArchARM && a <= ident.ArchARMv7em {
			return 8
		}
	}
	return 16
}

// symbols is the symbol table of the file itself, nil if it is no ELF file.
func (d *debugged) symbols() *elfSymbols {
	if !d.looked {
		d.looked = true
		d.elf = openELF(d.env, d.path)
	}
	return d.elf
}

// systemWords is what the system says of a file that cannot be opened.
func systemWords(err error) string {
	var number syscall.Errno
	if !errors.As(err, &number) {
		return ""
	}
	text := number.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}

// baseName is what follows the last separator of a path.
func baseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// maxNesting is how deep files of arguments may name others.
const maxNesting = 8

// expand puts the arguments that stand in a file in the place of @FILE. A file
// that cannot be read is an argument like others.
func expand(args []string, depth int) []string {
	var all []string
	for _, a := range args {
		if len(a) > 1 && a[0] == '@' && depth > 0 {
			if st, err := os.Stat(a[1:]); err == nil && st.Mode().IsRegular() {
				if text, err := os.ReadFile(a[1:]); err == nil {
					all = append(all, expand(words(string(text)), depth-1)...)
					continue
				}
			}
		}
		all = append(all, a)
	}
	return all
}

// words splits text at white space, as a shell does: quotes of both kinds hold
// words together, and a backslash takes the next character as it is.
func words(text string) []string {
	var all []string
	var word strings.Builder
	var quote rune
	inWord, escaped := false, false
	for _, c := range text {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteRune(c)
			}
		case c == '"' || c == '\'':
			quote, inWord = c, true
		case unicode.IsSpace(c):
			if inWord {
				all = append(all, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	if inWord {
		all = append(all, word.String())
	}
	return all
}
