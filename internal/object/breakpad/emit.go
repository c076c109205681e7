package breakpad

import (
	"cmp"
	"slices"

	"symbolon/internal/sym"
)

// emit makes keys of the lines of call i that do not belong to calls in it. The other lines
// become the sites of those calls.
func (f *file) emit(s *scratch, b *sym.Block, i int, before int64) {
	n := &s.nest
	c := &n.calls[i]
	if c.parent >= 0 && n.calls[c.parent].numSites == 0 || c.addr == c.end {
		return // it has no call site
	}
	n.kidRanges(c)
	c.sites = int32(len(n.sites))
	next := 0 // of n.ranges
	var at uint64
	for k := c.first; k >= 0; k = n.lines[k].next {
		l := &n.lines[k]
		if k != c.first && l.addr < at {
			continue
		}
		node := f.node(s, b, c, l.addr, before)
		for at = l.addr; at < l.end; {
			covered := next < len(n.ranges)
			if !covered || n.ranges[next].start > at {
				s.keys = append(s.keys, key{addr: at, file: l.file, line: l.line, node: node, rank: rankLine})
			}
			if !covered || n.ranges[next].start >= l.end {
				at = l.end
				continue
			}
			n.sites = append(n.sites, site{n.ranges[next].start, l.file, l.line, node})
			at = n.ranges[next].end
			next++
		}
	}
	c.numSites = int32(len(n.sites)) - c.sites
	if i > 0 && c.end < n.end {
		s.keys = append(s.keys, key{addr: c.end, node: sym.Hole})
	}
}

// kidRanges collects the lines of the calls that c makes.
func (n *nest) kidRanges(c *call) {
	n.ranges = n.ranges[:0]
	sorted := true
	for k := c.child; k >= 0; k = n.calls[k].next {
		for l := n.calls[k].first; l >= 0; l = n.lines[l].next {
			if m := len(n.ranges); m > 0 && n.ranges[m-1].start > n.lines[l].addr {
				sorted = false
			}
			n.ranges = append(n.ranges, stretch{n.lines[l].addr, n.lines[l].end})
		}
	}
	if !sorted {
		slices.SortStableFunc(n.ranges, func(a, b stretch) int { return cmp.Compare(a.start, b.start) })
	}
}

// node returns the Node of c where it has a line at addr: which of the sites of its
// parent called it decides.
func (f *file) node(s *scratch, b *sym.Block, c *call, addr uint64, before int64) int32 {
	if c.parent < 0 {
		return 0
	}
	n := &s.nest
	p := &n.calls[c.parent]
	i := n.siteAt(p, addr)
	if i != c.site {
		c.site, c.node = i, f.makeNode(s, b, c.rec, &n.sites[p.sites+i], before)
	}
	return c.node
}

// siteAt returns the last site of p at or before addr, or the first one. Its
// addresses mostly rise.
func (n *nest) siteAt(p *call, addr uint64) int32 {
	sites := n.sites[p.sites : p.sites+p.numSites]
	i := p.cursor
	for range 4 {
		if i+1 == p.numSites || sites[i+1].addr > addr {
			break
		}
		i++
	}
	if sites[i].addr > addr || i+1 < p.numSites && sites[i+1].addr <= addr {
		k, _ := slices.BinarySearchFunc(sites, addr, func(s site, addr uint64) int {
			if s.addr <= addr {
				return -1
			}
			return 1
		})
		i = int32(max(0, k-1))
	}
	p.cursor = i
	return i
}

// makeNode makes the Node of an INLINE record that is called from a site. Most
// records have several ranges, whose Nodes are the same.
func (f *file) makeNode(s *scratch, b *sym.Block, rec int32, from *site, before int64) int32 {
	const tries = 8
	n := &s.nest
	node := sym.Node{Parent: from.node, CallFile: from.file, CallLine: from.line}
	latest := n.made[rec]
	if latest >= 0 {
		node.Name = b.Nodes[latest].Name
	} else {
		node.Name = f.originText(n.fn.Inlines[rec].Origin, before)
	}
	for k, i := 0, latest; i >= 0 && k < tries; k, i = k+1, n.older[i] {
		if b.Nodes[i] == node {
			return i
		}
	}
	i := int32(len(b.Nodes))
	b.Nodes = append(b.Nodes, node)
	for len(n.older) < len(b.Nodes) {
		n.older = append(n.older, -1)
	}
	n.older[i], n.made[rec] = latest, i
	return i
}
