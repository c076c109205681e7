package markup

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"strconv"

	"symbolon/internal/demangle"
	"symbolon/internal/filter"
	"symbolon/internal/ident"
)

// Bounds of what is kept: a longer line is copied.
const (
	maxLine      = 64 << 10
	maxText      = 64 << 10
	maxAddresses = 4096
)

// Filter copies in to out with names instead of elements. Lines are written before
// it waits for more of them.
func Filter(ctx context.Context, run *filter.Run, in *bufio.Reader, out *bufio.Writer) error {
	f := filler{run: run, out: out}
	for isLong := false; ; {
		part, err := in.ReadSlice('\n')
		isPart := errors.Is(err, bufio.ErrBufferFull)
		f.text = append(f.text, part...)
		if isLong = isLong || len(f.text)-f.line > maxLine; !isLong && !isPart {
			f.scan()
		}
		if isLong || !isPart {
			f.line = len(f.text)
		}
		isLong = isLong && isPart
		if isPart {
			err = nil
		}
		if err != nil || len(f.text) >= maxText || len(f.query.Addresses) >= maxAddresses || in.Buffered() == 0 {
			if err := f.write(ctx); err != nil {
				return err
			}
			if in.Buffered() == 0 || err != nil {
				if err := out.Flush(); err != nil {
					return err
				}
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

// A filler has the lines that are not written yet.
type filler struct {
	run   *filter.Run
	out   *bufio.Writer
	text  []byte
	line  int // where the last line, which is not complete, starts in text
	holes []hole

	context Context
	element Element
	query   filter.Query
	modules map[*Module]int32 // in query
	buf     []byte
}

// A hole is an element that may be replaced.
type hole struct {
	from, to int // in text
	address  int // in the query; -1 for a symbol
	isFrame  bool
	isCRLF   bool // of the line
	place    Place
}

// scan reads the last line.
func (f *filler) scan() {
	line := f.text[f.line:]
	isCRLF := bytes.HasSuffix(line, []byte("\r\n"))
	for e := &f.element; ; {
		_, rest, ok := e.Next(line)
		if !ok {
			return
		}
		line = rest
		h := hole{to: len(f.text) - len(rest), address: -1, isCRLF: isCRLF}
		h.from = h.to - len(e.Text)
		switch string(e.Tag) {
		case "reset":
			f.context.Reset()
		case "module":
			f.context.AddModule(e)
		case "mmap":
			f.context.AddMap(e)
		case "symbol":
			if e.N == 1 && bytes.IndexByte(e.Field(0), '{') < 0 {
				f.holes = append(f.holes, h)
			}
		case "bt", "pc":
			h.isFrame = e.Tag[0] == 'b'
			if h.place, ok = f.context.Place(e); ok && h.place.Map != nil {
				f.ask(h)
			}
		}
	}
}

// ask adds a hole with an address.
func (f *filler) ask(h hole) {
	m := h.place.Map.Module
	i, ok := f.modules[m]
	if !ok {
		id, hasID := f.run.Module(m.Name, ident.Module{Type: ident.TypeELF, CodeID: ident.CodeID(hex.EncodeToString(m.BuildID))}.Derive())
		if i = -1; hasID {
			i = f.query.AddModule(id)
		}
		if f.modules == nil {
			f.modules = map[*Module]int32{}
		}
		f.modules[m] = i
	}
	if i >= 0 {
		h.address = len(f.query.Addresses)
		f.query.Addresses = append(f.query.Addresses, filter.Address{Module: i, Space: h.place.Map.space(), Addr: h.place.Linked()})
		f.holes = append(f.holes, h)
	}
}

// write writes the complete lines.
func (f *filler) write(ctx context.Context) error {
	var answer filter.Answer
	if len(f.query.Addresses) > 0 {
		var err error
		if answer, err = f.run.Look(ctx, &f.query); err != nil {
			return err
		}
	}
	at := 0
	for i := range f.holes {
		h := &f.holes[i]
		f.buf = f.buf[:0]
		if h.address < 0 {
			name := f.text[h.from+len("{{{symbol:") : h.to-len(closing)]
			f.buf = demangle.Append(f.buf, name, demangle.LLVM)
		} else {
			f.fill(h, answer.Frames(h.address))
		}
		if len(f.buf) > 0 {
			_, _ = f.out.Write(f.text[at:h.from])
			_, _ = f.out.Write(f.buf)
			at = h.to
		}
	}
	_, err := f.out.Write(f.text[at:f.line]) // which has the error of those before
	f.text = append(f.text[:0], f.text[f.line:]...)
	f.line, f.holes = 0, f.holes[:0]
	if answer != nil {
		answer.Release()
	}
	f.query.Modules, f.query.Addresses = f.query.Modules[:0], f.query.Addresses[:0]
	clear(f.modules)
	return err
}

// fill makes the text for the frames of an address.
func (f *filler) fill(h *hole, frames []filter.Frame) {
	for i := range frames {
		x := &frames[i]
		if !h.isFrame { // of the innermost line, in the function that is called
			f.buf = appendKnown(f.buf, frames[len(frames)-1].Function)
			f.buf = append(appendKnown(append(f.buf, '['), x.File), ':')
			f.buf = append(strconv.AppendUint(f.buf, uint64(x.Line), 10), ']')
			return
		}
		level := 0
		if i < len(frames)-1 {
			level = i + 1
		}
		f.header(h, level)
		f.buf = append(appendKnown(f.buf, x.Function), ' ')
		f.buf = append(appendKnown(f.buf, x.File), ':')
		f.buf = append(strconv.AppendUint(f.buf, uint64(x.Line), 10), ':')
		f.buf = append(strconv.AppendUint(f.buf, uint64(x.Column), 10), ' ')
		f.buf = append(append(append(f.buf, '('), h.place.Map.Module.Name...), "+0x"...)
		f.buf = append(strconv.AppendUint(f.buf, h.place.Linked(), 16), ')')
		switch {
		case level == 0:
		case h.isCRLF:
			f.buf = append(f.buf, "\r\n"...)
		default:
			f.buf = append(f.buf, '\n')
		}
	}
}

// header appends the number of a frame, of its inlined call if level is not 0, and
// its address, in columns.
func (f *filler) header(h *hole, level int) {
	var number [20]byte
	f.pad("     ", strconv.AppendUint(number[:0], h.place.Frame, 10))
	f.buf = append(f.buf, '#')
	f.buf = strconv.AppendUint(f.buf, h.place.Frame, 10)
	if level == 0 {
		f.buf = append(f.buf, "   "...)
	} else {
		digits := strconv.AppendInt(number[:0], int64(level), 10)
		f.buf = append(append(f.buf, '.'), digits...)
		f.pad("  ", digits)
	}
	f.buf = append(f.buf, " 0x"...)
	digits := strconv.AppendUint(number[:0], h.place.Addr, 16)
	f.pad("0000000000000000", digits)
	f.buf = append(append(f.buf, digits...), ' ')
}

// pad pads digits to a number of columns.
func (f *filler) pad(columns string, digits []byte) {
	f.buf = append(f.buf, columns[min(len(digits), len(columns)):]...)
}

// appendKnown appends a name, on the line.
func appendKnown(dst, name []byte) []byte {
	if len(name) == 0 {
		return append(dst, "??"...)
	}
	return filter.AppendText(dst, name)
}
