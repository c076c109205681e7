package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/console"
	"symbolon/internal/explain"
	"symbolon/internal/history"
	"symbolon/internal/ident"
	"symbolon/internal/metric"
	"symbolon/internal/token"
)

// Tier is a tier of the cache that the node has.
type Tier struct {
	Name     string // as in the metrics
	MaxBytes int64  // negative: no bound; zero: it is not known
	IsShared bool   // with other nodes
}

// largestShown is the number of files of the disk cache on the page.
const largestShown = 50

// ranges are those of the plots: hours, and the minutes of a value.
var ranges = []struct{ hours, step int }{{1, 1}, {6, 2}, {24, 10}}

type tierData struct {
	Name      string   `json:"name"`
	State     string   `json:"state,omitempty"` // of a shared tier: "up", or "backing off"
	Bytes     *int64   `json:"bytes,omitempty"` // of a tier of this node
	MaxBytes  int64    `json:"max_bytes,omitempty"`
	Entries   *int64   `json:"entries,omitempty"`
	Lookups   int64    `json:"lookups"` // in the range, as those that follow
	HitRate   *float64 `json:"hit_rate,omitempty"`
	Evictions int64    `json:"evictions"`
}

// A plotData is a line over the range.
type plotData struct {
	Title  string    `json:"title"`
	Most   string    `json:"-"`
	Values []float64 `json:"values"`
}

type entryData struct {
	Kind cache.Kind `json:"kind"`
	Key  string     `json:"key"`
	Size int64      `json:"size"`
	Used time.Time  `json:"used"`
}

type cachesData struct {
	Hours   int          `json:"hours"`
	Step    int          `json:"step_minutes"`
	Tiers   []tierData   `json:"tiers"`
	Disk    disk.Stats   `json:"disk"`  // as "cache stat" prints it
	Plots   [][]plotData `json:"plots"` // by tier
	Largest []entryData  `json:"largest"`
}

func (d *Door) cachesPage() *page {
	return &page{
		pattern: "/ui/caches", about: "the tiers of the cache", menu: "Caches", right: token.Admin,
		show:    func(v *visit) (view, error) { return d.cachesView(v), nil },
		actions: map[string]action{"purge": d.purge, "module": d.forgetCached},
	}
}

func (d *Door) cachesView(v *visit) view {
	chosen := ranges[1]
	for _, r := range ranges {
		if strconv.Itoa(r.hours) == v.URL.Query().Get("hours") {
			chosen = r
		}
	}
	data := cachesData{Hours: chosen.hours, Step: chosen.step, Disk: d.deps.Disk.Stat(), Largest: []entryData{}}
	d.deps.History.Sample()
	for _, t := range d.deps.Tiers {
		data.Tiers = append(data.Tiers, d.tier(t, chosen.hours*60))
		data.Plots = append(data.Plots, d.plots(t, chosen.hours*60, chosen.step))
	}
	for _, e := range d.deps.Disk.Largest(largestShown) {
		data.Largest = append(data.Largest, entryData{e.Kind, e.Key.String(), e.Size, e.Used.UTC()})
	}
	return view{title: "Caches", data: &data, body: cachesView(v, &data)}
}

func (d *Door) tier(t Tier, minutes int) tierData {
	h := d.deps.History
	out := tierData{
		Name: t.Name, MaxBytes: t.MaxBytes,
		Lookups: int64(h.Sum(history.Tier(t.Name, history.Lookups), minutes)), Evictions: int64(h.Sum(history.Tier(t.Name, history.Evictions), minutes)),
	}
	if out.Lookups > 0 {
		rate := h.Sum(history.Tier(t.Name, history.Hits), minutes) / float64(out.Lookups)
		out.HitRate = &rate
	}
	if !t.IsShared {
		bytes, entries := metric.CacheBytes.Sum(t.Name), metric.CacheEntries.Sum(t.Name)
		out.Bytes, out.Entries = &bytes, &entries
		return out
	}
	out.State = "backing off"
	if metric.CacheUp.Sum(t.Name) == 1 {
		out.State = "up"
	}
	return out
}

// plots returns the lines of a tier.
func (d *Door) plots(t Tier, minutes, step int) (list []plotData) {
	last := func(figure string) []float64 { return d.deps.History.Last(history.Tier(t.Name, figure), minutes, step) }
	name := strings.ToUpper(t.Name[:1]) + t.Name[1:]
	lookups, rates := last(history.Lookups), last(history.Hits)
	for i := range rates {
		rates[i] /= max(lookups[i], 1)
	}
	highest := most(rates)
	list = append(list, plotData{name + ": hit rate", "at most " + percent(&highest), rates},
		plotData{name + ": lookups", fmt.Sprintf("at most %s in %s", decimal(most(lookups)), console.Count(step, "minute")), lookups})
	if !t.IsShared {
		bytes, evictions := last(history.Bytes), last(history.Evictions)
		list = append(list, plotData{name + ": bytes", "at most " + console.Bytes(int64(most(bytes))), bytes},
			plotData{name + ": evictions", fmt.Sprintf("at most %s in %s", decimal(most(evictions)), console.Count(step, "minute")), evictions})
	}
	return list
}

// purge removes entries of the disk cache, after it has asked whether to do so.
func (d *Door) purge(v *visit, _ *progress) (outcome, error) {
	what := v.PostFormValue("what")
	kind, isKind := cache.Kind(what), slices.Contains(cache.Kinds(), cache.Kind(what))
	switch {
	case !isKind && what != "faults" && what != "all":
		return outcome{}, api.Invalid("invalid choice: must be a kind of entry, faults or all")
	case v.PostFormValue("confirmed") == "":
		return outcome{view: &view{title: "Purge the cache", data: map[string]string{"what": what}, body: confirmView(v, what)}}, nil
	case !isKind:
		kind = ""
	}
	count, bytes := d.deps.Purge(kind, what == "faults")
	page := d.cachesView(v)
	page.note = fmt.Sprintf("Removed %s, %s.", console.Count(count, "entry"), console.Bytes(bytes))
	return outcome{view: &page}, nil
}

// forgetCached invalidates the outcomes of a module.
func (d *Door) forgetCached(v *visit, _ *progress) (outcome, error) {
	name := strings.TrimSpace(v.PostFormValue("module"))
	m, err := explain.ParseModules([]string{name}, ident.TypeUnknown)
	if err != nil {
		return outcome{}, api.Invalid("%v", err)
	}
	if err := d.deps.Forget(v.Context(), m); err != nil {
		return outcome{}, err
	}
	page := d.cachesView(v)
	page.note = "Forgotten: the next lookup of " + shown(cmp.Or(m.DebugFile, m.CodeFile, name)) + " asks the sources again."
	return outcome{view: &page}, nil
}
