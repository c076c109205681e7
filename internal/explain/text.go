package explain

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"symbolon/internal/console"
)

// WriteText writes the trail for people: the verdict, the candidate that decided it,
// the advice and the module; with all set, the other candidates too. It ignores errors
// of w, as all that writes to a terminal does.
func (t *Trail) WriteText(w io.Writer, look console.Look, all bool) {
	style := console.Bad
	if t.Found {
		style = console.Good
	}
	console.Printf(w, "%s: %s\n", look.Paint(console.Bold, console.Printable(t.Asked.name())), look.Paint(style, console.Printable(t.Verdict)))
	first, hidden := t.decisive(), 0
	for i := range t.Tried {
		if a := &t.Tried[i]; all || a.Chosen || i == first {
			a.write(w, look, i+1)
		} else {
			hidden++
		}
	}
	if len(t.Advice) > 0 {
		console.Printf(w, "\n")
	}
	for _, a := range t.Advice {
		console.Printf(w, "- %s\n", console.Printable(a))
	}
	console.Printf(w, "\n")
	for _, l := range [][2]string{
		{"debug file", t.Asked.DebugFile}, {"debug id", t.Asked.DebugID}, {"code file", t.Asked.CodeFile}, {"code id", t.Asked.CodeID},
		{"file id", t.Asked.FileID}, {"derived", t.Asked.Derived},
	} {
		if l[1] != "" {
			console.Printf(w, "%s %s\n", look.Paint(console.Faint, fmt.Sprintf("%-12s", l[0])), console.Printable(l[1]))
		}
	}
	if hidden > 0 {
		console.Printf(w, "\n%s not shown; symbolon explain --all lists them\n", console.Count(hidden, "other candidate"))
	}
}

// name returns the module as people write it.
func (m *Module) name() string {
	name, id := m.DebugFile, m.DebugID
	if id == "" || m.Derived != "" {
		name, id = cmp.Or(m.CodeFile, m.DebugFile), cmp.Or(m.CodeID, m.FileID)
	}
	return strings.Trim(name+"/"+id, "/")
}

// decisive returns the index of the candidate that decided the verdict, or -1 if one was
// chosen. If all sources miss the file, it is the first place that was asked.
func (t *Trail) decisive() int {
	if t.Found {
		return -1
	}
	for _, decides := range []func(Attempt) bool{
		func(a Attempt) bool { return a.Verdict+": "+a.Detail == t.Verdict },
		func(a Attempt) bool { return a.Location != "" },
	} {
		if i := slices.IndexFunc(t.Tried, decides); i >= 0 {
			return i
		}
	}
	return 0
}

// write writes the candidate with its number.
func (a *Attempt) write(w io.Writer, look console.Look, number int) {
	mark, style := " ", console.Faint
	if a.Chosen {
		mark, style = "*", console.Good
	}
	head := fmt.Sprintf("%s %d. %s  %s", mark, number, console.Printable(a.Source), a.Kind)
	console.Printf(w, "\n%s\n", look.Paint(style, strings.TrimRight(head, " "))) // the kind is empty if the source was not asked
	if a.Location != "" {
		console.Printf(w, "     %s\n", console.Printable(a.Location))
	}
	console.Printf(w, "     %s\n", console.Printable(a.summary()))
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
