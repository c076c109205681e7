package table

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cache/mem"
	"symbolon/internal/fault"
	"symbolon/internal/metric"
	"symbolon/internal/object"
)

// maxWaiting is the largest number of builds in the queue. If it is full the file is
// used on, and the next answer tries again.
const maxWaiting = 64

// fewAnswers is the number of answers from a file in one run of a command: for stacks,
// and for names.
const fewAnswers = 2

// endAnswer releases an entry when an answer from it has been written. The table
// of a file that answered for itself is queued to be built then.
func (t *shared) endAnswer(key cache.Key, ref *mem.Ref[*entry]) {
	e := ref.Value()
	if e.build == nil || t.cfg.OnlyReused && e.build.answers.Add(1) <= fewAnswers || !t.queue(key, ref) {
		ref.Release()
	}
}

// queue queues the build of the table of an entry. It takes the reference over
// and reports true, unless the build is queued already or too many are.
func (t *shared) queue(key cache.Key, ref *mem.Ref[*entry]) bool {
	e := ref.Value()
	if e.build.isQueued.Swap(true) {
		return false
	}
	if t.waiting.Add(1) > maxWaiting {
		t.waiting.Add(-1)
		e.build.isQueued.Store(false)
		return false
	}
	t.builds.Go(func() {
		defer t.waiting.Add(-1)
		defer ref.Release()
		defer close(e.build.done)
		lowerPriority()
		e.build.err = t.replace(key, e)
	})
	return true
}

// replace builds the table of an entry that answers for itself, and opens it in
// place of the file. If another node builds it, replace waits for that.
func (t *shared) replace(key cache.Key, e *entry) error {
	made, outcome, err := t.inTurn(e)
	for wait := firstWait; errors.Is(err, errElsewhere); wait = min(2*wait, lastWait) {
		select {
		case <-time.After(wait):
		case <-t.ctx.Done():
		}
		made, outcome, err = t.inTurn(e)
	}
	switch {
	case err == nil:
		t.takeOver(key, e, made)
		metric.Builds.Add(1, outcome)
	case t.ctx.Err() == nil:
		metric.Builds.Add(1, "failed")
		t.log.Warn("cannot build a table; its file is used instead",
			"module", e.Module.DebugFile, "error", err)
	}
	return err
}

// takeOver opens the table made in place of its file e, unless a newer file is
// open by now.
func (t *shared) takeOver(key cache.Key, e, made *entry) {
	if now, ok := t.open.Peek(key); ok {
		isNewer := now.Value() != e
		now.Release()
		if isNewer {
			made.close()
			return
		}
	}
	t.put(key, made, e.Facts, e.freshness).Release()
}

// errElsewhere means that another node builds the table.
var errElsewhere = errors.New("another node builds the table")

// The pauses before looking for the table of another node.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 2 * time.Second
)

// inTurn builds when there are a slot and memory for it.
func (t *shared) inTurn(e *entry) (made *entry, outcome string, err error) {
	defer fault.Recover("table build", &err) // a file that makes us panic must not end the server
	select {
	case t.slots <- struct{}{}:
		defer func() { <-t.slots }()
	case <-t.ctx.Done():
	}
	if err := context.Cause(t.ctx); err != nil {
		return nil, "", err
	}
	release, err := t.memory.Acquire(t.ctx, t.needs(e))
	if err != nil {
		return nil, "", err
	}
	defer release()
	return t.buildTable(t.ctx, e)
}

// needs returns the memory of the build for e.
func (t *shared) needs(e *entry) int64 { return min(int64(t.cfg.BuildMemory), 16<<20+e.found.Size) }

// buildTable builds the table of the file of e, stores and opens it. The outcome
// is the one in the metrics: it was built, or found.
func (t *shared) buildTable(ctx context.Context, e *entry) (made *entry, outcome string, err error) {
	start, b := t.now(), e.build
	obj, src, err := e.found.File(ctx)
	if err != nil {
		return nil, "", err
	}
	if b.hash == ([32]byte{}) {
		if b.hash, err = HashOf(src, nil); err != nil {
			return nil, "", err
		}
	}
	outcome = "found"
	made = t.stored(ctx, b.kind, b.hash, e.found.Aux(), e.Module)
	if made == nil && t.lease != nil {
		release, ok := t.lease.Acquire(ctx, b.kind.key(b.hash, e.found.Aux(), e.Module))
		if !ok {
			return nil, "", errElsewhere
		}
		defer release()
		made = t.stored(ctx, b.kind, b.hash, e.found.Aux(), e.Module) // of the node that had the lease before
	}
	if made == nil {
		outcome = "built"
		counted := uint64(0) // by the build of the table of names
		if b.kind == cficaches {
			counted = obj.Info().BadRecords
		}
		if made, err = t.store(ctx, e, obj, src.Size()); err != nil {
			return nil, "", err
		}
		metric.BuildSeconds.Observe(t.now().Sub(start).Seconds())
		metric.BuildBytes.Add(src.Size())
		if info := obj.Info(); info.BadRecords > counted {
			metric.BadRecords.Add(int64(info.BadRecords-counted), info.Kind)
		}
	}
	e.found.Record(ctx, b.hash)
	return made, outcome, nil
}

// store builds the table of obj, which is that of e, stores it and opens it.
func (t *shared) store(ctx context.Context, e *entry, obj *object.Object, size int64) (*entry, error) {
	k, hash, m := e.build.kind, e.build.hash, obj.Info().Module
	blob, err := t.tier.Put(ctx, k.name, k.key(hash, e.found.Aux(), m), func(w io.Writer) error {
		return k.build(ctx, t, w, obj, Input{size, hash})
	})
	if err != nil {
		return nil, err
	}
	return k.open(t, blob, hash, m)
}

// Input identifies the file of a table.
type Input struct {
	Size int64
	Hash [32]byte // of its content
}

// HashOf returns the SHA-256 of a file. It calls relax, which may be nil, after each
// piece of some megabytes.
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
