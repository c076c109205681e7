package object

import (
	"testing"

	"symbolon/internal/fault"
)

func TestWhatAWorkerThrowsIsTheErrorOfItsBatch(t *testing.T) {
	b := batch{units: []unit{{lo: 0, hi: 1}}} // of a file without functions
	(&symbolFile{}).workSafely(&b)
	if fault.KindOf(b.err) != fault.Internal || b.err == nil {
		t.Errorf("got %v", b.err)
	}
}
