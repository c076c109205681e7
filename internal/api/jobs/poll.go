package jobs

import (
	"context"
	"net/http"
	"time"

	"symbolon/internal/api"
)

// Run does the work on a job, and tells its client the answer, or its id if that
// is not there in time.
func (s *Jobs) Run(w http.ResponseWriter, r *http.Request, j *Job, wait time.Duration, work func()) {
	if wait < Longest {
		s.work.Go(work)
	} else {
		s.work.Add(1) // the client waits for all of it: it needs no goroutine of its own
		stop := context.AfterFunc(r.Context(), j.end)
		work()
		stop()
		s.work.Done()
	}
	s.posted(w, r, j, wait)
}

// posted waits for the answer to a new request, and tells its id if it is not
// there in time. An answer that is there has no other reader.
func (s *Jobs) posted(w http.ResponseWriter, r *http.Request, j *Job, wait time.Duration) {
	j.wait(r.Context(), wait)
	if r.Context().Err() != nil {
		s.abandon(j)
		return
	}
	first, running := s.tell(j)
	if running {
		s.pending(w, j, first)
		return
	}
	a := s.deliver(j)
	a.Send(w)
	a.Free()
}

// Poll answers for a request that was sent before. It fails if the store does not
// reply.
func (s *Jobs) Poll(w http.ResponseWriter, r *http.Request, sees func(scope string) bool, id string, wait time.Duration) error {
	j := s.find(id)
	switch {
	case j == nil:
		return s.elsewhere(w, r, sees, id, wait)
	case !sees(j.scope):
		w.WriteHeader(http.StatusNotFound)
		return nil
	}
	j.wait(r.Context(), wait)
	if r.Context().Err() != nil {
		return nil
	}
	if _, running := s.tell(j); running {
		s.pending(w, j, false)
		return nil
	}
	s.deliver(j).Send(w)
	return nil
}

// pending tells the id of a job, and at first the other nodes that there is
// one.
func (s *Jobs) pending(w http.ResponseWriter, j *Job, first bool) {
	if first && s.deps.Store != nil {
		j.writes.Add(1)
		s.work.Go(func() { s.announce(j) })
	}
	pending(w, j.id, s.retry(j))
}

func pending(w http.ResponseWriter, id string, retry int) {
	api.WriteJSON(w, http.StatusOK, struct {
		Status  string `json:"status"`
		ID      string `json:"request_id"`
		RetryIn int    `json:"retry_after"`
	}{"pending", id, retry})
}
