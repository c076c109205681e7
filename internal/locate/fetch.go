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

// fetched is a file in its spool, shared by all who use it; or the fault that
// came instead of it.
type fetched struct {
	attempt source.Attempt
	fault   *fault.Error
	same    bool // the file that was known is still there: it did not come again
	parse   time.Duration
	spool   cache.Spool
	space   bin.Space // what the file unpacked
	file    *object.File
	mapping *mapping // in the stead of file; then spool is nil if it is not to be kept
	of      *desk    // nil: it is a failure
	born    time.Time
	key     cache.Key
	refs    atomic.Int32 // the last one is given up under the locator's mu
	kept    bool         // it came from the originals that are kept
	keep    atomic.Bool  // it becomes one of them
	once    sync.Once    // for complete
	hidden  bool         // names were hidden in it
	names   [32]byte     // SHA-256 of the names of these names; zero: none are known
}

func (f *fetched) closeSpace() {
	if f.space != nil {
		_ = f.space.Close() // nobody uses what is in it
	}
}

// metaFor is what a file says of the object that m asks for. A public file is one
// for all scopes.
func (l *Locator) metaFor(ctx context.Context, f *fetched, m ident.Module, public bool) *Meta {
	if f.mapping != nil {
		return f.mapping.meta(m)
	}
	l.complete(ctx, f, m, public)
	meta := metaOf(pick(f.file, m), f.spool.Size())
	meta.Hidden, meta.Names = f.hidden, f.names
	return &meta
}

// retain makes another reference, of who has one or holds the locator's mu.
func (f *fetched) retain() *fetched {
	f.refs.Add(1)
	return f
}

// release gives a reference up. The last one closes the file.
func (f *fetched) release() {
	if f.of == nil { // a failure has nothing to close
		return
	}
	f.of.mu.Lock()
	last := f.refs.Add(-1) == 0
	current := f.of.live[f.key] == f // else the source has another one by now
	if last && current {
		delete(f.of.live, f.key)
	}
	f.of.mu.Unlock()
	if !last {
		return
	}
	if current && f.keep.Load() && !f.kept {
		f.of.keepOriginal(f.key, f.spool)
	}
	f.closeSpace()
	if f.spool != nil {
		_ = f.spool.Close() // its bytes are not wanted any more
	}
}

// rebase makes the addresses of a file relative that does not tell what they
// count from. Its tables are others then than those of the file as it is.
func (f *fetched) rebase(base uint64) {
	if base == 0 || f.file == nil {
		return
	}
	for _, o := range f.file.Objects() {
		o.Rebase(base)
	}
	f.names = sha256.Sum256(fmt.Appendf(nil, "addresses from %#x", base))
}

// errSame ends the receiving of a file that does not come.
var errSame = errors.New("the file is the one that was known")

// fetch brings a candidate into a spool, from the originals that are kept or
// from its source, and reads it on the way. The result carries one reference. A
// candidate that is known is asked whether it is still the same.
func (l *desk) fetch(ctx context.Context, a asked, key cache.Key) *fetched {
	f, c := &fetched{born: l.now()}, a.candidate
	var err error
	switch {
	case a.renewed:
		c.Validator = a.meta.Validator
	case a.meta != nil && l.keep != keepNone:
		f.attempt.Validator = a.meta.Validator
		f.kept, err = l.original(ctx, f, c.Kind, key)
	}
	if !f.kept && err == nil {
		err = l.receive(ctx, f, c.Kind, func(w io.Writer) error {
			var err error
			f.attempt, err = a.source.Fetch(ctx, c, w)
			if err == nil && f.attempt.Same {
				err = errSame
			}
			return err
		})
	}
	if err == errSame {
		f.same = true
		return f
	}
	if fault.KindOf(err) == fault.Unsupported && f.attempt.Bytes > 0 {
		// A page that says sorry with status 200, most often.
		err = fault.New(fault.Malformed, c.Location, "what came is no %s file: %w", c.Kind, err)
	}
	if err != nil {
		f.fault = fault.Of(err)
		return f
	}
	if !f.kept { // an original of before has another content
		l.tier.Forget(ctx, cache.Objects, key)
	}
	f.rebase(c.Base)
	f.of, f.key = l, key
	f.keep.Store(l.keep == keepAll)
	f.refs.Store(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live[key] = f
	return f
}

// incoming is what becomes of a file on its way into a spool, and of the spool.
type incoming interface {
	io.Writer
	finish(ctx context.Context, l *desk, f *fetched, spool cache.Spool) error
}

// receive makes the file of what fill writes, which is of this kind.
func (l *desk) receive(ctx context.Context, f *fetched, kind string, fill func(io.Writer) error) error {
	out := &late{make: l.spool}
	var in incoming = &timed{w: debugfile.NewStream(), now: l.now, kind: kind}
	if kind == source.IL2CPP {
		in = newText()
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
		_ = out.spool.Close() // nobody reads it again
		return nil
	}
	f.spool = out.spool
	return nil
}

// relax gives memory back through which a file is read, as far as it is mapped.
func relax(parts ...any) {
	for _, part := range parts {
		if r, ok := part.(interface{ Relax() }); ok {
			r.Relax()
		}
	}
}

// tooMuch says that what came is not one file: a source delivers one, and takes
// one packing off.
func tooMuch(src bin.Source) error {
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

// late is a spool that is made when there is something to be written: most
// files that are asked for are not there.
type late struct {
	make  func() (cache.Spool, error)
	spool cache.Spool
}

func (o *late) open() (err error) {
	if o.spool == nil {
		o.spool, err = o.make()
	}
	return err
}

func (o *late) Write(p []byte) (int, error) {
	if err := o.open(); err != nil {
		return 0, err
	}
	return o.spool.Write(p)
}

// timed is a stream that knows how long it worked.
type timed struct {
	w     *debugfile.Stream
	now   func() time.Time
	kind  string // of the candidate
	spent time.Duration
}

func (t *timed) Write(p []byte) (int, error) {
	start := t.now()
	n, err := t.w.Write(p)
	t.spent += t.now().Sub(start)
	return n, err
}

func (t *timed) finish(_ context.Context, l *desk, f *fetched, spool cache.Spool) (err error) {
	start := l.now()
	f.file, err = t.w.Finish(spool, object.Options{Space: f.space, Relax: func() { relax(spool, f.space) }})
	f.parse = t.spent + l.now().Sub(start)
	switch profiler := t.kind == source.Symbfile || t.kind == source.ReturnPads; {
	case err != nil:
		return err
	case profiler && f.file.Kind() != source.Symbfile:
		// Another file would answer by its own addresses, which profilers do not mean.
		return fault.New(fault.Unsupported, "debug file", "it is of the format %s", f.file.Kind())
	}
	return tooMuch(spool)
}

// original makes f of the kept original of key, if there is one. One that is
// damaged is thrown away, and then there is none.
func (l *desk) original(ctx context.Context, f *fetched, kind string, key cache.Key) (bool, error) {
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
	l.log.Warn("a kept original is damaged and is fetched anew", "error", err)
	l.tier.Forget(ctx, cache.Objects, key)
	return false, context.Cause(ctx)
}

// keepOriginal puts a file that was fetched into the cache as zstd.
func (l *desk) keepOriginal(key cache.Key, src bin.Source) {
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
