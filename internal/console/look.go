package console

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
)

// A Look is the form of text for people.
type Look int

const (
	Plain   Look = iota // for files and pipes
	Aligned             // for a terminal without colors: tables have titles
	Colored
)

// Colors are the values of --color.
var Colors = []string{"auto", "always", "never"}

// NewLook returns the look of a stream. when is one of Colors. Variables of the
// environment can only turn off the colors of auto.
func NewLook(when string, isTerminal bool, environment func(name string) string) Look {
	// The console of Windows has no colors unless a program turns them on.
	hasColors := environment("NO_COLOR") == "" && environment("TERM") != "dumb" &&
		(runtime.GOOS != "windows" || environment("WT_SESSION") != "" || environment("TERM") != "")
	switch {
	case when == "always", when == "auto" && isTerminal && hasColors:
		return Colored
	case isTerminal:
		return Aligned
	}
	return Plain
}

// A Style is a way to stand out, as the parameter of an escape sequence.
type Style string

// The styles.
const (
	Bold  Style = "1"
	Faint Style = "2"
	Bad   Style = "31" // red
	Good  Style = "32" // green
)

// Paint returns text in a style, without escape sequences if l has no colors.
func (l Look) Paint(s Style, text string) string {
	if l != Colored || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// A Table aligns cells that end in tabs, in rows that end in newlines. Its last
// column may be painted.
type Table struct{ *tabwriter.Writer }

// NewTable returns a table that Flush writes to w. On a terminal it begins with titles.
func NewTable(w io.Writer, l Look, titles ...string) Table {
	if l != Plain {
		w = &titleWriter{w: w, look: l}
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	if l != Plain {
		Printf(t, "%s\n", strings.Join(titles, "\t"))
	}
	return Table{t}
}

// titleWriter paints the first line, after it was aligned.
type titleWriter struct {
	w     io.Writer
	look  Look
	title []byte
	ended bool
}

func (t *titleWriter) Write(p []byte) (int, error) {
	n := len(p)
	if !t.ended {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		t.title = append(t.title, line...)
		if t.ended = ended; !ended {
			return n, nil
		}
		Printf(t.w, "%s\n", t.look.Paint(Bold, string(t.title)))
		p = rest
	}
	_, err := t.w.Write(p)
	return n, err
}
