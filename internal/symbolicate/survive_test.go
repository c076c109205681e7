package symbolicate

import (
	"testing"

	"symbolon/internal/fault"
	"symbolon/internal/sym"
)

func TestWhatIsThrownCostsItsModule(t *testing.T) {
	r := &Result{
		req:     &Request{Frames: []Frame{{0, 1}, {1, 1}}},
		Modules: []Module{{Found: true, frames: make([]sym.Frame, 1)}, {Found: true, frames: make([]sym.Frame, 1)}},
		spans:   []span{{0, 1}, {0, 1}},
	}
	func() {
		defer r.survive(0, []uint32{0})
		panic("a mistake")
	}()
	if m := r.Modules[0]; m.Found || fault.KindOf(m.Report.Fault) != fault.Internal || len(r.Frames(0)) != 0 {
		t.Errorf("the module: %+v, %v", m, r.Frames(0))
	}
	if !r.Modules[1].Found || len(r.Frames(1)) != 1 {
		t.Error("the other module is lost too")
	}
}
