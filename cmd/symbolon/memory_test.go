package main

import (
	"math"
	"slices"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/config"
	"symbolon/internal/table"
)

func TestTheSmallestLimitOfAContainerCounts(t *testing.T) {
	got := cgroupFiles("12:cpu,memory:/docker/x\n3:cpuset:/y\n0::/system.slice/symbolon.service\nnonsense\n")
	for _, want := range []string{
		"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes",
		"/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes",
		"/sys/fs/cgroup/system.slice/symbolon.service/memory.max", "/sys/fs/cgroup/system.slice/memory.max",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not looked at", want)
		}
	}
	if len(got) != 6 {
		t.Errorf("got %v", got)
	}
	for text, want := range map[string]int64{"max": math.MaxInt64, "0": math.MaxInt64, "-1": math.MaxInt64, "536870912": 1 << 29, "": math.MaxInt64} {
		if got := number(text); got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
	if got := meminfo([]byte("Nonsense\nMemTotal:       2048 kB\nMemFree: 1 kB\n")); got != 2<<20 {
		t.Errorf("MemTotal is %d", got)
	}
	if got := meminfo(nil); got != math.MaxInt64 {
		t.Errorf("no MemTotal is %d", got)
	}
}

func TestMemoryIsShared(t *testing.T) {
	for _, c := range []struct{ memory, tables, least, most bin.Size }{
		{512 << 20, 0, 256 << 20, 256 << 20},
		{512 << 20, 64 << 20, 64 << 20, 64 << 20},
		{0, 0, leastMemory / 2, mostMemory / 2},
		{0, -1, -1, -1},
	} {
		cfg := &config.Config{Memory: c.memory, Table: table.Config{MaxBytes: c.tables}}
		if settleMemory(cfg); cfg.Table.MaxBytes < c.least || cfg.Table.MaxBytes > c.most {
			t.Errorf("%v: tables get %v", c, cfg.Table.MaxBytes)
		}
	}
}
