package jobs

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"time"

	"symbolon/internal/fault"
)

// Store keeps answers for all nodes, so that a client may ask any of them. An
// entry is gone when its life is over. Get gives a fault.NotFound for what is
// not there.
type Store interface {
	Put(ctx context.Context, id string, answer []byte, life time.Duration) error
	Get(ctx context.Context, id string) ([]byte, error)
}

// An entry of the store begins with its scope and a line break, and then with
// what it is. Behind isPending stands when the work began, in seconds; behind
// isAnswer the packed answer.
const (
	isPending = 'p'
	isAnswer  = 'a'
)

const (
	storeTime    = 5 * time.Second        // for one command
	storeLook    = 500 * time.Millisecond // between two looks of a client that waits
	announceLife = 60 * time.Second       // a node that dies is missed after that
	announceEach = 20 * time.Second
)

// announce tells the other nodes that a job runs here, until it is done.
func (s *Jobs) announce(j *Job) {
	defer j.writes.Done()
	entry := strconv.AppendInt([]byte{isPending}, j.start.Unix(), 10)
	again := time.NewTicker(announceEach)
	defer again.Stop()
	for {
		s.put(j, entry, announceLife)
		select {
		case <-j.done:
			return
		case <-again.C:
		}
	}
}

func (s *Jobs) put(j *Job, entry []byte, life time.Duration) (ok bool) {
	ctx, cancel := context.WithTimeout(s.ctx, storeTime)
	defer cancel()
	err := s.deps.Store.Put(ctx, j.id, append([]byte(strconv.Quote(j.scope)+"\n"), entry...), life)
	if err != nil {
		s.deps.Log.Warn("the other nodes do not learn of a request", "id", j.id, "error", err)
	}
	return err == nil
}

// entryFor is what an entry has behind its scope; nothing if that is none of the
// client's.
func entryFor(sees func(scope string) bool, entry []byte) []byte {
	line, rest, _ := bytes.Cut(entry, []byte("\n"))
	scope, err := strconv.Unquote(string(line))
	if err != nil || !sees(scope) {
		return nil
	}
	return rest
}

// elsewhere answers for a job that is not one of this node.
func (s *Jobs) elsewhere(w http.ResponseWriter, r *http.Request, sees func(scope string) bool, id string, wait time.Duration) error {
	if s.deps.Store == nil {
		w.WriteHeader(http.StatusNotFound)
		return nil
	}
	until := s.deps.Now().Add(wait)
	for {
		ctx, cancel := context.WithTimeout(r.Context(), storeTime)
		entry, err := s.deps.Store.Get(ctx, id)
		cancel()
		entry = entryFor(sees, entry)
		switch {
		case r.Context().Err() != nil:
			return nil
		case err != nil && fault.KindOf(err) == fault.NotFound || err == nil && len(entry) == 0:
			w.WriteHeader(http.StatusNotFound)
			return nil
		case err != nil:
			s.deps.Log.Warn("answers of other nodes cannot be had", "error", err)
			return err
		case entry[0] == isAnswer:
			(&Answer{packed: entry[1:]}).Send(w)
			return nil
		}
		now := s.deps.Now()
		if !now.Before(until) {
			began, _ := strconv.ParseInt(string(entry[1:]), 10, 64) // what we wrote
			pending(w, id, retryAfter(now.Sub(time.Unix(began, 0))))
			return nil
		}
		select {
		case <-r.Context().Done():
		case <-time.After(min(storeLook, until.Sub(now))):
		}
	}
}
