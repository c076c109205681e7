package core

// Ref is the number of a node. Zero means that there is none.
type Ref int32

// Tree is an arena of nodes. A list of nodes is a range of Lists. Lists are
// read one inside the other: their elements wait on a stack until the list ends.
type Tree[N any] struct {
	Nodes []N
	Lists []Ref
	open  []Ref
}

// Reset removes all nodes and keeps the memory.
func (t *Tree[N]) Reset() {
	var none N
	t.Nodes = append(t.Nodes[:0], none)
	t.Lists = t.Lists[:0]
	t.open = t.open[:0]
}

// Add adds a node.
func (t *Tree[N]) Add(n N) Ref {
	t.Nodes = append(t.Nodes, n)
	return Ref(len(t.Nodes) - 1)
}

// Mark begins a list. Push appends to it, Collect ends it.
func (t *Tree[N]) Mark() int { return len(t.open) }

// Push appends a node to the list that was begun last.
func (t *Tree[N]) Push(r Ref) { t.open = append(t.open, r) }

// Pending returns the elements pushed since mark. They are valid until the next
// Push.
func (t *Tree[N]) Pending(mark int) []Ref { return t.open[mark:] }

// Collect ends the list that begins at mark and returns its place in Lists.
func (t *Tree[N]) Collect(mark int) (at, n int32) {
	at, n = int32(len(t.Lists)), int32(len(t.open)-mark)
	t.Lists = append(t.Lists, t.open[mark:]...)
	t.open = t.open[:mark]
	return at, n
}
