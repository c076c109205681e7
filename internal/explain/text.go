package explain

import (
	"fmt"
	"io"
	"strings"

	"symbolon/internal/console"
)

func (x *Trail) WriteText(w io.Writer) {
	line := func(label, value string) {
		if value != "" {
			console.Printf(w, "%-12s %s\n", label, console.Printable(value))
		}
	}
	line("debug file", x.Asked.DebugFile)
	line("debug id", x.Asked.DebugID)
	line("code file", x.Asked.CodeFile)
	line("code id", x.Asked.CodeID)
	line("file id", x.Asked.FileID)
	line("derived", x.Asked.Derived)
	for i, t := range x.Tried {
		mark := " "
		if t.Chosen {
			mark = "*"
		}
		head := fmt.Sprintf("%s %d. %s  %s", mark, i+1, console.Printable(t.Source), t.Kind)
		console.Printf(w, "\n%s\n", strings.TrimRight(head, " ")) // a source that was not asked has no kind
		if t.Location != "" {
			console.Printf(w, "     %s\n", console.Printable(t.Location))
		}
		console.Printf(w, "     %s\n", console.Printable(t.summary()))
	}
	console.Printf(w, "\n%s\n", console.Printable(x.Verdict))
	for _, a := range x.Advice {
		console.Printf(w, "- %s\n", console.Printable(a))
	}
}

// summary is one line about one candidate.
func (t *Attempt) summary() string {
	var b strings.Builder
	b.WriteString(t.Verdict)
	if t.Detail != "" {
		b.WriteString(": " + t.Detail)
	}
	if t.Cached {
		b.WriteString("; remembered")
		if t.Expires != "" {
			b.WriteString(" until " + t.Expires)
		}
	}
	if t.Status != 0 {
		fmt.Fprintf(&b, "; HTTP %d", t.Status)
	}
	if t.Wire > 0 {
		fmt.Fprintf(&b, "; %s received", console.Count(t.Wire, "byte"))
	}
	if t.Bytes > 0 && t.Bytes != t.Wire {
		fmt.Fprintf(&b, ", %d decoded", t.Bytes)
	}
	if !t.Cached {
		fmt.Fprintf(&b, "; %d ms", t.Millis)
	}
	if t.Retries > 0 {
		fmt.Fprintf(&b, "; %s", console.Count(t.Retries, "retry"))
	}
	if len(t.Features) > 0 {
		b.WriteString("; has " + strings.Join(t.Features, ", "))
	}
	return b.String()
}
