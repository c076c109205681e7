package standin

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"

	"symbolon/internal/demangle"
	"symbolon/internal/ident"
	"symbolon/internal/sym"
)

// An llvmTool looks addresses up and writes answers.
type llvmTool struct {
	llvmOptions
	env     *Env
	lib     library
	out     *bufio.Writer
	sources map[string][]string // lines by file
	ready   []json.RawMessage   // answers in JSON that are not written
}

// An llvmFrame is a frame as it is printed.
type llvmFrame struct {
	name, file    string
	line, column  uint32
	discriminator uint32
	start         string // of the function, unless it was inlined
}

// openFile opens a file, whose name may end with an architecture. The message is
// empty if the file is open, and if the same message was returned before.
func (t *llvmTool) openFile(name string) (p *program, message string) {
	arch := t.llvmOptions.open.Arch
	if i := strings.LastIndexByte(name, ':'); i > 0 && ident.ParseArch(name[i+1:]) != ident.ArchUnknown {
		name, arch = name[:i], name[i+1:]
	}
	p = t.lib.open(name, arch)
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		message = "Is a directory"
	} else if p.err != nil {
		if message = systemText(p.err); message == "" {
			message = "The file was not recognized as a valid object file"
		}
	}
	if p.isReported {
		return p, ""
	}
	p.isReported = message != ""
	return p, message
}

// frames returns the frames of an address, at least one.
func (t *llvmTool) frames(p *program, addr uint64) []llvmFrame {
	info := p.obj.Info()
	if t.relative && (info.Kind == "pe" || info.Kind == "pdb") {
		addr += info.LoadAddress
	}
	found := p.lookup(addr)
	if !t.inlines && len(found) > 1 {
		f := found[0]
		f.Func, f.Inlined = found[len(found)-1].Func, false
		found = []sym.Frame{f}
	}
	frames := make([]llvmFrame, 0, max(1, len(found)))
	for _, f := range found {
		x := llvmFrame{name: t.name(p.function(f.Func)), line: f.Line, column: f.Column}
		if f.File != 0 {
			x.file = p.text(f.File)
			if t.basenames {
				x.file = baseName(x.file)
			}
		}
		if !f.Inlined {
			x.start = hex(f.Entry + info.LoadAddress)
		}
		frames = append(frames, x)
	}
	if len(frames) == 0 {
		frames = append(frames, llvmFrame{})
	} else {
		frames[0].discriminator = p.discriminator(addr)
	}
	t.applySymbol(p, addr, &frames[len(frames)-1])
	return frames
}

// applySymbol gives the called function its name in the symbol table.
func (t *llvmTool) applySymbol(p *program, addr uint64, f *llvmFrame) {
	s := p.symbols()
	switch {
	case s == nil || t.functions == "none":
	case t.functions == "short":
		if f.file == "" && f.line == 0 {
			*f = llvmFrame{} // a symbol has no short name
		}
	default:
		if x := s.llvm(addr); x != nil {
			f.name, f.start = t.name(s.name(x)), hex(x.Addr)
		}
	}
}

// data returns the data at an address.
func (t *llvmTool) data(p *program, addr uint64) (name string, start, size uint64, ok bool) {
	if p.err != nil || p.symbols() == nil {
		return "", 0, 0, false
	}
	x := p.elf.llvmData(addr)
	if x == nil {
		return "", 0, 0, false
	}
	if name = p.elf.name(x); t.demangle {
		name = llvmSpelling(demangle.Name(name, demangle.LLVM))
	}
	return name, x.Addr, x.Size, true
}

// name returns the name of a function in the form of --functions.
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
