package api

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/metric"
)

// BodyError says why the body of a request could not be read, and what to tell
// the client.
type BodyError struct {
	Status int
	Title  string
	Cut    bool // it ended before it was whole
	cause  error
}

func (e *BodyError) Error() string { return e.Title }
func (e *BodyError) Unwrap() error { return e.cause }

// Bounds of a body.
const (
	slowest   = 4 << 10 // bytes a second that keep a body alive
	bodyRatio = 200     // decoded bytes for each sent one, past bodyFree
	bodyFree  = 1 << 20 // also: bytes that a packed body may be larger than what it unpacks to
	maxWindow = 8 << 20 // of zstd, as RFC 9659 has it for HTTP

	// beginning is how much of a body must have arrived before the request
	// counts as one that is worked on: a client that sends slowly holds no place.
	beginning = 16 << 10
)

// openBody puts a reader into r.Body that decodes what was sent, and fails
// with a *BodyError when that is too much, too slow or damaged.
func (f *Front) openBody(w *writer, r *http.Request, route *Route) (*body, *BodyError) {
	most := route.MaxBody
	if most == 0 {
		most = int64(f.cfg.MaxBody)
	}
	b := &body{most: most}
	if r.ContentLength > most {
		return nil, b.tooLarge(nil)
	}
	b.sent = &patient{src: r.Body, size: r.ContentLength, w: w, grace: f.cfg.BodyTimeout, start: f.opt.Now()}
	counted := bin.NewCount(b.sent)
	limited := bin.Meter(counted, nil, bin.Limit{Bytes: most})
	switch coding := strings.ToLower(strings.TrimSpace(strings.Join(r.Header.Values("Content-Encoding"), ","))); coding {
	case "", "identity":
		b.decoded = limited
	case "gzip", "x-gzip", "zstd":
		b.coding = coding
		b.decoded = bin.Meter(&lazy{open: func() (io.ReadCloser, error) { return decoder(coding, &dense{limited, b}) }, body: b},
			counted, bin.Limit{Bytes: most, Ratio: bodyRatio, Free: bodyFree})
		r.Header.Del("Content-Encoding")
		r.ContentLength = -1
	default:
		w.Header().Set("Accept-Encoding", "gzip, zstd")
		return nil, &BodyError{Status: http.StatusUnsupportedMediaType, Title: "415 Unsupported Media Type: a body may be encoded as gzip or zstd"}
	}
	r.Body = b
	return b, nil
}

func decoder(coding string, src io.Reader) (io.ReadCloser, error) {
	if coding != "zstd" {
		return gzip.NewReader(src)
	}
	// It reads headers a few bytes at a time, and each read of a body sets a deadline.
	z, err := zstd.NewReader(bufio.NewReader(src), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// body is what a handler reads.
type body struct {
	most     int64
	coding   string
	sent     *patient
	decoded  io.Reader
	opened   io.Closer // the decoder
	given    int64     // bytes that the handler got
	unpacked int64     // bytes that the decoder gave
	memory   memory
	err      error
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.decoded.Read(p)
	b.given += int64(n)
	if err != nil && err != io.EOF {
		err = b.explain(err)
	}
	b.err = err
	return n, err
}

func (b *body) Close() error { return b.sent.src.Close() }

// What a request needs of memory. A packed body counts with all that may come
// out of it.
const (
	needPlain  = 4        // bytes for each of the body: numbers as short as they can be become records
	needLookup = 16       // likewise, for what is looked up at a time
	mostLookup = 12 << 20 // but no more than this
	needMost   = 64 << 20
	smallBody  = 128 << 10 // needs no claim
	needZstd   = 9 << 20   // of a decoder with the largest window
)

// decoding is what unpacking the body takes.
func (b *body) decoding() int64 {
	if b.coding == "zstd" {
		return needZstd
	}
	return 0
}

// need is how much memory the request will claim; none if it is small.
func (b *body) need() int64 {
	n := int64(len(b.sent.held))
	switch {
	case b.sent.whole:
	case b.sent.size > 0:
		n = b.sent.size
	default:
		n = b.most
	}
	if b.coding != "" {
		n = min(max(bodyFree, n*bodyRatio), b.most)
	}
	if n <= smallBody {
		return 0
	}
	return min(n*needPlain+min(n*needLookup, mostLookup), needMost)
}

// release gives the memory of the decoder back. What is still to come from the
// client is left to net/http, which sends the answer first.
func (b *body) release() {
	b.sent.free()
	if b.opened != nil {
		_ = b.opened.Close()
	}
}

func (b *body) explain(err error) *BodyError {
	switch {
	case errors.Is(err, bin.ErrLimit), errors.Is(err, errSparse):
		return b.tooLarge(err)
	case errors.Is(b.sent.err, os.ErrDeadlineExceeded):
		metric.Refused.Add(1, "slow")
		return &BodyError{Status: http.StatusRequestTimeout, Title: "408 Request Timeout: the body came too slowly", Cut: true, cause: err}
	case b.sent.err != nil && b.sent.err != io.EOF:
		return &BodyError{Status: http.StatusBadRequest, Title: "400 Bad Request: the body ended early", Cut: true, cause: err}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &BodyError{Status: http.StatusBadRequest, Title: "400 Bad Request: the body is not " + b.coding + ": it ends too early", Cut: true, cause: err}
	}
	return &BodyError{Status: http.StatusBadRequest, Title: "400 Bad Request: the body is not " + b.coding, cause: err}
}

func (b *body) tooLarge(cause error) *BodyError {
	metric.Refused.Add(1, "body")
	why := fmt.Sprintf("the limit of a body is %s", bin.Size(b.most))
	if errors.Is(cause, errSparse) {
		why = fmt.Sprintf("a packed body may be at most %s larger than what it unpacks to", bin.Size(bodyFree))
	} else if cause != nil && b.given < b.most && b.sent.n <= b.most { // neither end has reached the limit
		why = fmt.Sprintf("a packed body may unpack to %d times what was sent, beyond %s", bodyRatio, bin.Size(bodyFree))
	}
	return &BodyError{Status: http.StatusRequestEntityTooLarge, Title: "413 Request Entity Too Large: " + why, cause: cause}
}

// lazy opens a decoder when the first byte is wanted, as opening reads too.
type lazy struct {
	open func() (io.ReadCloser, error)
	body *body
	src  io.ReadCloser
}

func (l *lazy) Read(p []byte) (int, error) {
	if l.src == nil {
		src, err := l.open()
		if err != nil {
			if err == io.EOF { // an empty body is no gzip
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		l.src, l.body.opened = src, src
	}
	n, err := l.src.Read(p[:min(len(p), beginning)]) // so that unpacked is counted often
	l.body.unpacked += int64(n)
	return n, err
}

// errSparse says that a packed body is much larger than what it unpacks to.
var errSparse = errors.New("the packed body is larger than what it unpacks to")

// dense is what a decoder reads of a body. Empty frames and members are work,
// but come to no output that a meter could count.
type dense struct {
	src  io.Reader
	body *body
}

func (d *dense) Read(p []byte) (int, error) {
	if d.body.sent.n-int64(len(d.body.sent.held)) > d.body.unpacked+bodyFree {
		return 0, errSparse
	}
	return d.src.Read(p)
}

// patient reads the body off the connection. The client has a grace to begin
// with, and more time with every byte, so a slow line is served and a stalled
// one is not.
type patient struct {
	src   io.ReadCloser
	size  int64 // as announced; -1: not
	w     *writer
	grace time.Duration
	start time.Time
	n     int64
	err   error
	hold  *hold
	room  *[]byte // memory of held
	held  []byte  // read before it was wanted
	whole bool    // and that is all
}

// beginnings is memory for what is read before it is wanted.
var beginnings = sync.Pool{New: func() any { return new([]byte) }}

// begin waits until the body has begun to arrive.
func (p *patient) begin() {
	if p.size == 0 {
		p.whole = true
		return
	}
	p.room = beginnings.Get().(*[]byte)
	p.held = (*p.room)[:0]
	for len(p.held) < beginning && p.err == nil {
		p.held = slices.Grow(p.held, min(beginning-len(p.held), max(1<<10, len(p.held))))
		n, _ := p.receive(p.held[len(p.held):min(cap(p.held), beginning)])
		p.held = p.held[:len(p.held)+n]
	}
	*p.room = p.held[:0]
	p.whole = p.err != nil
}

// free gives the memory back.
func (p *patient) free() {
	if p.room != nil {
		p.held = nil
		beginnings.Put(p.room)
		p.room = nil
	}
}

func (p *patient) Read(b []byte) (int, error) {
	if len(p.held) > 0 {
		n := copy(b, p.held)
		p.held = p.held[n:]
		return n, nil
	}
	if p.err != nil {
		return 0, p.err // a deadline set now would fall on what net/http reads next
	}
	return p.receive(b)
}

func (p *patient) receive(b []byte) (int, error) {
	earned := time.Duration(p.n) * time.Second / slowest
	p.hold.wait(receiving, p.start.Add(p.grace+earned), p.w.control.SetReadDeadline)
	n, err := p.src.Read(b)
	p.n += int64(n)
	if p.hold.passed(n); err != nil || p.n == p.size {
		p.err = err
		p.hold.done()
	}
	return n, err
}
