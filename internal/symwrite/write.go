// Package symwrite writes opened debug files as Breakpad symbol files (.sym).
//
// The symbol file answers every address like its object, except for columns, which the
// format lacks. A function in several pieces becomes a FUNC for each piece; a symbol
// without size becomes a PUBLIC, unless it would reach into code that has no symbol. Long
// functions are split, so that readers accept the records.
//
// FUNC and PUBLIC records are written to the scratch file while the object is
// read, as FILE and INLINE_ORIGIN must precede them: memory holds only the ids of
// the strings and one function.
package symwrite

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/format/breakpad"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// Options are the options of Write.
type Options struct {
	Module    string         // name of the module; empty: that of the object, or else File
	File      string         // name of the debug file
	CodeFile  string         // name of the binary, if that is a PE file; empty: not known
	Mangled   bool           // keep mangled names
	Binary    *object.Object // binary of the debug file; may be nil
	Generator string         // name and version of the program
	Scratch   bin.Scratch
}

// Write writes an object as a symbol file. The code id and the unwind information
// of the binary are used if the object, such as a PDB, has none.
func Write(ctx context.Context, w io.Writer, obj *object.Object, opt Options) (err error) {
	body, err := opt.Scratch.Create()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opt.Scratch.Remove(body)) }()
	s := writer{texts: texts{names: obj.Names(), mangled: opt.Mangled, files: newTable(), origins: newTable()}}
	size, err := s.writeFunctions(ctx, body, obj, opt.Scratch)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<20)
	if _, err := out.Write(s.appendHeader(nil, obj.Info().Module, opt)); err != nil {
		return err
	}
	if _, err := io.Copy(out, io.NewSectionReader(body, 0, size)); err != nil {
		return err
	}
	if opt.Binary != nil && obj.Info().Features&object.HasUnwind == 0 {
		obj = opt.Binary
	}
	return errors.Join(CFI(ctx, out, obj), out.Flush())
}

// writeFunctions writes the FUNC and PUBLIC records of an object.
func (s *writer) writeFunctions(ctx context.Context, w io.Writer, obj *object.Object, scratch bin.Scratch) (size int64, err error) {
	out := bufio.NewWriterSize(w, 1<<20)
	flush := func() error {
		n, err := out.Write(s.buf)
		size += int64(n)
		s.buf = s.buf[:0]
		return err
	}
	err = obj.Blocks(object.BlockOptions{Workers: runtime.GOMAXPROCS(0), Scratch: scratch}, func(b *sym.Block) error {
		s.collect(b)
		s.block(b)
		return errors.Join(flush(), ctx.Err())
	})
	if err != nil {
		return 0, err
	}
	s.finish()
	return size, errors.Join(flush(), out.Flush())
}

// appendHeader appends the records that precede the functions.
func (s *writer) appendHeader(dst []byte, m ident.Module, opt Options) []byte {
	if opt.Binary != nil && m.CodeID.IsZero() {
		b := opt.Binary.Info().Module
		m.CodeID, m.CodeFile, m.DebugFile = b.CodeID, b.CodeFile, cmp.Or(m.DebugFile, b.DebugFile)
	}
	dst = breakpad.AppendModule(dst, breakpad.Module{
		OS: breakpadOS(m.Type), Arch: m.Arch.String(), ID: m.DebugID.Breakpad(),
		Name: cmp.Or(opt.Module, m.DebugFile, m.CodeFile, opt.File),
	})
	if !m.CodeID.IsZero() {
		code := strings.ToUpper(m.CodeID.String())
		dst = breakpad.AppendInfo(dst, "CODE_ID", strings.TrimSpace(code+" "+cmp.Or(m.CodeFile, opt.CodeFile)))
	}
	dst = breakpad.AppendInfo(dst, "GENERATOR", opt.Generator)
	for id, t := range s.files.first {
		s.text = s.names.AppendText(s.text[:0], t)
		dst = breakpad.AppendFile(dst, uint64(id), s.text)
	}
	for id, t := range s.origins.first {
		dst = breakpad.AppendOrigin(dst, uint64(id), s.name(t))
	}
	return dst
}

// breakpadOS returns the system in the MODULE record of files of a type.
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

// CFI writes the unwind information of an object as STACK records, until ctx
// ends.
func CFI(ctx context.Context, w io.Writer, obj *object.Object) error {
	var buf []byte
	return obj.CFI(func(u *sym.Unwind) error {
		buf = breakpad.AppendStack(buf[:0], u)
		_, err := w.Write(buf)
		return errors.Join(err, ctx.Err())
	})
}
