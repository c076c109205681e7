package send

import (
	"encoding/json"
	"errors"
	"io"
	"slices"

	"symbolon/internal/console"
	"symbolon/internal/ident"
)

// ErrFailed is the error of an upload in which files failed, which were printed.
var ErrFailed = errors.New("some files were not uploaded")

// A Report prints the outcomes of an upload.
type Report struct {
	out, errs io.Writer
	asJSON    bool
	bar       *console.Progress

	counts map[State]int // files that could not be read are refused
	sent   int64         // bytes of the uploaded files
	retry  string        // the last printed reason for a retry
}

// NewReport returns a Report that prints files to out, as text or JSON, and the rest
// to errs. It shows and closes bar.
func NewReport(out, errs io.Writer, bar *console.Progress, asJSON bool) *Report {
	return &Report{out: out, errs: errs, asJSON: asJSON, bar: bar, counts: map[State]int{}}
}

// Progress shows the bytes of a batch, after those that were sent before.
func (r *Report) Progress(done, total int64) { r.bar.Set(r.sent+done, r.sent+total) }

// Done prints the outcome of a file.
func (r *Report) Done(x Outcome) {
	r.bar.Clear()
	if x.State == Refused && !r.asJSON {
		r.Failed(x.File.Path, errors.New(x.Detail))
		return
	}
	r.counts[x.State]++
	if x.State != Refused {
		r.sent += x.Sent
		r.bar.Set(r.sent, 0)
	}
	if !r.asJSON {
		console.Printf(r.out, "%-8s  %s\n", x.State, console.OneLine(x.File.Path))
		return
	}
	m := x.File.Modules[0]
	_ = json.NewEncoder(r.out).Encode(struct { // the terminal may be gone
		Path    string        `json:"path"`
		Kind    string        `json:"kind"`
		DebugID ident.DebugID `json:"debug_id,omitzero"`
		CodeID  ident.CodeID  `json:"code_id,omitempty"`
		State   State         `json:"state"`
		Detail  string        `json:"detail,omitempty"`
		Sent    int64         `json:"sent_bytes"`
	}{x.File.Path, x.File.Kind, m.DebugID, m.CodeID, x.State, x.Detail, x.Sent})
}

// Retrying prints why a request is made again, once for equal reasons in a row.
func (r *Report) Retrying(why error) {
	if text := why.Error(); text != r.retry {
		r.retry = text
		r.bar.Clear()
		console.Printf(r.errs, "symbolon: %s; trying again\n", console.Printable(text))
	}
}

// Failed prints a file that cannot be read or was refused.
func (r *Report) Failed(path string, err error) {
	r.bar.Clear()
	r.counts[Refused]++
	console.Printf(r.errs, "symbolon: %s: %s\n", console.OneLine(path), console.Printable(err.Error()))
}

// End prints the summary.
func (r *Report) End(skipped Skipped) error {
	r.bar.Close()
	for _, n := range skipped.Nameless {
		console.Printf(r.errs, "%s: not uploaded: %s\n", console.OneLine(n.Path), n.Why)
	}
	if slices.ContainsFunc(skipped.Nameless, func(n Nameless) bool { return n.Why == noSplitID }) {
		console.Printf(r.errs, "symbolon: without these units, inlined calls are missing; upload the file that \"symbolon sym PROGRAM\" "+
			"writes beside them instead of the program, or keep both in a folder that is a source of the server\n")
	}
	console.Printf(r.errs, "%d uploaded (%s), %d already there", r.counts[Uploaded], console.Bytes(r.sent), r.counts[Known])
	for _, x := range []struct {
		n    int
		text string
	}{
		{r.counts[Pending], "still being checked by the server (with --wait, upload waits for that)"}, {r.counts[Refused], "failed"},
		{len(skipped.Nameless), "without an id"}, {skipped.Other, "of other kinds"},
	} {
		if x.n > 0 {
			console.Printf(r.errs, ", %d %s", x.n, x.text)
		}
	}
	console.Printf(r.errs, "\n")
	switch {
	case r.counts[Refused] > 0:
		return ErrFailed
	case len(r.counts) == 0:
		return errors.New("nothing was uploaded: no debug file with an id was found")
	}
	return nil
}
