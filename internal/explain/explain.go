// Package explain makes the trail of a lookup as data, with its verdict and
// advice, and writes it as text.
package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
)

// Question is what Lookup is asked.
type Question struct {
	Module  ident.Module   `json:"module"`
	Purpose locate.Purpose `json:"purpose"`
}

// Lookup runs the lookup of a module and tells how it went.
func Lookup(ctx context.Context, l *locate.Locator, q Question, sources int) (*Trail, error) {
	found, trail, err := l.Best(ctx, q.Module, q.Purpose)
	var mapping []locate.Tried
	if err == nil {
		mapping = found.Mapping()
		found.Close()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	x := New(q, trail, err, time.Now(), sources)
	x.mapped(mapping)
	return x, nil
}

// Trail is the whole trail of one module, ready to be printed or sent.
type Trail struct {
	Asked   Module    `json:"asked"`
	Found   bool      `json:"found"`
	Verdict string    `json:"verdict"`
	Tried   []Attempt `json:"tried"`
	Advice  []string  `json:"advice,omitempty"`
}

type Module struct {
	DebugFile string `json:"debug_file,omitempty"`
	DebugID   string `json:"debug_id,omitempty"`
	CodeFile  string `json:"code_file,omitempty"`
	CodeID    string `json:"code_id,omitempty"`
	FileID    string `json:"file_id,omitempty"`
	Derived   string `json:"derived,omitempty"`
}

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

// New makes the explanation of a lookup of m that ended with these.
func New(q Question, trail []locate.Tried, err error, now time.Time, sources int) *Trail {
	m := q.Module
	x := &Trail{Found: err == nil, Tried: []Attempt{}}
	full := m.Derive()
	x.Asked = Module{DebugFile: full.DebugFile, CodeFile: full.CodeFile, CodeID: full.CodeID.String()}
	if !full.DebugID.IsZero() {
		x.Asked.DebugID = full.DebugID.Breakpad()
	}
	if !full.FileID.IsZero() {
		x.Asked.FileID = full.FileID.Base64()
	}
	if m.DebugID.IsZero() && !full.DebugID.IsZero() {
		x.Asked.Derived = "the debug id was computed from the code id"
	}
	tips := map[fault.Kind][]string{}
	for _, t := range trail {
		x.Tried = append(x.Tried, tell(t))
		if t.Fault != nil {
			if tip := adviceOn(t); !slices.Contains(tips[t.Fault.Kind], tip) {
				tips[t.Fault.Kind] = append(tips[t.Fault.Kind], tip)
			}
		}
	}
	if err == nil {
		for _, t := range x.Tried {
			if t.Chosen {
				x.Verdict = fmt.Sprintf("found in %s; %s", t.Source, chosenBecause[q.Purpose])
			}
		}
		return x
	}
	f := fault.Of(err)
	x.Verdict = f.Kind.String() + ": " + f.Detail
	needsBuildID := slices.ContainsFunc(trail, func(t locate.Tried) bool { return t.Fault != nil && errors.Is(t.Fault, source.ErrNoBuildID) })
	placed := slices.ContainsFunc(trail, func(t locate.Tried) bool { return t.Location != "" })
	switch {
	case needsBuildID:
		x.Advice = append(x.Advice, fmt.Sprintf(buildIDAdvice, full.DebugFile, x.Asked.DebugID))
	case !placed:
		x.Advice = append(x.Advice, missingAdvice(full, sources)...)
	}
	for _, k := range fault.Kinds() {
		switch {
		case k == fault.NotFound && !placed:
		case len(tips[k]) > 0 && k == fault.NotFound && !full.FileID.IsZero():
			x.Advice = append(x.Advice, notUploaded)
		default:
			x.Advice = append(x.Advice, tips[k]...)
		}
	}
	for _, t := range trail {
		if t.Cached && t.Fault != nil && t.Expires.After(now) {
			x.Advice = append(x.Advice, `A remembered verdict is used until it expires; "symbolon cache purge --faults" forgets them all now.`)
			break
		}
	}
	return x
}

// mapped adds what came of the Question for a mapping of the lines of the file that
// was chosen.
func (x *Trail) mapped(trail []locate.Tried) {
	for _, t := range trail {
		x.Tried = append(x.Tried, tell(t))
		if t.Chosen {
			x.Verdict += "; lines of C# are told by the mapping in " + t.Source
		}
	}
}

func tell(t locate.Tried) Attempt {
	out := Attempt{
		Source: t.Source, Kind: t.Kind, Location: t.Location, Verdict: "usable", Status: t.Attempt.Status,
		Wire: t.Attempt.Wire, Bytes: t.Attempt.Bytes, Millis: t.Attempt.Time.Milliseconds(), Retries: t.Attempt.Retries,
		Cached: t.Cached, Features: t.Features.Names(), Chosen: t.Chosen,
	}
	if t.Fault != nil {
		out.Verdict, out.Detail = t.Fault.Kind.String(), t.Fault.Detail
	}
	if !t.Expires.IsZero() {
		out.Expires = t.Expires.UTC().Format(time.RFC3339)
	}
	return out
}
