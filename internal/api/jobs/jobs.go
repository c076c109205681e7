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

// Config bounds jobs.
type Config struct {
	MaxRunning int           // -1: no bound
	Memory     int64         // for answers that are kept
	Retention  time.Duration // of an answer
}

// Deps are what jobs work with.
type Deps struct {
	Store Store // nil: this node is alone
	Now   func() time.Time
	Log   *slog.Logger
}

// Job is one request at work, or its answer.
type Job struct {
	id     string
	scope  string
	start  time.Time
	weight int64 // bytes that its request takes
	done   chan struct{}
	ctx    context.Context // of its work
	end    context.CancelFunc
	writes sync.WaitGroup // to the store, that it is pending

	// The rest is guarded by jobs.mu.
	answer   *Answer // nil until it is finished
	encoding bool    // nothing has to be waited for any more
	told     bool    // a client knows its id
	left     bool    // the client is gone and does not know the id
	read     bool    // its answer was delivered
	stored   bool    // its answer is in the store
	place    *list.Element
}

// Jobs are those that run, and those that are finished and can be polled for.
type Jobs struct {
	cfg    Config
	deps   Deps
	plain  atomic.Int64    // bytes of answers that are not packed
	ctx    context.Context // of the jobs
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu       sync.Mutex
	running  int
	weight   int64           // bytes that their requests take
	scopes   map[string]int  // how many of them run for each
	told     map[string]*Job // by id
	finished *list.List      // of those in told, the oldest first
	held     int64           // bytes of their answers
}

// New makes an empty set of jobs. Close it.
func New(cfg Config, deps Deps) *Jobs {
	s := &Jobs{cfg: cfg, deps: deps, scopes: map[string]int{}, told: map[string]*Job{}, finished: list.New()}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Close ends what runs.
func (s *Jobs) Close() {
	s.cancel()
	s.work.Wait()
}

// Longest is how long a request may be worked on.
const Longest = 15 * time.Minute

// MostWeight is how many bytes the requests at work may take. A client that does
// not wait leaves its request behind, so the bounds of the front do not count
// it. One that is alone may take more.
const MostWeight = 256 << 20

// Usage is what jobs take.
type Usage struct {
	Running int
	Answers int   // that are kept
	Bytes   int64 // of these
	Plain   int64 // bytes of answers that are not packed
}

// Usage is what the jobs take now.
func (s *Jobs) Usage() Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Usage{s.running, s.finished.Len(), s.held, s.plain.Load()}
}

// Begin takes a place for a job; nil: there is none.
// One scope may not have them all.
func (s *Jobs) Begin(scope string, weight int64) *Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	if most := s.cfg.MaxRunning; most >= 0 && (s.running >= most || s.scopes[scope] >= share(most)) {
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

// share is how many of the places one scope may have: all but an eighth, which
// the others find free.
func share(places int) int {
	if places < 2 {
		return places
	}
	return places - (places+7)/8
}

// leave ends the work on a job and frees its place.
func (s *Jobs) leave(j *Job) {
	j.end()
	s.running--
	s.weight -= j.weight
	if s.scopes[j.scope]--; s.scopes[j.scope] == 0 {
		delete(s.scopes, j.scope)
	}
}

// Drop gives the place of a job back that has no answer to keep.
func (s *Jobs) Drop(j *Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(j)
}

// Context is that of the work on a job.
func (j *Job) Context() context.Context { return j.ctx }

// Finish ends a job with its answer, which is kept if a client knows its id.
func (s *Jobs) Finish(j *Job, a *Answer) {
	switch told, left := s.finish(j, a); {
	case told:
		s.share(j, a)
	case left:
		a.Free()
	}
}

// share keeps an answer that a client knows of, here and for the other nodes.
func (s *Jobs) share(j *Job, a *Answer) {
	kept := a.kept()
	a.Release()
	stored := false
	if s.deps.Store != nil {
		j.writes.Wait() // what is pending must not be written over the answer
		stored = s.put(j, append([]byte{isAnswer}, kept.packed...), s.cfg.Retention)
	}
	s.keep(j, kept, stored)
}

// finish ends a job with its answer. It says whether a client knows its id, or
// the client is gone.
func (s *Jobs) finish(j *Job, a *Answer) (told, left bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(j)
	j.answer = a
	close(j.done)
	return j.told, j.left
}

// tell notes that the id of a job is going to be told, unless it is finished.
func (s *Jobs) tell(j *Job) (first, running bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.answer != nil {
		return false, false
	}
	first = !j.told
	j.told = true
	s.told[j.id] = j
	return first, true
}

// abandon ends the work on a job whose client left without its id.
func (s *Jobs) abandon(j *Job) {
	j.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	j.left = true
	if j.answer != nil {
		j.answer.Free()
	}
}

// Encodes notes that the answer of a job is being written.
func (s *Jobs) Encodes(j *Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.encoding = true
}

// keep keeps the answer of a finished job whose id is known, for its time or
// as long as there is memory.
func (s *Jobs) keep(j *Job, a *Answer, stored bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.answer, j.stored = a, stored
	j.place = s.finished.PushBack(j)
	s.held += a.size()
	for _, needed := range [...]bool{false, true} {
		for at := s.finished.Front(); at != nil && at != j.place && s.held > s.cfg.Memory; {
			old := at.Value.(*Job)
			at = at.Next()
			if needed || old.read || old.stored {
				s.remove(old)
			}
		}
	}
	time.AfterFunc(s.cfg.Retention, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.remove(j)
	})
}

func (s *Jobs) remove(j *Job) {
	if s.told[j.id] == j {
		delete(s.told, j.id)
		s.finished.Remove(j.place)
		s.held -= j.answer.size()
	}
}

// find is the job with an id; nil: it is not here.
func (s *Jobs) find(id string) *Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told[id]
}

// deliver is the answer of a finished job, for a client that asked for it.
func (s *Jobs) deliver(j *Job) *Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.read = true
	return j.answer
}

// retry is after how many seconds it is worth to ask again: one if the answer
// is being written; else it waits for files, and those that took long already
// are worth fewer questions.
func (s *Jobs) retry(j *Job) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.encoding {
		return 1
	}
	return retryAfter(s.deps.Now().Sub(j.start))
}

// longestRetry is what clients are told at most.
const longestRetry = 30

func retryAfter(waited time.Duration) int {
	return max(1, min(int(waited/2/time.Second), longestRetry))
}

// wait waits until a job is done, so long, or until the client is gone.
func (j *Job) wait(ctx context.Context, long time.Duration) {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-j.done:
	case <-timer.C:
	case <-ctx.Done():
	}
}
