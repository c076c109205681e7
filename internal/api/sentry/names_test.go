package sentry_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/api/sentry"
)

func TestNamesAreDemangledOnce(t *testing.T) {
	long := "_ZN1a" + strings.Repeat("3abc", 2000) + "Ev"
	got, held := sentry.Readable([]string{"_ZN1a1fEi", "main", "", "_ZN1a1fEi", "_ZN1a1gIiEEiT_", "?pub@harbor@@YAHH@Z", long, "main"})
	want := []string{"a::f(int)", "=", "=", "a::f(int)", "a::g<int>(int)", "harbor::pub(int)", got[6], "="}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if held < 3*64 || held > 1000 { // three names, and neither the long one nor those that are plain
		t.Errorf("it holds %d bytes", held)
	}
}

func TestDemanglingOfAnAnswerIsLimited(t *testing.T) {
	var raw []string
	for i := range 20_000 { // each part of these has the part before it twice
		raw = append(raw, fmt.Sprintf("_RINvC1a1bTuuETB7_B7_ETBb_Bb_ETBj_Bj_ETBr_Br_ETBz_Bz_ETBH_BH_ETBP_BP_ETBX_BX_ETB15_B15_ETB1f_B1f_EE.%d", i))
	}
	got, held := sentry.Readable(append(raw, "_ZN1a1fEi"))
	if last := got[len(got)-1]; last != "=" {
		t.Errorf("the last name became %s", last)
	}
	if len(got[0]) > 1 || held > 2<<20 {
		t.Errorf("%d bytes of names are remembered, the first is %s", held, got[0])
	}
}

func TestMemoryOfNamesIsLimited(t *testing.T) {
	var raw []string
	for i := range 200_000 {
		raw = append(raw, fmt.Sprintf("_ZN3foo%dbar%07dEi", 10, i))
	}
	got, held := sentry.Readable(raw)
	if held < 5<<20 || held > 11<<20 || got[199_999] != "foo::bar0199999(int)" {
		t.Errorf("it holds %d bytes; the last name is %s", held, got[199_999])
	}
}
