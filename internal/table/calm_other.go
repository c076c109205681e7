//go:build !linux

package table

// calm is for systems whose threads have priorities of their own.
func calm() {}
