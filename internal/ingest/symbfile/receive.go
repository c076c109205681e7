package symbfile

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/format/symbfile"
	"symbolon/internal/ident"
)

const (
	magic     = "symbfile"
	zstdMagic = "\x28\xb5\x2f\xfd"
	window    = 1 << 20 // of what is compressed here
	maxWindow = 8 << 20 // of what was compressed elsewhere; RFC 9659
)

// head is the line in front of a part that waits.
type head struct {
	Received int64         `json:"received"` // Unix time in milliseconds
	Sum      Sum           `json:"sha256"`   // of the part as it came, decoded
	Size     int64         `json:"size"`     // of the same
	Cut      int64         `json:"cut,omitempty"`
	Ranges   int64         `json:"ranges"`
	Pads     int64         `json:"pads"`
	Raw      bool          `json:"raw,omitempty"` // it can only be verified with the others
	BuildID  ident.BuildID `json:"build_id,omitempty"`
	Base     *uint64       `json:"base,omitempty"`
}

// draft is a part that was received.
type draft struct {
	head  head
	began time.Time   // to come
	spool cache.Spool // a zstd frame, or nothing for a part without messages
}

// receive receives a part, verifies it as far as that can be done, and compresses it.
func (s *Store) receive(ctx context.Context, p Part, body io.Reader) (*draft, error) {
	spool, err := s.deps.Spool()
	if err != nil {
		return nil, err
	}
	d := &draft{head: head{BuildID: p.BuildID, Base: p.Base}, began: s.deps.Now(), spool: spool}
	if err := s.fill(d, p, &inlet{r: bucket.Bound(ctx, body)}); err != nil {
		spool.Close()
		return nil, err
	}
	return d, nil
}

// fill fills d with what in has.
func (s *Store) fill(d *draft, p Part, in *inlet) error {
	decoded, end, err := decode(in, int64(s.cfg.MaxPart))
	if err != nil {
		return fault.New(fault.Internal, place(p), "%w", err)
	}
	defer end()
	out := &outlet{w: d.spool}
	pack := s.pack(out)
	defer func() {
		pack.Reset(nil)
		s.packs.Put(pack)
	}()
	t := &tee{in: bufio.NewReaderSize(decoded, 16), sum: sha256.New(), out: pack}
	if err = s.read(d, p, t); err == nil {
		err = pack.Close()
	}
	d.head.Size = t.n
	t.sum.Sum(d.head.Sum[:0])
	var refused *Refusal
	switch {
	case out.err != nil:
		return fault.New(fault.Internal, place(p), "the spool: %w", out.err)
	case errors.Is(in.err, io.ErrUnexpectedEOF):
		return refuse(Truncated, place(p), "the body ends too early: %w", in.err)
	case in.err != nil:
		return fmt.Errorf("receive %s: %w", place(p), in.err)
	case err == nil || errors.As(err, &refused):
		return err
	case errors.Is(err, bin.ErrLimit):
		return refuse(TooLarge, place(p), "it has more than %v, or far more than was sent", s.cfg.MaxPart)
	case errors.Is(err, errZstd) && errors.Is(err, io.ErrUnexpectedEOF):
		return refuse(Truncated, place(p), "%w", err)
	case errors.Is(err, errZstd):
		return refuse(Malformed, place(p), "%w", err)
	}
	return &Refusal{Malformed, fault.Of(err)}
}

func place(p Part) string { return fmt.Sprintf("part %d of %d", p.Index, p.Count) }

// read reads a part through t, and notes in d what it is.
func (s *Store) read(d *draft, p Part, t *tee) error {
	begin, err := t.in.Peek(len(magic))
	switch {
	case len(begin) == 0 && err == io.EOF:
		return refuse(Malformed, place(p), "it is empty")
	case p.Index > 0 && err != nil && err != io.EOF:
		return err
	case p.Index > 0 && string(begin) != magic:
		d.head.Raw = true
		_, err := io.Copy(io.Discard, t)
		return err
	}
	r := symbfile.NewReader(t)
	r.Strict = true
	t.keep = p.Index > 0
	from, err := r.Begin()
	if err == nil && t.keep {
		d.head.Cut = from
		err = t.release(from)
	}
	if err == nil {
		err = s.records(r, p.Kind, &d.head)
	}
	if p.Index == 0 && p.Count > 1 && errors.Is(err, symbfile.ErrCut) {
		d.head.Raw = true // so the others must continue it
		return nil
	}
	return err
}

// records reads all records, and counts them in h.
func (s *Store) records(r *symbfile.Reader, k Kind, h *head) error {
	for {
		rec, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case rec.Range != nil:
			h.Ranges++
		default:
			h.Pads++
		}
		if (rec.Range != nil) != (k == Ranges) && !s.cfg.Mixed {
			what := "a return pad among ranges"
			if rec.Range != nil {
				what = "a range among return pads"
			}
			return refuse(WrongKind, fmt.Sprintf("symbfile, at %#x", r.Offset()), "%s", what)
		}
	}
}

// pack is a compressor that writes to w.
func (s *Store) pack(w io.Writer) *zstd.Encoder {
	if e, ok := s.packs.Get().(*zstd.Encoder); ok {
		e.Reset(w)
		return e
	}
	e, _ := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(window)) // the options are known
	return e
}

// errZstd is what every failure of a decoder is.
var errZstd = errors.New("zstd")

// decode is what in has, decoded if it is zstd, and at most limit bytes of it.
func decode(in *inlet, limit int64) (decoded io.Reader, end func(), err error) {
	count := bin.NewCount(in)
	plain := bufio.NewReaderSize(count, 4<<10)
	l := bin.Limit{Bytes: limit}
	if begin, _ := plain.Peek(len(zstdMagic)); string(begin) != zstdMagic {
		return bin.Meter(plain, nil, l), func() {}, nil
	}
	z, err := zstd.NewReader(plain, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, nil, err
	}
	return bin.Meter(unpacked{z}, count, l), z.Close, nil
}

// unpacked marks the failures of a decoder.
type unpacked struct{ r io.Reader }

func (u unpacked) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", errZstd, err)
	}
	return n, err
}

// inlet keeps the failure of a body.
type inlet struct {
	r   io.Reader
	err error
}

func (i *inlet) Read(p []byte) (int, error) {
	n, err := i.r.Read(p)
	if err != nil && err != io.EOF {
		i.err = err
	}
	return n, err
}

// outlet keeps the failure of a spool.
type outlet struct {
	w   io.Writer
	err error
}

func (o *outlet) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.err = err
	}
	return n, err
}

// tee is what in has; what is read of it is summed and written to out.
type tee struct {
	in   *bufio.Reader
	sum  hash.Hash
	out  io.Writer
	n    int64
	keep bool // until it is known what of it is cut off
	kept []byte
}

func (t *tee) Read(p []byte) (int, error) {
	n, err := t.in.Read(p)
	t.n += int64(n)
	t.sum.Write(p[:n])
	if t.keep {
		t.kept = append(t.kept, p[:n]...)
		return n, err
	}
	if _, failed := t.out.Write(p[:n]); failed != nil {
		return n, failed
	}
	return n, err
}

// release writes what was kept, without the first cut bytes of it.
func (t *tee) release(cut int64) error {
	_, err := t.out.Write(t.kept[cut:])
	t.keep, t.kept = false, nil
	return err
}
