package shared

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/cache"
	"symbolon/internal/cache/remote"
	"symbolon/internal/metric"
)

const (
	tier     = "shared"
	layout   = "v1/"     // version of the keys and of all that is stored under them
	smallest = 128 << 10 // larger entries are not written after their caller has left
)

var (
	errTooBig = errors.New("the entry is larger than max_entry")
	errSource = errors.New("cannot read the entry to write")
)

var _ cache.Shared = (*Store)(nil)

// Store is the tier in one bucket. Make it with New and close it.
type Store struct {
	cfg      Config
	deps     Deps
	link     *link
	marks    marks
	replaces atomic.Bool // the bucket does not support conditional creates
}

// Deps are the dependencies of a Store.
type Deps struct {
	Bucket bucket.Bucket
	Lease  cache.Lease // nil: every node may work
	Spool  func() (cache.Spool, error)
	Now    func() time.Time
	Log    *slog.Logger
}

// New returns a Store. A bucket that is unavailable is used as soon as it
// answers.
func New(cfg Config, deps Deps) *Store {
	cfg = cfg.Defaults()
	s := &Store{cfg: cfg, deps: deps, marks: marks{ids: map[id]struct{}{}}}
	s.link = &link{bucket: deps.Bucket, timeout: cfg.Timeout, probe: layout + "probe", log: deps.Log}
	s.link.open()
	return s
}

// Close ends the work in the background. Open blobs stay usable.
func (s *Store) Close() { s.link.close() }

func name(of id) string {
	key := of.key.String()
	return layout + string(of.kind) + "/" + key[:2] + "/" + key
}

// Acquire acquires the lease of key, if there are leases.
func (s *Store) Acquire(ctx context.Context, key cache.Key) (release func(), ok bool) {
	if s.deps.Lease == nil {
		return func() {}, true
	}
	return s.deps.Lease.Acquire(ctx, key)
}

// Get opens an entry, or returns its fault.
func (s *Store) Get(ctx context.Context, kind cache.Kind, key cache.Key) (cache.Blob, error) {
	of := id{kind, key}
	f, err := s.link.read(ctx, bounds{first: s.cfg.Timeout, whole: s.cfg.FetchTimeout}, func(ctx context.Context, begun func()) (found, error) {
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
	case errors.Is(f.bad, remote.ErrDamaged):
		outcome = "damaged"
		if s.marks.add(of) {
			s.deps.Log.Warn("an entry in the shared bucket is damaged and will be replaced", "kind", kind, "key", key, "error", f.bad)
		}
	}
	metric.CacheLookups.Add(1, tier, string(kind), outcome)
	if f.blob == nil { // not an interface with a nil pointer
		return nil, f.fault
	}
	return f.blob, nil
}

// fetch reads and verifies the object of an entry.
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
	case err == nil && attrs.Size > headSize+remote.MaxStream(h.size):
		err = remote.Damaged("%d bytes are too many", attrs.Size)
	case err == nil && h.form != deleted && h.size > int64(s.cfg.MaxEntry):
		err = errTooBig
	}
	if err != nil {
		return found{bad: err}, nil
	}
	switch h.form {
	case deleted:
		s.marks.add(of)
		return found{}, nil
	case failed:
		s.marks.add(of)
		return s.fault(r, h)
	}
	return s.content(ctx, r, h)
}

// content returns the entry in r. The error of a spool is not a failure of the
// bucket.
func (s *Store) content(ctx context.Context, r io.Reader, h head) (found, error) {
	if err := ctx.Err(); err != nil { // its caller has left
		return found{}, err
	}
	out, err := s.deps.Spool()
	if err != nil {
		return found{bad: err}, nil
	}
	err = remote.Unpack(out, r, h.size, h.sum)
	if err == nil {
		return found{blob: out}, nil
	}
	_ = out.Close() // its content is incomplete
	return unpacked(err)
}

// fault returns the fault in r, if it has not expired.
func (s *Store) fault(r io.Reader, h head) (found, error) {
	var text bytes.Buffer
	if err := remote.Unpack(&text, r, h.size, h.sum); err != nil {
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

// unpacked returns the result of an error of remote.Unpack.
func unpacked(err error) (found, error) {
	if broken, ok := err.(remote.ReadError); ok {
		return found{}, broken.Err
	}
	return found{bad: err}, nil
}
