package object

import (
	"fmt"
	"sync"
)

// maxPlaces is how many places of one kind of damage are told.
const maxPlaces = 8

// problems are what of an image could not be read.
type problems struct {
	mu    sync.Mutex
	kinds []Damage
	told  map[string]bool
}

// add notes a problem, once for each place.
func (p *problems) add(kind, place string) {
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
	if len(d.Places) < maxPlaces {
		d.Places = append(d.Places, place)
	}
}

// at notes a problem at an offset of some part of the file.
func (p *problems) at(kind, place string, off int64, reason string) {
	p.add(kind, fmt.Sprintf("%s, offset %#x: %s", place, off, reason))
}

// maxTold is how many problems are counted.
const maxTold = 10_000

// tell says what has been found so far.
func (g *image) tell(info *Info) {
	g.problems.mu.Lock()
	defer g.problems.mu.Unlock()
	info.Counts = g.counts
	g.problems.tell(info)
	for _, h := range g.supplied {
		var own Info
		h.tell(&own)
		info.BadRecords += own.BadRecords
		info.Damage = append(info.Damage, own.Damage...)
	}
}

// tell adds the problems. mu is held.
func (p *problems) tell(info *Info) {
	for _, d := range p.kinds {
		info.BadRecords += d.Count
		d.Places = append([]string(nil), d.Places...)
		info.Damage = append(info.Damage, d)
	}
}

func (p *problems) unit(off uint64, err error) {
	p.add("damaged units", fmt.Sprintf("unit at %#x: %v", off, err))
}
