package api

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/metric"
)

func refuse(status int, why string, cut bool, cause error) *Refusal {
	return &Refusal{status, titleOf(status, "") + ": " + why, cut, cause}
}

// Limits of a body.
const (
	slowest   = 4 << 10 // bytes that extend the time limit by a second
	bodyRatio = 200     // decoded bytes for each sent one, beyond bodyFree
	bodyFree  = 1 << 20 // also: bytes by which a compressed body may be larger than decoded
	maxWindow = 8 << 20 // of zstd, by RFC 9659

	// beginning is the part of a body that must have arrived before the request
	// takes a place: clients that send slowly do not fill the server.
	beginning = 16 << 10
)

func decoder(coding string, src io.Reader) (io.ReadCloser, error) {
	if coding != "zstd" {
		return gzip.NewReader(src)
	}
	// It reads headers a few bytes at a time, and each read of a body sets a deadline.
	z, err := zstd.NewReader(bufio.NewReader(src),
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// body is the decoded body of a request.
type body struct {
	most     int64
	coding   string
	sent     *connReader
	decoded  io.Reader
	opened   io.Closer // the decoder
	given    int64     // bytes that the handler has read
	unpacked int64     // bytes from the decoder
	memory   reservation
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

// The memory that a request needs. A compressed body counts with its largest
// decoded size.
const (
	needPlain  = 4        // for each byte of the body: the shortest numbers become records
	needLookup = 16       // likewise, for the addresses that are looked up together
	mostLookup = 12 << 20 // limit of it
	needMost   = 64 << 20
	smallBody  = 128 << 10 // needs no reservation
	needZstd   = 9 << 20   // for a decoder with the largest window
)

// decoderMemory returns the memory of the decoder of the body.
func (b *body) decoderMemory() int64 {
	if b.coding == "zstd" {
		return needZstd
	}
	return 0
}

// need returns the memory to reserve for the request, 0 if it is small.
func (b *body) need() int64 {
	n := int64(len(b.sent.held))
	switch {
	case b.sent.isWhole:
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

// release releases the memory of the decoder. The rest of the body is left to
// net/http, which sends the answer first.
func (b *body) release() {
	b.sent.free()
	if b.opened != nil {
		_ = b.opened.Close()
	}
}

func (b *body) explain(err error) *Refusal {
	switch {
	case errors.Is(err, bin.ErrLimit), errors.Is(err, errSparse):
		return b.tooLarge(err)
	case errors.Is(b.sent.err, os.ErrDeadlineExceeded):
		metric.Refused.Add(1, "slow")
		return refuse(http.StatusRequestTimeout, "the body came too slowly", true, err)
	case b.sent.err != nil && b.sent.err != io.EOF:
		return refuse(http.StatusBadRequest, "the body ended early", true, err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return refuse(http.StatusBadRequest, "the body is not "+b.coding+": it ends too early", true, err)
	}
	return refuse(http.StatusBadRequest, "the body is not "+b.coding, false, err)
}

func (b *body) tooLarge(cause error) *Refusal {
	metric.Refused.Add(1, "body")
	why := fmt.Sprintf("the limit of a body is %s", bin.Size(b.most))
	if errors.Is(cause, errSparse) {
		why = fmt.Sprintf("a compressed body may be at most %s larger than its content", bin.Size(bodyFree))
	} else if cause != nil && b.given < b.most && b.sent.n <= b.most { // neither size has reached the limit
		why = fmt.Sprintf("a compressed body may decode to %d times its size, beyond %s", bodyRatio, bin.Size(bodyFree))
	}
	return refuse(http.StatusRequestEntityTooLarge, why, false, cause)
}

// lazyDecoder opens a decoder at the first read, since opening reads too.
type lazyDecoder struct {
	open func() (io.ReadCloser, error)
	body *body
	src  io.ReadCloser
}

func (l *lazyDecoder) Read(p []byte) (int, error) {
	if l.src == nil {
		src, err := l.open()
		if err != nil {
			if err == io.EOF { // an empty body is not gzip
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		l.src, l.body.opened = src, src
	}
	n, err := l.src.Read(p[:min(len(p), beginning)]) // so that unpacked is up to date
	l.body.unpacked += int64(n)
	return n, err
}

// errSparse reports that a compressed body is much larger than its content.
var errSparse = errors.New("the compressed body is larger than its content")

// ratioReader reads the compressed body for a decoder, and fails if it is much
// larger than its content: empty frames and members are work, but have no output
// that a meter counts.
type ratioReader struct {
	src  io.Reader
	body *body
}

func (d *ratioReader) Read(p []byte) (int, error) {
	if d.body.sent.n-int64(len(d.body.sent.held)) > d.body.unpacked+bodyFree {
		return 0, errSparse
	}
	return d.src.Read(p)
}

// connReader reads the body from the connection. Its time limit is a grace period
// that each byte extends, so a slow client is served and a stalled one is not.
type connReader struct {
	src     io.ReadCloser
	size    int64 // Content-Length; -1: unknown
	w       *writer
	grace   time.Duration
	start   time.Time
	n       int64
	err     error
	served  *served
	pooled  *[]byte // memory of held
	held    []byte  // read by begin
	isWhole bool    // held is all of it
}

// beginnings has memory for the beginnings of bodies.
var beginnings = sync.Pool{New: func() any { return new([]byte) }}

// begin waits until the body has begun to arrive.
func (p *connReader) begin() {
	if p.size == 0 {
		p.isWhole = true
		return
	}
	p.pooled = beginnings.Get().(*[]byte)
	p.held = (*p.pooled)[:0]
	for len(p.held) < beginning && p.err == nil {
		p.held = slices.Grow(p.held, min(beginning-len(p.held), max(1<<10, len(p.held))))
		n, _ := p.receive(p.held[len(p.held):min(cap(p.held), beginning)])
		p.held = p.held[:len(p.held)+n]
	}
	*p.pooled = p.held[:0]
	p.isWhole = p.err != nil
}

// free releases the memory.
func (p *connReader) free() {
	if p.pooled != nil {
		p.held = nil
		beginnings.Put(p.pooled)
		p.pooled = nil
	}
}

func (p *connReader) Read(b []byte) (int, error) {
	if len(p.held) > 0 {
		n := copy(b, p.held)
		p.held = p.held[n:]
		return n, nil
	}
	if p.err != nil {
		return 0, p.err // a deadline set now would be that of the next request
	}
	return p.receive(b)
}

func (p *connReader) receive(b []byte) (int, error) {
	earned := time.Duration(p.n) * time.Second / slowest
	p.served.wait(receiving, p.start.Add(p.grace+earned), p.w.control.SetReadDeadline)
	n, err := p.src.Read(b)
	p.n += int64(n)
	if p.served.count(n); err != nil || p.n == p.size {
		p.err = err
		p.served.endReceiving()
	}
	return n, err
}
