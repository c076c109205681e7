package ingest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
)

const (
	zstdMagic = "\x28\xb5\x2f\xfd"
	window    = 1 << 20 // of frames that are written
	maxWindow = 8 << 20 // of frames that are read; RFC 9659
)

// A Sum is a SHA-256, in texts as hex.
type Sum [sha256.Size]byte

func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText returns s as hex.
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText sets s from hex.
func (s *Sum) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(s)) {
		return hex.ErrLength
	}
	_, err := hex.Decode(s[:], text)
	return err
}

// Head describes a part of any kind.
type Head struct {
	Received int64 `json:"received"` // Unix time in milliseconds
	Sum      Sum   `json:"sha256"`   // of the decoded part
	Size     int64 `json:"size"`     // of the decoded part
}

// A Draft is a received part, to be closed.
type Draft struct {
	Head
	Note  any       // is stored with the part: a JSON object with a member at least
	began time.Time // to arrive
	spool cache.Spool
}

// Close removes the received bytes.
func (d *Draft) Close() error { return d.spool.Close() }

// body returns the zstd frame of the part, which is empty for one without content.
func (d *Draft) body() io.Reader { return io.NewSectionReader(d.spool, 0, d.spool.Size()) }

// line returns the JSON of the Head and the Note.
func (d *Draft) line() ([]byte, error) {
	head, err := json.Marshal(&d.Head)
	if err != nil {
		return nil, fault.New(fault.Internal, "", "%w", err)
	}
	note, err := json.Marshal(d.Note)
	if err != nil {
		return nil, fault.New(fault.Internal, "", "%w", err)
	}
	return slices.Concat(head[:len(head)-1], []byte(","), note[1:]), nil
}

// Receive receives a part, whose body may be compressed with zstd, into a spool. It
// calls read for the decoded bytes. An error of read is a *Refusal, unless it is one
// of the body or the spool; an error of the body other than its end is wrapped.
func (s *Store) Receive(ctx context.Context, place string, body io.Reader, read func(*Tee) error) (*Draft, error) {
	spool, err := s.deps.Spool()
	if err != nil {
		return nil, err
	}
	d := &Draft{began: s.deps.Now(), spool: spool}
	if err := s.fill(d, place, &bin.ErrReader{R: bucket.Bound(ctx, body)}, read); err != nil {
		spool.Close()
		return nil, err
	}
	return d, nil
}

// fill reads the body into the spool of d.
func (s *Store) fill(d *Draft, place string, in *bin.ErrReader, read func(*Tee) error) error {
	count := bin.NewCount(in)
	plain := bufio.NewReaderSize(count, 4<<10)
	decoded, unpacked := bin.Meter(plain, nil, bin.Limit{Bytes: int64(s.limits.Part)}), &bin.ErrReader{}
	if begin, _ := plain.Peek(len(zstdMagic)); string(begin) == zstdMagic {
		z, err := NewDecoder(plain)
		if err != nil {
			return fault.New(fault.Internal, place, "%w", err)
		}
		defer z.Close()
		unpacked.R = z
		decoded = bin.Meter(unpacked, count, bin.Limit{Bytes: int64(s.limits.Part)})
	}
	out := &bin.ErrWriter{W: d.spool}
	pack := s.pack(out)
	defer func() {
		pack.Reset(nil)
		s.packs.Put(pack)
	}()
	t := &Tee{in: bufio.NewReaderSize(decoded, 16), sum: sha256.New(), out: pack}
	err := read(t)
	if err == nil {
		err = pack.Close()
	}
	d.Size = t.n
	t.sum.Sum(d.Sum[:0])
	var refused *Refusal
	switch {
	case out.Err != nil:
		return fault.New(fault.Internal, place, "the spool: %w", out.Err)
	case errors.Is(in.Err, io.ErrUnexpectedEOF):
		return Refuse(Truncated, place, "the body ends too early: %w", in.Err)
	case in.Err != nil:
		return fmt.Errorf("receive %s: %w", place, in.Err)
	case err == nil || errors.As(err, &refused):
		return err
	case errors.Is(err, bin.ErrLimit):
		return Refuse(TooLarge, place, "it has more than %v, or far more than was sent", s.limits.Part)
	case errors.Is(unpacked.Err, io.ErrUnexpectedEOF):
		return Refuse(Truncated, place, "zstd: %w", unpacked.Err)
	case unpacked.Err != nil:
		return Refuse(Malformed, place, "zstd: %w", unpacked.Err)
	}
	return &Refusal{Malformed, fault.Of(err)}
}

// pack returns a compressor that writes to w.
func (s *Store) pack(w io.Writer) *zstd.Encoder {
	if e, ok := s.packs.Get().(*zstd.Encoder); ok {
		e.Reset(w)
		return e
	}
	e, _ := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(window)) // the options are valid
	return e
}

// NewDecoder returns a decoder of frames.
func NewDecoder(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}

// A Tee reads a part and writes it to the spool.
type Tee struct {
	in     *bufio.Reader
	sum    hash.Hash
	out    io.Writer
	n      int64
	isHeld bool
	held   []byte
}

// Peek returns the next n bytes, at most 16, without reading them.
func (t *Tee) Peek(n int) ([]byte, error) { return t.in.Peek(n) }

// Read reads the part.
func (t *Tee) Read(p []byte) (int, error) {
	n, err := t.in.Read(p)
	t.n += int64(n)
	t.sum.Write(p[:n])
	if t.isHeld {
		t.held = append(t.held, p[:n]...)
		return n, err
	}
	if _, failed := t.out.Write(p[:n]); failed != nil {
		return n, failed
	}
	return n, err
}

// Hold keeps the bytes that are read from now on in memory, until Release.
func (t *Tee) Hold() { t.isHeld = true }

// Release writes the held bytes to the spool, without the first cut ones.
func (t *Tee) Release(cut int64) error {
	_, err := t.out.Write(t.held[cut:])
	t.isHeld, t.held = false, nil
	return err
}
