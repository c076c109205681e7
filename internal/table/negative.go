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

// negative returns the report of a module for which no file was found, as long
// as that is not looked up again.
func (t *Tables) negative(key cache.Key, m ident.Module) (Report, bool) {
	ref, ok := t.negatives.Get(key)
	if !ok {
		return Report{}, false
	}
	defer ref.Release()
	n := ref.Value()
	return Report{Fault: n.freshness.Fault, Tried: n.trail}, t.loc.State(m, n.freshness) == locate.Fresh
}

// addNegative remembers that there is no file for m, if all failures of the trail
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
