package symbolicate

import (
	"testing"
	"time"

	"symbolon/internal/fault"
)

func TestPanicAffectsOnlyItsModule(t *testing.T) {
	r := &Result{
		req:     &Request{Frames: []Frame{{Module: 0, Addr: 1}, {Module: 1, Addr: 1}}},
		cfg:     Config{}.Defaults(),
		Modules: []Module{{Asked: true, Found: true}, {Asked: true}}, // without a handle, a lookup panics
		now:     time.Now, win: &window{size: windowSize}, end: 2,
	}
	for i := range r.req.Frames {
		if f, err := r.Frames(i); len(f) > 0 || err != nil {
			t.Errorf("frame %d: %v, %v", i, f, err)
		}
	}
	if m := r.Modules[0]; m.Found || fault.KindOf(m.Report.Fault) != fault.Internal {
		t.Errorf("the module: %+v", m)
	}
}
