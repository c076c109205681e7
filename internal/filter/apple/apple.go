// Package apple adds names to crash reports of Apple's systems in the form of text, and to
// reports of their tools sample and spindump.
//
// # Crash reports
//
//	0   Quince   0x0000000100002000 0x100000000 + 8192
//	0   Quince   0x0000000100002000 Quince + 8192
//	0   Quince   0x0000000100002000 fall + 16 (/src/fall.mm:77)
//
// A frame belongs to the image that contains its address; images are listed at the end of
// a report. The first frame of a thread has an exact address. All others, and those of
// the last exception, have return addresses. A frame with inlined calls becomes a line
// for each, and the frames after it are renumbered. Frames that have names are not
// changed, nor are the bare addresses of an exception on one line.
//
// # Samples
//
// Reports of hangs, of the use of the processor and of stackshots have the form of spindump.
//
//	2695 ???  (in Quince)  load address 0x100000000 + 0x2000  [0x100002000]
//	2695 fall  (in Quince) + 16  [0x100002000]  /src/fall.mm:77
//	10  ??? (Quince + 8192) [0x100002000]
//	10  fall + 16 (/src/fall.mm:77 in Quince + 8192) [0x100002000]
//
// A node of a call tree belongs to the image at the address that follows from its line, in
// the next list of images, as each process has one. Nodes that have a node below them have
// return addresses; so do all but the last of the heaviest stack. Nodes of the kernel are
// not changed, as their offsets are counted from another segment on ARM. A node may have
// several addresses of one function. Inlined calls are on the line of their function, since
// the tree has a node for each address.
package apple

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"

	"symbolon/internal/filter"
	"symbolon/internal/format/applecrash"
	"symbolon/internal/ident"
)

// Is reports whether head is the beginning of a crash report.
func Is(head []byte) bool {
	return hasLine(head, "Incident Identifier:", "") || hasLine(head, "Report Version:", "")
}

// hasLine reports whether the first line that begins with a text has another text, too.
func hasLine(head []byte, text, other string) bool {
	if !bytes.HasPrefix(head, []byte(text)) {
		at := bytes.Index(head, []byte("\n"+text))
		if at < 0 {
			return false
		}
		head = head[at+1:]
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.Contains(line, []byte(other))
}

// Rewrite writes the crash report with names. It refuses one of more than
// applecrash.MaxSize bytes.
func Rewrite(ctx context.Context, run *filter.Run, data []byte, out io.Writer) error {
	if err := checkSize(data); err != nil {
		return err
	}
	r := report{document: document{run: run}, images: images(data)}
	r.read(data)
	return r.write(ctx, data, out, r.appendTo)
}

func checkSize(data []byte) error {
	if len(data) > applecrash.MaxSize {
		return fmt.Errorf("invalid report: has %d bytes, more than %d", len(data), applecrash.MaxSize)
	}
	return nil
}

// document is a text whose addresses are looked up.
type document struct {
	run   *filter.Run
	query filter.Query
}

// write writes the text as appendTo returns it, or as it is if it has no addresses.
func (d *document) write(ctx context.Context, data []byte, out io.Writer, appendTo func(dst, data []byte, answer filter.Answer) []byte) error {
	if len(d.query.Addresses) == 0 {
		_, err := out.Write(data)
		return err
	}
	answer, err := d.run.Look(ctx, &d.query)
	if err != nil {
		return err
	}
	defer answer.Release()
	_, err = out.Write(appendTo(make([]byte, 0, len(data)+len(data)/4), data, answer))
	return err
}

// module adds the module of an image to the query. It returns -1 if that is not known.
func (d *document) module(i *applecrash.Image) int32 {
	m := ident.Module{Type: ident.TypeMachO, Arch: ident.ParseArch(i.Arch), CodeFile: i.File(), DebugFile: i.File()}
	m.CodeID = ident.ParseCodeID(strings.ReplaceAll(i.UUID, "-", ""))
	m, ok := d.run.Module(cmp.Or(i.Path, i.Name), m.Derive())
	if !ok {
		return -1
	}
	return d.query.AddModule(m)
}

// image is a binary of the process.
type image struct {
	applecrash.Image
	module int32 // in the query; -1: none
}

// images returns the images of a report in ascending order.
func images(data []byte) (list []image) {
	_, data, _ = bytes.Cut(data, []byte("\nBinary Images:"))
	for line := range bytes.Lines(data) {
		if i, ok := applecrash.ParseImage(string(bytes.TrimSpace(line))); ok {
			list = append(list, image{i, -1})
		}
	}
	sort.SliceStable(list, func(a, b int) bool { return list[a].Addr < list[b].Addr })
	return list
}

// frame is a line with a frame.
type frame struct {
	from, to    int // the line in the report, without its end
	digits, end int // its number
	symbol      int
	number      int
	index       int // of the address in the query; -1: none
}

// report is a report that is rewritten.
type report struct {
	document
	images []image
	frames []frame
	last   applecrash.Frame
}

// read reads the frames.
func (r *report) read(data []byte) {
	at, isException := 0, false
	for line := range bytes.Lines(data) {
		body := bytes.TrimRight(line, " \t\r\n")
		switch {
		case bytes.HasPrefix(body, []byte("Last Exception Backtrace:")):
			isException = true
		case bytes.HasPrefix(body, []byte("Thread ")):
			isException = false
		default:
			r.readFrame(body, at, isException)
		}
		at += len(line)
	}
}

func (r *report) readFrame(body []byte, at int, isException bool) {
	f := frame{from: at, to: at + len(body), digits: at + len(body) - len(bytes.TrimLeft(body, " \t")), index: -1}
	f.end = f.digits
	for ; f.end < f.to && f.end-f.digits < 7; f.end++ {
		c := body[f.end-at]
		if c < '0' || c > '9' {
			break
		}
		f.number = f.number*10 + int(c-'0')
	}
	if f.end == f.digits {
		return
	}
	parsed, symbol, ok := applecrash.ParseFrame(string(body))
	if !ok {
		return
	}
	f.symbol = at + symbol
	// The caller of inlined calls has its name from the same answer as they.
	isCaller := r.last.Inline && r.last.Addr == parsed.Addr
	r.last = parsed
	// Stripped programs have this symbol only: the frame is in any function.
	if parsed.Symbol == "" || parsed.Symbol == "_mh_execute_header" || r.isOffset(body[symbol:], &parsed) || r.run.Force && !parsed.Inline && !isCaller {
		f.index = r.ask(uint64(parsed.Addr), isException || f.number > 0)
	}
	r.frames = append(r.frames, f)
}

// isOffset reports whether the symbol of a frame is the name of its image, and its offset
// that in the image.
func (r *report) isOffset(text []byte, f *applecrash.Frame) bool {
	offset, ok := bytes.CutPrefix(text, []byte(f.Module+" + "))
	i := r.find(uint64(f.Addr))
	return ok && i >= 0 && string(offset) == strconv.FormatUint(uint64(f.Addr-r.images[i].Addr), 10)
}

// find returns the index of the image that contains an address, or -1.
func (r *report) find(addr uint64) int {
	i := sort.Search(len(r.images), func(i int) bool { return uint64(r.images[i].Addr) > addr }) - 1
	if i < 0 || addr-uint64(r.images[i].Addr) > r.images[i].Size {
		return -1
	}
	return i
}

// ask adds an address to the query and returns its index, or -1 if it cannot be
// looked up.
func (r *report) ask(addr uint64, isReturn bool) int {
	i := r.find(addr)
	if i < 0 {
		return -1
	}
	m := &r.images[i]
	if m.module < 0 {
		m.module = r.module(&m.Image)
	}
	if m.module < 0 {
		return -1
	}
	a := filter.Address{Module: m.module, Space: filter.Relative, IsReturn: isReturn, Addr: addr - uint64(m.Addr)}
	r.query.Addresses = append(r.query.Addresses, a)
	return len(r.query.Addresses) - 1
}
