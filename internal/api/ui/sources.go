package ui

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/explain"
	"symbolon/internal/history"
	"symbolon/internal/locate"
	"symbolon/internal/token"
)

// Source is a configured source.
type Source struct {
	ID      string    `json:"id"`
	Type    string    `json:"type"`
	Layout  string    `json:"layout,omitempty"`
	Place   string    `json:"place"` // without secrets
	Public  bool      `json:"is_public"`
	Blocked time.Time `json:"blocked_until,omitzero"` // its host is on the deny list
	Why     string    `json:"blocked_because,omitempty"`
}

const (
	hour         = 60 // minutes
	sourcesShown = 30
	// maxProbe limits the time of a probe, in which a file may be received.
	maxProbe = time.Minute
)

// sourceData is a source with the figures of the last hour.
type sourceData struct {
	Source
	Downloads int64            `json:"downloads"`
	HitRate   *float64         `json:"hit_rate,omitempty"` // of the answers, those with a file
	Latency   *float64         `json:"latency_ms,omitempty"`
	Received  int64            `json:"received_bytes"`
	Errors    map[string]int64 `json:"errors,omitempty"` // by outcome
	Minutes   []float64        `json:"downloads_by_minute"`
}

type sourcesData struct {
	Probe   *probe       `json:"probe,omitempty"`
	Sources []sourceData `json:"sources"`

	Module   string `json:"-"` // of the form
	Selected string `json:"-"`
	Next     string `json:"-"` // page
}

// A probe is the answer of a source to a lookup.
type probe struct {
	Source string `json:"source"`
	Module string `json:"module"`
	Random bool   `json:"is_random"` // no source can have the module
	Millis int64  `json:"ms"`
	*explain.Trail
}

func (d *Door) sourcesPage() *page {
	return &page{
		pattern: "/ui/sources", about: "the sources", menu: "Sources", right: token.Admin,
		show:    func(v *visit) (view, error) { return d.sourcesView(v, nil) },
		actions: map[string]action{"test": d.testSource},
	}
}

// sourcesView is the page with the answer of a source, which may be nil.
func (d *Door) sourcesView(v *visit, answer *probe) (view, error) {
	list, next, err := paged(v, d.deps.Sources(), sourcesShown)
	data := sourcesData{Probe: answer, Sources: []sourceData{}, Next: next}
	if answer != nil {
		data.Selected = answer.Source
		if !answer.Random {
			data.Module = answer.Module
		}
	}
	d.deps.History.Sample()
	for _, s := range list {
		data.Sources = append(data.Sources, d.figures(s))
	}
	return view{title: "Sources", data: &data, body: sourcesView(v, &data)}, err
}

// figures adds those of the last hour to a source.
func (d *Door) figures(s Source) sourceData {
	h := d.deps.History
	out := sourceData{Source: s, Received: int64(h.Sum(history.Source(s.ID, history.Bytes), hour)), Minutes: make([]float64, hour), Errors: map[string]int64{}}
	var ok, missing float64
	for _, outcome := range history.Outcomes() {
		sum := 0.0
		for i, n := range h.Last(history.Source(s.ID, outcome), hour, 1) {
			out.Minutes[i] += n
			sum += n
		}
		out.Downloads += int64(sum)
		switch {
		case outcome == "ok":
			ok = sum
		case outcome == "not_found":
			missing = sum
		case sum > 0:
			out.Errors[outcome] = int64(sum)
		}
	}
	if ok+missing > 0 {
		rate := ok / (ok + missing)
		out.HitRate = &rate
	}
	if out.Downloads > 0 {
		latency := 1000 * h.Sum(history.Source(s.ID, history.Seconds), hour) / float64(out.Downloads)
		out.Latency = &latency
	}
	return out
}

// kind returns the type and the layout of a source.
func (s *Source) kind() string {
	text := s.Type
	if s.Layout != "" {
		text += ", layout " + s.Layout
	}
	if s.Public {
		text += ", public"
	}
	return text
}

// failures returns the errors of a source as a text.
func (s *sourceData) failures() string {
	var list []string
	for _, outcome := range history.Outcomes() {
		if n := s.Errors[outcome]; n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, strings.ReplaceAll(outcome, "_", " ")))
		}
	}
	return strings.Join(list, ", ")
}

// testSource looks a module up in one source, without the cache.
func (d *Door) testSource(v *visit, p *progress) (outcome, error) {
	name, all := strings.TrimSpace(v.PostFormValue("module")), d.deps.Sources()
	i := slices.IndexFunc(all, func(s Source) bool { return shown(s.ID) == v.PostFormValue("source") })
	if i < 0 {
		return outcome{}, api.Refuse(http.StatusNotFound, "there is no such source")
	}
	id := all[i].ID
	answer := &probe{Source: id, Module: name, Random: name == ""}
	args := []string{name}
	if answer.Random {
		random := make([]byte, 20)
		_, _ = rand.Read(random) // never fails
		buildID := hex.EncodeToString(random)
		args = []string{"symbolon-probe.pdb/" + buildID[:32] + "1", "symbolon-probe.exe/" + buildID[:16]}
		answer.Module = args[0]
	}
	var q explain.Question
	var err error
	if q.Module, err = explain.ParseModules(args, 0); err != nil {
		return outcome{}, api.Invalid("%v", err)
	}
	q.Purpose = locate.Debug
	p.show("asking the source", 0, 0)
	ctx, cancel := context.WithTimeout(v.Context(), maxProbe)
	defer cancel()
	begun := d.deps.Now()
	if answer.Trail, err = d.deps.Probe(ctx, id, q); err != nil {
		if v.Context().Err() == nil && ctx.Err() != nil {
			err = api.Refuse(http.StatusGatewayTimeout, "the source did not answer within %v", maxProbe)
		}
		return outcome{}, err
	}
	for i := range answer.Tried {
		answer.Tried[i].Expires = "" // the next probe does not use the outcome
	}
	answer.Millis = d.deps.Now().Sub(begun).Milliseconds()
	page, err := d.sourcesView(v, answer)
	return outcome{view: &page}, err
}

// verdict describes the answer of a source, and reports whether the source works.
func (p *probe) verdict() (text string, works bool) {
	isAsked := false
	for _, a := range p.Tried {
		isAsked = isAsked || a.Location != ""
		if a.Verdict != "usable" && a.Verdict != "not found" && !p.Found {
			return "The source does not work: " + a.Verdict + ": " + a.Detail, false
		}
	}
	switch {
	case p.Found:
		return "The source has the file.", true
	case !isAsked:
		return "The source has no place for this module: name one of a kind that it has.", false
	case p.Random:
		return "The source works: it answers that it does not have a module that does not exist.", true
	}
	return "The source works, and does not have the file.", true
}
