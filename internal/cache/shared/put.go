package shared

import (
	"bytes"
	"context"
	"hash/crc32"
	"io"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/cache"
	"symbolon/internal/cache/remote"
	"symbolon/internal/fault"
)

// Put makes an entry of what fill writes. It opens the entry also when the bucket
// does not take it.
func (s *Store) Put(ctx context.Context, kind cache.Kind, key cache.Key, fill func(io.Writer) error) (cache.Blob, error) {
	out, sum, err := cache.Spooled(ctx, s.deps.Spool, fill)
	if err != nil {
		return nil, err
	}
	of := id{kind, key}
	h := head{form: entry, size: out.Size(), sum: sum}
	if err := s.send(ctx, of, h, out); err != nil && err != errOff {
		s.deps.Log.Debug("an entry is not shared", "kind", kind, "key", key, "error", err)
	}
	return out, nil
}

// send writes an object with what src has, unless ctx ends; what is small is
// written nevertheless. One that came first stays, unless it is Meta or no entry.
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
	first := h.form == entry && (of.kind == cache.Symcache || of.kind == cache.Cficache) && !s.marks.has(of)
	err = s.link.write(ctx, b, func(ctx context.Context, _ func()) (found, error) {
		err := s.deps.Bucket.Put(ctx, name(of), p, bucket.Attrs{IfAbsent: first})
		if err != nil && p.HasFailed() {
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

// brief are the bounds of what is small: some times the timeout.
func (s *Store) brief(times time.Duration) bounds {
	return bounds{times * s.cfg.Timeout, times * s.cfg.Timeout, s.cfg.Timeout}
}

// Remember shares a fault, if that is wanted; else the key has nothing any more.
func (s *Store) Remember(ctx context.Context, kind cache.Kind, key cache.Key, f *fault.Error, life time.Duration) {
	if f == nil || f.Kind == fault.Internal || life <= 0 {
		return
	}
	of := id{kind, key}
	if s.cfg.Negatives <= 0 {
		s.bury(ctx, of, s.brief(slack))
		return
	}
	text := cache.AppendFault(nil, f)
	h := head{form: failed, size: int64(len(text)), end: s.deps.Now().Add(min(life, s.cfg.Negatives)), sum: crc32.Checksum(text, bin.Castagnoli)}
	_ = s.send(ctx, of, h, bin.Bytes(text)) // then the others ask for themselves
}

// Forget drops what the key has.
func (s *Store) Forget(ctx context.Context, kind cache.Kind, key cache.Key) {
	s.bury(ctx, id{kind, key}, s.brief(2))
}

// bury writes over what the key has, if it has anything. Buckets delete nothing.
func (s *Store) bury(ctx context.Context, of id, b bounds) {
	err := s.link.write(context.WithoutCancel(ctx), b, func(ctx context.Context, _ func()) (found, error) {
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
