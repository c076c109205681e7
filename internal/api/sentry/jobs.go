package sentry

import (
	"container/list"
	"context"
	"sync"
	"time"

	"symbolon/internal/ident"
)

// job is one request at work, or its answer.
type job struct {
	id     string
	scope  string
	start  time.Time
	weight int64 // bytes that its request takes
	done   chan struct{}
	ctx    context.Context // of its work
	end    context.CancelFunc
	writes sync.WaitGroup // to the store, that it is pending

	// The rest is guarded by jobs.mu.
	answer   *answer // nil until it is finished
	encoding bool    // nothing has to be waited for any more
	told     bool    // a client knows its id
	left     bool    // the client is gone and does not know the id
	read     bool    // its answer was delivered
	stored   bool    // its answer is in the store
	place    *list.Element
}

// jobs are those that run, and those that are finished and can be polled for.
type jobs struct {
	cfg Config
	now func() time.Time

	mu       sync.Mutex
	running  int
	weight   int64           // bytes that their requests take
	scopes   map[string]int  // how many of them run for each
	told     map[string]*job // by id
	finished *list.List      // of those in told, the oldest first
	held     int64           // bytes of their answers
}

func newJobs(cfg Config, now func() time.Time) *jobs {
	return &jobs{cfg: cfg, now: now, scopes: map[string]int{}, told: map[string]*job{}, finished: list.New()}
}

// mostWeight is how many bytes the requests at work may take. A client that does
// not wait leaves its request behind, so the bounds of the front do not count
// it. One that is alone may take more.
const mostWeight = 256 << 20

// begin takes a place for a job, whose work ends with ctx; nil: there is none.
// One scope may not have them all.
func (s *jobs) begin(ctx context.Context, scope string, weight int64) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	if most := s.cfg.MaxConcurrentRequests; most >= 0 && (s.running >= most || s.scopes[scope] >= share(most)) {
		return nil
	}
	if s.running > 0 && s.weight+weight > mostWeight {
		return nil
	}
	s.running++
	s.weight += weight
	s.scopes[scope]++
	j := &job{id: ident.NewUUID(), scope: scope, weight: weight, start: s.now(), done: make(chan struct{})}
	j.ctx, j.end = context.WithTimeout(ctx, longestJob)
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
func (s *jobs) leave(j *job) {
	j.end()
	s.running--
	s.weight -= j.weight
	if s.scopes[j.scope]--; s.scopes[j.scope] == 0 {
		delete(s.scopes, j.scope)
	}
}

// drop gives the place of a job back that has no answer to keep.
func (s *jobs) drop(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(j)
}

// finish ends a job with its answer. It says whether a client knows its id, or
// the client is gone.
func (s *jobs) finish(j *job, a *answer) (told, left bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(j)
	j.answer = a
	close(j.done)
	return j.told, j.left
}

// tell notes that the id of a job is going to be told, unless it is finished.
func (s *jobs) tell(j *job) (first, running bool) {
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
func (s *jobs) abandon(j *job) {
	j.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	j.left = true
	if j.answer != nil {
		j.answer.free()
	}
}

// encodes notes that the answer of a job is being written.
func (s *jobs) encodes(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.encoding = true
}

// keep keeps the answer of a finished job whose id is known, for its time or
// as long as there is memory.
func (s *jobs) keep(j *job, a *answer, stored bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.answer, j.stored = a, stored
	j.place = s.finished.PushBack(j)
	s.held += a.size()
	for _, needed := range [...]bool{false, true} {
		for at := s.finished.Front(); at != nil && at != j.place && s.held > int64(s.cfg.AnswersMemory); {
			old := at.Value.(*job)
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

func (s *jobs) remove(j *job) {
	if s.told[j.id] == j {
		delete(s.told, j.id)
		s.finished.Remove(j.place)
		s.held -= j.answer.size()
	}
}

// find is the job with an id; nil: it is not here.
func (s *jobs) find(id string) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told[id]
}

// deliver is the answer of a finished job, for a client that asked for it.
func (s *jobs) deliver(j *job) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.read = true
	return j.answer
}

// retry is after how many seconds it is worth to ask again: one if the answer
// is being written; else it waits for files, and those that took long already
// are worth fewer questions.
func (s *jobs) retry(j *job) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.encoding {
		return 1
	}
	return retryAfter(s.now().Sub(j.start))
}

// longestRetry is what clients are told at most.
const longestRetry = 30

func retryAfter(waited time.Duration) int {
	return max(1, min(int(waited/2/time.Second), longestRetry))
}

// wait waits until a job is done, so long, or until the client is gone.
func (j *job) wait(ctx context.Context, long time.Duration) {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-j.done:
	case <-timer.C:
	case <-ctx.Done():
	}
}
