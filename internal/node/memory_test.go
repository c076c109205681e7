package node_test

import (
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/config"
	"symbolon/internal/node"
	"symbolon/internal/table"
)

func TestMemoryIsShared(t *testing.T) {
	for _, c := range []struct{ memory, tables, least, most bin.Size }{
		{512 << 20, 0, 256 << 20, 256 << 20},
		{512 << 20, 64 << 20, 64 << 20, 64 << 20},
		{0, 0, node.LeastMemory / 2, node.MostMemory / 2},
		{0, -1, -1, -1},
	} {
		cfg := &config.Config{Memory: c.memory, Table: table.Config{MaxBytes: c.tables}}
		if node.DivideMemory(cfg); cfg.Table.MaxBytes < c.least || cfg.Table.MaxBytes > c.most {
			t.Errorf("%v: tables get %v", c, cfg.Table.MaxBytes)
		}
	}
}
