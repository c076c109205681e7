//go:build !linux

package table

// lowerPriority does nothing: the priority of a single thread cannot be set.
func lowerPriority() {}
