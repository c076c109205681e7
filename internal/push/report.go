package push

import (
	"encoding/json"
	"errors"
	"io"
	"path/filepath"

	"symbolon/internal/console"
)

// ErrFailed is the error of a push in which files failed, which were printed.
var ErrFailed = errors.New("some files were not sent")

// A Report prints the events of a push. It is safe for concurrent use.
type Report struct {
	out, errs io.Writer
	asJSON    bool

	bar *console.Progress
}

// NewReport returns a Report that prints files to out, as text or JSON, and the rest to
// errs. It shows and closes bar.
func NewReport(out, errs io.Writer, bar *console.Progress, asJSON bool) *Report {
	return &Report{out: out, errs: errs, asJSON: asJSON, bar: bar}
}

// Clear removes the progress from the terminal.
func (r *Report) Clear() { r.bar.Clear() }

// Progress shows the bytes of a file; see Events.
func (r *Report) Progress(name string, done, total int64) {
	verb := "sending "
	if total == 0 {
		verb = "reading "
	}
	r.bar.Begin(verb+filepath.Base(name), done)
	r.bar.Set(done, total)
}

// Warn prints a warning.
func (r *Report) Warn(text string) {
	r.Clear()
	console.Printf(r.errs, "symbolon: %s\n", console.Printable(text))
}

// Result prints the outcome of a file.
func (r *Report) Result(x *Result) {
	r.Clear()
	switch x.Status {
	case Failed:
		console.Printf(r.errs, "symbolon: %s\n", console.Printable(x.Detail))
	case Skipped:
		console.Printf(r.errs, "%s\n", console.Printable(x.Detail))
	}
	if r.asJSON {
		enc := json.NewEncoder(r.out)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(x) // the terminal may be gone
		return
	}
	var text string
	switch x.Status {
	case Failed, Skipped:
		return
	case Same:
		text = x.Detail
	default:
		ends := map[Status]string{
			Sent: console.Bytes(x.Bytes) + " sent", DryRun: console.Bytes(x.Bytes) + " not sent", Known: "the server has it already",
		}
		text = x.Ranges.text("range") + ", " + x.Pads.text("pad") + ", " + ends[x.Status]
	}
	console.Printf(r.out, "%s %s: %s\n", console.OneLine(x.File), x.FileID, text)
}

// text returns the numbers of a set for people.
func (s *Set) text(noun string) string {
	return console.Count(s.Records, noun) + " in " + console.Count(s.Parts, "part")
}

// End prints the advice at the end.
func (r *Report) End(s Summary) error {
	r.bar.Close()
	for _, name := range s.Packages {
		console.Printf(r.errs, "for the debug information that is missing, install %s, or name a debuginfod server with --debuginfod URL\n", console.Printable(name))
	}
	switch {
	case s.Failed > 0:
		return ErrFailed
	case s.Sent == 0:
		return errors.New("nothing was sent: no file has symbols; " +
			"install the packages with the debug information, or name a debuginfod server with --debuginfod URL")
	}
	return nil
}
