package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/filter"
)

// Bounds of the state of a job.
const (
	maxModules = 20       // of a unit
	maxName    = 512      // bytes of the name of a module; a longer one has no id
	maxShown   = 20       // modules of a Status
	maxFile    = 16 << 20 // bytes of job.json, for a hundred thousand inputs
	maxUnits   = 20_000   // units that are counted
	maxNew     = 500      // units whose counts one Status reads
	statusLife = 5 * time.Second
	rateUnits  = 50 // the newest units, of which the rate is that
)

// Module is a module that was missing.
type Module struct {
	Name      string `json:"name"`
	ID        string `json:"id,omitempty"` // empty: the input does not identify it
	Reason    string `json:"reason"`
	Addresses int    `json:"addresses"`
}

// most returns the modules with most addresses.
func most(list []filter.Missing) (out []Module) {
	for _, m := range list {
		full := m.Module.Derive()
		one := Module{Name: m.Name, Reason: m.Reason(), Addresses: m.Addresses}
		if !full.DebugID.IsZero() {
			one.Name, one.ID = cmp.Or(full.DebugFile, m.Name), full.DebugID.Breakpad()
		} else if !full.CodeID.IsZero() {
			one.ID = full.CodeID.String()
		}
		if len(one.Name) > maxName {
			one.Name, one.ID = strings.ToValidUTF8(one.Name[:maxName], ""), ""
		}
		out = append(out, one)
	}
	sortModules(out)
	return out[:min(len(out), maxModules)]
}

func sortModules(list []Module) {
	slices.SortStableFunc(list, func(a, b Module) int {
		return cmp.Or(b.Addresses-a.Addresses, strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
}

// Status is the state of a job, as its output has it.
type Status struct {
	Inputs      int   `json:"inputs"`
	Bytes       int64 `json:"bytes"`     // of the inputs
	UnitRows    int   `json:"unit_rows"` // rows of a unit
	Units       int   `json:"units"`     // complete ones
	All         int   `json:"all_units"` // complete or not; zero: unknown
	IsEstimated bool  `json:"is_estimated,omitempty"`
	IsComplete  bool  `json:"is_complete"`
	Read        int   `json:"units_read"` // units whose counts are in Counts
	Counts
	Modules   []Module  `json:"modules,omitempty"`         // missing ones of the units that were read
	PerSecond float64   `json:"rows_per_second,omitempty"` // of the newest units; zero: unknown
	Newest    time.Time `json:"newest,omitzero"`           // when the newest unit was complete
}

// Watcher reads the state of a job from its output again and again. The counts of a unit
// are read once. It is safe for concurrent use.
type Watcher struct {
	Output bucket.Bucket
	Now    func() time.Time

	mu    sync.Mutex
	parts map[unitID]*part // that were read
	last  *Status
	until time.Time // when last is stale
}

// Status returns the state of the job. It is read every five seconds at most, and not
// more than a twentieth of the time. It lists at most 20,000 units, and reads the counts of
// at most 500 that were not read before.
func (w *Watcher) Status(ctx context.Context) (*Status, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	begun := w.Now()
	if w.last != nil && begun.Before(w.until) {
		return w.last, nil
	}
	var j job
	if err := w.decode(ctx, "job.json", &j); err != nil {
		return nil, err
	}
	versions, err := w.list(ctx)
	if err != nil {
		return nil, err
	}
	last := map[int]int{} // the number of the last unit of each input
	for id := range versions {
		last[id.input] = max(last[id.input], id.number)
	}
	if err := w.readParts(ctx, versions, last); err != nil {
		return nil, err
	}
	s := &Status{Inputs: len(j.Inputs), UnitRows: j.Unit, Units: len(versions)}
	s.sum(w.parts)
	s.estimate(w.parts, last, j.Inputs)
	now := w.Now()
	w.last, w.until = s, now.Add(max(statusLife, 20*now.Sub(begun)))
	return s, nil
}

// decode reads a file.
func (w *Watcher) decode(ctx context.Context, key string, v any) error {
	text, err := bucket.Read(ctx, w.Output, key, 0, maxFile)
	if err == nil && json.Unmarshal(text, v) != nil {
		return fault.New(fault.Malformed, key, "invalid, or larger than %d bytes", maxFile)
	}
	return err
}

// list returns the newest version of each complete unit.
func (w *Watcher) list(ctx context.Context) (map[unitID]int, error) {
	versions := map[unitID]int{}
	for key, err := range bucket.Keys(ctx, w.Output, folder, "") {
		if err != nil {
			return nil, err
		}
		if id, version, suffix, ok := parseKey(key); ok && suffix == countsSuffix {
			versions[id] = max(versions[id], version)
		}
		if len(versions) == maxUnits {
			break
		}
	}
	return versions, nil
}

// readParts reads the counts of units that were not read: the last ones of each input
// first, which tell how many there are.
func (w *Watcher) readParts(ctx context.Context, versions map[unitID]int, last map[int]int) error {
	if w.parts == nil {
		w.parts = map[unitID]*part{}
	}
	maps.DeleteFunc(w.parts, func(id unitID, p *part) bool { return versions[id] != p.version })
	var todo []unitID
	for id := range versions {
		if w.parts[id] == nil {
			todo = append(todo, id)
		}
	}
	isLast := func(id unitID) int {
		if last[id.input] == id.number {
			return 0
		}
		return 1
	}
	slices.SortFunc(todo, func(a, b unitID) int {
		return cmp.Or(isLast(a)-isLast(b), b.number-a.number, a.input-b.input)
	})
	todo = todo[:min(len(todo), maxNew)]
	read := make([]*part, len(todo))
	err := bucket.Each(len(todo), func(i int) error {
		p := &part{version: versions[todo[i]]}
		err := w.decode(ctx, todo[i].key(p.version, countsSuffix), p)
		if err == nil {
			read[i] = p
		} else if fault.KindOf(err) == fault.NotFound {
			return nil // a run has stored the next version
		}
		return err
	})
	for i, p := range read {
		if p != nil {
			w.parts[todo[i]] = p
		}
	}
	return err
}

// sum adds the parts up.
func (s *Status) sum(parts map[unitID]*part) {
	type key struct{ name, id, reason string }
	modules := map[key]int{}
	var timed []*part
	for _, p := range parts {
		s.Read++
		s.add(&p.Counts)
		for _, m := range p.Modules {
			modules[key{m.Name, m.ID, m.Reason}] += m.Addresses
		}
		if !p.Stored.IsZero() {
			timed = append(timed, p)
		}
	}
	for k, n := range modules {
		s.Modules = append(s.Modules, Module{k.name, k.id, k.reason, n})
	}
	sortModules(s.Modules)
	s.Modules = s.Modules[:min(len(s.Modules), maxShown)]
	slices.SortFunc(timed, func(a, b *part) int { return b.Stored.Compare(a.Stored) })
	timed = timed[:min(len(timed), rateUnits)]
	if len(timed) == 0 {
		return
	}
	s.Newest = timed[0].Stored
	rows, span := 0, s.Newest.Sub(timed[len(timed)-1].Stored)
	for _, p := range timed[:len(timed)-1] {
		rows += p.Rows
	}
	if span > 0 {
		s.PerSecond = float64(rows) / span.Seconds()
	}
}

// estimate computes the number of all units from the inputs that are complete: their
// units, and the bytes of the others.
func (s *Status) estimate(parts map[unitID]*part, last map[int]int, inputs []input) {
	units, ended, bytes := 0, 0, int64(0)
	for i, in := range inputs {
		s.Bytes += in.Size
		if p := parts[unitID{i, last[i]}]; p != nil && p.IsLast {
			units, ended, bytes = units+last[i]+1, ended+1, bytes+in.Size
		}
	}
	switch {
	case ended == len(inputs):
		s.All, s.IsComplete = units, s.Units == units
	case bytes > 0:
		s.All, s.IsEstimated = int(math.Ceil(float64(units)*float64(s.Bytes)/float64(bytes))), true
		s.All = max(s.All, s.Units)
	}
}
