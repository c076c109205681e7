package pdb

import (
	"reflect"
	"testing"

	"symbolon/internal/object/units"
)

func span(start, end uint64, unit int32) units.Span {
	return units.Span{Start: start, End: end, Unit: unit}
}

func TestSpansOfAUnitAreJoinedWhereTheyOverlap(t *testing.T) {
	apart := []units.Span{span(1, 2, 1), span(2, 5, 0), span(7, 9, 1)}
	if got := joinSpans(append([]units.Span(nil), apart...)); !reflect.DeepEqual(got, apart) {
		t.Errorf("spans apart from each other became %v", got)
	}
	got := joinSpans([]units.Span{span(10, 20, 1), span(0, 5, 0), span(15, 30, 1), span(4, 12, 0), span(30, 31, 1), span(12, 13, 2)})
	if want := []units.Span{span(0, 12, 0), span(10, 31, 1), span(12, 13, 2)}; !reflect.DeepEqual(got, want) {
		t.Errorf("joined %v, want %v", got, want)
	}
}
