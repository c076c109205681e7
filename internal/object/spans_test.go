package object

import (
	"reflect"
	"testing"
)

func TestSpansOfAUnitAreJoinedWhereTheyOverlap(t *testing.T) {
	apart := []Span{{1, 2, 1}, {2, 5, 0}, {7, 9, 1}}
	if got := joinSpans(append([]Span(nil), apart...)); !reflect.DeepEqual(got, apart) {
		t.Error(got)
	}
	got := joinSpans([]Span{{10, 20, 1}, {0, 5, 0}, {15, 30, 1}, {4, 12, 0}, {30, 31, 1}, {12, 13, 2}})
	if want := []Span{{0, 12, 0}, {10, 31, 1}, {12, 13, 2}}; !reflect.DeepEqual(got, want) {
		t.Error(got)
	}
}
