package token

import (
	"sync"
	"time"
)

// A Use is the last use of a token.
type Use struct {
	Time   time.Time `json:"time"`
	Client string    `json:"client"` // its address
}

// maxUses bounds the tokens whose last use is kept.
const maxUses = 10_000

// uses are the last uses by the ids of tokens, in this process since its start.
type uses struct {
	mu   sync.Mutex
	last map[string]Use
}

// Used notes that a client used a token.
func (r *Ring) Used(id, client string) {
	now := r.now().UTC().Truncate(time.Second)
	u := &r.uses
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last = map[string]Use{}
	}
	if _, isKnown := u.last[id]; !isKnown && len(u.last) >= maxUses {
		oldest := ""
		for one, use := range u.last {
			if oldest == "" || use.Time.Before(u.last[oldest].Time) {
				oldest = one
			}
		}
		delete(u.last, oldest)
	}
	u.last[id] = Use{now, client}
}

// LastUse returns the last use of a token in this process. It returns false if there was
// none since the start.
func (r *Ring) LastUse(id string) (Use, bool) {
	r.uses.mu.Lock()
	defer r.uses.mu.Unlock()
	use, ok := r.uses.last[id]
	return use, ok
}
