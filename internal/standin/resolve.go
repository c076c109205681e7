package standin

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"

	"symbolon/internal/answer"
	"symbolon/internal/bin"
	"symbolon/internal/companion"
	"symbolon/internal/console"
	"symbolon/internal/demangle"
	"symbolon/internal/object"
	"symbolon/internal/scratch"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
	"symbolon/internal/table"
)

// Query is a file and what is asked about it.
type Query struct {
	File     string
	Open     companion.Options // Stdin too
	Relative bool              // addresses are relative to the image
	Mangled  bool              // leave mangled names as they are
	Args     []string          // addresses; none: lines of standard input
}

// Resolve answers addresses in a format of package answer. From a table in
// memory if fromTable.
func Resolve(ctx context.Context, e *Env, q Query, format string, fromTable bool) error {
	q.Open.Columns = true
	d, err := companion.Open(q.File, q.Open)
	if err != nil {
		return err
	}
	defer d.Close()
	tellMissing(e.Stderr, q.File, d.Object())
	r := resolver{answers: d.Object(), origin: d.Object().Origin, demangle: !q.Mangled, out: bufio.NewWriter(e.Stdout), write: answer.Formats[format]}
	if fromTable {
		if r.answers, err = tableOf(ctx, d.Object()); err != nil {
			return fmt.Errorf("%s: %w", q.File, err)
		}
	}
	if !q.Relative {
		r.base = d.Object().Info().LoadAddress
	}
	err = r.answer(ctx, e, format, q.Args)
	Damage(e.Stderr, q.File, d.Object().Info())
	return err
}

// ResolveWith answers addresses with what ask says.
func ResolveWith(ctx context.Context, e *Env, format string, args []string, ask func(addr uint64) ([]answer.Frame, error)) error {
	r := resolver{asked: ask, out: bufio.NewWriter(e.Stdout), write: answer.Formats[format]}
	return r.answer(ctx, e, format, args)
}

// tellMissing says that a binary of Windows is answered without its PDB.
func tellMissing(w io.Writer, name string, o *object.Object) {
	if o.Info().Features&object.HasDebug != 0 {
		return
	}
	for _, n := range o.Needs() {
		if n.Kind == object.NeedPDB {
			console.Printf(w, "%s: its PDB, %s with the id %s, is not beside it; --debug-dir names other folders\n", name, n.Name, n.DebugID.Breakpad())
		}
	}
}

// Damage says what of a file could not be read.
func Damage(stderr io.Writer, name string, info object.Info) {
	for _, d := range info.Damage {
		console.Printf(stderr, "symbolon: %s: not read in full: %s (%d)\n", console.Printable(name), d.Kind, d.Count)
		for _, p := range d.Places {
			console.Printf(stderr, "symbolon: %s: %s\n", console.Printable(name), console.Printable(p))
		}
	}
}

// AsTool answers as one of the known tools does, with what it knows of
// functions and inlined calls.
func AsTool(ctx context.Context, e *Env, q Query, gnu bool) (code int, err error) {
	if q.Open.Arch != "" || q.Open.Object != 0 { // the tools have no words for an object that is not there
		d, err := companion.OpenAlone(q.File, q.Open)
		if err != nil {
			return 0, err
		}
		if err := d.Close(); err != nil {
			return 0, err
		}
	}
	if gnu {
		t := addr2lineTool{env: e, program: "addr2line", dirs: q.Open.Dirs, arch: q.Open.Arch, object: q.Open.Object, rva: q.Relative, out: bufio.NewWriter(e.Stdout)}
		call := []string{t.program, "-fi"}
		if !q.Mangled {
			call = append(call, "-C")
		}
		code = t.run(ctx, append(append(call, "-e", q.File, "--"), q.Args...))
	} else {
		call := []string{"llvm-symbolizer", "--obj=" + q.File, "--default-arch=" + q.Open.Arch}
		if q.Relative {
			call = append(call, "--relative-address")
		}
		if q.Mangled {
			call = append(call, "--no-demangle")
		}
		for _, d := range q.Open.Dirs {
			call = append(call, "--debug-file-directory="+d)
		}
		t := newLLVMTool(e)
		t.hex, t.lib.opt.Object = true, q.Open.Object
		code = t.run(ctx, append(call, q.Args...))
	}
	return code, nil
}

// tableOf makes the table of an object in memory. What a server would refuse is
// refused here too, and as soon.
func tableOf(ctx context.Context, o *object.Object) (answers, error) {
	var b bytes.Buffer
	opt := symcache.Options{Scratch: scratch.Dir(os.TempDir()), Workers: runtime.GOMAXPROCS(0)}
	if err := table.Build(ctx, &b, o, opt, table.Input{}); err != nil {
		return nil, fmt.Errorf("build its table: %w", err)
	}
	t, err := symcache.Open(bin.Bytes(b.Bytes()))
	return inTable{t}, err
}

// inTable answers from a table.
type inTable struct{ *symcache.Table }

func (t inTable) AppendText(dst []byte, x sym.Text) []byte {
	dst, _ = t.Table.AppendText(dst, x)
	return dst
}

// answers is a debug file or its table.
type answers interface {
	Lookup(dst []sym.Frame, addr uint64) []sym.Frame
	AppendText(dst []byte, t sym.Text) []byte
}

// resolver answers addresses one by one.
type resolver struct {
	answers  answers
	asked    func(addr uint64) ([]answer.Frame, error) // in place of answers
	origin   func(path string) object.Origin
	base     uint64
	demangle bool
	out      *bufio.Writer
	write    func(dst []byte, a *answer.Answer) []byte
	sep      string // between answers
	count    int
	frames   []sym.Frame
	buf      []byte
}

func (r *resolver) text(s string) { _, _ = r.out.WriteString(s) }

// answer answers args, or the lines of standard input, in a format.
func (r *resolver) answer(ctx context.Context, e *Env, format string, args []string) error {
	if format == "json" {
		r.text("[")
		r.sep = ",\n "
	}
	err := r.all(ctx, e.Stdin, e.Stderr, args)
	if format == "json" {
		r.text("]\n")
	}
	if e := r.out.Flush(); err == nil { // what is known is told in any case
		err = e
	}
	return err
}

// all answers args, or the lines of stdin when there are none. A line that is
// no address is told, answered with nothing, and does not stop the others.
func (r *resolver) all(ctx context.Context, stdin io.Reader, stderr io.Writer, args []string) error {
	for _, a := range args {
		addr, err := parseWanted(a)
		if err != nil {
			return err
		}
		if err := r.one(addr); err != nil {
			return err
		}
	}
	if len(args) > 0 {
		return nil
	}
	bad := 0
	err := console.EachLine(ctx, stdin, func(line string) error {
		if line = strings.TrimSpace(line); line == "" {
			return nil
		}
		addr, err := parseWanted(line)
		if err != nil {
			bad++
			console.Printf(stderr, "symbolon: %s\n", console.Printable(err.Error()))
			err = r.put(&answer.Answer{Addr: line, Frames: []answer.Frame{}})
		} else {
			err = r.one(addr)
		}
		if e := r.out.Flush(); err == nil {
			err = e
		}
		return err
	})
	if err == nil && bad > 0 {
		err = fmt.Errorf("%s without an address", console.Count(bad, "line"))
	}
	return err
}

func (r *resolver) one(w wanted) error {
	addr := w.addr
	a := answer.Answer{Addr: w.String(), Frames: []answer.Frame{}}
	if r.asked != nil {
		var err error
		if a.Frames, err = r.asked(addr); err != nil {
			return err
		}
		return r.put(&a)
	}
	r.frames = r.frames[:0]
	if addr >= r.base {
		r.frames = r.answers.Lookup(r.frames, addr-r.base)
	}
	for _, f := range r.frames {
		out := answer.Frame{Function: r.name(f.Func), Line: f.Line, Column: f.Column, Inlined: f.Inlined}
		if f.File != 0 {
			out.File = r.string(f.File)
			o := r.origin(out.File)
			out.Link, out.Path, out.Revision = o.URL, o.Path, o.Revision
		}
		if !f.Inlined {
			out.Offset = "0x" + strconv.FormatUint(addr-r.base-f.Entry, 16)
		}
		a.Frames = append(a.Frames, out)
	}
	return r.put(&a)
}

// put writes one answer.
func (r *resolver) put(a *answer.Answer) error {
	r.buf = r.write(r.buf[:0], a)
	if r.count > 0 {
		r.text(r.sep)
	}
	r.count++
	_, err := r.out.Write(r.buf)
	return err
}

func (r *resolver) string(t sym.Text) string {
	r.buf = r.answers.AppendText(r.buf[:0], t)
	return strings.ToValidUTF8(string(r.buf), "\uFFFD")
}

func (r *resolver) name(t sym.Text) string {
	s := r.string(t)
	if r.demangle {
		return demangle.Name(s, demangle.Full)
	}
	return s
}

// wanted is an address as it was asked for: a number, or the token of a method and
// an offset in its IL, which are its halves.
type wanted struct {
	addr   uint64
	method bool
}

func (w wanted) String() string {
	if w.method {
		return fmt.Sprintf("0x%08x+0x%x", w.addr>>32, uint32(w.addr))
	}
	return "0x" + strconv.FormatUint(w.addr, 16)
}

// parseWanted reads an address, or a token and an offset: 0x06000001+0x1a.
func parseWanted(s string) (wanted, error) {
	token, il, method := strings.Cut(s, "+")
	addr, err := parseAddr(token)
	if err != nil || !method {
		return wanted{addr: addr}, err
	}
	off, err := parseAddr(il)
	if err != nil || max(addr, off) > math.MaxUint32 {
		return wanted{}, fmt.Errorf("%q is no address: a token and an offset have up to 8 hexadecimal digits each", s)
	}
	return wanted{addr<<32 | off, true}, nil
}

// parseAddr reads a hexadecimal address with or without 0x.
func parseAddr(s string) (uint64, error) {
	digits := strings.TrimPrefix(strings.TrimPrefix(s, "0x"), "0X")
	addr, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no address: wanted are up to 16 hexadecimal digits, with or without 0x", s)
	}
	return addr, nil
}
