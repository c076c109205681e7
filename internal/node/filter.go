package node

import "symbolon/internal/filter"

// Names returns names from the sources of the node.
func (n *Node) Names() filter.Names {
	return &filter.Local{Engine: n.engine.Patient(), Locator: n.locator}
}
