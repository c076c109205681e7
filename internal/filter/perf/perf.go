// Package perf rewrites the text of perf script, and folded stacks, with names.
//
// Filter reads both, line by line. Those of perf script are
//
//	app 4711 81.123456:     250000 cycles:u:
//		             7d3 [unknown] (/srv/app)
//
// [unknown] becomes the name of the function, and calls that are inlined there
// become lines above it, as perf prints them. The addresses of a call chain are
// offsets in the file for programs and libraries (since perf 5.1), and absolute in
// the kernel. The first one in the kernel and in the process is exact, the others
// follow calls. If perf unwinds by debug information they are one byte less
// already, which does no harm: calls have two bytes or more. The address of a
// sample without a chain is absolute, and so are chains of older versions. They need
// the mappings that perf script --show-mmap-events prints.
//
// Folded stacks have the frames of a line from the outermost to the innermost:
//
//	app;main;libfoo.so+0x1973;[libc.so.6 <27249>] 12
//
// A frame that is a module and an offset in its file becomes the names at it, the
// inlined ones with the suffix _[i]. A name before an offset is that of a module if
// it is in brackets, has a slash or .so, or has an identifier.
//
// Neither text has identifiers. Lines of perf buildid-list before the samples, and
// mappings recorded by perf record --buildid-mmap, identify the files. Folded stacks
// have only file names: an id is used for one unless files of two folders have it.
//
// Limits: 64 KiB a line, 16,384 files with names of 4 KiB, and 1,024 mappings of
// each. Lines and files beyond are left as they are; the newest mappings are kept.
package perf

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"

	"symbolon/internal/filter"
)

const (
	maxLine      = 64 << 10
	maxText      = 64 << 10 // of the lines that are looked up together
	maxAddresses = 4096
)

// Filter rewrites the text of perf script, and folded stacks.
func Filter(ctx context.Context, run *filter.Run, in *bufio.Reader, out *bufio.Writer) error {
	s := &script{run: run, out: out, files: files{}, isFirst: true}
	for {
		if len(s.text) >= maxText || len(s.query.Addresses) >= maxAddresses || !hasLine(in) {
			if err := s.flush(ctx); err != nil {
				return err
			}
		}
		start := len(s.text)
		err := bufio.ErrBufferFull
		for err == bufio.ErrBufferFull && len(s.text)-start < maxLine {
			err = s.read(in)
		}
		if err != bufio.ErrBufferFull && len(s.text)-start <= maxLine {
			s.line(start)
		}
		for err == bufio.ErrBufferFull {
			if err := s.flush(ctx); err != nil {
				return err
			}
			err = s.read(in)
		}
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return cmp.Or(s.flush(ctx), err)
		}
	}
}

// hasLine reports whether a line can be read without waiting for input.
func hasLine(in *bufio.Reader) bool {
	buffered, _ := in.Peek(in.Buffered())
	return bytes.IndexByte(buffered, '\n') >= 0
}

// read appends a line to the text, or a part of it if it is longer than the buffer.
func (s *script) read(in *bufio.Reader) error {
	line, err := in.ReadSlice('\n')
	s.text = append(s.text, line...)
	return err
}

// flush writes the text with the names of its addresses.
func (s *script) flush(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	at := 0
	if len(s.spans) > 0 {
		answer, err := s.run.Look(ctx, &s.query)
		if err != nil {
			return err
		}
		for i, p := range s.spans {
			frames := answer.Frames(i)
			if len(frames) == 0 || len(frames[len(frames)-1].Function) == 0 {
				continue
			}
			s.out.Write(s.text[at:p.start])
			s.names = s.appendNames(s.names[:0], p, frames)
			s.out.Write(s.names)
			at = p.end
		}
		answer.Release()
	}
	s.out.Write(s.text[at:])
	s.text, s.spans = s.text[:0], s.spans[:0]
	s.query.Modules, s.query.Addresses = s.query.Modules[:0], s.query.Addresses[:0]
	s.number++
	return s.out.Flush()
}
