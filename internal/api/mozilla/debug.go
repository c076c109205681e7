package mozilla

import (
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/locate"
	"symbolon/internal/symbolicate"
)

// cost is the cost of the lookup of one module. A negative entry counts as a
// failed download that took no time.
type cost struct {
	downloaded bool // a file was downloaded
	size       int64
	download   time.Duration
	missed     bool // every download failed
	parsed     bool // a file was parsed
	parse      time.Duration
	invalid    bool // a file could not be parsed
	parseBad   time.Duration
}

func costOf(m *symbolicate.Module) (c cost) {
	if m.Report.Hit {
		return c
	}
	var none locate.Tried
	for i := range m.Report.Tried {
		t := &m.Report.Tried[i]
		bad := t.Fault != nil && (t.Fault.Kind == fault.Malformed || t.Fault.Kind == fault.Unsupported)
		isAttempt := t.Attempt != none.Attempt
		c.downloaded = c.downloaded || isAttempt && (t.Fault == nil || bad)
		c.invalid = c.invalid || bad
		c.download += t.Attempt.Time
		if t.Fault == nil || bad {
			c.size += t.Attempt.Bytes
		}
	}
	c.missed = !m.Found && !c.downloaded && !c.invalid
	c.parsed = m.Found && (c.downloaded || m.Report.Parse > 0)
	c.parse, c.parseBad = m.Report.Parse, m.Report.ParseBad
	return c
}

// perModule has numbers of modules, and their sum.
type perModule struct {
	modules []int32
	values  []float64
	sum     float64
}

func (p *perModule) add(m int32, v float64) {
	p.modules, p.values = append(p.modules, m), append(p.values, v)
	p.sum += v
}

// write writes the numbers as a member, if there are any.
func (p *perModule) write(e *encoder, name string) {
	if len(p.modules) == 0 {
		return
	}
	e.Key(name).Open('{')
	for i, m := range p.modules {
		e.moduleKey(m)
		e.Float(p.values[i])
		e.Spill()
	}
	e.Close('}')
}

// costs has the sums of the costs of a request.
type costs struct {
	lookups, hits, downloads int
	lookupTime               time.Duration
	size, time, failTime     perModule // of downloads
	parse, parseBad, save    perModule
}

func (a *answer) costs() (all costs) {
	for i := range a.found {
		key := int32(i)
		if !a.isLookedUp(key) {
			continue
		}
		m := &a.found[i]
		all.lookups++
		all.lookupTime += m.Report.Lookup
		if m.Report.Hit {
			all.hits++
		}
		c := costOf(m)
		switch {
		case c.downloaded:
			all.downloads++
			all.size.add(key, float64(c.size))
			all.time.add(key, c.download.Seconds())
		case c.missed:
			all.downloads++
			all.failTime.add(key, c.download.Seconds())
		}
		if c.parsed {
			all.parse.add(key, c.parse.Seconds())
			all.save.add(key, 0) // a table is saved after the answer
		}
		if c.invalid {
			all.parseBad.add(key, c.parseBad.Seconds())
		}
	}
	return all
}

// debugV5 writes the block for the Debug header. Like Eliot's, it omits keys
// without a value.
func (e *encoder) debugV5(a *answer) {
	all := a.costs()
	e.Open('{')
	e.Key("cache_lookups").Open('{')
	e.Key("count").Int(all.lookups)
	if all.lookups > 0 {
		e.Key("hits").Int(all.hits)
	}
	e.Key("time").Float(all.lookupTime.Seconds())
	e.Close('}')
	e.Key("downloads").Open('{')
	e.Key("count").Int(all.downloads)
	all.failTime.write(e, "fail_time_per_module")
	all.size.write(e, "size_per_module")
	all.time.write(e, "time_per_module")
	e.Key("size").Float(all.size.sum)
	e.Key("time").Float(all.time.sum)
	e.Close('}')
	e.phase("parse_sym", &all.parse, &all.parseBad)
	e.phase("save_symcache", &all.save, &perModule{})
	e.Key("time").Float(a.took.Seconds())
	e.jobsPerModule(a)
	e.Close('}')
}

func (e *encoder) phase(name string, good, bad *perModule) {
	e.Key(name).Open('{')
	good.write(e, "time_per_module")
	bad.write(e, "fail_time_per_module")
	e.Key("time").Float(good.sum)
	e.Close('}')
}

// jobsPerModule writes the number of jobs of each module that was looked up.
func (e *encoder) jobsPerModule(a *answer) {
	jobs := make([]int, len(a.modules))
	seen := make([]int, len(a.modules))
	count := 0
	for i, job := range a.jobs {
		for _, m := range a.maps[job.maps.from:job.maps.to] {
			if seen[m] != i+1 && a.isLookedUp(m) {
				seen[m] = i + 1
				jobs[m]++
				count++
			}
		}
	}
	e.modulesBlock(a, count, jobs)
}

// modulesBlock writes a count, and a number for each module that has one.
func (e *encoder) modulesBlock(a *answer, count int, numbers []int) {
	var per perModule
	for m, n := range numbers {
		if n > 0 {
			per.add(int32(m), float64(n))
		}
	}
	e.Key("modules").Open('{')
	e.Key("count").Int(count)
	per.write(e, "stacks_per_module")
	e.Close('}')
}

// debugV4 writes the debug block of Tecken.
func (e *encoder) debugV4(a *answer) {
	all := a.costs()
	frames := make([]int, len(a.modules))
	needed, inModules := 0, 0
	for _, f := range a.query.Frames {
		if f.Module < 0 {
			continue
		}
		inModules++
		if frames[f.Module]++; frames[f.Module] == 1 {
			needed++
		}
	}
	e.Open('{')
	e.Key("time").Float(a.took.Seconds())
	e.Key("stacks").Open('{')
	e.Key("count").Int(len(a.query.Frames))
	e.Key("real").Int(inModules)
	e.Close('}')
	e.modulesBlock(a, needed, frames)
	e.Key("cache_lookups").Open('{')
	e.Key("count").Int(all.lookups)
	e.Key("time").Float(all.lookupTime.Seconds())
	e.Key("size").Int(0) // a table is in memory, nothing is read
	e.Close('}')
	e.Key("downloads").Open('{')
	e.Key("count").Int(len(all.size.modules))
	e.Key("time").Float(all.time.sum)
	e.Key("size").Float(all.size.sum)
	e.Close('}')
	e.Close('}')
}
