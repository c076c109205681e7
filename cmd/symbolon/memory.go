package main

import "symbolon/internal/node"

// commandMemory is what a command keeps below that reads a whole debug file, if
// it can: one of gigabytes has a heap of nearly that, and as much garbage again.
const commandMemory = 224 << 20

func limitMemory() { node.LimitHeap(commandMemory) }
