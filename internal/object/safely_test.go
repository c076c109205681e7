package object

import (
	"testing"

	"symbolon/internal/fault"
)

func TestPanicInAWorkerEndsOnlyTheWork(t *testing.T) {
	type job struct{}
	err := InOrder(2, func(*job) bool { return true }, func(*job) { panic("broken") },
		func(*job) error { return nil }, func() *job { return new(job) })
	if fault.KindOf(err) != fault.Internal {
		t.Errorf("error is %v", err)
	}
}
