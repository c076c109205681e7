package crash

import (
	"symbolon/internal/crash/hint"
	"symbolon/internal/unwind/rule"
)

// longestInstruction is the most bytes of an instruction of any instruction set.
const longestInstruction = 15

// findHints sets the hints of a process that crashed.
func (r *Report) findHints() {
	if r.Exception == nil {
		return
	}
	c := hint.Crash{CPU: r.System.CPU, Registers: &rule.Registers{}, Exception: r.Exception, Memory: r.Memory, Regions: r.regions()}
	if r.Requesting >= 0 {
		c.Registers = &r.Threads[r.Requesting].Registers
	}
	if c.CPU != nil {
		if pc, ok := c.Registers.Get(c.CPU.PC); ok {
			code := make([]byte, longestInstruction)
			c.Code = code[:r.Memory.ReadAt(code, pc)]
		}
	}
	r.Hints = hint.Analyze(c)
}

// regions returns the map of the address space.
func (r *Report) regions() []hint.Region {
	list := make([]hint.Region, 0, len(r.Mappings))
	for _, m := range r.Mappings {
		if !m.IsMapped || m.Size == 0 {
			continue
		}
		x := hint.Region{Start: m.Addr, End: m.Addr + m.Size - 1}
		for p, is := range map[hint.Protection]bool{hint.Readable: m.Readable, hint.Writable: m.Writable, hint.Executable: m.Executable} {
			if is && !m.IsGuard { // the first access fails
				x.Protection |= p
			}
		}
		list = append(list, x)
	}
	return list
}
