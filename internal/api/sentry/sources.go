package sentry

import (
	"bytes"
	"context"
	"net/url"
	"sync"

	"symbolon/internal/fault"
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

// excerpts has the source files of the frames of an answer.
type excerpts struct {
	files map[fileKey]*file
	links map[string]*link // by address
	order []*link          // in the order of the frames
	size  int              // bytes of all texts
	asked int              // the number of links that were fetched
	seen  int              // the number of links in order that fetch has seen
	fresh []*file          // files that wait for the text of their link
	waits func()           // called before links are fetched; may be nil
}

func newExcerpts() *excerpts {
	return &excerpts{files: map[fileKey]*file{}, links: map[string]*link{}}
}

// fileKey is a file of a module, by its handle in frames.
type fileKey struct {
	module int32
	path   sym.Text
}

// file is a source file.
type file struct {
	text   []byte
	starts []uint32 // of its lines; nil: not indexed yet
	link   *link    // nil: without a URL
}

// link is the URL of a source file.
type link struct {
	url     string
	modules []int32 // with this URL
	asked   bool
	text    []byte
	fault   *fault.Error
}

// open returns the source file at a path of a module.
func (x *excerpts) open(res result, m int32, path string) *file {
	text, address := res.Source(m, path)
	f := &file{}
	if x.size += len(text); x.size <= maxText {
		f.text = text
	}
	if address = webAddress(address); address == "" {
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

// webAddress returns an http(s) address in its escaped form, and "" for any other text:
// pages show source links to people.
func webAddress(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return u.String()
}

// fetch fetches the links that the request allows, some concurrently.
func (d *Door) fetch(ctx context.Context, q *request, x *excerpts) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, linksAtOnce)
	rest := x.order[x.seen:]
	x.seen = len(x.order)
	waits := x.waits
	for _, l := range rest {
		if !allows(&q.Scraping, l.url) || x.asked == maxLinks || d.deps.Fetch == nil {
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

// line returns line n, counted from zero.
func (f *file) line(n int) []byte {
	from, to := int(f.starts[n]), len(f.text)
	if n+1 < len(f.starts) {
		to = int(f.starts[n+1])
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(f.text[from:to], []byte("\n")), []byte("\r"))
}

// index finds the lines. The last one need not have a line break.
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
