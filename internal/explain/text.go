package explain

import (
	"fmt"
	"io"
	"strings"

	"symbolon/internal/console"
)

// WriteText writes the trail for people. It ignores errors of w, as all that
// writes to a terminal does.
func (t *Trail) WriteText(w io.Writer) {
	line := func(label, value string) {
		if value != "" {
			console.Printf(w, "%-12s %s\n", label, console.Printable(value))
		}
	}
	line("debug file", t.Asked.DebugFile)
	line("debug id", t.Asked.DebugID)
	line("code file", t.Asked.CodeFile)
	line("code id", t.Asked.CodeID)
	line("file id", t.Asked.FileID)
	line("derived", t.Asked.Derived)
	for i, a := range t.Tried {
		mark := " "
		if a.Chosen {
			mark = "*"
		}
		head := fmt.Sprintf("%s %d. %s  %s", mark, i+1, console.Printable(a.Source), a.Kind)
		console.Printf(w, "\n%s\n", strings.TrimRight(head, " ")) // the kind is empty if the source was not asked
		if a.Location != "" {
			console.Printf(w, "     %s\n", console.Printable(a.Location))
		}
		console.Printf(w, "     %s\n", console.Printable(a.summary()))
	}
	console.Printf(w, "\n%s\n", console.Printable(t.Verdict))
	for _, a := range t.Advice {
		console.Printf(w, "- %s\n", console.Printable(a))
	}
}

// summary returns a line about the candidate.
func (a *Attempt) summary() string {
	var b strings.Builder
	b.WriteString(a.Verdict)
	if a.Detail != "" {
		b.WriteString(": " + a.Detail)
	}
	if a.Cached {
		b.WriteString("; remembered")
		if a.Expires != "" {
			b.WriteString(" until " + a.Expires)
		}
	}
	if a.Status != 0 {
		fmt.Fprintf(&b, "; HTTP %d", a.Status)
	}
	if a.Wire > 0 {
		fmt.Fprintf(&b, "; %s received", console.Count(a.Wire, "byte"))
	}
	if a.Bytes > 0 && a.Bytes != a.Wire {
		fmt.Fprintf(&b, ", %d decoded", a.Bytes)
	}
	if !a.Cached {
		fmt.Fprintf(&b, "; %d ms", a.Millis)
	}
	if a.Retries > 0 {
		fmt.Fprintf(&b, "; %s", console.Count(a.Retries, "retry"))
	}
	if len(a.Features) > 0 {
		b.WriteString("; has " + strings.Join(a.Features, ", "))
	}
	return b.String()
}
