package table

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"runtime"
	"runtime/debug"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cache/mem"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
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
	h, _, _ := t.Ready(m, locate.SymFirst)
	if h == nil {
		if h, report = t.Symbols(ctx, m, locate.SymFirst); h == nil {
			return report, nil
		}
	}
	e := h.ref.Value()
	h.Release()
	switch {
	case e.found == nil:
		return report, nil
	case !e.taken.Load():
		return report, fault.New(fault.Timeout, "", "%d tables wait to be built; ask again", maxWaiting)
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
func (t *desk) behind(key cache.Key, ref *mem.Ref[*entry]) bool {
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
		calm()
		e.failed = t.replace(key, e)
	})
	return true
}

// replace builds the table of an entry that answers for itself, and puts it in
// its place. If another node builds it, that one's table is waited for.
func (t *desk) replace(key cache.Key, e *entry) error {
	made, size, err := t.inTurn(e)
	for wait := firstWait; errors.Is(err, errElsewhere); wait = min(2*wait, lastWait) {
		select {
		case <-time.After(wait):
		case <-t.ctx.Done():
		}
		made, size, err = t.inTurn(e)
	}
	switch {
	case err == nil:
		t.takeOver(key, e, made, size)
		outcome := "found"
		if e.fresh {
			outcome = "built"
		}
		metric.Builds.Add(1, outcome)
	case t.ctx.Err() == nil:
		metric.Builds.Add(1, "failed")
		t.log.Warn("a table could not be built; its file goes on answering for itself",
			"module", e.Module.DebugFile, "error", err)
	}
	return err
}

// takeOver has made answer in the stead of e, unless a newer file does already.
func (t *desk) takeOver(key cache.Key, e, made *entry, size int64) {
	if now, ok := t.open.Peek(key); ok {
		newer := now.Value() != e
		now.Release()
		if newer {
			made.close()
			return
		}
	}
	made.Facts = e.Facts
	made.looked.Store(e.looked.Load())
	made.until.Store(e.until.Load())
	t.open.Put(key, made, size, made.close).Release()
}

// errElsewhere says that another node builds the table.
var errElsewhere = errors.New("another node builds the table")

// How long is waited before another node's table is looked for.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 2 * time.Second
)

// inTurn builds when there are a slot and memory for it.
func (t *desk) inTurn(e *entry) (*entry, int64, error) {
	select {
	case t.slots <- struct{}{}:
		defer func() { <-t.slots }()
	case <-t.ctx.Done():
	}
	if err := context.Cause(t.ctx); err != nil {
		return nil, 0, err
	}
	release, err := t.memory.Acquire(t.ctx, t.needs(e))
	if err != nil {
		return nil, 0, err
	}
	defer release()
	return t.buildSafely(t.ctx, e)
}

// needs is how much memory the build for e takes.
func (t *desk) needs(e *entry) int64 { return min(int64(t.cfg.BuildMemory), 16<<20+e.found.Size) }

// buildSafely is build, with a mistake of ours that throws turned into an
// error: a file that we trip over must not end the server for everybody.
func (t *desk) buildSafely(ctx context.Context, e *entry) (_ *entry, _ int64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.New(fault.Internal, "table build", "panic: %v\n%s", p, debug.Stack())
		}
	}()
	return t.build(ctx, e)
}

// build makes the table of the file that e answers with, keeps it, and opens
// it.
func (t *desk) build(ctx context.Context, e *entry) (*entry, int64, error) {
	start := t.now()
	obj, src, err := e.found.File(ctx)
	if err != nil {
		return nil, 0, err
	}
	if e.hash == ([32]byte{}) {
		if e.hash, err = HashOf(src, nil); err != nil {
			return nil, 0, err
		}
	}
	made, size := t.stored(ctx, e.hash, e.found.Aux(), e.Module)
	if made == nil && t.lease != nil {
		release, ok := t.lease.Acquire(ctx, tableKey(e.hash, e.found.Aux(), e.Module))
		if !ok {
			return nil, 0, errElsewhere
		}
		defer release()
		made, size = t.stored(ctx, e.hash, e.found.Aux(), e.Module) // of who had the lease before
	}
	if made == nil {
		if made, size, err = t.keep(ctx, e, obj, src.Size()); err != nil {
			return nil, 0, err
		}
		e.fresh = true
		metric.BuildSeconds.Observe(t.now().Sub(start).Seconds())
		metric.BuildBytes.Add(src.Size())
	}
	if info := obj.Info(); info.BadRecords > 0 {
		metric.BadRecords.Add(int64(info.BadRecords), info.Kind)
	}
	if err := e.found.Record(context.WithoutCancel(ctx), e.hash); err != nil {
		t.log.Warn("the meta of a file could not be kept", "error", err)
	}
	return made, size, nil
}

// keep makes the table of obj, which is that of e, keeps it and opens it.
func (t *desk) keep(ctx context.Context, e *entry, obj *object.Object, size int64) (*entry, int64, error) {
	info := obj.Info()
	m := info.Module
	opt := symcache.Options{Memory: int64(t.cfg.BuildMemory), Scratch: t.scratch, Workers: max(1, runtime.GOMAXPROCS(0)-1)}
	blob, err := t.tier.Put(ctx, cache.Symcache, tableKey(e.hash, e.found.Aux(), m), func(w io.Writer) error {
		if info.Kind == "symbfile" && t.cfg.MaxBytes > 0 {
			// Its table may be a thousand times as large as what was sent, and it answers
			// for itself as well.
			w = &bounded{w: w, left: int64(t.cfg.MaxBytes)}
		}
		return Build(ctx, w, obj, opt, Input{size, e.hash})
	})
	if err != nil {
		return nil, 0, err
	}
	size = cost(blob.Size())
	made, err := newEntry(blob, e.hash, m)
	return made, size, err
}

// bounded is where a table is written that has to have room among those that are open.
type bounded struct {
	w    io.Writer
	left int64
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= cost(int64(len(p))); b.left < 0 {
		return 0, fault.New(fault.Unsupported, "table build", "the table would not fit into table.max_bytes")
	}
	return b.w.Write(p)
}

// Input is the file that a table is made of.
type Input struct {
	Size int64
	Hash [32]byte // of its content
}

// Build writes the table of obj, which is of this file.
func Build(ctx context.Context, w io.Writer, obj *object.Object, opt symcache.Options, in Input) error {
	names := obj.Names()
	b := symcache.NewBuilder(opt, names.AppendText)
	defer b.Close()
	blocks := 0
	err := obj.Blocks(object.BlockOptions{Workers: opt.Workers, Scratch: opt.Scratch, Memory: opt.Memory / 4}, func(blk *sym.Block) error {
		if blocks++; blocks%32 == 0 {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			runtime.Gosched() // answers go first, also where calm does nothing
			obj.Relax()
		}
		if err := b.Add(blk); err != nil {
			return err
		}
		if n := names.LeftOut(); n > 0 { // and answers from the file have them
			return fault.New(fault.Unsupported, "table build", "the names of its functions and files are too long: together they are many times as long as the file")
		}
		return nil
	})
	if err != nil {
		return err
	}
	info := obj.Info()
	head := symcache.Info{
		Module: info.Module, Producer: info.Producer, InputSize: in.Size, InputHash: in.Hash, BadRecords: info.BadRecords,
	}
	if obj.Mangled() {
		head.Flags = symcache.Mangled
	}
	return b.Finish(w, head)
}

// HashOf is the SHA-256 of a file. Each time when some megabytes more are read it
// calls relax, which may be nil.
func HashOf(src bin.Source, relax func()) (sum [32]byte, err error) {
	const piece = 16 << 20
	h := sha256.New()
	for off := int64(0); off < src.Size(); off += piece {
		if _, err := io.Copy(h, io.NewSectionReader(src, off, min(piece, src.Size()-off))); err != nil {
			return sum, err
		}
		if relax != nil {
			relax()
		}
	}
	return [32]byte(h.Sum(nil)), nil
}
