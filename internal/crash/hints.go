package crash

import (
	"symbolon/internal/crash/hint"
	"symbolon/internal/unwind/rule"
)

// findHints sets the hints of a process that crashed.
func (r *Report) findHints() {
	if r.Exception == nil {
		return
	}
	c := hint.Crash{CPU: r.System.CPU, Registers: &rule.Registers{}, Exception: r.Exception, Memory: r.Memory, Regions: r.regions()}
	if r.Requesting >= 0 {
		c.Registers = &r.Threads[r.Requesting].Registers
	}
	r.Hints = hint.Analyze(c)
}

// regions returns the map of the address space.
func (r *Report) regions() []hint.Region {
	list := make([]hint.Region, 0, len(r.Mappings))
	for _, m := range r.Mappings {
		if m.IsMapped && m.Size > 0 {
			list = append(list, hint.Region{Start: m.Addr, End: m.Addr + m.Size - 1, Protection: m.Protection})
		}
	}
	return list
}
