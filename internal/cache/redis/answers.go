package redis

import (
	"context"
	"time"

	"symbolon/internal/fault"
)

// Answers stores answers that all nodes may read for a while, beside the entries
// of the cache.
type Answers struct{ store *Store }

// Answers returns the Answers in this Redis.
func (s *Store) Answers() *Answers { return &Answers{s} }

func (a *Answers) name(id string) string { return a.store.cfg.Prefix + layout + "answer:" + id }

// Put stores an answer for life.
func (a *Answers) Put(ctx context.Context, id string, answer []byte, life time.Duration) error {
	if int64(len(answer)) > int64(a.store.cfg.MaxEntry) {
		return fault.New(fault.Unsupported, tier, "an answer of %d bytes is too large to be shared", len(answer))
	}
	if err := a.store.set(ctx, a.name(id), string(answer), life); err != nil {
		return fault.New(fault.Transport, tier, "%w", err)
	}
	return nil
}

// Get returns a stored answer, or the fault NotFound.
func (a *Answers) Get(ctx context.Context, id string) ([]byte, error) {
	answer, err := a.store.get(ctx, readTimeouts*a.store.cfg.Timeout, a.name(id))
	if err != nil {
		return nil, fault.New(fault.Transport, tier, "%w", err)
	}
	if answer == nil {
		return nil, fault.New(fault.NotFound, tier, "no such answer")
	}
	return answer, nil
}
