// Package symwrite writes debug files as Breakpad symbol files.
package symwrite

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"runtime"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/demangle"
	"symbolon/internal/format/breakpad"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// Options say how a Breakpad file is written.
type Options struct {
	Module    string         // its name; empty: what the file says
	File      string         // name of the file, for one that does not say its module's
	Mangled   bool           // leave mangled names as they are
	Binary    *object.Object // that the file was found for; nil: none
	Generator string         // the program that writes it
	Scratch   bin.Scratch    // for the functions, which are written first
}

// Write writes a Breakpad file. The code id and unwind information that a PDB
// lacks come from the binary that it was found for.
func Write(ctx context.Context, w io.Writer, obj *object.Object, opt Options) (err error) {
	body, err := opt.Scratch.Create()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opt.Scratch.Remove(body)) }()
	s := symWriter{obj: obj, names: obj.Names(), Options: opt, seed: maphash.MakeSeed(), out: bufio.NewWriterSize(body, 1<<20)}
	s.files.init()
	s.origins.init()
	err = obj.Blocks(object.BlockOptions{Workers: runtime.GOMAXPROCS(0), Scratch: opt.Scratch}, func(b *sym.Block) error {
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
	if opt.Binary != nil && obj.Info().Features&object.HasUnwind == 0 {
		obj = opt.Binary
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
	Options
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
	if s.Binary != nil && m.CodeID.IsZero() {
		b := s.Binary.Info().Module
		m.CodeID, m.CodeFile, m.DebugFile = b.CodeID, cmp.Or(b.CodeFile, s.File), cmp.Or(m.DebugFile, b.DebugFile)
	}
	name := cmp.Or(s.Module, m.DebugFile, m.CodeFile, s.File)
	s.buf = breakpad.AppendModule(s.buf, breakpad.Module{
		OS: breakpadOS(m.Type), Arch: m.Arch.String(), ID: m.DebugID.Breakpad(), Name: name,
	})
	if !m.CodeID.IsZero() {
		code := strings.ToUpper(m.CodeID.String())
		s.buf = breakpad.AppendInfo(s.buf, "CODE_ID", strings.TrimSpace(code+" "+m.CodeFile))
	}
	s.buf = breakpad.AppendInfo(s.buf, "GENERATOR", s.Generator)
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
	if s.Mangled {
		return s.text
	}
	s.plain = demangle.Append(s.plain[:0], s.text, demangle.Full)
	return s.plain
}

// CFI is the CFI of an object until ctx ends.
func CFI(ctx context.Context, o *object.Object, write func(records []byte) error) error {
	return o.CFI(func(records []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return write(records)
	})
}
