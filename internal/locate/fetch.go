package locate

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/object"
	"symbolon/internal/source"
)

// fetched is a file in its spool, shared by all who use it; or the fault that
// came instead of it.
type fetched struct {
	attempt source.Attempt
	fault   *fault.Error
	parse   time.Duration
	meta    Meta
	spool   cache.Spool
	file    *object.File
	refs    atomic.Int32
	kept    bool           // it came from the originals that are kept
	keep    atomic.Bool    // it becomes one of them
	last    func(*fetched) // runs before the spool is closed
}

func (f *fetched) retain() *fetched {
	f.refs.Add(1)
	return f
}

func (f *fetched) release() {
	if f.refs.Add(-1) > 0 || f.spool == nil {
		return
	}
	if f.keep.Load() && !f.kept {
		f.last(f)
	}
	_ = f.spool.Close() // its bytes are not wanted any more
}

// fetch brings a candidate into a spool, from the originals that are kept or
// from its source, and reads it on the way. The result carries one reference.
func (l *Locator) fetch(ctx context.Context, s source.Source, c source.Candidate, key cache.Key) *fetched {
	f := &fetched{}
	f.refs.Store(1)
	err := l.fill(ctx, f, s, c, key)
	if err == nil {
		return f
	}
	if f.spool != nil {
		_ = f.spool.Close()
		f.spool = nil
	}
	f.fault = fault.Of(err)
	return f
}

func (l *Locator) fill(ctx context.Context, f *fetched, s source.Source, c source.Candidate, key cache.Key) (err error) {
	if f.spool, err = l.spool(); err != nil {
		return err
	}
	stream := &timed{w: object.NewStream(), now: l.now}
	both := io.MultiWriter(f.spool, stream)
	if f.kept, err = l.original(ctx, key, both); err != nil {
		return err
	}
	if !f.kept {
		if f.attempt, err = s.Fetch(ctx, c, both); err != nil {
			return err
		}
	}
	start := l.now()
	f.file, err = stream.w.Finish(f.spool)
	f.parse = stream.spent + l.now().Sub(start)
	if fault.KindOf(err) == fault.Unsupported {
		// A page that says sorry with status 200, most often.
		return fault.New(fault.Malformed, c.Location, "what came is no %s file: %w", c.Kind, err)
	}
	if err != nil {
		return err
	}
	o := f.file.Objects()[0]
	f.meta = metaOf(o, f.spool.Size())
	f.last = func(f *fetched) { l.keepOriginal(key, f.spool) }
	return nil
}

// timed is a stream that knows how long it worked.
type timed struct {
	w     *object.Stream
	now   func() time.Time
	spent time.Duration
}

func (t *timed) Write(p []byte) (int, error) {
	start := t.now()
	n, err := t.w.Write(p)
	t.spent += t.now().Sub(start)
	return n, err
}

// original writes the kept original of key to w, if there is one. One that is
// damaged is thrown away; as w may have received a part of it by then, that is
// an error, and the next request fetches the file anew.
func (l *Locator) original(ctx context.Context, key cache.Key, w io.Writer) (bool, error) {
	if l.keep == keepNone {
		return false, nil
	}
	blob, err := l.tier.Get(ctx, cache.Objects, key)
	if err != nil || blob == nil {
		return false, nil
	}
	defer blob.Close()
	z, err := zstd.NewReader(io.NewSectionReader(blob, 0, blob.Size()), zstd.WithDecoderConcurrency(1))
	if err == nil {
		defer z.Close()
		_, err = z.WriteTo(w)
	}
	if err != nil {
		l.tier.Forget(ctx, cache.Objects, key)
		return false, fault.New(fault.Internal, "disk cache", "read the kept original, which is now dropped: %w", err)
	}
	return true, nil
}

// keepOriginal puts a file that was fetched into the cache as zstd.
func (l *Locator) keepOriginal(key cache.Key, src bin.Source) {
	blob, err := l.tier.Put(context.Background(), cache.Objects, key, func(w io.Writer) error {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		if _, err := io.Copy(z, io.NewSectionReader(src, 0, src.Size())); err != nil {
			return errors.Join(err, z.Close())
		}
		return z.Close()
	})
	if err != nil {
		l.log.Warn("a fetched file could not be kept", "error", err)
		return
	}
	_ = blob.Close()
}
