package demangle_test

import (
	"strings"
	"testing"
	"time"

	"symbolon/internal/demangle"
)

// costly are short names that stand for very much, each at the length at which
// it took longest for each of its letters.
func costly() map[string]string {
	// Each pair has the pair before it twice.
	const rust = "_RINvC1a1bTuuETB7_B7_ETBb_Bb_ETBj_Bj_ETBr_Br_ETBz_Bz_ETBH_BH_ETBP_BP_ETBX_BX_ETB15_B15_ETB1d_B1d_ETB1n_B1n_E"
	return map[string]string{
		"pairs of pairs in Rust":            rust + "E",
		"a repeated type in Swift":          "$s1a1byySi_S25000itF",
		"what functions have in Swift":      "$s1a1byyIegy" + strings.Repeat("w", 4000) + "_D",
		"packs in packs":                    doubling(12) + "U3fooi",
		"expanded packs":                    "_Z1fIJ" + strings.Repeat("i", 240) + "EEv" + strings.Repeat("DpT_", 8) + "U3fooi",
		"references to much in Itanium":     "_Z1fU3foo" + strings.Repeat("PK", 120) + "i" + strings.Repeat("S_", 3900),
		"functions of functions in MSVC":    "?f@@YAXP6AHHH@ZP6AH00@ZP6AH11@ZP6AH22@ZP6AH33@ZP6AH44@ZP6AH55@ZP6AH66@Z@Z",
		"templates of templates in Itanium": "_Z1f1AIiiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_IS5_S5_ES_IS6_S6_E",
	}
}

const ordinary = "_ZNSt6vectorI3FooSaIS0_EE17_M_realloc_insertIJRKS0_EEEvN9__gnu_cxx17__normal_iteratorIPS0_S2_EEDpOT_"

func TestWorkOnANameIsInProportionToItsLength(t *testing.T) {
	perLetter := func(name string, style demangle.Style) float64 {
		best := time.Hour
		for range 10 {
			start := time.Now()
			demangle.Name(name, style)
			best = min(best, time.Since(start))
		}
		return float64(best) / float64(len(name))
	}
	for _, style := range []demangle.Style{demangle.Full, demangle.LLVM} {
		usual := perLetter(ordinary, style)
		for what, name := range costly() {
			if times := perLetter(name, style) / usual; times > 500 {
				t.Errorf("%s, style %d: a letter takes %.0f times as long as in an ordinary name", what, style, times)
			}
		}
	}
}

func TestWorkOnManyNamesIsBounded(t *testing.T) {
	readable := demangle.Name(ordinary, demangle.Full)
	var w demangle.Work
	for range 300_000 { // more than is allowed in advance
		if got, ok := w.Name(ordinary, demangle.Full); !ok || got != readable {
			t.Fatalf("an ordinary name became %s", got)
		}
	}
	w = demangle.Work{}
	name := costly()["pairs of pairs in Rust"]
	for n := 0; ; n++ {
		if _, ok := w.Name(name, demangle.Full); !ok {
			break
		} else if n > 100_000 {
			t.Fatal("100,000 costly names are not too many")
		}
	}
	if got, _ := w.Name(ordinary, demangle.Full); got != ordinary {
		t.Errorf("without any work left a name became %s", got)
	}
}
