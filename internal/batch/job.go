package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

const (
	rowsSuffix   = ".ndjson.zst"
	countsSuffix = ".json"
	folder       = "part/"
)

// unitID is a unit: the number of its input, and its own number there.
type unitID struct{ input, number int }

// key returns the key of a version of a part or of its counts.
func (id unitID) key(version int, suffix string) string {
	if version > 1 {
		suffix = fmt.Sprintf(".%d%s", version, suffix)
	}
	return fmt.Sprintf("%s%06d-%06d%s", folder, id.input, id.number, suffix)
}

// parseKey parses a key that was returned by key.
func parseKey(key string) (id unitID, version int, suffix string, ok bool) {
	for _, suffix = range []string{rowsSuffix, countsSuffix} {
		name, hasSuffix := strings.CutSuffix(key, suffix)
		if !hasSuffix {
			continue
		}
		version = 1
		n, _ := fmt.Sscanf(name, folder+"%d-%d.%d", &id.input, &id.number, &version)
		return id, version, suffix, n >= 2 && id.key(version, suffix) == key
	}
	return id, 0, "", false
}

// Counts are the numbers of some rows.
type Counts struct {
	Rows      int            `json:"rows"`
	Failed    int            `json:"failed"`            // rows without an answer
	Addresses int            `json:"addresses"`         // as often as rows have them
	Named     int            `json:"named"`             // addresses with names
	Missing   map[string]int `json:"missing,omitempty"` // modules by reason, in each part
}

// unknown is the reason of missing modules in a part whose counts are not known.
const unknown = "unknown"

func (c *Counts) miss(reason string, n int) {
	if c.Missing == nil {
		c.Missing = map[string]int{}
	}
	c.Missing[reason] += n
}

func (c *Counts) add(more *Counts) {
	c.Rows += more.Rows
	c.Failed += more.Failed
	c.Addresses += more.Addresses
	c.Named += more.Named
	for reason, n := range more.Missing {
		c.miss(reason, n)
	}
}

// Unreachable returns the number of modules that were missing because sources did not
// answer.
func (c *Counts) Unreachable() int {
	return c.Missing[fault.Timeout.String()] + c.Missing[fault.Transport.String()] + c.Missing[unknown]
}

// part is a stored part.
type part struct {
	Name string `json:"name,omitempty"` // in done.json
	Counts
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	IsLast bool   `json:"last,omitempty"` // of its input

	Modules []Module  `json:"modules,omitempty"` // some of those that were missing
	Stored  time.Time `json:"stored,omitzero"`   // when the rows were complete

	version  int
	isStored bool // with its counts
}

// job is the description of a job, in job.json.
type job struct {
	Format  int     `json:"format"`
	Unit    int     `json:"unit"`
	Field   string  `json:"field"`
	Replace bool    `json:"replace"`
	Inputs  []input `json:"inputs"`
}

// begin stores the description of the job, or compares that of earlier runs.
func (w *run) begin(ctx context.Context) error {
	text, err := json.MarshalIndent(job{1, w.Unit, w.Rows.Field, w.Rows.Replace, w.inputs}, "", "  ")
	if err != nil {
		return err
	}
	created, err := w.out.Put(ctx, "job.json", bytes.NewReader(text), bucket.Attrs{IfAbsent: true})
	if err != nil || created {
		return err
	}
	old, err := bucket.Read(ctx, w.out, "job.json", 0, -1)
	if err != nil || bytes.Equal(old, text) {
		return err
	}
	var was job
	why := "it was begun with other options"
	if err := json.Unmarshal(old, &was); err != nil || was.Format != 1 {
		why = "job.json is not that of this version"
	}
	if !slices.EqualFunc(was.Inputs, w.inputs, func(a, b input) bool { return a.Name == b.Name }) {
		why = "it was begun with other inputs"
	} else {
		for i, in := range w.inputs {
			if o := was.Inputs[i]; o.Size != in.Size || o.Version != in.Version {
				why = fmt.Sprintf("the input %s has changed", in.Name)
				break
			}
		}
	}
	return fault.New(fault.Malformed, w.Out, "cannot continue the job: %s; use another --job", why)
}

// load reads which parts are complete, and removes those with later versions.
func (w *run) load(ctx context.Context) error {
	counts := map[string]bool{}
	var all []string
	for key, err := range bucket.Keys(ctx, w.out, folder, "") {
		if err != nil {
			return err
		}
		id, version, suffix, ok := parseKey(key)
		if !ok {
			continue
		}
		all = append(all, key)
		if suffix == countsSuffix {
			counts[key] = true
		} else if p := w.parts[id]; p == nil || p.version < version {
			w.parts[id] = &part{version: version}
		}
	}
	ids := slices.Collect(maps.Keys(w.parts))
	err := bucket.Each(len(ids), func(i int) error {
		p, key := w.parts[ids[i]], ids[i].key(w.parts[ids[i]].version, countsSuffix)
		if p.isStored || !counts[key] {
			return nil
		}
		text, err := bucket.Read(ctx, w.out, key, 0, -1)
		switch {
		case fault.KindOf(err) == fault.NotFound && err != nil:
			return nil // another run has removed it, for the next version
		case err != nil:
			return err
		case json.Unmarshal(text, p) != nil || p.SHA256 == "":
			return fault.New(fault.Malformed, key, "invalid counts; remove this file and the one with the rows")
		}
		p.isStored = true
		return nil
	})
	if err != nil {
		return err
	}
	return bucket.Each(len(all), func(i int) error {
		id, version, _, _ := parseKey(all[i])
		if p := w.parts[id]; p != nil && p.isStored && version < p.version {
			return w.out.Delete(ctx, all[i])
		}
		return nil
	})
}

// isTodo reports whether a unit is one of this part of the work and must be done.
func (w *run) isTodo(id unitID) bool {
	p := w.parts[id]
	return w.Part.has(id, len(w.inputs)) &&
		(p == nil || !p.isStored || p.Unreachable() > 0 || w.Retry && len(p.Missing) > 0)
}

// isOpen reports whether an input has units to do, or may have.
func (w *run) isOpen(i int) bool {
	for n := 0; w.Part.reads(i, len(w.inputs)); n++ {
		p := w.parts[unitID{i, n}]
		if p == nil || w.isTodo(unitID{i, n}) {
			return true
		}
		if p.IsLast {
			break
		}
	}
	return false
}

// end adds the counts up, and stores the totals if all parts are complete.
func (w *run) end(ctx context.Context) error {
	for id, p := range w.parts {
		if p.isStored && w.Part.has(id, len(w.inputs)) {
			w.result.add(&p.Counts)
			w.result.Units++
		}
	}
	var done struct {
		Counts
		Parts []part `json:"parts"`
	}
	for i := range w.inputs {
		isLast := false
		for n := 0; !isLast; n++ {
			id := unitID{i, n}
			p := w.parts[id]
			if p == nil || !p.isStored {
				return nil
			}
			isLast = p.IsLast
			done.add(&p.Counts)
			done.Parts = append(done.Parts, part{Name: id.key(p.version, rowsSuffix), Counts: p.Counts, Size: p.Size, SHA256: p.SHA256})
		}
	}
	w.result.IsComplete = true
	text, err := json.Marshal(&done)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	for n, key := 2, "done.json"; ; n, key = n+1, fmt.Sprintf("done.%d.json", n) {
		created, err := w.out.Put(ctx, key, bytes.NewReader(text), bucket.Attrs{IfAbsent: true})
		if err != nil || created {
			return err
		}
		if old, err := bucket.Read(ctx, w.out, key, 0, -1); err != nil || bytes.Equal(old, text) {
			return err
		}
	}
}
