package answer_test

import (
	"testing"

	"symbolon/internal/answer"
)

// The name of a function may be lost, as that of one in a damaged file.
func TestFunctionsWithoutANameAreUnknown(t *testing.T) {
	a := &answer.Answer{Addr: "0x1", Frames: []answer.Frame{{File: "a.c", Line: 3, Inlined: true}, {Offset: "0x1"}}}
	if got, want := string(answer.Formats["text"](nil, a)), "0x1\n  ??  a.c:3  (inlined)\n  ??+0x1\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got, want := string(answer.Formats["text"](nil, &answer.Answer{Addr: "0x1"})), "0x1\n  ??\n"; got != want {
		t.Errorf("without frames: got\n%swant\n%s", got, want)
	}
}
