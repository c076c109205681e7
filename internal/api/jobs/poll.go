package jobs

import (
	"context"
	"net/http"
	"time"

	"symbolon/internal/api"
)

// Run runs work, which ends with Finish, and sends its client the answer or, if
// that takes longer than wait, the id of the job. If the client leaves before, the
// work is canceled.
func (s *Jobs) Run(w http.ResponseWriter, r *http.Request, j *Job, wait time.Duration, work func()) {
	if wait < Longest {
		s.work.Go(work)
	} else { // the client waits for the end: this goroutine can do the work
		s.work.Add(1)
		stop := context.AfterFunc(r.Context(), j.end)
		work()
		stop()
		s.work.Done()
	}
	j.wait(r.Context(), wait)
	if r.Context().Err() != nil {
		s.abandon(j)
		return
	}
	if isFirst, isRunning := s.tell(j); isRunning {
		s.sendPending(w, j, isFirst)
		return
	}
	a := s.deliver(j)
	a.Send(w)
	a.Free() // no other client has the id
}

// Poll answers a request for the job with an id, of any node, if the client may see its
// scope. Like Run it waits for the answer. An error is an error of the store; the client
// has no answer then.
func (s *Jobs) Poll(w http.ResponseWriter, r *http.Request, sees func(scope string) bool, id string, wait time.Duration) error {
	j := s.find(id)
	switch {
	case j == nil:
		return s.pollStore(w, r, sees, id, wait)
	case !sees(j.scope):
		w.WriteHeader(http.StatusNotFound)
		return nil
	}
	j.wait(r.Context(), wait)
	if r.Context().Err() != nil {
		return nil
	}
	if _, isRunning := s.tell(j); isRunning {
		s.sendPending(w, j, false)
		return nil
	}
	s.deliver(j).Send(w)
	return nil
}

// sendPending sends the id of a running job. The first time it also tells the
// other nodes that the job runs.
func (s *Jobs) sendPending(w http.ResponseWriter, j *Job, isFirst bool) {
	if isFirst && s.deps.Store != nil {
		j.writes.Add(1)
		s.work.Go(func() { s.announce(j) })
	}
	sendPending(w, j.id, s.retry(j))
}

func sendPending(w http.ResponseWriter, id string, retry int) {
	api.WriteJSON(w, http.StatusOK, struct {
		Status  string `json:"status"`
		ID      string `json:"request_id"`
		RetryIn int    `json:"retry_after"`
	}{"pending", id, retry})
}
