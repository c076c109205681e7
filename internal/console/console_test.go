package console_test

import (
	"testing"

	"symbolon/internal/console"
)

func TestCountAgreesWithItsNoun(t *testing.T) {
	for want, got := range map[string]string{
		"1 line": console.Count(1, "line"), "0 lines": console.Count(0, "line"), "2 lines": console.Count(2, "line"),
		"1 entry": console.Count(1, "entry"), "2 entries": console.Count(2, "entry"), "1,234,567 bytes": console.Count(int64(1234567), "byte"),
	} {
		if got != want {
			t.Errorf("got %q; want %q", got, want)
		}
	}
}

func TestPrintableKeepsTheCursor(t *testing.T) {
	if got := console.Printable("a\x1b[2J\u202eb\n"); got != "a\uFFFD[2J\uFFFDb\n" {
		t.Errorf("got %q", got)
	}
}

func TestNearestIsATypingMistakeAway(t *testing.T) {
	known := []string{"serve", "resolve", "sym"}
	for word, want := range map[string]string{"serv": "serve", "Sevre": "serve", "reslove": "resolve", "sim": "sym", "inspect": "", "": ""} {
		if got := console.Nearest(word, known); got != want {
			t.Errorf("%q: got %q; want %q", word, got, want)
		}
	}
}
