package table

import (
	"context"
	"crypto/sha256"
	"io"
	"runtime"
	"runtime/debug"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cache/mem"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/metric"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
)

// maxWaiting is how many builds may wait. The file of one that is turned away
// goes on answering for itself, and the next answer tries again.
const maxWaiting = 64

// Prefetch has the table of m built and kept, and waits for it.
func (t *Tables) Prefetch(ctx context.Context, m ident.Module) (Report, error) {
	report := Report{Hit: true}
	h := t.Ready(m)
	if h == nil {
		if h, report = t.Symbols(ctx, m); h == nil {
			return report, nil
		}
	}
	e := h.ref.Value()
	h.Release()
	if e.found == nil {
		return report, nil
	}
	select {
	case <-e.built:
		return report, e.failed
	case <-ctx.Done():
		return report, context.Cause(ctx)
	}
}

// behind replaces an entry that answers for itself while nobody waits. It
// takes the reference over, unless it says that there is nothing to do.
func (t *Tables) behind(key cache.Key, ref *mem.Ref[*entry]) bool {
	e := ref.Value()
	if e.taken.Swap(true) {
		return false
	}
	if t.waiting.Add(1) > maxWaiting {
		t.waiting.Add(-1)
		e.taken.Store(false)
		return false
	}
	t.builds.Go(func() {
		defer t.waiting.Add(-1)
		defer ref.Release()
		defer close(e.built)
		e.failed = t.replace(key, e)
	})
	return true
}

// replace builds the table of an entry that answers for itself, and puts it in
// its place.
func (t *Tables) replace(key cache.Key, e *entry) error {
	select {
	case t.slots <- struct{}{}:
		defer func() { <-t.slots }()
	case <-t.ctx.Done():
	}
	if err := context.Cause(t.ctx); err != nil {
		return err
	}
	release, err := t.memory.Acquire(t.ctx, int64(t.cfg.BuildMemory))
	if err != nil {
		return err
	}
	defer release()
	made, size, err := t.buildSafely(t.ctx, e)
	if err != nil {
		metric.Builds.Add(1, "failed")
		if t.ctx.Err() == nil {
			t.log.Warn("a table could not be built; its file goes on answering for itself",
				"module", e.module.DebugFile, "error", err)
		}
		return err
	}
	metric.Builds.Add(1, "built")
	t.open.Put(key, made, size, made.close).Release()
	return nil
}

// buildSafely is build, with a mistake of ours that throws turned into an
// error: a file that we trip over must not end the server for everybody.
func (t *Tables) buildSafely(ctx context.Context, e *entry) (_ *entry, _ int64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.New(fault.Internal, "table build", "panic: %v\n%s", p, debug.Stack())
		}
	}()
	return t.build(ctx, e)
}

// build makes the table of the file that e answers with, keeps it, and opens
// it.
func (t *Tables) build(ctx context.Context, e *entry) (*entry, int64, error) {
	start := t.now()
	obj, src, err := e.found.File(ctx)
	if err != nil {
		return nil, 0, err
	}
	hash, err := hashOf(src)
	if err != nil {
		return nil, 0, err
	}
	made, size := t.stored(ctx, hash)
	if made == nil {
		blob, err := t.tier.Put(ctx, cache.Symcache, tableKey(hash), func(w io.Writer) error {
			return t.write(ctx, w, obj, src.Size(), hash)
		})
		if err != nil {
			return nil, 0, err
		}
		size = blob.Size()
		if made, err = newEntry(blob); err != nil {
			return nil, 0, err
		}
	}
	metric.BuildSeconds.Observe(t.now().Sub(start).Seconds())
	metric.BuildBytes.Add(src.Size())
	if info := obj.Info(); info.BadRecords > 0 {
		metric.BadRecords.Add(int64(info.BadRecords), info.Kind)
	}
	if err := e.found.Record(ctx, hash); err != nil {
		t.log.Warn("the meta of a file could not be kept", "error", err)
	}
	return made, size, nil
}

func (t *Tables) write(ctx context.Context, w io.Writer, obj *object.Object, size int64, hash [32]byte) error {
	return Build(ctx, w, obj, symcache.Options{Memory: int64(t.cfg.BuildMemory), Scratch: t.scratch}, size, hash)
}

// Build writes the table of obj, whose file has this size and content hash.
func Build(ctx context.Context, w io.Writer, obj *object.Object, opt symcache.Options, size int64, hash [32]byte) error {
	b := symcache.NewBuilder(opt, obj.AppendText)
	defer b.Close()
	err := obj.Blocks(runtime.GOMAXPROCS(0), func(blk *sym.Block) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		return b.Add(blk)
	})
	if err != nil {
		return err
	}
	info := obj.Info()
	return b.Finish(w, symcache.Info{
		Module: info.Module, Producer: info.Producer, InputSize: size, InputHash: hash, BadRecords: info.BadRecords,
	})
}

func hashOf(src bin.Source) (sum [32]byte, err error) {
	h := sha256.New()
	if _, err = io.Copy(h, io.NewSectionReader(src, 0, src.Size())); err == nil {
		h.Sum(sum[:0])
	}
	return sum, err
}
