package console_test

import (
	"strings"
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

func TestOneLineIsOneLine(t *testing.T) {
	if got := console.OneLine("a\nb\tc\x1b"); got != "a\uFFFDb\uFFFDc\uFFFD" {
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

func TestTitlesAreAlignedAndPaintedForTerminals(t *testing.T) {
	for look, want := range map[console.Look]string{
		console.Plain:   "a       bad\nlonger  x\n",
		console.Aligned: "N       STATE\na       bad\nlonger  x\n",
		console.Colored: "\x1b[1mN       STATE\x1b[0m\na       \x1b[31mbad\x1b[0m\nlonger  x\n",
	} {
		var b strings.Builder
		table := console.NewTable(&b, look, "N", "STATE")
		console.Printf(table, "a\t%s\nlonger\tx\n", look.Paint(console.Bad, "bad"))
		if err := table.Flush(); err != nil || b.String() != want {
			t.Errorf("look %d: got %q, %v; want %q", look, &b, err, want)
		}
	}
}
