package sentry

import (
	"context"
	"unicode/utf8"

	"symbolon/internal/api/json"
	"symbolon/internal/object"
)

// findSources finds the source files of the frames from one up to another, and
// fetches those with a link.
func (d *Door) findSources(ctx context.Context, e *encoder, from, to int) {
	if !e.Context {
		return
	}
	x := e.excerpts
	for i := from; i < to; i++ {
		m := e.req.Frames[i].Module
		if m < 0 || e.known[m].Features&object.HasSources == 0 {
			continue
		}
		calls, err := e.res.Frames(i)
		if err != nil {
			break // the encoder gets it too
		}
		for c := range calls {
			if key := (fileKey{m, calls[c].File}); calls[c].File != 0 && x.files[key] == nil {
				path, _ := e.res.AppendFile(nil, m, calls[c].File)
				x.files[key] = x.open(e.res, m, string(path))
			}
		}
	}
	d.fetch(ctx, e.request, x)
	for _, f := range x.fresh {
		f.text = f.link.text
	}
	x.fresh = x.fresh[:0]
}

// excerpt writes a line with those around it. Line 0 is the first line.
func (e *encoder) excerpt(f *file, line uint32) {
	if f.starts == nil {
		f.index()
	}
	n := max(int(line), 1) - 1
	if n < len(f.starts) {
		e.lines("pre_context", f, max(n-contextLines, 0), n)
		e.Key("context_line")
		e.line(f.line(n))
		e.lines("post_context", f, n+1, min(n+1+contextLines, len(f.starts)))
	}
	if f.link != nil {
		e.Key("source_link").String(f.link.url)
	}
}

// lines writes an array of the lines from one up to another, unless it is empty.
func (e *encoder) lines(name string, f *file, from, to int) {
	if from >= to {
		return
	}
	e.Key(name).Open('[')
	for n := from; n < to; n++ {
		e.line(f.line(n))
	}
	e.Close(']')
}

// line writes a line of source code, truncated if it is long.
func (e *encoder) line(text []byte) {
	if len(text) <= maxLine {
		e.Bytes(text)
		return
	}
	n := truncatedLine
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	e.OpenString()
	e.Buf = append(json.AppendEscaped(e.Buf, text[:n]), " {snip}"...)
	e.CloseString()
}
