package main

import (
	"log/slog"
	"os"
	"runtime/debug"

	"symbolon/internal/config"
	"symbolon/internal/node"
)

// garbagePercent bounds the garbage by the heap in use: a build has a heap of a
// hundred megabytes.
const garbagePercent = 50

// commandMemory is the limit of the heap for commands that read a whole debug file.
// The heap for one of gigabytes needs nearly that, and garbage as much again.
const commandMemory = 224 << 20

// limitHeap limits the heap of the process, unless GOGC and GOMEMLIMIT do.
func limitHeap(limit int64) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}

// openNode builds a node, and limits the heap of the process to its memory.
func openNode(cfg *config.Config, builtin *node.Builtin, log *slog.Logger) (*node.Node, error) {
	if _, err := node.Complete(cfg); err != nil {
		return nil, err
	}
	limitHeap(node.HeapLimit(cfg))
	return node.New(cfg, builtin, log)
}
