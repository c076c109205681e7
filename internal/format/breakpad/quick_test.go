package breakpad_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"symbolon/internal/format/breakpad"
)

// TestParseFastEqualsGeneralParser parses records at the very end of the text,
// where the general parser reads them, and with enough text after them.
func TestParseFastEqualsGeneralParser(t *testing.T) {
	numbers := []string{"0", "7", "1f", "FFFFFFFFFFFFFFFF", "10000000000000000", "00000000000000000001", "999999999", "1000000000",
		"4294967296", "18446744073709551615", "-3", "", "x", "12g", " 5", "123456789abcdef", "1234567890abcdef"}
	seps := []string{" ", " ", " ", " ", " ", " ", "  ", "\t", "", "\r"}
	ends := []string{"\n", "\n", "\n", "\n", "\r\n", " \n", " z\n", "\n\n", ""}
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	records := 0
	for range 100_000 {
		var b strings.Builder
		fields := 4
		if r.IntN(2) == 0 {
			b.WriteString([]string{"INLINE", "INLINE", "INLINE", "INLINEX", "I"}[r.IntN(5)] + pick(seps))
			fields += 1 + r.IntN(7)
		}
		for i := range fields {
			if r.IntN(3) > 0 {
				fmt.Fprint(&b, r.IntN(5000))
			} else {
				b.WriteString(pick(numbers))
			}
			if i < fields-1 {
				b.WriteString(pick(seps))
			}
		}
		line := b.String() + pick(ends)
		for _, old := range []bool{false, true} {
			x := breakpad.Index{Old: old}
			var close, quick breakpad.Func
			var closeBad, quickBad breakpad.Report
			head := "FUNC 1000 100 0 f\n"
			x.ParseFunc(breakpad.Span{}, []byte(head+line), &close, &closeBad)
			x.ParseFunc(breakpad.Span{}, []byte(head+line+"\n"+strings.Repeat(" ", 200)), &quick, &quickBad)
			if fmt.Sprint(close, closeBad) != fmt.Sprint(quick, quickBad) {
				t.Fatalf("%q, old %v:\ngeneral %+v %+v\nfast %+v %+v", line, old, close, closeBad, quick, quickBad)
			}
			records += len(quick.Lines) + len(quick.Inlines)
		}
	}
	if records < 10_000 {
		t.Errorf("only %d records are valid", records)
	}
}
