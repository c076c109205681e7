package table

import (
	"symbolon/internal/cache"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
)

// The bytes that a negative entry takes, about, and each attempt of its trail.
const (
	negativeSize = 256
	triedSize    = 512
)

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
