package cache

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/metric"
)

// maxJobs is the largest number of entries that wait to be copied to the far
// tier. A job is a key, not its entry.
const maxJobs = 1024

// Shared is a tier that several nodes use, with their leases.
type Shared interface {
	Tier
	Lease
}

// Layer is a near tier over a far one that other nodes share. It answers like
// the near tier, and copies entries of the far one to it first. Put and Remember
// store in the near tier at once, and in the far one in the background, one
// entry after the other. Entries that do not fit into the queue are not shared,
// which the metrics count. Fetched files stay in the near tier.
//
// It is safe for concurrent use. Close it before its tiers.
type Layer struct {
	near Tier
	far  Shared
	now  func() time.Time

	ctx    context.Context // of the work in the background
	cancel context.CancelFunc
	ended  chan struct{}

	mu      sync.Mutex
	jobs    chan job // sent to with mu held
	closed  bool
	running *job
}

// job copies the entry or fault of a key from the near tier to the far one; or
// it releases a lease, after the jobs that were queued while it was held.
type job struct {
	kind    Kind
	key     Key
	release func()

	cancel context.CancelFunc
	done   chan struct{}
}

// Over returns a Layer.
func Over(near Tier, far Shared, now func() time.Time) *Layer {
	l := &Layer{near: near, far: far, now: now, ended: make(chan struct{}), jobs: make(chan job, maxJobs)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	go l.work()
	return l
}

// Close ends the work in the background. Jobs in the queue are discarded; leases
// are released.
func (l *Layer) Close() {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.jobs)
	}
	l.mu.Unlock()
	l.cancel()
	<-l.ended
}

func isShared(kind Kind) bool { return kind == Meta || kind.IsTable() }

// Get opens the near entry, or copies the far one and opens the copy.
func (l *Layer) Get(ctx context.Context, kind Kind, key Key) (Blob, error) {
	blob, err := l.near.Get(ctx, kind, key)
	if blob != nil || err != nil || !isShared(kind) {
		return blob, err
	}
	far, err := l.far.Get(ctx, kind, key)
	if err != nil {
		l.near.Remember(ctx, kind, key, fault.Of(err), Expires(err).Sub(l.now()))
		return nil, err
	}
	if far == nil {
		return nil, nil
	}
	if blob, err = l.near.Put(ctx, kind, key, copyOf(far)); err != nil {
		return far, nil
	}
	_ = far.Close() // it was only read
	return blob, nil
}

// Every calls look with the entry of a key in each of the tiers of t. It is for
// entries that are replaced under their key: the near tier may have an older one
// than the far tier, or a newer one.
func Every(ctx context.Context, t Tier, kind Kind, key Key, look func(Blob)) {
	if l, layered := t.(*Layer); layered {
		Every(ctx, l.near, kind, key, look)
		if isShared(kind) {
			Every(ctx, l.far, kind, key, look)
		}
		return
	}
	if blob, err := t.Get(ctx, kind, key); err == nil && blob != nil {
		look(blob)
		_ = blob.Close() // it was only read
	}
}

// copyOf returns a fill that writes the content of src.
func copyOf(src bin.Source) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(src, 0, src.Size()))
		return err
	}
}

// Put stores a near entry, and queues it for the far tier.
func (l *Layer) Put(ctx context.Context, kind Kind, key Key, fill func(io.Writer) error) (Blob, error) {
	blob, err := l.near.Put(ctx, kind, key, fill)
	if err == nil {
		l.share(kind, key)
	}
	return blob, err
}

// Remember stores a fault in the near tier, and queues it for the far one.
func (l *Layer) Remember(ctx context.Context, kind Kind, key Key, f *fault.Error, life time.Duration) {
	l.near.Remember(ctx, kind, key, f, life)
	l.share(kind, key)
}

// Forget removes the entry or fault from both tiers. It stops a job that is
// copying it to the far tier first, so that it does not come back.
func (l *Layer) Forget(ctx context.Context, kind Kind, key Key) {
	l.near.Forget(ctx, kind, key)
	if !isShared(kind) {
		return
	}
	l.mu.Lock()
	j := l.running
	l.mu.Unlock()
	if j != nil && j.kind == kind && j.key == key {
		j.cancel()
		<-j.done
	}
	l.far.Forget(ctx, kind, key)
}

// Acquire acquires a lease of the far tier. Its release is queued after all
// entries that were stored before, so that the next node finds them.
func (l *Layer) Acquire(ctx context.Context, key Key) (func(), bool) {
	release, ok := l.far.Acquire(ctx, key)
	if !ok {
		return release, false
	}
	return sync.OnceFunc(func() {
		if !l.send(job{release: release}) {
			release()
		}
	}), true
}

func (l *Layer) share(kind Kind, key Key) {
	if isShared(kind) && !l.send(job{kind: kind, key: key}) {
		metric.CacheDropped.Add(1, string(kind))
	}
}

// send queues j and reports whether there was room.
func (l *Layer) send(j job) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	select {
	case l.jobs <- j:
		return true
	default:
		return false
	}
}

func (l *Layer) work() {
	defer close(l.ended)
	for j := range l.jobs {
		switch {
		case j.release != nil:
			j.release()
		case l.ctx.Err() == nil:
			l.do(j)
		}
	}
}

// do does a job. It reads the near tier only after Forget can see the job.
func (l *Layer) do(j job) {
	var ctx context.Context
	ctx, j.cancel = context.WithCancel(l.ctx)
	j.done = make(chan struct{})
	l.setRunning(&j)
	defer func() {
		l.setRunning(nil)
		j.cancel()
		close(j.done)
	}()
	near, err := l.near.Get(ctx, j.kind, j.key)
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		l.far.Remember(ctx, j.kind, j.key, f, Expires(err).Sub(l.now()))
	case near != nil:
		defer near.Close()
		_ = Store(ctx, l.far, j.kind, j.key, copyOf(near)) // an entry that is not shared is made again
	}
}

func (l *Layer) setRunning(j *job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = j
}
