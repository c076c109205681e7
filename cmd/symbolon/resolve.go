package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
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
	"symbolon/internal/demangle"
	"symbolon/internal/object"
	"symbolon/internal/scratch"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
	"symbolon/internal/table"
)

type resolveFlags struct {
	conf       configFlags
	file       string
	open       companion.Options
	format     string
	addr       string
	table      bool
	noDemangle bool
}

func resolveCommand() *command {
	var f resolveFlags
	return &command{
		name:  "resolve",
		args:  "FILE | --fileid ID [ADDR...]",
		short: "Turn addresses into names, straight from a debug file",
		long: `Addresses are hexadecimal, with or without 0x, as arguments or one per line
of standard input; answers come in the same order, each as soon as it is known.
In a portable PDB they are the token of a method and an offset in its IL, as in
0x06000001+0x1a.
Frames are innermost first: inlined calls, then the function they are in.

Formats: text for people; jsonl, one object per address; json, an array of the
same objects; gnu and llvm, what addr2line -fi and llvm-symbolizer print.
An address about which nothing is known is an answer, not a failure.

With --fileid the addresses are those of a binary whose symbols were uploaded to
the server of the data directory: as linked, and of return addresses one less.`,
		flags: func(fs *flag.FlagSet) {
			f.conf.addBase(fs)
			fs.StringVar(&f.file, "fileid", "", "in place of a FILE, ask the server for the binary with this `ID`")
			fs.StringVar(&f.format, "format", "text", "text, json, jsonl, gnu or llvm as `FORMAT`")
			fs.StringVar(&f.addr, "addr", "", "`KIND` of the addresses: rva (relative to the image, the default of text and json) or vaddr (as linked, the default of gnu and llvm)")
			fs.StringVar(&f.open.Arch, "arch", "", "the object of a file of several that is for `ARCH`; empty is any")
			fs.IntVar(&f.open.Object, "object", 0, "the `N`th object of those, counted from 0")
			fs.Func("debug-dir", "look for separate debug files in `DIR` too; may be repeated", func(dir string) error {
				f.open.Dirs = append(f.open.Dirs, dir)
				return nil
			})
			fs.BoolVar(&f.table, "table", false, "make a table first and answer from that, which pays for very many addresses")
			fs.BoolVar(&f.noDemangle, "no-demangle", false, "leave mangled names as they are")
		},
		run: func(ctx context.Context, e *env, args []string) error { return resolve(ctx, e, &f, args) },
	}
}

func resolve(ctx context.Context, e *env, f *resolveFlags, args []string) error {
	if f.file != "" {
		return resolveUploaded(ctx, e, f, args)
	}
	switch f.format {
	case "gnu", "llvm":
		return asTool(ctx, e, f, args)
	}
	write, ok := answer.Formats[f.format]
	if !ok {
		return &usageError{text: fmt.Sprintf("unknown --format %q; there are text, json, jsonl, gnu and llvm", f.format)}
	}
	if err := f.check(args); err != nil {
		return err
	}
	if args[0] == "-" && len(args) == 1 {
		return &usageError{text: "with the file on standard input the addresses must be arguments"}
	}
	f.open.Columns = true
	d, err := openDebug(e, args[0], f.open)
	if err != nil {
		return err
	}
	defer d.Close()
	tellMissing(e.stderr, args[0], d.Object())
	r := resolver{answers: d.Object(), origin: d.Object().Origin, demangle: !f.noDemangle, out: bufio.NewWriter(e.stdout), write: write}
	if f.table {
		if r.answers, err = tableOf(ctx, d.Object()); err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
	}
	if f.addr == "vaddr" {
		r.base = d.Object().Info().LoadAddress
	}
	err = r.answer(ctx, e, f.format, args[1:])
	tellDamage(e.stderr, args[0], d.Object().Info())
	return err
}

// tellMissing says that a binary of Windows is answered without its PDB.
func tellMissing(w io.Writer, name string, o *object.Object) {
	if o.Info().Features&object.HasDebug != 0 {
		return
	}
	for _, n := range o.Needs() {
		if n.Kind == object.NeedPDB {
			say(w, "%s: its PDB, %s with the id %s, is not beside it; --debug-dir names other folders\n", name, n.Name, n.DebugID.Breakpad())
		}
	}
}

func (f *resolveFlags) check(args []string) error {
	switch f.addr {
	case "", "rva", "vaddr":
	default:
		return &usageError{text: fmt.Sprintf("unknown --addr %q; there are rva and vaddr", f.addr)}
	}
	if len(args) == 0 {
		return &usageError{text: "which FILE?"}
	}
	return nil
}

// asTool answers as one of the known tools does, with what it knows of
// functions and inlined calls.
func asTool(ctx context.Context, e *env, f *resolveFlags, args []string) error {
	if err := f.check(args); err != nil {
		return err
	}
	if f.table {
		return &usageError{text: "--table goes with --format text, json and jsonl"}
	}
	if f.open.Arch != "" || f.open.Object != 0 { // the tools have no words for an object that is not there
		d, err := openAlone(e, args[0], f.open)
		if err != nil {
			return err
		}
		if err := d.Close(); err != nil {
			return err
		}
	}
	code := 0
	if f.format == "gnu" {
		t := addr2lineTool{env: e, program: "addr2line", dirs: f.open.Dirs, arch: f.open.Arch, object: f.open.Object, rva: f.addr == "rva", out: bufio.NewWriter(e.stdout)}
		call := []string{t.program, "-fi"}
		if !f.noDemangle {
			call = append(call, "-C")
		}
		code = t.run(ctx, append(append(call, "-e", args[0], "--"), args[1:]...))
	} else {
		call := []string{"llvm-symbolizer", "--obj=" + args[0], "--default-arch=" + f.open.Arch}
		if f.addr == "rva" {
			call = append(call, "--relative-address")
		}
		if f.noDemangle {
			call = append(call, "--no-demangle")
		}
		for _, d := range f.open.Dirs {
			call = append(call, "--debug-file-directory="+d)
		}
		t := newLLVMTool(e)
		t.hex, t.lib.opt.Object = true, f.open.Object
		code = t.run(ctx, append(call, args[1:]...))
	}
	if code != exitDone {
		return errTold
	}
	return nil
}

// errTold is a failure that has been told.
var errTold = errors.New("")

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

// tellDamage says what of a file could not be read.
func tellDamage(stderr io.Writer, name string, info object.Info) {
	for _, d := range info.Damage {
		say(stderr, "symbolon: %s: not read in full: %s (%d)\n", printable(name), d.Kind, d.Count)
		for _, p := range d.Places {
			say(stderr, "symbolon: %s: %s\n", printable(name), printable(p))
		}
	}
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
func (r *resolver) answer(ctx context.Context, e *env, format string, args []string) error {
	if format == "json" {
		r.text("[")
		r.sep = ",\n "
	}
	err := r.all(ctx, e.stdin, e.stderr, args)
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
	err := eachLine(ctx, stdin, func(line string) error {
		if line = strings.TrimSpace(line); line == "" {
			return nil
		}
		addr, err := parseWanted(line)
		if err != nil {
			bad++
			say(stderr, "symbolon: %s\n", printable(err.Error()))
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
		err = fmt.Errorf("%s without an address", counted(bad, "line"))
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
