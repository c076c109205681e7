package table

import (
	"slices"

	"symbolon/internal/cache"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
)

// The bytes of all negative entries, and about how many one takes, and each
// attempt of its trail.
const (
	negativeBytes = 8 << 20
	negativeSize  = 256
	triedSize     = 512
)

// negative is the outcome of a lookup that found no file.
type negative struct {
	freshness locate.Freshness
	trail     []locate.Tried
}

// negative returns the report of a module without a file, and whether it is fresh.
func (t *Tables) negative(key cache.Key, m ident.Module) (Report, bool) {
	ref, ok := t.negatives.Get(key)
	if !ok {
		return Report{}, false
	}
	defer ref.Release()
	n := ref.Value()
	return Report{Fault: n.freshness.Fault, Tried: n.trail}, t.loc.State(m, n.freshness) == locate.Fresh
}

// addNegative remembers that no file was found for m, if all failures of the trail
// are remembered.
func (t *Tables) addNegative(key cache.Key, m ident.Module, f locate.Freshness, trail []locate.Tried) {
	if t.loc.State(m, f) == locate.Fresh {
		size := negativeSize + triedSize*int64(len(trail))
		t.negatives.Put(key, &negative{f, remembered(trail)}, size, nil).Release()
	}
}

// remembered returns a trail as a later answer reports it: nothing was fetched.
func remembered(trail []locate.Tried) []locate.Tried {
	trail = slices.Clone(trail)
	for i := range trail {
		trail[i].Attempt, trail[i].Parse, trail[i].Cached = locate.Tried{}.Attempt, 0, true
	}
	return trail
}
