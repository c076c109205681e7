package node

import (
	"cmp"
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"symbolon/internal/bin"
	"symbolon/internal/config"
)

// Without a configured limit a node uses a quarter of the machine's memory, within
// these bounds.
const (
	leastMemory = 64 << 20
	mostMemory  = 1 << 30

	unknownMemory = 2 << 30 // assumed if the system does not report it
)

// memory divides the memory of a node.
type memory struct {
	builds   *bin.Budget // of tables
	mappings *bin.Budget // of lines, while they are read
	requests int64       // bodies and the values decoded from them
	ballast  []byte
}

// ballast is memory that is never touched, so that the system never allocates it.
// It counts as heap: garbage of small requests is collected at some tens of
// megabytes, and not at four.
const ballast = 32 << 20

// leastBuild is the memory for the table of a file of a hundred megabytes.
const leastBuild = 64 << 20

// leastMapping is the memory for reading a mapping of two megabytes.
const leastMapping = 16 << 20

// base is the memory of the runtime, and of all that has no budget.
const base = 64 << 20

// divideMemory divides the memory: half of it for open tables, a quarter for
// building tables, a quarter for requests, unless something else is configured.
func divideMemory(cfg *config.Config) {
	if cfg.Memory == 0 {
		cfg.Memory = bin.Size(min(max(machineMemory()/4, leastMemory), mostMemory))
	}
	cfg.Table.MaxBytes = cmp.Or(cfg.Table.MaxBytes, cfg.Memory/2)
	cfg.Table.BuildMemory = cmp.Or(cfg.Table.BuildMemory, max(cfg.Memory/4, leastBuild))
	cfg.Cache.Disk.SpareMemory = cmp.Or(cfg.Cache.Disk.SpareMemory, cfg.Memory/4)
}

// newMemory divides the memory of a configuration that Complete has completed.
func newMemory(cfg *config.Config) memory {
	all := int64(cfg.Memory)
	return memory{
		builds: bin.NewBudget(max(all/4, leastBuild)), mappings: bin.NewBudget(max(all/8, leastMapping)), requests: all / 4,
		ballast: make([]byte, ballast),
	}
}

// HeapLimit returns the largest heap that a node with a configuration needs: tables
// with the names of open ones, builds and requests. Complete has completed it.
func HeapLimit(cfg *config.Config) int64 {
	names := max(int64(cfg.Table.MaxBytes), 0) / 3
	if cfg.Table.ManyNames {
		names *= 2
	}
	return int64(cfg.Memory)/2 + names + base + ballast
}

// machineMemory returns the memory that this process can use: the memory of the machine,
// or less if a control group of the process, or one around it, sets a limit.
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
