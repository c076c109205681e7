package sentry

import (
	"bytes"
	"context"
	"sync"
	"unicode/utf8"

	"symbolon/internal/api/json"
	"symbolon/internal/fault"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

const (
	contextLines  = 5   // shown before and after a line
	maxLine       = 150 // bytes of a line that is shown as a whole
	truncatedLine = 140 // bytes that are shown of a longer one

	maxLinks    = 100      // fetched for one answer
	linksAtOnce = 8        // fetched concurrently
	maxText     = 64 << 20 // bytes of source files for one answer
)

// excerpts are the source files that the frames of an answer come from.
type excerpts struct {
	files map[fileKey]*file
	links map[string]*link // by address
	order []*link          // as they were met
	size  int              // of all texts
	asked int              // of the links
	seen  int              // of order: whether they are asked is decided
	fresh []*file          // those with a link whose text they do not have yet
	waits func()           // called before links are waited for; nil: nothing is to be done
}

func newExcerpts() *excerpts {
	return &excerpts{files: map[fileKey]*file{}, links: map[string]*link{}}
}

// fileKey is a file of a module, by the handle that frames name it with.
type fileKey struct {
	module int32
	path   sym.Text
}

// file is a source file.
type file struct {
	text   []byte
	starts []uint32 // of its lines; nil: not looked for yet
	link   *link    // where it is; nil: there is no such address
}

// link is an address of a source file.
type link struct {
	url     string
	modules []int32 // that have it
	asked   bool
	text    []byte
	fault   *fault.Error
}

// gather finds the sources of the frames from one up to another, and gets those
// that are elsewhere.
func (d *Door) gather(ctx context.Context, e *encoder, from, to int) {
	if !e.context {
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
			break // the encoder meets it too
		}
		for c := range calls {
			if key := (fileKey{m, calls[c].File}); calls[c].File != 0 && x.files[key] == nil {
				path, _ := e.res.AppendRaw(nil, m, calls[c].File)
				x.files[key] = x.open(e.res, m, string(path))
			}
		}
	}
	d.fetch(ctx, e.question, x)
	for _, f := range x.fresh {
		f.text = f.link.text
	}
	x.fresh = x.fresh[:0]
}

// open takes what is known of a path.
func (x *excerpts) open(res result, m int32, path string) *file {
	text, address := res.Source(m, path)
	f := &file{}
	if x.size += len(text); x.size <= maxText {
		f.text = text
	}
	if address == "" {
		return f
	}
	l := x.links[address]
	if l == nil {
		l = &link{url: address}
		x.links[address] = l
		x.order = append(x.order, l)
	}
	if n := len(l.modules); n == 0 || l.modules[n-1] != m {
		l.modules = append(l.modules, m)
	}
	f.link = l
	x.fresh = append(x.fresh, f)
	return f
}

// fetch asks the addresses that may be asked, some side by side.
func (d *Door) fetch(ctx context.Context, q *question, x *excerpts) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, linksAtOnce)
	rest := x.order[x.seen:]
	x.seen = len(x.order)
	waits := x.waits
	for _, l := range rest {
		if !q.scraping.allows(l.url) || x.asked == maxLinks || d.deps.Fetch == nil {
			continue
		}
		x.asked++
		l.asked = true
		if waits != nil {
			waits()
			waits = nil
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			l.text, l.fault = d.fetchLink(ctx, q, l.url)
		})
	}
	wg.Wait()
}

// find returns the source file of a frame of module m, or nil.
func (x *excerpts) find(m int32, path sym.Text) *file {
	if len(x.files) == 0 {
		return nil
	}
	return x.files[fileKey{m, path}]
}

// line is line n, counted from zero.
func (f *file) line(n int) []byte {
	from, to := int(f.starts[n]), len(f.text)
	if n+1 < len(f.starts) {
		to = int(f.starts[n+1])
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(f.text[from:to], []byte("\n")), []byte("\r"))
}

// index finds the lines, of which the last one needs no end.
func (f *file) index() {
	f.starts = []uint32{}
	for at := 0; at < len(f.text); {
		f.starts = append(f.starts, uint32(at))
		n := bytes.IndexByte(f.text[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
	}
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
		e.member("source_link", f.link.url)
	}
}

// lines writes an array of the lines from one up to another, unless it is empty.
func (e *encoder) lines(name string, f *file, from, to int) {
	if from >= to {
		return
	}
	e.Key(name)
	e.Open('[')
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
