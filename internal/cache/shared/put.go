package shared

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/cache"
	"symbolon/internal/cache/remote"
	"symbolon/internal/fault"
)

// Put stores the bytes of fill as an entry. It opens the entry even if the bucket
// does not store it.
func (s *Store) Put(ctx context.Context, kind cache.Kind, key cache.Key, fill func(io.Writer) error) (cache.Blob, error) {
	out, sum, err := cache.Spooled(ctx, s.deps.Spool, fill)
	if err != nil {
		return nil, err
	}
	of := id{kind, key}
	h := head{form: entry, size: out.Size(), sum: sum}
	if err := s.send(ctx, of, h, out); err != nil && err != errOff {
		s.deps.Log.Debug("cannot share an entry", "kind", kind, "key", key, "error", err)
	}
	return out, nil
}

// send writes an object with the content of src, unless ctx ends; a small one is
// written in any case. It does not replace an object, unless that is Meta or
// marked.
func (s *Store) send(ctx context.Context, of id, h head, src bin.Source) error {
	if h.size > int64(s.cfg.MaxEntry) {
		return errTooBig
	}
	p, err := remote.NewPacker(h.bytes(of), src)
	if err != nil {
		return err
	}
	defer p.Close()
	b := bounds{s.cfg.FetchTimeout, s.cfg.FetchTimeout, s.cfg.Timeout}
	if h.size <= smallest { // it may be sent at once, and then it is stored in any case
		ctx, b = context.WithoutCancel(ctx), s.brief(slack)
	}
	first := h.form == entry && of.kind.IsTable() && !s.marks.has(of) && !s.replaces.Load()
	err = s.link.write(ctx, b, func(ctx context.Context, _ func()) (found, error) {
		_, err := s.deps.Bucket.Put(ctx, name(of), p, bucket.Attrs{IfAbsent: first})
		if err != nil && p.HasFailed() {
			err = errSource
		}
		return found{}, err
	})
	switch {
	case errors.Is(err, bucket.ErrConditions):
		s.replaces.Store(true)
		return s.send(ctx, of, h, src)
	case err != nil:
	case h.form == entry:
		s.marks.drop(of)
	default:
		s.marks.add(of)
	}
	return err
}

// brief returns the bounds of small objects: some times the timeout.
func (s *Store) brief(times time.Duration) bounds {
	return bounds{times * s.cfg.Timeout, times * s.cfg.Timeout, s.cfg.Timeout}
}

// Remember shares a fault, if configured; otherwise it removes the entry.
func (s *Store) Remember(ctx context.Context, kind cache.Kind, key cache.Key, f *fault.Error, life time.Duration) {
	if f == nil || f.Kind == fault.Internal || life <= 0 {
		return
	}
	of := id{kind, key}
	if s.cfg.Negatives <= 0 {
		s.overwrite(ctx, of, s.brief(slack))
		return
	}
	text := cache.AppendFault(nil, f)
	h := head{form: failed, size: int64(len(text)), end: s.deps.Now().Add(min(life, s.cfg.Negatives)), sum: crc32.Checksum(text, bin.Castagnoli)}
	_ = s.send(ctx, of, h, bin.Bytes(text)) // a fault that is not shared is found again
}

// Forget removes the entry or fault of the key.
func (s *Store) Forget(ctx context.Context, kind cache.Kind, key cache.Key) {
	s.overwrite(ctx, id{kind, key}, s.brief(2))
}

// overwrite overwrites the object of the key, if there is one, because a tier does not
// delete.
func (s *Store) overwrite(ctx context.Context, of id, b bounds) {
	err := s.link.write(context.WithoutCancel(ctx), b, func(ctx context.Context, _ func()) (found, error) {
		if _, err := s.deps.Bucket.Stat(ctx, name(of)); err != nil {
			return found{}, err
		}
		text := head{form: deleted}.bytes(of)
		_, err := s.deps.Bucket.Put(ctx, name(of), bytes.NewReader(text), bucket.Attrs{Size: int64(len(text))})
		return found{}, err
	})
	if err == nil {
		s.marks.add(of)
	}
}
