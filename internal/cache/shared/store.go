package shared

import (
	"bytes"
	"context"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"log/slog"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/metric"
)

const (
	tier   = "shared"
	layout = "v1/" // version of the keys and of all that stands under them
)

var (
	errTooBig = errors.New("it is larger than max_entry")
	errSource = errors.New("what was to be written could not be read")
)

var _ cache.Shared = (*Store)(nil)

// Store is the tier in one bucket. Make it with New and close it.
type Store struct {
	cfg   Config
	deps  Deps
	link  *link
	marks marks
}

// Deps is what a Store needs of the world around it.
type Deps struct {
	Bucket bucket.Bucket
	Lease  cache.Lease // nil: everybody may work
	Spool  func() (cache.Spool, error)
	Now    func() time.Time
	Log    *slog.Logger
}

// New makes a Store. It is no error when the bucket cannot be reached: it is
// used as soon as it can.
func New(cfg Config, deps Deps) *Store {
	cfg = cfg.Defaults()
	s := &Store{cfg: cfg, deps: deps, marks: marks{ids: map[id]struct{}{}}}
	s.link = &link{bucket: deps.Bucket, timeout: cfg.Timeout, probe: layout + "probe", log: deps.Log}
	s.link.open()
	return s
}

// Close ends the work in the background. Blobs that are open stay usable.
func (s *Store) Close() { s.link.close() }

func name(of id) string {
	key := of.key.String()
	return layout + string(of.kind) + "/" + key[:2] + "/" + key
}

// Acquire takes the lease of key, where there are leases.
func (s *Store) Acquire(ctx context.Context, key cache.Key) (release func(), ok bool) {
	if s.deps.Lease == nil {
		return func() {}, true
	}
	return s.deps.Lease.Acquire(ctx, key)
}

// Get opens an entry, or returns its fault.
func (s *Store) Get(ctx context.Context, kind cache.Kind, key cache.Key) (cache.Blob, error) {
	of := id{kind, key}
	f, err := s.link.read(ctx, bounds{s.cfg.Timeout, s.cfg.FetchTimeout}, func(ctx context.Context, begun func()) (found, error) {
		return s.fetch(ctx, of, begun)
	})
	outcome := "miss"
	switch {
	case err == errOff:
		outcome = "off"
	case err != nil:
	case f.fault != nil:
		outcome = "fault"
	case f.blob != nil:
		outcome = "hit"
		s.marks.drop(of)
	case errors.Is(f.bad, errBad):
		outcome = "damaged"
		if s.marks.add(of) {
			s.deps.Log.Warn("an entry in the shared bucket is not used and will be replaced", "kind", kind, "key", key, "error", f.bad)
		}
	}
	metric.CacheLookups.Add(1, tier, string(kind), outcome)
	if f.blob == nil { // and no pointer to nothing
		return nil, f.fault
	}
	return f.blob, nil
}

// fetch reads the object of an entry, whole and checked.
func (s *Store) fetch(ctx context.Context, of id, begun func()) (found, error) {
	r, attrs, err := s.deps.Bucket.Get(ctx, name(of), 0, -1)
	if err != nil {
		return found{}, err
	}
	defer r.Close()
	var b [headSize]byte
	n, err := io.ReadFull(r, b[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return found{}, err
	}
	begun()
	h, err := readHead(b[:n], of)
	switch {
	case err == nil && attrs.Size > headSize+most(h.size):
		err = bad("it has %d bytes, which are too many", attrs.Size)
	case err == nil && h.form != nothing && h.size > int64(s.cfg.MaxEntry):
		err = errTooBig
	}
	if err != nil {
		return found{bad: err}, nil
	}
	switch h.form {
	case nothing:
		s.marks.add(of)
		return found{}, nil
	case failed:
		s.marks.add(of)
		return s.fault(r, h)
	}
	return s.content(r, h)
}

// content is the entry in r. The error of a spool is no fault of the bucket.
func (s *Store) content(r io.Reader, h head) (found, error) {
	out, err := s.deps.Spool()
	if err != nil {
		return found{bad: err}, nil
	}
	err = unpack(out, r, h)
	if err == nil {
		return found{blob: out}, nil
	}
	_ = out.Close() // what it holds is of no use
	return unpacked(err)
}

// fault is the fault in r, if it still holds.
func (s *Store) fault(r io.Reader, h head) (found, error) {
	var text bytes.Buffer
	if err := unpack(&text, r, h); err != nil {
		return unpacked(err)
	}
	f, err := readFault(text.Bytes())
	if err != nil {
		return found{bad: err}, nil
	}
	now := s.deps.Now()
	until := now.Add(s.cfg.Negatives)
	if h.end.Before(until) {
		until = h.end
	}
	if !until.After(now) {
		return found{}, nil
	}
	return found{fault: cache.Remembered(f, until)}, nil
}

// unpacked is what an error of unpack comes to.
func unpacked(err error) (found, error) {
	if b, ok := err.(broken); ok {
		return found{}, b.error
	}
	return found{bad: err}, nil
}

// Put makes an entry of what fill writes. It opens the entry also when the bucket
// does not take it.
func (s *Store) Put(ctx context.Context, kind cache.Kind, key cache.Key, fill func(io.Writer) error) (cache.Blob, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.Of(err)
	}
	out, err := s.deps.Spool()
	if err != nil {
		return nil, err
	}
	kept := false
	defer func() {
		if !kept {
			_ = out.Close() // what it holds is of no use
		}
	}()
	w := &filler{ctx: ctx, out: out, sum: crc32.New(castagnoli())}
	if err := fill(w); err != nil {
		return nil, err
	}
	if w.err != nil { // fill has not minded it
		return nil, w.err
	}
	of := id{kind, key}
	h := head{form: entry, size: out.Size(), sum: w.sum.Sum32()}
	if err := s.send(ctx, of, h, out); err != nil && err != errOff {
		s.deps.Log.Debug("an entry is not shared", "kind", kind, "key", key, "error", err)
	}
	kept = true
	return out, nil
}

// send writes an object with what src has. One that came first stays, unless it
// is Meta or no entry.
func (s *Store) send(ctx context.Context, of id, h head, src bin.Source) error {
	if h.size > int64(s.cfg.MaxEntry) {
		return errTooBig
	}
	p, err := pack(h.bytes(of), src)
	if err != nil {
		return err
	}
	defer p.Close()
	first := h.form == entry && (of.kind == cache.Symcache || of.kind == cache.Cficache) && !s.marks.has(of)
	err = s.link.write(ctx, s.whole(), func(ctx context.Context, _ func()) (found, error) {
		err := s.deps.Bucket.Put(ctx, name(of), p, bucket.Attrs{IfAbsent: first})
		if err != nil && p.failed() {
			err = errSource
		}
		return found{}, err
	})
	switch {
	case err != nil:
	case h.form == entry:
		s.marks.drop(of)
	default:
		s.marks.add(of)
	}
	return err
}

func (s *Store) whole() bounds { return bounds{s.cfg.FetchTimeout, s.cfg.FetchTimeout} }

// filler is what the fill of a Put writes to.
type filler struct {
	ctx context.Context
	out io.Writer
	sum hash.Hash32
	err error
}

func (f *filler) Write(p []byte) (n int, err error) {
	if f.err == nil {
		f.err = f.ctx.Err()
	}
	if f.err == nil {
		n, f.err = f.out.Write(p)
		f.sum.Write(p[:n])
	}
	return n, f.err
}

// Remember shares a fault, if that is wanted; else the key has nothing any more.
func (s *Store) Remember(ctx context.Context, kind cache.Kind, key cache.Key, f *fault.Error, life time.Duration) {
	if f == nil || f.Kind == fault.Internal || life <= 0 {
		return
	}
	of := id{kind, key}
	if s.cfg.Negatives <= 0 {
		s.bury(ctx, of, s.whole())
		return
	}
	text := faultText(f)
	h := head{form: failed, size: int64(len(text)), end: s.deps.Now().Add(min(life, s.cfg.Negatives)), sum: crc32.Checksum(text, castagnoli())}
	_ = s.send(ctx, of, h, bin.Bytes(text)) // then the others ask for themselves
}

// Forget drops what the key has.
func (s *Store) Forget(ctx context.Context, kind cache.Kind, key cache.Key) {
	s.bury(context.WithoutCancel(ctx), id{kind, key}, bounds{2 * s.cfg.Timeout, 2 * s.cfg.Timeout})
}

// bury writes over what the key has, if it has anything. Buckets delete nothing.
func (s *Store) bury(ctx context.Context, of id, b bounds) {
	err := s.link.write(ctx, b, func(ctx context.Context, _ func()) (found, error) {
		if _, err := s.deps.Bucket.Stat(ctx, name(of)); err != nil {
			return found{}, err
		}
		text := head{form: nothing}.bytes(of)
		return found{}, s.deps.Bucket.Put(ctx, name(of), bytes.NewReader(text), bucket.Attrs{Size: int64(len(text))})
	})
	if err == nil {
		s.marks.add(of)
	}
}
