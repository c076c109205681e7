package source

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/metric"
)

const (
	chunk      = 512 << 10 // bytes of one write
	readAhead  = 64 << 10
	maxCodings = 3 // of one body
)

// Windows of zstd, which its decoder keeps in memory.
const (
	MaxWindow  = 128 << 20 // of "zstd --long"
	freeWindow = 8 << 20   // of "zstd -19"; memory for larger ones is acquired
)

// AcceptEncoding lists the codings that Decode supports, for the header of that
// name.
const AcceptEncoding = "gzip, zstd, br"

// Decoder decodes the files of sources. It is safe for concurrent use.
type Decoder struct {
	limit   bin.Limit
	windows *bin.Budget
	memory  sync.Pool // of *workspace
}

type workspace struct {
	reader *bufio.Reader
	chunk  [chunk]byte
	other  []byte // a second chunk; nil until it is needed
}

// NewDecoder returns a decoder with this limit. Limit.Bytes also bounds the bytes
// that are read. Memory for large windows of zstd is acquired from windows; nil
// means no limit.
func NewDecoder(limit bin.Limit, windows *bin.Budget) *Decoder {
	d := &Decoder{limit: limit, windows: windows}
	d.memory.New = func() any { return &workspace{reader: bufio.NewReaderSize(nil, readAhead)} }
	return d
}

// Decoded counts the bytes on both sides of a Decoder.
type Decoded struct {
	Wire  int64 // read
	Bytes int64 // written
}

// Decode copies r to w and decodes the codings that coding lists as the header
// Content-Encoding does. If the result is gzip, zlib or zstd, because the store
// has compressed files under their plain names, it is decoded too.
//
// An error of r is returned unchanged; all others are a *fault.Error without a
// place.
func (d *Decoder) Decode(ctx context.Context, w io.Writer, r io.Reader, coding string) (Decoded, error) {
	ws := d.memory.Get().(*workspace)
	defer d.memory.Put(ws)
	in := &bin.ErrReader{R: r}
	wire := bin.NewCount(in)
	// The input has a meter of its own: an endless sequence of empty gzip
	// members decodes to nothing.
	ws.reader.Reset(bin.Meter(wire, nil, bin.Limit{Bytes: d.limit.Bytes}))
	defer ws.reader.Reset(nil)

	s := &stack{ctx: ctx, top: ws.reader, wire: wire, limit: d.limit, windows: d.windows}
	defer s.close()
	n, err := d.run(w, s, coding, ws)
	out := Decoded{Wire: wire.N(), Bytes: n}
	switch {
	case err == nil:
		return out, nil
	case in.Err != nil:
		return out, in.Err
	}
	return out, d.explain(err, out)
}

func (d *Decoder) run(w io.Writer, s *stack, coding string, ws *workspace) (int64, error) {
	codings, err := splitCodings(coding)
	if err != nil {
		return 0, err
	}
	for i := len(codings) - 1; i >= 0; i-- {
		if err := s.push(codings[i]); err != nil {
			return 0, err
		}
	}
	if err := s.push(s.sniff()); err != nil {
		return 0, err
	}
	in := bin.Meter(s.top, s.wire, d.limit)
	if len(s.decoders) == 0 {
		return copyChunks(w, in, ws.chunk[:], ws.chunk[:])
	}
	if ws.other == nil {
		ws.other = make([]byte, chunk)
	}
	out := newAsyncWriter(w)
	defer out.Close()
	n, err := copyChunks(out, in, ws.chunk[:], ws.other)
	if failed := out.Close(); failed != nil {
		err = writing(failed)
	}
	return n, err
}

// splitCodings parses a Content-Encoding, and skips values that do not change the
// bytes.
func splitCodings(text string) ([]string, error) {
	var codings []string
	for part := range strings.SplitSeq(text, ",") {
		switch name := strings.ToLower(strings.TrimSpace(part)); name {
		case "", "identity", "aws-chunked":
		case "gzip", "x-gzip":
			codings = append(codings, "gzip")
		case "deflate": // in this header, zlib
			codings = append(codings, "zlib")
		case "zstd", "br":
			codings = append(codings, name)
		default:
			return nil, fault.New(fault.Transport, "", "Unsupported content encoding") // Sentry's clients know these words
		}
	}
	if len(codings) > maxCodings {
		return nil, fault.New(fault.Transport, "", "Multiple content encodings not supported")
	}
	return codings, nil
}

// stack is a stack of decoders.
type stack struct {
	ctx      context.Context
	top      io.Reader
	wire     *bin.Count
	limit    bin.Limit
	decoders []io.Closer
	windows  *bin.Budget
	release  func() // of the one large window
}

// push adds a decoder, unless coding is empty. Each level is metered, so that no
// level below the last can do unbounded work.
func (s *stack) push(coding string) error {
	window := int64(freeWindow)
	var err error
	if coding == "zstd" {
		if window, err = s.claim(); err != nil {
			return err
		}
	}
	below := s.top
	if len(s.decoders) > 0 {
		below = bin.Meter(below, s.wire, s.limit)
	}
	var z io.ReadCloser
	switch coding {
	case "":
		return nil
	case "gzip":
		z, err = gzip.NewReader(below)
	case "zlib":
		z, err = zlib.NewReader(below)
	case "zstd":
		var d *zstd.Decoder
		d, err = zstd.NewReader(below,
			zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(window)))
		if err == nil {
			z = d.IOReadCloser()
		}
	case "br":
		z, coding = io.NopCloser(brotli.NewReader(below)), "brotli"
	}
	if err != nil {
		return labelled(coding, err)
	}
	s.top, s.decoders = named{z, coding}, append(s.decoders, z)
	return nil
}

func (s *stack) close() {
	for _, z := range slices.Backward(s.decoders) {
		_ = z.Close() // the file was read
	}
	if s.release != nil {
		s.release()
	}
}

// claim returns the limit of the windows of the zstd frames on top, and waits for
// memory if the first frame has a large window. Only one of the codings may have
// one: waiting for a second window while holding the first could deadlock.
func (s *stack) claim() (int64, error) {
	var h zstd.Header
	window := uint64(MaxWindow)
	if err := h.Decode(s.peek(zstd.HeaderMaxSize)); err == nil && h.SingleSegment {
		window = h.FrameContentSize
	} else if err == nil && !h.Skippable {
		window = h.WindowSize
	}
	if window <= freeWindow || s.release != nil {
		return freeWindow, nil
	}
	n := int64(min(window, MaxWindow))
	release, err := s.windows.Acquire(s.ctx, n)
	if err != nil {
		return 0, fault.New(fault.KindOf(err), "", "wait for %v of memory for a zstd window: %w", bin.Size(n), err)
	}
	s.release = release
	return n, nil
}

// sniff returns the coding of the bytes on top, by their magic.
func (s *stack) sniff() string {
	magic := s.peek(4)
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b, 8}):
		return "gzip"
	case len(magic) > 1 && magic[0] == 0x78 && (magic[1] == 0x01 || magic[1] == 0x9c || magic[1] == 0xda):
		return "zlib"
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "zstd"
	}
	return ""
}

// peek returns the next n bytes on top, or as many as there are.
func (s *stack) peek(n int) []byte {
	peeker, ok := s.top.(*bufio.Reader)
	if !ok {
		peeker = bufio.NewReader(s.top)
		s.top = peeker
	}
	head, _ := peeker.Peek(n) // the next Read returns an error too
	return head
}

// named adds the name of a coding to the errors of its decoder.
type named struct {
	io.Reader
	name string
}

func (n named) Read(p []byte) (int, error) {
	k, err := n.Reader.Read(p)
	return k, labelled(n.name, err)
}

func labelled(coding string, err error) error {
	if err == nil || err == io.EOF || strings.HasPrefix(err.Error(), coding) {
		return err
	}
	return fmt.Errorf("%s: %w", coding, err)
}

// copyChunks copies r to w in chunks of the size of buf, alternating between buf
// and other. The chunk in which r fails is not written.
func copyChunks(w io.Writer, r io.Reader, buf, other []byte) (written int64, err error) {
	for ; ; buf, other = other, buf {
		n, idle := 0, 0
		for n < len(buf) && err == nil {
			var k int
			k, err = r.Read(buf[n:])
			n += k
			if idle++; k > 0 {
				idle = 0
			}
			if idle > 100 && err == nil {
				err = io.ErrNoProgress
			}
		}
		if err != nil && err != io.EOF {
			return written, err
		}
		if n > 0 {
			if _, failed := w.Write(buf[:n]); failed != nil {
				return written, writing(failed)
			}
			written += int64(n)
		}
		if err == io.EOF {
			return written, nil
		}
	}
}

func writing(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	return fault.New(fault.Internal, "", "write received bytes: %w", err)
}

// explain returns the fault for an error of a decoder.
func (d *Decoder) explain(err error, out Decoded) error {
	var f *fault.Error
	large := d.limit.Bytes > 0 && max(out.Wire, out.Bytes+chunk) > d.limit.Bytes
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, bin.ErrLimit) && large:
		return fault.New(fault.Malformed, "", "larger than the limit of %v: %w", bin.Size(d.limit.Bytes), bin.ErrLimit)
	case errors.Is(err, bin.ErrLimit):
		return fault.New(fault.Malformed, "", "unpacks to far more than its size: %w", bin.ErrLimit)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fault.New(fault.Unsupported, "", "invalid zstd window: must be at most %v, and in later frames at most %v or that of the first",
			bin.Size(MaxWindow), bin.Size(freeWindow))
	}
	return fault.New(fault.Malformed, "", "%w", err)
}

// RequestLabel is the label in the metrics of all sources that requests name, whose ids
// are not trusted.
const RequestLabel = "request"

// Count adds a Fetch to the metrics, with a label for its source.
func Count(label string, a Attempt, err error) {
	outcome := "ok"
	if err != nil {
		outcome = strings.ReplaceAll(fault.KindOf(err).String(), " ", "_")
	}
	metric.Downloads.Add(1, label, outcome)
	metric.DownloadBytes.Add(a.Wire, label)
	metric.DownloadSeconds.Observe(float64(a.Time)/float64(time.Second), label)
}
