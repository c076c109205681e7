package standin

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"symbolon/internal/companion"
	"symbolon/internal/demangle"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// An llvmTool looks addresses up and writes answers.
type llvmTool struct {
	llvmOptions
	env     *Env
	lib     library
	full    library // as lib, but with full paths: --relativenames is for code alone
	out     *bufio.Writer
	sources map[string][]string // lines by file
	ready   []json.RawMessage   // answers in JSON that are not written
}

// An llvmFrame is a frame to print.
type llvmFrame struct {
	name, file    string
	line, column  uint32
	discriminator uint32
	start         string // address of the function
	startFile     string
	startLine     uint32
	source        func() []byte // content of the file in the debug information; may be nil
}

// An llvmDatum is a symbol of data to print.
type llvmDatum struct {
	name, file  string
	start, size uint64
	line        uint32
}

// open opens the file of a query.
func (t *llvmTool) open(q *llvmQuery) (p *program, message string) {
	lib := &t.lib
	if t.llvmOptions.open.Short && (q.kind == "DATA" || q.kind == "FRAME") {
		lib = &t.full
	}
	if len(q.buildID) == 0 {
		return t.openFile(lib, q.file)
	}
	q.file = fmt.Sprintf("%X", q.buildID)
	if path := companion.FindBuildID(q.buildID, t.llvmOptions.open); path != "" {
		return t.openFile(lib, path)
	}
	p = &program{err: errNoBuildID}
	return p, errNoBuildID.Error()
}

var errNoBuildID = errors.New("could not find build ID")

// openFile opens a file, whose name may end with an architecture. The message is
// empty if the file is open, and if the same message was returned before.
func (t *llvmTool) openFile(lib *library, name string) (p *program, message string) {
	arch := t.llvmOptions.open.Arch
	if i := strings.LastIndexByte(name, ':'); i > 0 && ident.ParseArch(name[i+1:]) != ident.ArchUnknown {
		name, arch = name[:i], name[i+1:]
	}
	p = lib.open(name, arch)
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		p.err = syscall.EISDIR // also of a bundle that can be opened
	}
	if p.err != nil {
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

// linked returns an address as linked, given one as in a query.
func (t *llvmTool) linked(p *program, addr uint64) uint64 {
	if info := &p.info; t.relative && (info.Kind == "pe" || info.Kind == "pdb") {
		addr += info.LoadAddress
	}
	return addr
}

// code returns the frames of an address, at least one.
func (t *llvmTool) code(p *program, addr uint64) []llvmFrame {
	addr = t.linked(p, addr)
	if t.inlines {
		return t.all(p, addr)
	}
	if t.style == "GNU" {
		return t.all(p, addr)[:1]
	}
	return []llvmFrame{t.outer(p, addr)}
}

// all returns the frames of an address as linked, innermost first.
func (t *llvmTool) all(p *program, addr uint64) []llvmFrame {
	base, kind := p.base(), p.info.Kind
	found := p.lookup(addr)
	frames := make([]llvmFrame, 0, max(1, len(found)))
	for _, f := range found {
		x := llvmFrame{name: t.name(p, p.function(f.Func)), line: f.Line, column: f.Column}
		t.setFile(p, &x, f.File)
		if !f.Inlined && kind != "pdb" { // LLVM has no start from a PDB
			x.start = hex(f.Entry + base)
		}
		frames = append(frames, x)
	}
	if len(frames) == 0 {
		frames = append(frames, llvmFrame{})
	}
	row, first := p.row(addr), &frames[0]
	first.discriminator = row.Discriminator
	if len(frames) == 1 && first.file == "" && row.File != 0 {
		first.line, first.column = row.Line, row.Column
		t.setFile(p, first, row.File)
	}
	if t.functions == "short" || t.verbose || t.style == "JSON" || t.style == "GNU" && len(frames) > 1 {
		t.setStarts(p, addr, frames)
	}
	t.applySymbol(p, addr, frames)
	return frames
}

// outer returns the frame of the called function: with the line of the innermost
// one, and its name if there is no symbol, or in PDBs with its own.
func (t *llvmTool) outer(p *program, addr uint64) llvmFrame {
	frames := t.all(p, addr)
	f, last := frames[0], &frames[len(frames)-1]
	switch {
	case p.info.Kind == "pdb":
		return *last
	case t.functions == "linkage" && !t.noSymbols:
		if d, ok := t.tableSymbol(p, addr); ok || p.symbols() == nil && p.labels() == nil {
			f.name, f.start, f.file = last.name, last.start, cmp.Or(f.file, d.file)
		}
	}
	return f
}

// setFile sets the source file of a frame, which has no line if that has no name.
func (t *llvmTool) setFile(p *program, f *llvmFrame, file sym.Text) {
	if file != 0 {
		if f.file = t.path(p, file); f.file == "" {
			f.line, f.column = 0, 0
		}
		f.source = func() []byte { return p.obj.Source(file) }
	}
}

// path returns a path in the form of the options.
func (t *llvmTool) path(p *program, file sym.Text) string {
	path := p.text(file)
	if t.basenames {
		path = baseName(path)
	}
	return path
}

// setStarts sets where the functions of frames are declared, and their short names.
func (t *llvmTool) setStarts(p *program, addr uint64, frames []llvmFrame) {
	var starts []object.Start
	if at, ok := p.relative(addr); ok {
		starts = p.obj.Starts(at)
	}
	isShort := t.functions == "short"
	if isShort && len(frames) == 1 && strings.Contains("elf pe wasm", p.info.Kind) { // others may have no starts
		frames[0].name = "" // a symbol has no short name
	}
	if len(starts) != len(frames) {
		return // the frames are of symbols
	}
	for i, s := range starts {
		frames[i].startFile, frames[i].startLine = t.path(p, s.File), s.Line
		if isShort {
			frames[i].name = p.text(s.Name)
		}
		if isShort && t.demangle {
			frames[i].name = t.readable(p, frames[i].name)
		}
		if s.HasAddr {
			frames[i].start = hex(s.Addr + p.base())
		}
		if i+1 < len(frames) {
			frames[i+1].discriminator = s.Discriminator
		}
	}
}

// applySymbol sets the name of the called function, the last frame, to that in the symbol
// table.
func (t *llvmTool) applySymbol(p *program, addr uint64, frames []llvmFrame) {
	hasTable, f := p.symbols() != nil || p.labels() != nil, &frames[len(frames)-1]
	switch {
	case !hasTable && t.functions == "linkage" && !t.demangle && !t.noSymbols && p.isDecorated():
		if at, ok := p.relative(addr); ok {
			f.name = cmp.Or(p.obj.Label(at), f.name)
		}
	case !hasTable || t.functions == "none":
	case t.functions == "short" || t.noSymbols:
		if len(frames) == 1 && f.file == "" && f.line == 0 && (t.noSymbols || f.name == "") {
			*f = llvmFrame{}
		}
	default:
		if d, ok := t.tableSymbol(p, addr); ok {
			f.name, f.start, f.file = t.name(p, d.name), hex(d.start), cmp.Or(f.file, d.file)
		}
	}
}

// tableSymbol returns the symbol that LLVM chooses for an address as linked.
func (t *llvmTool) tableSymbol(p *program, addr uint64) (d llvmDatum, ok bool) {
	if s := p.labels(); s != nil {
		return s.llvm(addr)
	}
	if s := p.symbols(); s != nil {
		if x := llvmChoice(s.llvm(!t.tagged), addr); x != nil {
			d = llvmDatum{name: s.name(x), start: x.Addr, size: x.Size}
			d.file, _ = s.sourceOf(x, false)
			return d, true
		}
	}
	return d, false
}

// data returns the data at an address. Its name is ?? if there is none.
func (t *llvmTool) data(p *program, addr uint64) (d llvmDatum) {
	d.name = "??"
	if p.err != nil {
		return d
	}
	addr = t.linked(p, addr)
	if found, ok := t.tableSymbol(p, addr); ok {
		d = found
		if t.demangle {
			d.name = t.readable(p, d.name)
		}
	}
	if at, ok := p.relative(addr); ok && !t.is14 {
		if v := p.obj.Variable(at); v.Line != 0 {
			d.file, d.line = p.text(v.File), v.Line
		}
	}
	return d
}

// name returns the name of a function in the form of --functions.
func (t *llvmTool) name(p *program, name string) string {
	switch {
	case t.functions == "none":
		return ""
	case t.functions == "short" && p.info.Kind == "pdb":
		return demangle.Name(t.plain(p, name), demangle.NoParams)
	case t.functions == "short" && !(t.demangle && strings.HasPrefix(name, "___Z")): // of a block, which has no other name
		return shortName(name)
	case !t.demangle:
		return name
	}
	return t.readable(p, name)
}

// plain returns a name, without the decoration of C if it has one.
func (t *llvmTool) plain(p *program, name string) string {
	info := &p.info
	if info.Kind == "pdb" && info.Module.Arch == ident.ArchX86 && demangle.Name(name, demangle.LLVM) == name {
		return plainC(name)
	}
	return name
}

// readable returns a demangled name.
func (t *llvmTool) readable(p *program, name string) string {
	text := demangle.Name(t.plain(p, name), demangle.LLVM)
	switch {
	case !t.is14 || strings.HasPrefix(name, "?"):
		return text
	}
	return llvmSpelling(text)
}
