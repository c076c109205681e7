package locate

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/debugfile"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/source"
)

// fetched is a file in its spool, with a reference count, or the fault of the
// fetch.
type fetched struct {
	attempt      source.Attempt
	fault        *fault.Error
	unchanged    bool // the state that was known still holds: the file was not sent
	parse        time.Duration
	spool        cache.Spool
	space        bin.Space // for sections that were unpacked
	file         *object.File
	mapping      *mapping // instead of file; then spool is nil unless it will be kept
	isPart       bool     // there is no file: it is opened for the object that needs it
	hash         [32]byte // of the content of a part
	use          atomic.Int32
	described    sync.Once // for meta
	meta         Meta      // of the object, before it had parts
	owner        *shared   // nil: of a failure
	began        time.Time
	key          cache.Key
	refs         atomic.Int32              // the last one is released under the mu of owner
	fromOriginal bool                      // it was read from the kept original
	keep         atomic.Bool               // it becomes a kept original
	renewed      atomic.Pointer[Freshness] // the last renewal without a change
	base         [32]byte                  // of its addresses, if the file does not have it; else zero
}

func (f *fetched) closeSpace() {
	if f.space != nil {
		_ = f.space.Close() // it is not used any more
	}
}

// retain acquires a reference. The caller has one, or holds the mu of owner.
func (f *fetched) retain() *fetched {
	f.refs.Add(1)
	return f
}

// release releases a reference. The last one closes the file.
func (f *fetched) release() {
	if f.owner == nil { // a failure
		return
	}
	f.owner.mu.Lock()
	last := f.refs.Add(-1) == 0
	current := f.owner.live[f.key] == f // else the source has another state by now
	if last && current {
		delete(f.owner.live, f.key)
	}
	f.owner.mu.Unlock()
	if !last {
		return
	}
	if current && f.keep.Load() && !f.fromOriginal {
		f.owner.storeOriginal(f.key, f.spool)
	}
	f.closeSpace()
	if f.spool != nil {
		_ = f.spool.Close() // it was only read
	}
}

// rebase makes the addresses of a file relative to base, if the file does not have
// its image base. It then has other tables than the file itself, so the base is
// part of their keys.
func (f *fetched) rebase(base uint64) {
	if base == 0 || f.file == nil {
		return
	}
	for _, o := range f.file.Objects() {
		o.Rebase(base)
	}
	f.base = sha256.Sum256(fmt.Appendf(nil, "addresses from %#x", base))
}

// errUnchanged ends the receiving of a file that is not sent.
var errUnchanged = errors.New("the file has not changed")

// fetch receives a candidate from its source, or from its kept original, into a spool,
// and opens it meanwhile. The result has one reference. If the candidate is renewed, its
// source is asked for changes.
func (l *shared) fetch(ctx context.Context, a target, key cache.Key) *fetched {
	f, c := &fetched{began: l.now()}, a.candidate
	var err error
	switch {
	case a.renewed:
		c.Validator = a.meta.Validator
	case a.meta != nil && l.keep != keepNone:
		f.attempt.Validator = a.meta.Validator
		f.fromOriginal, err = l.original(ctx, f, c.Kind, key)
	}
	if !f.fromOriginal && err == nil {
		err = l.receive(ctx, f, c.Kind, func(w io.Writer) error {
			var err error
			f.attempt, err = a.source.Fetch(ctx, c, w)
			if err == nil && f.attempt.Same {
				err = errUnchanged
			}
			return err
		})
	}
	if err == errUnchanged {
		f.unchanged = true
		return f
	}
	if fault.KindOf(err) == fault.Unsupported && f.attempt.Bytes > 0 {
		// Most often an error page with status 200.
		err = fault.New(fault.Malformed, c.Location, "not a %s file: %w", c.Kind, err)
	}
	if err != nil {
		f.fault = fault.Of(err)
		return f
	}
	if !f.fromOriginal { // an earlier original may have other content
		l.tier.Forget(ctx, cache.Objects, key)
	}
	f.rebase(c.Base)
	f.owner, f.key = l, key
	f.keep.Store(l.keep == keepAll && !c.Local)
	f.refs.Store(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live[key] = f
	return f
}

// stream opens a file while it is written to a spool.
type stream interface {
	io.Writer
	finish(ctx context.Context, l *shared, f *fetched, spool cache.Spool) error
}

// receive opens the file of a kind that fill writes.
func (l *shared) receive(ctx context.Context, f *fetched, kind string, fill func(io.Writer) error) error {
	out := &lazySpool{make: l.spool}
	var in stream = &timedStream{w: debugfile.NewStream(), now: l.now, kind: kind}
	switch kind {
	case source.IL2CPP:
		in = newMappingStream()
	case source.DWZ, source.DWP, source.DWO, source.UUIDMap, source.BCSymbolMap:
		in = newPartStream()
	}
	err := fill(io.MultiWriter(out, in))
	if err == nil {
		err = out.open()
	}
	if err == nil {
		if l.space != nil {
			f.space = l.space(ctx)
		}
		err = in.finish(ctx, l, f, out.spool)
	}
	if err != nil {
		f.closeSpace()
		if out.spool != nil {
			_ = out.spool.Close()
		}
		return err
	}
	if f.mapping != nil && l.keep != keepAll {
		_ = out.spool.Close() // it is not read again
		return nil
	}
	f.spool = out.spool
	return nil
}

// checkSingle returns a fault if src is not a single file. A source delivers one
// file, and removes one compression.
func checkSingle(src bin.Source) error {
	head, err := bin.Read(src, 0, int(min(src.Size(), 4)))
	switch {
	case err != nil:
		return err
	case bytes.HasPrefix(head, []byte("\x1f\x8b")), bytes.Equal(head, []byte("\x28\xb5\x2f\xfd")):
		return fault.New(fault.Malformed, "", "packed more than once")
	case bytes.Equal(head, []byte("PK\x03\x04")):
		if z, err := zip.NewReader(src, src.Size()); err == nil && len(z.File) > 1 {
			return fault.New(fault.Malformed, "", "ZipArchive contains more than one symbol file")
		}
	}
	return nil
}

// lazySpool makes its spool at the first write: most candidates do not exist.
type lazySpool struct {
	make  func() (cache.Spool, error)
	spool cache.Spool
}

func (o *lazySpool) open() (err error) {
	if o.spool == nil {
		o.spool, err = o.make()
	}
	return err
}

func (o *lazySpool) Write(p []byte) (int, error) {
	if err := o.open(); err != nil {
		return 0, err
	}
	return o.spool.Write(p)
}

// timedStream opens a debug file and measures how long that takes.
type timedStream struct {
	w     *debugfile.Stream
	now   func() time.Time
	kind  string // of the candidate
	spent time.Duration
}

func (t *timedStream) Write(p []byte) (int, error) {
	start := t.now()
	n, err := t.w.Write(p)
	t.spent += t.now().Sub(start)
	return n, err
}

func (t *timedStream) finish(_ context.Context, l *shared, f *fetched, spool cache.Spool) (err error) {
	start := l.now()
	f.file, err = t.w.Finish(spool, object.Options{Columns: l.columns, Space: f.space, Relax: func() { relax(spool, f.space) }})
	f.parse = t.spent + l.now().Sub(start)
	switch profiler := t.kind == source.Symbfile || t.kind == source.ReturnPads; {
	case err != nil:
		return err
	case profiler && f.file.Kind() != source.Symbfile:
		// A profiler looks up offsets in the file, and another file would take them for
		// addresses.
		return fault.New(fault.Unsupported, "debug file", "invalid format %s: must be symbfile", f.file.Kind())
	}
	return checkSingle(spool)
}

// original opens the kept original of key as f, and reports whether there is one. It
// removes a damaged one.
func (l *shared) original(ctx context.Context, f *fetched, kind string, key cache.Key) (bool, error) {
	blob, err := l.tier.Get(ctx, cache.Objects, key)
	if err != nil || blob == nil {
		return false, nil
	}
	defer blob.Close()
	z, err := zstd.NewReader(io.NewSectionReader(blob, 0, blob.Size()), zstd.WithDecoderConcurrency(1))
	if err == nil {
		defer z.Close()
		err = l.receive(ctx, f, kind, func(w io.Writer) error {
			_, err := z.WriteTo(w)
			return err
		})
	}
	if err == nil {
		return true, nil
	}
	l.log.Warn("a kept original is damaged and will be fetched again", "error", err)
	l.tier.Forget(ctx, cache.Objects, key)
	return false, context.Cause(ctx)
}

// storeOriginal compresses a fetched file and stores it.
func (l *shared) storeOriginal(key cache.Key, src bin.Source) {
	err := cache.Store(context.Background(), l.tier, cache.Objects, key, func(w io.Writer) error {
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
		l.log.Warn("cannot store a fetched file", "error", err)
	}
}

// get returns the file of a candidate that is in use, or else fetches it, once for
// all callers. It has one reference. A download that began before since may be of an
// earlier state, and is repeated up to three times.
func (l *shared) get(ctx context.Context, a target, key cache.Key, since time.Time) (f *fetched, used bool, err error) {
	for try := 0; ; try++ {
		f, used, err = l.getShared(ctx, a, key)
		same := a.meta != nil && a.meta.Validator != "" && err == nil && f.attempt.Validator == a.meta.Validator
		if err != nil || used || same || try == 3 || !f.began.Before(since) {
			return f, used, err
		}
		f.release()
		l.retire(key, since)
	}
}

// getShared is get without since. A fault is remembered, unless the file is known.
func (l *shared) getShared(ctx context.Context, a target, key cache.Key) (f *fetched, used bool, err error) {
	if f := l.acquire(key, a.meta); f != nil {
		return f, true, nil
	}
	f, err = l.fetches.Do(ctx, key, func(ctx context.Context) (*fetched, error) {
		if f := l.acquire(key, a.meta); f != nil { // fetched in the meantime
			return f, nil
		}
		f := l.fetch(ctx, a, key)
		if f.fault != nil {
			if a.meta == nil {
				l.remember(ctx, key, f.fault, a.candidate, f.began)
			}
			if ctx.Err() == nil { // else the process is ending
				l.logFault(a.candidate, f.attempt, f.fault)
			}
		}
		return f, nil
	})
	return f, false, err
}

// acquire returns the file of a candidate if it is in use. If its meta is known, it
// must be of the same state: an earlier one may have taken longer to download.
func (l *shared) acquire(key cache.Key, meta *Meta) *fetched {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.live[key]
	if f == nil || meta != nil && f.attempt.Validator != meta.Validator {
		return nil
	}
	return f.retain()
}

// isReplaced reports whether another state of f is in use.
func (l *shared) isReplaced(key cache.Key, f *fetched) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.live[key] != nil && l.live[key] != f
}

// retire makes a candidate be fetched again if its file in use was fetched before
// since. Its users keep it.
func (l *shared) retire(key cache.Key, since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.live[key]; f != nil && !f.began.After(since) {
		delete(l.live, key)
	}
}

// markChecked records the validator of the file, and that its source was asked when
// the fetch began: later changes may be missing.
func (f *fetched) markChecked(meta *Meta) {
	meta.Validator, meta.Checked, meta.Retry = f.attempt.Validator, f.began, time.Time{}
}

// metaFor returns the meta of the object of a file that m asks for.
func (f *fetched) metaFor(m ident.Module) *Meta {
	switch {
	case f.mapping != nil:
		return f.mapping.meta(m)
	case f.isPart: // its identity is that of the lookup until it is supplied
		return &Meta{Module: ident.Module{DebugID: m.DebugID, CodeID: m.CodeID}, Kind: "part", Size: f.spool.Size(), Hash: f.hash}
	}
	f.described.Do(func() { f.meta = metaOf(pick(f.file, m), f.spool.Size()) })
	meta := f.meta
	meta.Base = f.base
	return &meta
}
