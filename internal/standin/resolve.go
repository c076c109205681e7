package standin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"symbolon/internal/answer"
	"symbolon/internal/bin"
	"symbolon/internal/companion"
	"symbolon/internal/console"
	"symbolon/internal/demangle"
	"symbolon/internal/object"
	"symbolon/internal/scratch"
	"symbolon/internal/source"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
	"symbolon/internal/table"
)

// A Query is a file and the addresses to look up in it.
type Query struct {
	File     string
	Open     companion.Options
	Relative bool     // addresses are relative to the image, else as linked
	Mangled  bool     // keep mangled names
	Addrs    []string // empty: lines of standard input
}

// ResolveLikeGNU answers like addr2line, with functions and inlined calls. It
// returns the exit status.
func ResolveLikeGNU(ctx context.Context, e *Env, q Query) (status int, err error) {
	if err := q.checkObject(); err != nil {
		return 0, err
	}
	o := gnuOptions{
		program: "addr2line", path: q.File, open: q.Open, relative: q.Relative,
		functions: true, inlines: true, demangle: !q.Mangled, addrs: q.Addrs,
	}
	return o.run(ctx, e), nil
}

// ResolveLikeLLVM answers like llvm-symbolizer. It returns the exit status.
func ResolveLikeLLVM(ctx context.Context, e *Env, q Query) (status int, err error) {
	if err := q.checkObject(); err != nil {
		return 0, err
	}
	o, err := newLLVMOptions(e)
	if err != nil {
		return 0, err
	}
	o.file, o.open, o.relative, o.demangle, o.queries = q.File, q.Open, q.Relative, !q.Mangled, q.Addrs
	o.open.Only, o.hex, o.noDebuginfod = true, true, true
	return o.run(ctx, e), nil
}

// checkObject returns an error if the file lacks the selected object: the tools
// have no message for that.
func (q *Query) checkObject() error {
	if q.Open.Arch == "" && q.Open.Object == 0 {
		return nil
	}
	d, err := companion.OpenAlone(q.File, q.Open)
	if err != nil {
		return err
	}
	return d.Close()
}

// Resolve answers in a format of package answer. With fromTable it builds a table
// first and answers from that.
func Resolve(ctx context.Context, e *Env, q Query, format string, fromTable bool) error {
	q.Open.Columns = true
	d, err := companion.Open(q.File, q.Open)
	if err != nil {
		return err
	}
	defer d.Close()
	obj := d.Object()
	reportMissingPDB(e.Stderr, q.File, obj)
	look := fileLookup{lookup: obj, origin: obj.Origin, demangle: !q.Mangled, isWritten: obj.Info().Kind == source.Breakpad}
	if fromTable {
		if look.lookup, err = buildTable(ctx, obj); err != nil {
			return fmt.Errorf("%s: %w", q.File, err)
		}
	}
	if !q.Relative {
		look.base = obj.Info().LoadAddress
	}
	err = ResolveWith(ctx, e, format, q.Addrs, look.frames)
	ReportDamage(e.Stderr, q.File, obj.Info())
	return err
}

// reportMissingPDB prints that the PDB of a Windows binary was not found.
func reportMissingPDB(w io.Writer, name string, o *object.Object) {
	if o.Info().Features&object.HasDebug != 0 {
		return
	}
	for _, n := range o.Needs() {
		if n.Kind == object.NeedPDB {
			console.Printf(w, "%s: PDB %s with id %s not found; name its folder with --debug-dir\n", name, n.Name, n.DebugID.Breakpad())
		}
	}
}

// ReportOverlap prints that records of an object file have the same addresses.
func ReportOverlap(w io.Writer, name string, info object.Info) {
	if n := info.Overlapping; n > 0 {
		console.Printf(w, "symbolon: %s: %d sections of code begin at address 0, so their records overlap; link the object first\n", console.Printable(name), n)
	}
}

// ReportDamage prints which parts of a file could not be read.
func ReportDamage(w io.Writer, name string, info object.Info) {
	for _, d := range info.Damage {
		console.Printf(w, "symbolon: %s: not read in full: %s (%d)\n", console.Printable(name), d.Kind, d.Count)
		for _, p := range d.Places {
			console.Printf(w, "symbolon: %s: %s\n", console.Printable(name), console.Printable(p))
		}
	}
}

// buildTable builds the table of an object in memory, with the limits of a
// server.
func buildTable(ctx context.Context, o *object.Object) (lookup, error) {
	var b bytes.Buffer
	opt := symcache.Options{Scratch: scratch.Dir(os.TempDir()), Workers: runtime.GOMAXPROCS(0)}
	if err := table.Build(ctx, &b, o, opt, table.Input{}); err != nil {
		return nil, fmt.Errorf("build its table: %w", err)
	}
	t, err := symcache.Open(bin.Bytes(b.Bytes()))
	return fromTable{t}, err
}

// fromTable is a table with the methods of an object.
type fromTable struct{ *symcache.Table }

func (t fromTable) AppendText(dst []byte, x sym.Text) []byte {
	dst, _ = t.Table.AppendText(dst, x)
	return dst
}

// A lookup is an object or its table.
type lookup interface {
	Lookup(dst []sym.Frame, addr uint64) []sym.Frame
	AppendText(dst []byte, t sym.Text) []byte
}

// A fileLookup makes the frames of answers.
type fileLookup struct {
	lookup    lookup
	origin    func(path string) object.Origin
	base      uint64 // subtracted from addresses
	demangle  bool
	isWritten bool // paths are as the compiler wrote them
	found     []sym.Frame
	buf       []byte
}

// frames returns the frames of an address.
func (l *fileLookup) frames(addr uint64) ([]answer.Frame, error) {
	frames := []answer.Frame{}
	if addr < l.base {
		return frames, nil
	}
	l.found = l.lookup.Lookup(l.found[:0], addr-l.base)
	for _, f := range l.found {
		out := answer.Frame{Function: l.text(f.Func), Line: f.Line, Column: f.Column, Inlined: f.Inlined}
		if l.demangle {
			out.Function = demangle.Name(out.Function, demangle.Full)
		}
		if f.File != 0 {
			out.File = l.text(f.File)
			if l.isWritten {
				out.File = string(object.CleanPath([]byte(out.File), 0))
			}
			o := l.origin(out.File)
			out.Link, out.Path, out.Revision = o.URL, o.Path, o.Revision
		}
		if !f.Inlined {
			out.Offset = hex(addr - l.base - f.Entry)
		}
		frames = append(frames, out)
	}
	return frames, nil
}

// text returns a string of the file.
func (l *fileLookup) text(t sym.Text) string {
	l.buf = l.lookup.AppendText(l.buf[:0], t)
	return strings.ToValidUTF8(string(l.buf), "\uFFFD")
}

// ResolveWith answers the addresses, or without any those in the lines of standard
// input, with the frames that find returns. It reports an invalid line,
// answers it without frames, and continues.
func ResolveWith(ctx context.Context, e *Env, format string, addrs []string, find func(addr uint64) ([]answer.Frame, error)) error {
	p := printer{out: bufio.NewWriter(e.Stdout), format: answer.Formats[format], find: find}
	if format == "text" {
		p.format = answer.TextIn(e.Look)
	}
	if format == "json" {
		p.text("[")
		p.separator = ",\n "
	}
	var err error
	if len(addrs) > 0 {
		err = p.addresses(addrs)
	} else {
		err = p.lines(ctx, e)
	}
	if format == "json" {
		p.text("]\n")
	}
	return errors.Join(err, p.out.Flush()) // the answers before an error are written
}

// A printer writes answers.
type printer struct {
	find      func(addr uint64) ([]answer.Frame, error)
	out       *bufio.Writer
	format    func(dst []byte, a *answer.Answer) []byte
	separator string // between answers
	count     int
	buf       []byte
}

// addresses answers addresses up to the first error.
func (p *printer) addresses(addrs []string) error {
	for _, text := range addrs {
		addr, err := parseAddress(text)
		if err == nil {
			err = p.answer(addr)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lines answers the lines of standard input, each at once.
func (p *printer) lines(ctx context.Context, e *Env) error {
	bad := 0
	err := console.EachLine(ctx, e.Stdin, func(line string) error {
		if line = strings.TrimSpace(line); line == "" {
			return nil
		}
		addr, err := parseAddress(line)
		if err != nil {
			bad++
			console.Printf(e.Stderr, "symbolon: %s\n", console.Printable(err.Error()))
			p.put(&answer.Answer{Addr: line, Frames: []answer.Frame{}})
			return p.out.Flush()
		}
		return errors.Join(p.answer(addr), p.out.Flush())
	})
	if err == nil && bad > 0 {
		err = fmt.Errorf("%s without a valid address", console.Count(bad, "line"))
	}
	return err
}

// answer looks an address up.
func (p *printer) answer(addr address) error {
	frames, err := p.find(addr.value)
	if err == nil {
		p.put(&answer.Answer{Addr: addr.String(), Frames: frames})
	}
	return err
}

// put writes an answer.
func (p *printer) put(a *answer.Answer) {
	if p.count > 0 {
		p.text(p.separator)
	}
	p.count++
	p.buf = p.format(p.buf[:0], a)
	_, _ = p.out.Write(p.buf)
}

// text writes text. Flush reports the error.
func (p *printer) text(s string) { _, _ = p.out.WriteString(s) }
