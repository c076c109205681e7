package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"symbolon/internal/demangle"
	"symbolon/internal/format/breakpad"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/scratch"
	"symbolon/internal/sym"
)

func symCommand() *command {
	var out string
	var opt symOptions
	return &command{
		name:  "sym",
		args:  "FILE",
		short: "Write what a debug file says as a Breakpad symbol file",
		long: `Functions, inlined calls, lines, symbols and unwind information are written.
The format has no room for columns; a function in several pieces becomes one
function for each piece, and a symbol that reaches beyond the function at its
start begins behind that.`,
		flags: func(fs *flag.FlagSet) {
			fs.StringVar(&out, "out", "-", "write to `SYM`; - is standard output")
			fs.StringVar(&opt.module, "module", "", "call the module `NAME`, where the file does not say its name, as in a separate debug file (default: what the file says, else its own name)")
			fs.BoolVar(&opt.mangled, "no-demangle", false, "leave mangled names as they are")
		},
		run: func(ctx context.Context, e *env, args []string) error {
			if len(args) != 1 {
				return &usageError{text: "name one FILE"}
			}
			if opt.module != "" {
				if err := ident.CheckFileName(opt.module); err != nil {
					return &usageError{text: "--module: " + err.Error()}
				}
			}
			obj, src, err := openObject(e, args[0])
			if err != nil {
				return err
			}
			defer src.Close()
			limitMemory()
			opt.file, opt.binary = filepath.Base(args[0]), src.Binary()
			err = writeFile(e, out, func(w io.Writer) error { return writeSym(ctx, w, obj, opt) })
			if err != nil {
				return err
			}
			tellDamage(e.stderr, args[0], obj.Info())
			return nil
		},
	}
}

// symOptions say how a Breakpad file is written.
type symOptions struct {
	module  string         // its name; empty: what the file says
	file    string         // name of the file, for one that does not say its module's
	mangled bool           // leave mangled names as they are
	binary  *object.Object // that the file was found for; nil: none
}

// writeSym writes a Breakpad file. The code id and unwind information that a PDB
// lacks come from the binary that it was found for.
func writeSym(ctx context.Context, w io.Writer, obj *object.Object, opt symOptions) (err error) {
	spill := scratch.Dir(os.TempDir())
	body, err := spill.Create()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, spill.Remove(body)) }()
	s := symWriter{obj: obj, names: obj.Names(), symOptions: opt, seed: maphash.MakeSeed(), out: bufio.NewWriterSize(body, 1<<20)}
	s.files.init()
	s.origins.init()
	err = obj.Blocks(object.BlockOptions{Workers: runtime.GOMAXPROCS(0), Scratch: spill}, func(b *sym.Block) error {
		s.collect(b)
		s.block(b)
		return errors.Join(s.flush(), ctx.Err())
	})
	if err != nil {
		return err
	}
	s.finish()
	if err := errors.Join(s.flush(), s.out.Flush()); err != nil {
		return err
	}
	// FILE and INLINE_ORIGIN stand before the functions that made them known.
	s.out.Reset(w)
	size := s.size
	s.header()
	if err := s.flush(); err != nil {
		return err
	}
	if _, err := io.Copy(s.out, io.NewSectionReader(body, 0, size)); err != nil {
		return err
	}
	if opt.binary != nil && obj.Info().Features&object.HasUnwind == 0 {
		obj = opt.binary
	}
	err = obj.CFI(func(records []byte) error {
		_, err := s.out.Write(records)
		return errors.Join(err, ctx.Err())
	})
	if err != nil {
		return err
	}
	return s.out.Flush()
}

// symWriter makes the records of a Breakpad file out of blocks.
type symWriter struct {
	symOptions
	obj     *object.Object
	names   *object.Names
	seed    maphash.Seed
	out     *bufio.Writer
	size    int64  // bytes given to out
	buf     []byte // records that wait to be written
	text    []byte
	plain   []byte
	files   numbers
	origins numbers
	run     symRun
}

func (s *symWriter) flush() error {
	n, err := s.out.Write(s.buf)
	s.size += int64(n)
	s.buf = s.buf[:0]
	return err
}

// numbers are the ids of strings. Handles with the same string have one id.
type numbers struct {
	byText map[sym.Text]uint64
	byHash map[uint64]uint64
	first  []sym.Text // by id
}

func (n *numbers) init() { n.byText, n.byHash = map[sym.Text]uint64{}, map[uint64]uint64{} }

// noID is the id of no string. It is the greatest that every reader takes.
const noID = 1<<31 - 1

func (n *numbers) id(t sym.Text) uint64 {
	if id, ok := n.byText[t]; ok {
		return id
	}
	return noID
}

// add gives a string an id, if it has none.
func (s *symWriter) add(n *numbers, t sym.Text) {
	if _, ok := n.byText[t]; ok || t == 0 {
		return
	}
	s.text = s.names.AppendText(s.text[:0], t)
	sum := maphash.Bytes(s.seed, s.text)
	id, ok := n.byHash[sum]
	if ok && !s.is(n.first[id], s.text) {
		ok = false // another string that happens to have the same sum
	}
	if !ok {
		id = uint64(len(n.first))
		n.first = append(n.first, t)
		n.byHash[sum] = id
	}
	n.byText[t] = id
}

func (s *symWriter) is(t sym.Text, text []byte) bool {
	n := len(s.text)
	s.text = s.names.AppendText(s.text, t)
	same := bytes.Equal(s.text[n:], text[:n])
	s.text = s.text[:n]
	return same
}

// collect gives ids to the strings of a block, in the order in which its rows
// need them.
func (s *symWriter) collect(b *sym.Block) {
	last := int32(sym.Hole)
	for i := range b.Rows {
		r := &b.Rows[i]
		if r.Node < 0 {
			continue
		}
		if r.Node != last {
			last = r.Node
			for n := &b.Nodes[r.Node]; n.Parent >= 0; n = &b.Nodes[n.Parent] {
				s.add(&s.origins, n.Name)
				s.add(&s.files, n.CallFile)
			}
		}
		s.add(&s.files, r.File)
	}
}

// header writes what stands before the functions.
func (s *symWriter) header() {
	info := s.obj.Info()
	m := info.Module
	if s.binary != nil && m.CodeID.IsZero() {
		b := s.binary.Info().Module
		m.CodeID, m.CodeFile, m.DebugFile = b.CodeID, cmp.Or(b.CodeFile, s.file), cmp.Or(m.DebugFile, b.DebugFile)
	}
	name := cmp.Or(s.module, m.DebugFile, m.CodeFile, s.file)
	s.buf = breakpad.AppendModule(s.buf, breakpad.Module{
		OS: breakpadOS(m.Type), Arch: m.Arch.String(), ID: m.DebugID.Breakpad(), Name: name,
	})
	if !m.CodeID.IsZero() {
		code := strings.ToUpper(m.CodeID.String())
		s.buf = breakpad.AppendInfo(s.buf, "CODE_ID", strings.TrimSpace(code+" "+m.CodeFile))
	}
	s.buf = breakpad.AppendInfo(s.buf, "GENERATOR", "symbolon "+version())
	for id, t := range s.files.first {
		s.text = s.names.AppendText(s.text[:0], t)
		s.buf = breakpad.AppendFile(s.buf, uint64(id), s.text)
	}
	for id, t := range s.origins.first {
		s.buf = breakpad.AppendOrigin(s.buf, uint64(id), s.name(t))
	}
}

// breakpadOS is the system that MODULE names for a format.
func breakpadOS(t ident.Type) string {
	switch t {
	case ident.TypeELF:
		return "Linux"
	case ident.TypeMachO:
		return "mac"
	case ident.TypePE:
		return "windows"
	}
	return "unknown"
}

// name is a name as it is written, good until the next one.
func (s *symWriter) name(t sym.Text) []byte {
	s.text = s.names.AppendText(s.text[:0], t)
	if s.mangled {
		return s.text
	}
	s.plain = demangle.Append(s.plain[:0], s.text, demangle.Full)
	return s.plain
}
