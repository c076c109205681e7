package object

import (
	"fmt"
	"sync"
)

// MaxPlaces is how many places of one kind of damage are reported.
const MaxPlaces = 8

// Findings are the counts of a file and its damage. They are safe for concurrent use.
type Findings struct {
	mu     sync.Mutex
	counts Counts
	kinds  []Damage
	told   map[string]bool
}

// Add notes a problem, once for each place.
func (p *Findings) Add(kind, place string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.told) > maxTold {
		return
	}
	if p.told == nil {
		p.told = map[string]bool{}
	}
	if p.told[place] {
		return
	}
	p.told[place] = true
	i := 0
	for i < len(p.kinds) && p.kinds[i].Kind != kind {
		i++
	}
	if i == len(p.kinds) {
		p.kinds = append(p.kinds, Damage{Kind: kind})
	}
	d := &p.kinds[i]
	d.Count++
	if len(d.Places) < MaxPlaces {
		d.Places = append(d.Places, place)
	}
}

// At notes a problem at an offset of some part of the file.
func (p *Findings) At(kind, place string, off int64, reason string) {
	p.Add(kind, fmt.Sprintf("%s, offset %#x: %s", place, off, reason))
}

// maxTold is how many problems are counted.
const maxTold = 10_000

// SetCounts sets the counts that Describe returns.
func (p *Findings) SetCounts(c Counts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts = c
}

// Describe sets the counts and adds the damage.
func (p *Findings) Describe(info *Info) {
	p.mu.Lock()
	defer p.mu.Unlock()
	info.Counts = p.counts
	for _, d := range p.kinds {
		info.BadRecords += d.Count
		d.Places = append([]string(nil), d.Places...)
		info.Damage = append(info.Damage, d)
	}
}
