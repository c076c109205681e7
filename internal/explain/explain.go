// Package explain looks a module up and returns the trail of the lookup as data:
// each candidate with its outcome, the verdict, and advice for the operator.
//
// New makes a Trail of a lookup that has ended; Lookup runs one. A Trail is a
// plain value. Its JSON form is stable: keys are added, never renamed. WriteText
// writes the form for people.
package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
)

// Question is a module and the purpose of its file.
type Question struct {
	Module  ident.Module   `json:"module"`
	Purpose locate.Purpose `json:"purpose"`
}

// Lookup looks a module up and returns the trail. sources is the number of
// configured sources.
func Lookup(ctx context.Context, l *locate.Locator, q Question, sources int) (*Trail, error) {
	found, tried, err := l.Best(ctx, q.Module, q.Purpose)
	var others []locate.Tried
	if err == nil {
		others = found.Others()
		found.Close()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	t := New(q, tried, err, time.Now(), sources)
	t.addOthers(others)
	return t, nil
}

// Trail is the result of a lookup with all that led to it.
type Trail struct {
	Asked   Module     `json:"asked"`
	Found   bool       `json:"found"`
	Verdict string     `json:"verdict"`
	Tried   []Attempt  `json:"tried"`
	Deleted []Deletion `json:"deleted,omitempty"` // if nothing was found, the last one first
	Advice  []string   `json:"advice,omitempty"`
}

// Deletion is the deletion of an upload with the file.
type Deletion struct {
	Upload  string    `json:"upload"`
	Project string    `json:"project"`
	File    string    `json:"file"`
	By      string    `json:"by"`
	Why     string    `json:"why"`
	Time    time.Time `json:"time"`
}

// Module is the identity that was looked up.
type Module struct {
	DebugFile string `json:"debug_file,omitempty"`
	DebugID   string `json:"debug_id,omitempty"`
	CodeFile  string `json:"code_file,omitempty"`
	CodeID    string `json:"code_id,omitempty"`
	FileID    string `json:"file_id,omitempty"`
	Derived   string `json:"derived,omitempty"` // how an id was derived from another one
}

// Attempt is the outcome of one candidate. Cached is set if it was not asked for
// now; Expires is then the end of the cached outcome.
type Attempt struct {
	Source   string   `json:"source"`
	Kind     string   `json:"kind"`
	Location string   `json:"location"`
	Verdict  string   `json:"verdict"`
	Detail   string   `json:"detail,omitempty"`
	Status   int      `json:"status,omitempty"`
	Wire     int64    `json:"wire_bytes,omitempty"`
	Bytes    int64    `json:"bytes,omitempty"`
	Millis   int64    `json:"ms,omitempty"`
	Retries  int      `json:"retries,omitempty"`
	Cached   bool     `json:"cached"`
	Expires  string   `json:"expires,omitempty"`
	Features []string `json:"features,omitempty"`
	Chosen   bool     `json:"chosen"`
}

// New returns the trail of a lookup that tried these candidates and ended with
// err, or with the chosen one of them.
func New(q Question, tried []locate.Tried, err error, now time.Time, sources int) *Trail {
	full := q.Module.Derive()
	t := &Trail{Asked: newModule(q.Module, full), Found: err == nil, Tried: []Attempt{}}
	for _, c := range tried {
		t.Tried = append(t.Tried, newAttempt(c))
		if err == nil && c.Chosen {
			t.Verdict = fmt.Sprintf("found in %s; %s", c.Source, chosenBecause[q.Purpose])
		}
	}
	if err != nil {
		f := fault.Of(err)
		t.Verdict = f.Kind.String() + ": " + f.Detail
		t.Advice = advise(full, tried, now, sources)
	}
	return t
}

// AddDeleted adds deletions of uploads that had the file, the last one first, and
// advice on it.
func (t *Trail) AddDeleted(list []Deletion) {
	t.Deleted = list
	if len(list) > 0 {
		d := &list[0]
		t.Advice = slices.Insert(t.Advice, 0, fmt.Sprintf("Deleted: %s of the project %s was deleted on %s by %s, with the upload %s: %s. "+
			"Upload it again: symbolon upload --project %s FILE.",
			d.File, d.Project, d.Time.Format("2006-01-02 15:04 MST"), d.By, d.Upload, cmp.Or(d.Why, "no reason given"), d.Project))
	}
}

// newModule returns the module m. full is m with the derived ids.
func newModule(m, full ident.Module) Module {
	out := Module{DebugFile: full.DebugFile, CodeFile: full.CodeFile, CodeID: full.CodeID.String()}
	if !full.DebugID.IsZero() {
		out.DebugID = full.DebugID.Breakpad()
	}
	if !full.FileID.IsZero() {
		out.FileID = full.FileID.Base64()
	}
	if m.DebugID.IsZero() && !full.DebugID.IsZero() {
		out.Derived = "the debug id was computed from the code id"
	}
	return out
}

// addOthers adds the candidates for the parts and the line mapping of the chosen file.
func (t *Trail) addOthers(tried []locate.Tried) {
	for _, c := range tried {
		t.Tried = append(t.Tried, newAttempt(c))
		if c.Chosen && c.Kind == source.IL2CPP {
			t.Verdict += "; lines of C# come from the mapping in " + c.Source
		}
	}
}

func newAttempt(c locate.Tried) Attempt {
	out := Attempt{
		Source: c.Source, Kind: c.Kind, Location: c.Location, Verdict: "usable", Status: c.Attempt.Status,
		Wire: c.Attempt.Wire, Bytes: c.Attempt.Bytes, Millis: c.Attempt.Time.Milliseconds(), Retries: c.Attempt.Retries,
		Cached: c.Cached, Features: c.Features.Names(), Chosen: c.Chosen,
	}
	if c.Fault != nil {
		out.Verdict, out.Detail = c.Fault.Kind.String(), c.Fault.Detail
	}
	if !c.Expires.IsZero() {
		out.Expires = c.Expires.UTC().Format(time.RFC3339)
	}
	return out
}
