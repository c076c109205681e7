package core

// Steps returns how many steps the work on a name of this length may take. No
// name that a compiler made is known to need half as many.
func Steps(length int) int { return 16 * (length + 64) }

// Budget bounds the work on one name: the steps that are left, and the depth of
// recursion. Once it has failed, it stays so.
type Budget struct {
	Steps  int
	Depth  int
	Failed bool
}

// Spend takes n steps and reports whether the work may continue.
func (b *Budget) Spend(n int) bool {
	if b.Steps -= n; b.Steps < 0 {
		b.Failed = true
	}
	return !b.Failed
}

// Enter begins a level of recursion and reports whether the work may continue. Each call
// needs a call of Leave.
func (b *Budget) Enter(limit int) bool {
	if b.Depth++; b.Depth > limit {
		b.Failed = true
	}
	return !b.Failed
}

// Leave ends a level of recursion.
func (b *Budget) Leave() { b.Depth-- }
