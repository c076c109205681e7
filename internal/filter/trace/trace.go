// Package trace rewrites speedscope files and Chrome traces with names.
//
// Both have frames with a name and without an address of their own:
//
//	{"shared":{"frames":[{"name":"libfoo.so+0x1973"}]},"profiles":[{"type":"sampled","samples":[[0]],"weights":[1]}]}
//	{"traceEvents":[…],"stackFrames":{"7":{"name":"/srv/app+0x1189"},"8":{"name":"[app <7d3>]","parent":"7"}}}
//
// A name that is a module and an offset in its file, as package perf reads it in
// folded stacks, becomes the names at the offset. Since frames are shared by
// stacks, inlined calls are not frames of their own, but precede the name of the
// function: inner ← outer. Frames of speedscope get the file and line of the innermost
// one, too, if they have none. An address follows a call if its frame is below another
// one in some stack.
//
// All other bytes stay unchanged. The document is in memory, with 64 bytes for each frame
// that is looked up.
package trace

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strconv"

	"symbolon/internal/api/json"
	"symbolon/internal/filter"
	"symbolon/internal/filter/rawjson"
)

// Is reports whether a document begins like a speedscope file or a Chrome trace.
func Is(head []byte) bool {
	r := rawjson.Reader{Data: head}
	if r.Peek() != '{' {
		return false
	}
	for r.Enter('{'); r.Next(); {
		switch string(r.Key()) {
		case "$schema":
			if bytes.Contains(r.Text(), []byte("speedscope")) {
				return true
			}
		case "traceEvents", "stackFrames":
			return true
		default:
			r.Skip()
		}
	}
	return false
}

// frame is a frame whose name is a location.
type frame struct {
	from, to int // of the name in the document, with its quotes
	number   int
	suffix   []byte // of the name

	needsFile bool // it can have a file, line and column, and has none
}

// Rewrite writes a speedscope file or Chrome trace with names.
func Rewrite(ctx context.Context, run *filter.Run, data []byte, out io.Writer) error {
	d := document{run: run, reader: rawjson.Reader{Data: data}, numbers: map[string]int{}, modules: map[string]int32{}}
	if err := d.read(); err != nil {
		return err
	}
	for i, f := range d.frames {
		d.query.Addresses[i].IsReturn = f.number < len(d.callers) && d.callers[f.number]
	}
	answer, err := run.Look(ctx, &d.query)
	if err != nil {
		return err
	}
	defer answer.Release()
	w := bufio.NewWriterSize(out, 64<<10)
	editor := rawjson.NewEditor(w, data)
	var name, quoted []byte
	for i, f := range d.frames {
		frames := answer.Frames(i)
		if len(frames) == 0 {
			continue
		}
		name = append(name[:0], frames[0].Function...)
		for _, x := range frames[1:] {
			name = append(append(name, " ← "...), x.Function...)
		}
		quoted = json.AppendQuoted(quoted[:0], append(name, f.suffix...))
		if f.needsFile {
			quoted = appendFile(quoted, &frames[0])
		}
		editor.Replace(f.from, f.to)
		w.Write(quoted)
	}
	editor.Finish()
	return w.Flush()
}

// appendFile appends the members of a frame that follow its name.
func appendFile(dst []byte, f *filter.Frame) []byte {
	if len(f.File) == 0 {
		return dst
	}
	dst = json.AppendQuoted(append(dst, `,"file":`...), f.File)
	if f.Line > 0 {
		dst = strconv.AppendUint(append(dst, `,"line":`...), uint64(f.Line), 10)
		if f.Column > 0 {
			dst = strconv.AppendUint(append(dst, `,"col":`...), uint64(f.Column), 10)
		}
	}
	return dst
}
