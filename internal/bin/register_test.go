package bin_test

import (
	"slices"
	"testing"

	"symbolon/internal/bin"
)

func TestRegisterNamesExpandsRanges(t *testing.T) {
	want := []string{"pc", "-", "x8", "x9", "x10", "g_r0", "g_r1", "mq"}
	if got := bin.RegisterNames("pc - x8-10 g_r0-1 mq"); !slices.Equal(got, want) {
		t.Errorf("names are %q, want %q", got, want)
	}
}
