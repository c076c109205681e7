package node

import "symbolon/internal/crash"

// Crashes returns the processor of crashes that uses the sources of the node.
func (n *Node) Crashes() *crash.Processor {
	return crash.New(crash.Deps{Engine: n.engine.Patient(), Tables: n.tables})
}
