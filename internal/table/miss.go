package table

import (
	"slices"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
)

// Misses that are remembered in memory: how many bytes of them, and about how
// many each has, and each place on its trail.
const (
	missBytes = 8 << 20
	missSize  = 256
	triedSize = 512
)

// sharedMiss is how long a miss counts unasked where other nodes share the
// cache: what one of them forgets is seen that much later.
const sharedMiss = 30 * time.Second

// miss is a module that has nothing, for as long as all its sources are known
// to have nothing.
type miss struct {
	report Report
	born   time.Time
	until  time.Time
}

// missing is what is known of a module that has nothing.
func (t *Tables) missing(key cache.Key, m ident.Module) (Report, bool) {
	ref, ok := t.misses.Get(key)
	if !ok {
		return Report{}, false
	}
	defer ref.Release()
	known := ref.Value()
	return known.report, known.until.After(t.now()) && !t.loc.Forgotten(m, known.born)
}

// noteMiss keeps a report of a module that has nothing until the first of its
// verdicts ends. What is not remembered of a candidate is not remembered here.
func (t *Tables) noteMiss(key cache.Key, r Report, asked time.Time) {
	now := t.now()
	until := firstEnd(r.Tried)
	if _, layered := t.tier.(*cache.Layer); layered && until.After(now.Add(sharedMiss)) {
		until = now.Add(sharedMiss)
	}
	if until.After(now) && r.Fault.Kind != fault.Internal {
		known := &miss{Report{Fault: r.Fault, Tried: remembered(r.Tried)}, asked, until}
		t.misses.Put(key, known, missSize+triedSize*int64(len(r.Tried)), nil).Release()
	}
}

// firstEnd is when the first verdict of a trail ends that might become a better
// one; zero if there is none.
func firstEnd(trail []locate.Tried) (first time.Time) {
	some := false
	for i := range trail {
		t := &trail[i]
		if t.Fault != nil && t.Location != "" && (!some || t.Expires.Before(first)) {
			first, some = t.Expires, true
		}
	}
	return first
}

// remembered is a trail as it is told again: nothing was asked for.
func remembered(trail []locate.Tried) []locate.Tried {
	trail = slices.Clone(trail)
	for i := range trail {
		trail[i].Attempt, trail[i].Parse, trail[i].Cached = locate.Tried{}.Attempt, 0, true
	}
	return trail
}
