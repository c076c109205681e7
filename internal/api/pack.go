package api

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// minPacked is the size from which on answers are compressed.
const minPacked = 1 << 10

// flushSize is the number of bytes after which an encoder is flushed.
const flushSize = 256 << 10

// codings are the content codings, the cheapest first.
var codings = [...]string{"zstd", "gzip"}

// encoder compresses one answer at a time.
type encoder interface {
	io.WriteCloser
	Flush() error
	Reset(w io.Writer)
}

// packers has the encoders of each coding.
type packers map[string]*sync.Pool

func newPackers() packers {
	return packers{
		"gzip": {New: func() any {
			w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is known
			return w
		}},
		"zstd": {New: func() any {
			w, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
				zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(512<<10)) // the options are known
			return w
		}},
	}
}

// packed is the http.ResponseWriter of a handler. It holds back the beginning of
// an answer until it has minPacked bytes.
type packed struct {
	w       *writer
	pool    *sync.Pool // nil: not compressed
	coding  string
	head    bool // HEAD: without a body
	status  int
	held    []byte
	decided bool
	enc     encoder
	taken   int // bytes since the encoder was flushed
}

func (p packers) pack(w *writer, r *http.Request) *packed {
	coding := negotiate(r.Header.Values("Accept-Encoding"))
	return &packed{w: w, coding: coding, pool: p[coding], head: r.Method == http.MethodHead}
}

func (p *packed) Header() http.Header { return p.w.Header() }

// Unwrap returns the writer below, for http.ResponseController.
func (p *packed) Unwrap() http.ResponseWriter { return p.w }

func (p *packed) WriteHeader(status int) {
	if status < 200 {
		p.w.WriteHeader(status)
	} else if p.status == 0 {
		p.status = status
	}
}

func (p *packed) Write(b []byte) (int, error) {
	if p.status == 0 {
		p.status = http.StatusOK
	}
	if !p.decided {
		if len(p.held)+len(b) < minPacked {
			p.held = append(p.held, b...)
			return len(b), nil
		}
		if err := p.decide(true); err != nil {
			return 0, err
		}
	}
	return p.put(b)
}

// put writes b to the encoder, if there is one, or to the client.
func (p *packed) put(b []byte) (int, error) {
	if p.enc == nil {
		return p.w.Write(b)
	}
	n, err := p.enc.Write(b)
	if p.taken += n; p.taken >= flushSize && err == nil {
		p.taken = 0
		err = p.enc.Flush()
	}
	return n, err
}

// decide sends the headers and the beginning.
func (p *packed) decide(large bool) error {
	p.decided = true
	h := p.Header()
	switch {
	case large && p.pool != nil && p.isPackable():
		h.Set("Content-Encoding", p.coding)
		h.Del("Content-Length")
		if tag := h.Get("ETag"); strings.HasPrefix(tag, `"`) {
			h.Set("ETag", "W/"+tag) // a strong one is for the same bytes
		}
		p.enc = p.pool.Get().(encoder)
		p.enc.Reset(p.w)
	case !large && !p.head && h.Get("Content-Length") == "" && p.status != http.StatusNoContent && p.status != http.StatusNotModified:
		h.Set("Content-Length", strconv.Itoa(len(p.held)))
	}
	if h.Get("Content-Encoding") != "" {
		h.Del("Accept-Ranges") // ranges are those of the uncompressed form
	}
	p.w.WriteHeader(p.status)
	if len(p.held) == 0 {
		return nil
	}
	_, err := p.put(p.held)
	p.held = nil
	return err
}

// isPackable reports whether the answer is complete and of a type that compression
// makes smaller.
func (p *packed) isPackable() bool {
	h := p.Header()
	if p.head || p.status == http.StatusPartialContent || h.Get("Content-Encoding") != "" {
		return false
	}
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.HasPrefix(kind, "text/") || kind == "application/json" || kind == "image/svg+xml"
}

// Flush implements http.Flusher.
func (p *packed) Flush() {
	if p.status == 0 {
		p.status = http.StatusOK
	}
	if !p.decided && p.decide(true) != nil {
		return // the client has left
	}
	if p.enc != nil && p.enc.Flush() != nil {
		return
	}
	_ = p.w.control.Flush() // a connection that cannot sends it at the end
}

// close ends the answer. Handlers write nothing, and get no answer, if the client
// has left.
func (p *packed) close() {
	if p.status == 0 {
		return
	}
	if !p.decided {
		_ = p.decide(false) // the client may have left
	}
	if p.enc != nil {
		_ = p.enc.Close()
		p.enc.Reset(nil)
		p.pool.Put(p.enc)
		p.enc = nil
	}
}

// negotiate returns the coding that the client prefers, of several the cheapest
// one; "" is the uncompressed form.
func negotiate(accepted []string) string {
	weights := map[string]float64{}
	for _, line := range accepted {
		for item := range strings.SplitSeq(line, ",") {
			coding, params, _ := strings.Cut(item, ";")
			coding = strings.ToLower(strings.TrimSpace(coding))
			if coding == "x-gzip" {
				coding = "gzip"
			}
			weights[coding] = quality(params)
		}
	}
	best, top := "", weights["identity"]
	for _, coding := range codings {
		q, named := weights[coding]
		if !named {
			q = weights["*"]
		}
		if q > 0 && (q > top || q == top && best == "") {
			best, top = coding, q
		}
	}
	return best
}

// Weight returns the weight of a media type in the lists of the Accept headers: 0
// to 1, and 0 if they do not name the type. Ranges such as */* do not count.
func Weight(accepted []string, mediaType string) (weight float64) {
	for _, line := range accepted {
		for item := range strings.SplitSeq(line, ",") {
			name, params, _ := strings.Cut(item, ";")
			if strings.EqualFold(strings.TrimSpace(name), mediaType) {
				weight = quality(params)
			}
		}
	}
	return weight
}

// quality returns the weight of a coding or media type; an invalid one counts as
// 0.
func quality(params string) float64 {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil || !(q >= 0 && q <= 1) {
				return 0
			}
			return q
		}
	}
	return 1
}
