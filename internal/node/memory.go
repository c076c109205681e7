package node

import (
	"cmp"
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"symbolon/internal/bin"
	"symbolon/internal/config"
)

// The memory that is used when none is configured: a quarter of what there is,
// within bounds.
const (
	leastMemory = 64 << 20
	mostMemory  = 1 << 30

	unknownMemory = 2 << 30 // of a machine that does not say how much it has
)

// shares is who may use how much memory.
type shares struct {
	builds   *bin.Budget // tables being made
	mappings *bin.Budget // mappings of lines being read
	requests int64       // bodies, and what is made of them
	ballast  []byte
}

// ballast is memory that nobody ever touches, and that therefore takes none of
// the machine's. It counts as heap, so that the garbage of small requests is
// collected when there are some tens of megabytes of it and not at each four.
const ballast = 32 << 20

// garbage is how much of it there may be, as a percentage of the heap in use: a
// build has a heap of a hundred megabytes.
const garbage = 50

// leastBuild is what the table of a file of a hundred megabytes takes.
const leastBuild = 64 << 20

// leastMapping is what reading a mapping of two megabytes takes.
const leastMapping = 16 << 20

// base is what the runtime and everything that has no share of its own need.
const base = 64 << 20

// settleMemory divides the memory: half of it for open tables, a quarter for
// building tables, a quarter for requests, unless something else is configured.
func settleMemory(cfg *config.Config) {
	if cfg.Memory == 0 {
		cfg.Memory = bin.Size(min(max(machineMemory()/4, leastMemory), mostMemory))
	}
	cfg.Table.MaxBytes = cmp.Or(cfg.Table.MaxBytes, cfg.Memory/2)
	cfg.Table.BuildMemory = cmp.Or(cfg.Table.BuildMemory, max(cfg.Memory/4, leastBuild))
	cfg.Cache.Disk.SpareMemory = cmp.Or(cfg.Cache.Disk.SpareMemory, cfg.Memory/4)
}

// share is the memory of a configuration that is settled. The heap is held below
// what tables, the names of open tables and requests add up to, unless
// GOMEMLIMIT and GOGC say otherwise.
func share(cfg *config.Config) shares {
	all := int64(cfg.Memory)
	LimitHeap(all/2 + max(int64(cfg.Table.MaxBytes), 0)/3 + base + ballast)
	return shares{
		builds: bin.NewBudget(max(all/4, leastBuild)), mappings: bin.NewBudget(max(all/8, leastMapping)), requests: all / 4,
		ballast: make([]byte, ballast),
	}
}

// LimitHeap holds the heap of the process below a limit, unless GOMEMLIMIT and GOGC
// say otherwise.
func LimitHeap(limit int64) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}

// machineMemory returns the memory that this process may use at most: what the
// machine has, or less if a control group of the process or one around it sets
// a limit.
func machineMemory() int64 {
	machine, err := memlimit.FromSystem()
	if err != nil {
		machine = unknownMemory
	}
	group, err := memlimit.FromCgroup()
	if err != nil { // not in a group, or in one without a limit
		group = machine
	}
	return int64(min(machine, group, math.MaxInt64))
}
