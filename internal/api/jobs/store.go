package jobs

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"time"

	"symbolon/internal/fault"
)

// Store keeps entries for all nodes, so that a client may poll any of them. An
// entry expires after its life. Get returns a fault.NotFound for a missing entry.
type Store interface {
	Put(ctx context.Context, id string, entry []byte, life time.Duration) error
	Get(ctx context.Context, id string) ([]byte, error)
}

// An entry of the store is the quoted scope of the job, a line break, one of these
// letters, and its value.
const (
	isPending = 'p' // the start of the work, in seconds
	isAnswer  = 'a' // the compressed answer
)

const (
	storeTime    = 5 * time.Second        // timeout of one command
	storePoll    = 500 * time.Millisecond // between two reads for a client that waits
	pendingLife  = 60 * time.Second       // after this, the job of a node that crashed is unknown
	pendingEvery = 20 * time.Second
)

// announce writes the pending entry of a job, repeatedly until it is done.
func (s *Jobs) announce(j *Job) {
	defer j.writes.Done()
	entry := strconv.AppendInt([]byte{isPending}, j.start.Unix(), 10)
	tick := time.NewTicker(pendingEvery)
	defer tick.Stop()
	for {
		s.put(j, entry, pendingLife)
		select {
		case <-j.done:
			return
		case <-tick.C:
		}
	}
}

// put writes the entry of a job, and reports whether it is stored.
func (s *Jobs) put(j *Job, entry []byte, life time.Duration) bool {
	ctx, cancel := context.WithTimeout(s.ctx, storeTime)
	defer cancel()
	err := s.deps.Store.Put(ctx, j.id, append([]byte(strconv.Quote(j.scope)+"\n"), entry...), life)
	wasUnshared := s.unshared.Swap(err != nil)
	if err != nil && !wasUnshared {
		s.deps.Log.Warn("cannot share requests with other nodes; each answers its own", "id", j.id, "error", err)
	}
	return err == nil
}

// cutScope returns an entry without its scope, nothing if the client may not see
// that.
func cutScope(sees func(scope string) bool, entry []byte) []byte {
	line, rest, _ := bytes.Cut(entry, []byte("\n"))
	scope, err := strconv.Unquote(string(line))
	if err != nil || !sees(scope) {
		return nil
	}
	return rest
}

// pollStore is Poll for a job that this node does not have.
func (s *Jobs) pollStore(w http.ResponseWriter, r *http.Request, sees func(scope string) bool, id string, wait time.Duration) error {
	if s.deps.Store == nil {
		w.WriteHeader(http.StatusNotFound)
		return nil
	}
	until := s.deps.Now().Add(wait)
	for {
		ctx, cancel := context.WithTimeout(r.Context(), storeTime)
		entry, err := s.deps.Store.Get(ctx, id)
		cancel()
		entry = cutScope(sees, entry)
		switch {
		case r.Context().Err() != nil:
			return nil
		case err != nil && fault.KindOf(err) == fault.NotFound || err == nil && len(entry) == 0:
			w.WriteHeader(http.StatusNotFound)
			return nil
		case err != nil:
			s.deps.Log.Warn("cannot read answers of other nodes", "error", err)
			return err
		case entry[0] == isAnswer:
			(&Answer{packed: entry[1:]}).Send(w)
			return nil
		}
		now := s.deps.Now()
		if !now.Before(until) {
			start, _ := strconv.ParseInt(string(entry[1:]), 10, 64) // written by announce
			sendPending(w, id, retryAfter(now.Sub(time.Unix(start, 0))))
			return nil
		}
		select {
		case <-r.Context().Done():
		case <-time.After(min(storePoll, until.Sub(now))):
		}
	}
}
