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

// maxJobs is how much may wait for its way into the far tier. A job is a key,
// not its entry.
const maxJobs = 1024

// Shared is a tier that several nodes use, and their leases.
type Shared interface {
	Tier
	Lease
}

// Layer is a near tier over a far one that other nodes share. It answers like
// the near tier, and what only the far one knows is copied into the near one
// first. What is put or remembered goes to the near tier at once and to the far
// one in the background, one after the other; what does not fit into the queue
// is not shared, which the metrics count. Fetched files stay near.
//
// It is safe for concurrent use. Close it before its tiers.
type Layer struct {
	near Tier
	far  Shared
	now  func() time.Time

	ctx    context.Context // of the background
	cancel context.CancelFunc
	ended  chan struct{}

	mu      sync.Mutex
	jobs    chan job // sent to with mu held
	closed  bool
	running *job // with what ends it
}

// job carries what the near tier has for a key, when its turn comes, to the far
// one; or, being behind what was put under a lease, it gives the lease back.
type job struct {
	kind    Kind
	key     Key
	release func()

	cancel context.CancelFunc
	done   chan struct{}
}

// Over makes a Layer.
func Over(near Tier, far Shared, now func() time.Time) *Layer {
	l := &Layer{near: near, far: far, now: now, ended: make(chan struct{}), jobs: make(chan job, maxJobs)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	go l.work()
	return l
}

// Close ends the background work. What has not reached the far tier yet never
// will; leases are given back.
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

func isShared(kind Kind) bool { return kind == Meta || kind == Symcache || kind == Cficache }

// Get opens the near entry, or makes one of the far entry.
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

// Every shows what each of the tiers in t has for a key. For what is replaced
// under its key: there the near tier may have an old one, or the only new one.
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

// copyOf fills an entry with what src has.
func copyOf(src bin.Source) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(src, 0, src.Size()))
		return err
	}
}

// Put makes a near entry, and a far one later.
func (l *Layer) Put(ctx context.Context, kind Kind, key Key, fill func(io.Writer) error) (Blob, error) {
	blob, err := l.near.Put(ctx, kind, key, fill)
	if err == nil {
		l.share(kind, key)
	}
	return blob, err
}

// Remember keeps a fault near, and far later.
func (l *Layer) Remember(ctx context.Context, kind Kind, key Key, f *fault.Error, life time.Duration) {
	l.near.Remember(ctx, kind, key, f, life)
	l.share(kind, key)
}

// Forget drops what both tiers have. What is just being carried to the far tier
// is stopped first, so that it does not come back.
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

// Acquire takes a lease of the far tier. It is given back when all that was put
// before has arrived there, so that the next node finds it.
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

// send tells whether there was room for j.
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
			l.carry(j)
		}
	}
}

// carry does a job. It looks into the near tier only after Forget can see it.
func (l *Layer) carry(j job) {
	var ctx context.Context
	ctx, j.cancel = context.WithCancel(l.ctx)
	j.done = make(chan struct{})
	l.run(&j)
	defer func() {
		l.run(nil)
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
		if far, err := l.far.Put(ctx, j.kind, j.key, copyOf(near)); err == nil {
			_ = far.Close() // it was only written
		}
	}
}

func (l *Layer) run(j *job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = j
}
