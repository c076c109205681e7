package jobs

import (
	"container/list"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"symbolon/internal/ident"
)

// Longest is the time limit of the work on a job.
const Longest = 15 * time.Minute

// MostWeight is the limit of the bytes of all running requests. A client that
// does not wait leaves its request running, so the limits of the front do not
// count it. A request that runs alone may take more.
const MostWeight = 256 << 20

// longestRetry is the largest retry_after in seconds.
const longestRetry = 30

// Config bounds jobs.
type Config struct {
	MaxRunning int           // -1: not limited
	Memory     int64         // for kept answers
	Retention  time.Duration // of a kept answer
}

// Deps are the dependencies of Jobs.
type Deps struct {
	Store Store // nil: this node runs alone
	Now   func() time.Time
	Log   *slog.Logger
}

// A Job is a running request, or its answer.
type Job struct {
	id     string
	scope  string
	start  time.Time
	weight int64 // bytes of its request
	done   chan struct{}
	ctx    context.Context
	end    context.CancelFunc
	writes sync.WaitGroup // of pending entries to the store

	// Guarded by Jobs.mu.
	answer      *Answer       // nil: it runs
	isEncoding  bool          // its answer is being written
	isKnown     bool          // a client has its id
	isAbandoned bool          // the client left without the id
	isRead      bool          // its answer was delivered
	isStored    bool          // its answer is in the store
	place       *list.Element // in Jobs.finished
}

// Context returns the context of the work on j.
func (j *Job) Context() context.Context { return j.ctx }

// Jobs are the running jobs, and the finished ones with a kept answer.
type Jobs struct {
	cfg    Config
	deps   Deps
	plain  atomic.Int64 // bytes of uncompressed answers
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	unshared atomic.Bool // the last Put into the store failed, which is logged once

	mu       sync.Mutex
	running  int
	weight   int64           // of the running jobs
	scopes   map[string]int  // running jobs of each scope
	known    map[string]*Job // by id, those whose id a client has
	finished *list.List      // of those in known, the oldest first
	held     int64           // bytes of their answers
}

// New returns an empty set of jobs, to be closed.
func New(cfg Config, deps Deps) *Jobs {
	s := &Jobs{cfg: cfg, deps: deps, scopes: map[string]int{}, known: map[string]*Job{}, finished: list.New()}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Close cancels the running jobs and waits until they have ended.
func (s *Jobs) Close() {
	s.cancel()
	s.work.Wait()
}

// Usage is the number and memory of jobs.
type Usage struct {
	Running int
	Answers int   // kept answers
	Bytes   int64 // of the kept answers
	Plain   int64 // bytes of uncompressed answers
}

// Usage returns the number and memory of the jobs.
func (s *Jobs) Usage() Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Usage{s.running, s.finished.Len(), s.held, s.plain.Load()}
}

// Begin returns a new job for a request of weight bytes, nil if a limit is
// reached. Finish or Drop ends it.
func (s *Jobs) Begin(scope string, weight int64) *Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	if limit := s.cfg.MaxRunning; limit >= 0 && (s.running >= limit || s.scopes[scope] >= share(limit)) {
		return nil
	}
	if s.running > 0 && s.weight+weight > MostWeight {
		return nil
	}
	s.running++
	s.weight += weight
	s.scopes[scope]++
	j := &Job{id: ident.NewUUID(), scope: scope, weight: weight, start: s.deps.Now(), done: make(chan struct{})}
	j.ctx, j.end = context.WithTimeout(s.ctx, Longest)
	return j
}

// share returns how many of the places one scope may have: all but an eighth,
// which stays free for the others.
func share(places int) int {
	if places < 2 {
		return places
	}
	return places - (places+7)/8
}

// release ends the work on a job and frees its place. The caller holds mu.
func (s *Jobs) release(j *Job) {
	j.end()
	s.running--
	s.weight -= j.weight
	if s.scopes[j.scope]--; s.scopes[j.scope] == 0 {
		delete(s.scopes, j.scope)
	}
}

// Drop ends a job without an answer.
func (s *Jobs) Drop(j *Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(j)
}

// Encodes records that the answer of a job is being written.
func (s *Jobs) Encodes(j *Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.isEncoding = true
}

// Finish ends a job with its answer, which is kept if a client has the id.
func (s *Jobs) Finish(j *Job, a *Answer) {
	s.mu.Lock()
	s.release(j)
	j.answer = a
	close(j.done)
	isKnown, isAbandoned := j.isKnown, j.isAbandoned
	s.mu.Unlock()
	switch {
	case isKnown:
		s.keep(j, a)
	case isAbandoned:
		a.Free()
	}
}

// keep keeps the compressed answer of a finished job, here and in the store.
func (s *Jobs) keep(j *Job, a *Answer) {
	kept := a.kept()
	a.release()
	isStored := false
	if s.deps.Store != nil {
		j.writes.Wait() // a pending entry must not replace the answer
		isStored = s.put(j, append([]byte{isAnswer}, kept.packed...), s.cfg.Retention)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	j.answer, j.isStored = kept, isStored
	j.place = s.finished.PushBack(j)
	s.held += kept.size()
	s.evict(j, func(old *Job) bool { return old.isRead || old.isStored })
	s.evict(j, func(*Job) bool { return true })
	time.AfterFunc(s.cfg.Retention, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.remove(j)
	})
}

// evict removes answers while there is too little memory, the oldest first; it keeps the
// answer of the newest job. The caller holds mu.
func (s *Jobs) evict(newest *Job, may func(*Job) bool) {
	for at := s.finished.Front(); at != newest.place && s.held > s.cfg.Memory; {
		old := at.Value.(*Job)
		at = at.Next()
		if may(old) {
			s.remove(old)
		}
	}
}

// remove removes the kept answer of a job. The caller holds mu.
func (s *Jobs) remove(j *Job) {
	if s.known[j.id] == j {
		delete(s.known, j.id)
		s.finished.Remove(j.place)
		s.held -= j.answer.size()
	}
}

// tell records that a client gets the id of a job, and reports whether it is the
// first one. A finished job is not recorded, and isRunning is false.
func (s *Jobs) tell(j *Job) (isFirst, isRunning bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.answer != nil {
		return false, false
	}
	isFirst = !j.isKnown
	j.isKnown = true
	s.known[j.id] = j
	return isFirst, true
}

// abandon ends the work on a job whose client left without its id.
func (s *Jobs) abandon(j *Job) {
	j.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	j.isAbandoned = true
	if j.answer != nil {
		j.answer.Free()
	}
}

// find returns the job with an id, nil if this node does not have it.
func (s *Jobs) find(id string) *Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[id]
}

// deliver returns the answer of a finished job, for a client.
func (s *Jobs) deliver(j *Job) *Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.isRead = true
	return j.answer
}

// retry returns the retry_after of a running job, in seconds: one while its answer
// is being written, as only the network of a client delays that.
func (s *Jobs) retry(j *Job) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.isEncoding {
		return 1
	}
	return retryAfter(s.deps.Now().Sub(j.start))
}

// retryAfter returns half the age of a job: one that waits for files for long is
// likely to wait on.
func retryAfter(age time.Duration) int {
	return max(1, min(int(age/2/time.Second), longestRetry))
}

// wait waits until the job is done, the time has passed or ctx has ended.
func (j *Job) wait(ctx context.Context, long time.Duration) {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-j.done:
	case <-timer.C:
	case <-ctx.Done():
	}
}
