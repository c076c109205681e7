package ui_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/ui"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/explain"
	"symbolon/internal/history"
	"symbolon/internal/ident"
	"symbolon/internal/metric"
	"symbolon/internal/token"
)

// hostileName is a text that would change a page that shows it as it is, and shownName is
// the one that pages show for it.
const (
	hostileName = "<script>alert(1)</script>\u202e\x00'\"&"
	shownName   = "<script>alert(1)</script>\ufffd\ufffd'\"&"
)

// operated adds the dependencies of the pages for operators to a rig.
type operated struct {
	*rig
	deps   ui.Deps
	probed []explain.Question
	purged []string
}

func newOperated(t *testing.T, sources ...ui.Source) *operated {
	o := &operated{rig: newRig(t, mem.New())}
	store := openDisk(t)
	access := api.NewAccess(api.AccessConfig{}, o.ring, nil)
	var ids []string
	for _, s := range sources {
		ids = append(ids, s.ID)
	}
	o.deps = ui.Deps{
		Grant: access.Grant, BaseURL: access.BaseURL, State: o.state, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Forget: func(context.Context, ident.Module) error {
			o.forgotten.Add(1)
			return nil
		},
		History: history.New(history.OfProcess(ids), time.Now),
		Sources: func() []ui.Source { return sources },
		Probe: func(_ context.Context, id string, q explain.Question) (*explain.Trail, error) {
			o.probed = append(o.probed, q)
			return o.trail, nil
		},
		Disk: store, Tiers: []ui.Tier{{Name: "memory", MaxBytes: 1000}, {Name: "disk", MaxBytes: -1}, {Name: "redis", IsShared: true}},
		Purge: func(kind cache.Kind, onlyFaults bool) (count, bytes int64) {
			o.purged = append(o.purged, fmt.Sprint(kind, " ", onlyFaults))
			return store.Purge(disk.Filter{Kind: kind, Faults: onlyFaults})
		},
	}
	o.serve()
	return o
}

// serve makes the door of the current dependencies.
func (o *operated) serve() {
	o.front = api.New(api.Config{}, api.Options{Log: o.deps.Log, Now: o.deps.Now}, ui.New(o.deps).Routes())
}

// fetch decodes the JSON of a page.
func fetch[T any](o *operated, path string) (v T) {
	o.t.Helper()
	text := o.expect(o.do("GET", path, "", "Accept", "application/json"), 200)
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		o.t.Fatalf("%v: %s", err, text)
	}
	return v
}

// put stores an entry of the disk cache.
func (o *operated) put(kind cache.Kind, name string, size int) {
	o.t.Helper()
	if err := cache.StoreText(o.t.Context(), o.deps.Disk, kind, cache.KeyOf(name), make([]byte, size)); err != nil {
		o.t.Fatal(err)
	}
}

func form(pairs ...string) string {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v.Encode()
}

func TestPagesOfOperatorsNeedTheRightAdmin(t *testing.T) {
	o := newOperated(t)
	admin, reader := o.login(o.token(token.Admin)), o.login(o.token(token.Upload))
	for _, path := range []string{"/ui/sources", "/ui/caches", "/ui/batches"} {
		o.expect(o.do("GET", path, "", "Cookie", reader), 403, "the right admin")
		o.expect(o.do("GET", path, "", "Cookie", admin), 200)
	}
	o.expect(o.do("POST", "/ui/caches?do=purge", form("what", "all", "confirmed", "yes"), "Cookie", reader), 403)
	o.expect(o.do("POST", "/ui/sources?do=test", form("source", "a"), "Cookie", reader), 403)
	if len(o.purged)+len(o.probed) > 0 {
		t.Error("a client without the right has purged or probed")
	}
}

type sourcesJSON struct {
	Sources []struct {
		ID        string           `json:"id"`
		Downloads int64            `json:"downloads"`
		HitRate   *float64         `json:"hit_rate"`
		Latency   *float64         `json:"latency_ms"`
		Received  int64            `json:"received_bytes"`
		Errors    map[string]int64 `json:"errors"`
		Blocked   time.Time        `json:"blocked_until"`
		Minutes   []float64        `json:"downloads_by_minute"`
	} `json:"sources"`
}

func TestSourcesHaveTheFiguresOfTheLastHour(t *testing.T) {
	until := time.Now().Add(time.Minute)
	o := newOperated(t, ui.Source{ID: "depot-1", Type: "http", Blocked: until, Why: "timeout: too late"}, ui.Source{ID: "depot-2"})
	metric.Downloads.Add(3, "depot-1", "ok")
	metric.Downloads.Add(1, "depot-1", "not_found")
	metric.Downloads.Add(4, "depot-1", "timeout")
	metric.DownloadSeconds.Observe(.8, "depot-1")
	metric.DownloadBytes.Add(77, "depot-1")
	got := fetch[sourcesJSON](o, "/ui/sources").Sources
	if len(got) != 2 {
		t.Fatalf("got %+v", got)
	}
	s := got[0]
	if s.Downloads != 8 || s.HitRate == nil || *s.HitRate != .75 || s.Latency == nil || math.Abs(*s.Latency-100) > .1 || s.Received != 77 {
		t.Errorf("the figures are %+v", s)
	}
	if len(s.Errors) != 1 || s.Errors["timeout"] != 4 || s.Minutes[len(s.Minutes)-1] != 8 || !s.Blocked.Equal(until) {
		t.Errorf("the errors are %v, the plot %v, blocked until %v", s.Errors, s.Minutes, s.Blocked)
	}
	if s := got[1]; s.Downloads != 0 || s.HitRate != nil || s.Latency != nil {
		t.Errorf("a source that was not asked has %+v", s)
	}
	o.expect(o.do("GET", "/ui/sources", ""), 200, "Not asked before", "timeout: too late", "Errors: 4 timeout", "No downloads in the last hour")
}

func TestManySourcesArePaged(t *testing.T) {
	var many []ui.Source
	for i := range 10_000 {
		many = append(many, ui.Source{ID: fmt.Sprint("many-", i), Place: "https://symbols.example.com/"})
	}
	o := newOperated(t, many...)
	text := o.expect(o.do("GET", "/ui/sources?from=9980", ""), 200, "many-9999")
	if strings.Contains(text, `rel="next"`) {
		t.Error("the last page has a next one")
	}
	if text := o.expect(o.do("GET", "/ui/sources", ""), 200, ">many-29<", "?from=30"); len(text) > 100<<10 {
		t.Errorf("the page has %d bytes", len(text))
	}
}

func TestProbeWithoutAModuleAsksForOneThatCannotExist(t *testing.T) {
	o := newOperated(t, ui.Source{ID: "a"})
	o.trail.Tried = append(o.trail.Tried, explain.Attempt{Source: "a", Location: "https://a/x", Verdict: "not found", Expires: "2030-01-01T00:00:00Z"})
	for range 2 {
		text := o.expect(o.do("POST", "/ui/sources?do=test", form("source", "a")), 200, "The source works", "https://a/x")
		if strings.Contains(text, "2030-01-01") {
			t.Error("the answer of a probe is shown as remembered")
		}
	}
	if len(o.probed) != 2 || o.probed[0].Module.DebugID == o.probed[1].Module.DebugID || o.probed[0].Module.CodeID.IsZero() {
		t.Errorf("the modules are %+v", o.probed)
	}
}

func TestProbeDescribesTheAnswer(t *testing.T) {
	asked := explain.Attempt{Source: "a", Location: "https://a/x", Verdict: "not found"}
	failed := explain.Attempt{Source: "a", Location: "https://a/y", Verdict: "denied", Detail: "403 Forbidden"}
	for want, trail := range map[string]*explain.Trail{
		"The source has the file.":                      {Found: true, Tried: []explain.Attempt{asked}},
		"does not have the file.":                       {Tried: []explain.Attempt{asked}},
		"The source does not work: denied: 403":         {Tried: []explain.Attempt{asked, failed}},
		"The source has no place for this module: name": {Tried: []explain.Attempt{{Source: "a", Verdict: "not found"}}},
	} {
		o := newOperated(t, ui.Source{ID: "a"})
		o.trail = trail
		o.expect(o.do("POST", "/ui/sources?do=test", form("source", "a", "module", moduleName)), 200, want)
		if got := o.probed[0].Module.DebugFile; got != "kettle.so" {
			t.Errorf("the module %q was looked up", got)
		}
	}
}

func TestProbeRefusesUnknownSourcesAndModules(t *testing.T) {
	o := newOperated(t, ui.Source{ID: "a"})
	o.expect(o.do("POST", "/ui/sources?do=test", form("source", "b")), 404, "there is no such source")
	o.expect(o.do("POST", "/ui/sources?do=test", form("source", "a", "module", "x")), 400, "must be NAME/ID")
	if len(o.probed) > 0 {
		t.Error("a source was asked")
	}
}

type cachesJSON struct {
	Hours int `json:"hours"`
	Tiers []struct {
		Name     string   `json:"name"`
		State    string   `json:"state"`
		Bytes    *int64   `json:"bytes"`
		MaxBytes int64    `json:"max_bytes"`
		Lookups  int64    `json:"lookups"`
		HitRate  *float64 `json:"hit_rate"`
	} `json:"tiers"`
	Plots [][]struct {
		Title  string    `json:"title"`
		Values []float64 `json:"values"`
	} `json:"plots"`
	Largest []struct {
		Kind cache.Kind `json:"kind"`
		Size int64      `json:"size"`
	} `json:"largest"`
}

func TestCachesHaveTiersAndTheLargestFiles(t *testing.T) {
	o := newOperated(t)
	for i := range 60 {
		o.put(cache.Symcache, fmt.Sprint(i), 100+i)
	}
	o.put(cache.Meta, "large", 5000)
	metric.CacheLookups.Add(3, "redis", "meta", "hit")
	metric.CacheLookups.Add(1, "redis", "meta", "miss")
	metric.CacheUp.Set(0, "redis")
	got := fetch[cachesJSON](o, "/ui/caches?hours=24")
	if len(got.Largest) != 50 || got.Largest[0].Kind != cache.Meta || got.Largest[1].Size != 159 || got.Largest[49].Size != 111 {
		t.Errorf("the largest files are %+v", got.Largest)
	}
	r := got.Tiers[2]
	if r.State != "backing off" || r.Lookups != 4 || r.HitRate == nil || *r.HitRate != .75 || r.Bytes != nil {
		t.Errorf("the tier of Redis is %+v", r)
	}
	if d := got.Tiers[1]; d.Bytes == nil || *d.Bytes < 5000 || d.MaxBytes != -1 {
		t.Errorf("the disk is %+v", d)
	}
	metric.CacheUp.Set(1, "redis")
	o.expect(o.do("GET", "/ui/caches", ""), 200, "The last 6 hours", ">up<", ">none<", "symcache: 60 files")
	for hours, want := range map[string]int{"1": 60, "6": 180, "24": 144, "7": 180} {
		if got := fetch[cachesJSON](o, "/ui/caches?hours="+hours); len(got.Plots[0][0].Values) != want {
			t.Errorf("%s hours have %d values, want %d", hours, len(got.Plots[0][0].Values), want)
		}
	}
}

func TestPurgeAsksBeforeItRemoves(t *testing.T) {
	for what, want := range map[string]string{"meta": "meta false", "faults": " true", "all": " false"} {
		o := newOperated(t)
		o.put(cache.Meta, "a", 10)
		o.put(cache.Symcache, "b", 10)
		text := o.expect(o.do("POST", "/ui/caches?do=purge", form("what", what)), 200, "from the disk of this node?", `value="`+what+`"`)
		if len(o.purged) > 0 || !strings.Contains(text, "confirmed") {
			t.Fatalf("%s: purged without a question", what)
		}
		o.expect(o.do("POST", "/ui/caches?do=purge", form("what", what, "confirmed", "yes")), 200, "Removed ")
		if !slices.Equal(o.purged, []string{want}) {
			t.Errorf("%s: purged %q, want %q", what, o.purged, want)
		}
	}
	o := newOperated(t)
	o.expect(o.do("POST", "/ui/caches?do=purge", form("what", "other", "confirmed", "yes")), 400, "invalid choice")
}

func TestAModuleIsForgottenOnAllTiers(t *testing.T) {
	o := newOperated(t)
	o.expect(o.do("POST", "/ui/caches?do=module", form("module", " "+moduleName+" ")), 200, "kettle.so asks the sources again")
	o.expect(o.do("POST", "/ui/caches?do=module", form("module", "kettle.so")), 400, "must be NAME/ID")
	if o.forgotten.Load() != 1 {
		t.Errorf("%d modules were forgotten", o.forgotten.Load())
	}
}

// destination returns the output of a job with a unit and a missing module.
func destination(t *testing.T, name string) bucket.Bucket {
	t.Helper()
	b := mem.New()
	module, _ := json.Marshal([]map[string]any{{"name": name, "id": "0F1E2D3C4B5A69788796A5B4C3D2E1F00", "reason": "not found", "addresses": 1200}})
	for key, text := range map[string]string{
		"job.json":                `{"format":1,"unit":3,"inputs":[{"name":"a","size":50},{"name":"b","size":50}]}`,
		"part/000000-000000.json": `{"rows":1234,"failed":1,"addresses":4000,"named":1000,"size":1,"sha256":"00","last":true,"modules":` + string(module) + `}`,
	} {
		if _, err := b.Put(t.Context(), key, strings.NewReader(text), bucket.Attrs{}); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func TestBatchesShowWhatTheirOutputsHave(t *testing.T) {
	o := newOperated(t)
	o.deps.Batches = []string{"s3://out/today", "https://user:hidden-two@example.com/x", "/none"}
	opened := 0
	o.deps.OpenBatch = func(place string) (bucket.Bucket, error) {
		if opened++; place == "s3://out/today" {
			return destination(t, "kettle.so"), nil
		}
		return nil, errors.New("it cannot be opened")
	}
	o.serve()
	text := o.expect(o.do("GET", "/ui/batches", ""), 200, "1 of about 2 units", "1,234", "1,000 (25.0 %)",
		"../ui/modules/kettle.so/0F1E2D3C4B5A69788796A5B4C3D2E1F00", "This destination cannot be read", "it cannot be opened")
	if strings.Contains(text, "hidden-two") {
		t.Error("the page has a password")
	}
	data := fetch[struct {
		Batches []struct {
			Destination string `json:"destination"`
			Error       string `json:"error"`
			Rows        int    `json:"rows"`
			All         int    `json:"all_units"`
		} `json:"batches"`
	}](o, "/ui/batches").Batches
	if len(data) != 3 || data[0].Rows != 1234 || data[0].All != 2 || data[0].Error != "" || data[2].Error != "it cannot be opened" {
		t.Errorf("the data is %+v", data)
	}
	if opened != 5 {
		t.Errorf("destinations were opened %d times, want the readable one once and the others twice", opened)
	}
}

func TestPagesOfOperatorsEscapeTexts(t *testing.T) {
	o := newOperated(t, ui.Source{ID: hostileName, Type: "http", Place: hostileName, Blocked: time.Now(), Why: hostileName})
	o.trail = &explain.Trail{Tried: []explain.Attempt{{Source: hostileName, Location: hostileName, Verdict: "denied", Detail: hostileName}}}
	o.deps.Batches = []string{hostileName, hostileName + "/none"}
	o.deps.OpenBatch = func(place string) (bucket.Bucket, error) {
		if place == hostileName {
			return destination(t, hostileName+strings.Repeat("x", 64<<10)), nil
		}
		return nil, errors.New(hostileName)
	}
	o.serve()
	for name, resp := range map[string]io.ReadCloser{
		"sources": o.do("GET", "/ui/sources", "").Body,
		"probe":   o.do("POST", "/ui/sources?do=test", form("source", shownName, "module", "a<b>\u202e/0F1E2D3C4B5A69788796A5B4C3D2E1F00")).Body,
		"caches":  o.do("POST", "/ui/caches?do=module", form("module", "a<b>\u202e/0F1E2D3C4B5A69788796A5B4C3D2E1F00")).Body,
		"batches": o.do("GET", "/ui/batches", "").Body,
	} {
		text, err := io.ReadAll(resp)
		if err != nil {
			t.Fatal(err)
		}
		checkHarmless(t, string(text))
		if !strings.Contains(string(text), "&lt;") {
			t.Errorf("%s: the page does not show the text", name)
		}
	}
}
