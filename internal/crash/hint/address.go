package hint

import (
	"slices"
	"sort"
	"strings"

	"symbolon/internal/bin"
)

// Reasons of crashes that have a meaning here.
const (
	violation      = "EXCEPTION_ACCESS_VIOLATION"
	readViolation  = violation + "_READ"
	writeViolation = violation + "_WRITE"
	execViolation  = violation + "_EXEC"
	inPageError    = "EXCEPTION_IN_PAGE_ERROR"
	stackOverflow  = "EXCEPTION_STACK_OVERFLOW"
	privilege      = "EXCEPTION_PRIV_INSTRUCTION"
	badAccess      = "EXC_BAD_ACCESS"
)

// faults begin the reasons with the address of a failed access to memory.
var faults = []string{"SIGSEGV", "SIGBUS", violation, inPageError, badAccess}

// divisions are the reasons of a division of integers by zero.
var divisions = []string{"SIGFPE / FPE_INTDIV", "EXCEPTION_INT_DIVIDE_BY_ZERO", "EXC_ARITHMETIC / EXC_I386_DIV"}

// isFault reports whether the crash is a failed access to memory.
func (a *analysis) isFault() bool {
	return slices.ContainsFunc(faults, func(f string) bool { return strings.HasPrefix(a.reason, f) })
}

// isFetch reports whether the instruction itself could not be read.
func (a *analysis) isFetch() bool { return a.isFault() && a.address == a.pc }

// failures has the accesses that failed, by the reason of the crash.
var failures = map[string]bin.Protection{readViolation: bin.Readable, writeViolation: bin.Writable, execViolation: bin.Executable}

// isProtectionFault reports whether the system had no address from the processor.
// That is usual for an address that is not canonical.
func (a *analysis) isProtectionFault() bool {
	switch a.reason {
	case readViolation:
		return a.isAMD64() && a.address == 1<<64-1
	case "SIGSEGV / SI_KERNEL", "SIGBUS / SI_KERNEL", badAccess + " / EXC_I386_GPFLT":
		return a.isAMD64() && a.address == 0
	}
	return false
}

// isNonCanonical reports whether the highest 17 bits of an address differ.
func isNonCanonical(addr uint64) bool { return addr >= 1<<47 && addr < 1<<64-1<<47 }

// adjust finds the address that the exception should have had.
func (a *analysis) adjust() {
	if !a.isFault() {
		return
	}
	for _, x := range a.Accesses {
		if x.nullBase {
			a.Adjusted, a.Address = NullPointer, x.Address
			return
		}
	}
	if !a.isProtectionFault() {
		return
	}
	for _, x := range a.Accesses {
		if isNonCanonical(x.Address) {
			a.Adjusted, a.Address = NonCanonical, x.Address
			return
		}
	}
	if a.Update != nil && isNonCanonical(*a.Update) {
		a.Adjusted, a.Address = NonCanonical, *a.Update
	}
}

// regionIndex returns the index of the first region that ends at addr or after it.
func (c *Crash) regionIndex(addr uint64) int {
	return sort.Search(len(c.Regions), func(i int) bool { return c.Regions[i].End >= addr })
}

func (c *Crash) region(addr uint64) (r Region, ok bool) {
	if i := c.regionIndex(addr); i < len(c.Regions) && c.Regions[i].Start <= addr {
		return c.Regions[i], true
	}
	return Region{}, false
}

// isAccessible reports whether anything may be done at an address.
func (c *Crash) isAccessible(addr uint64) bool {
	r, ok := c.region(addr)
	return ok && r.Protection != 0
}

// maxGuard is the most bytes of a guard page.
const maxGuard = 32 << 10

// findGuards finds the accesses to guard pages: small regions without access
// beside one with access.
func (a *analysis) findGuards() {
	for i := range a.Accesses {
		x := &a.Accesses[i]
		r, ok := a.region(x.Address)
		x.Guard = ok && r.Protection == 0 && r.End-r.Start < maxGuard &&
			(a.isAccessible(r.Start-1) || a.isAccessible(r.End+1))
	}
}

// stackReach is how far from the stack pointer, and below the stack, an access is
// one of a frame that no longer fits.
const stackReach = 64 << 10

// findStack reports a stack that has overflowed, or that is executable.
func (a *analysis) findStack() {
	sp, ok := a.Registers.Get(a.CPU.SP)
	if !ok {
		return
	}
	r, ok := a.region(sp)
	a.ExecutableStack = ok && r.Protection&bin.Executable != 0
	if a.StackOverflow = a.reason == stackOverflow; !a.isFault() {
		return
	}
	addrs := []uint64{a.address}
	for _, x := range a.Accesses {
		addrs = append(addrs, x.Address)
	}
	for _, addr := range addrs {
		if a.isAccessible(addr) || max(addr, sp)-min(addr, sp) > stackReach {
			continue
		}
		for i := a.regionIndex(addr); i < len(a.Regions) && a.Regions[i].Start-min(a.Regions[i].Start, addr) <= stackReach; i++ {
			if a.Regions[i].Protection&bin.Writable != 0 {
				a.StackOverflow = true
			}
		}
	}
}
