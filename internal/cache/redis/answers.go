package redis

import (
	"context"
	"time"

	"symbolon/internal/fault"
)

// Answers are texts that all nodes may ask for, for a while. They lie beside the
// entries of the cache.
type Answers struct{ store *Store }

// Answers are those of this Redis.
func (s *Store) Answers() *Answers { return &Answers{s} }

func (a *Answers) name(id string) string { return a.store.cfg.Prefix + layout + "answer:" + id }

// Put keeps an answer.
func (a *Answers) Put(ctx context.Context, id string, answer []byte, life time.Duration) error {
	if int64(len(answer)) > int64(a.store.cfg.MaxEntry) {
		return fault.New(fault.Unsupported, tier, "an answer of %d bytes is too large to be shared", len(answer))
	}
	if err := a.store.set(ctx, a.name(id), string(answer), life); err != nil {
		return fault.New(fault.Transport, tier, "%w", err)
	}
	return nil
}

// Get is an answer that was kept; NotFound if there is none.
func (a *Answers) Get(ctx context.Context, id string) ([]byte, error) {
	answer, err := a.store.get(ctx, patience*a.store.cfg.Timeout, a.name(id))
	if err != nil {
		return nil, fault.New(fault.Transport, tier, "%w", err)
	}
	if answer == nil {
		return nil, fault.New(fault.NotFound, tier, "no such answer")
	}
	return answer, nil
}
