package node_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"symbolon/internal/trial"
)

// page sends a form to a page, or gets the page if there is none, and decodes its JSON.
func (s *station) page(t *testing.T, path, form string, v any) {
	t.Helper()
	method := "GET"
	if form != "" {
		method = "POST"
	}
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(v); err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: got %d, %v", path, resp.StatusCode, err)
	}
}

// TestProbeOfASourceUsesNoCache probes a public source for a module whose outcome is
// cached.
func TestProbeOfASourceUsesNoCache(t *testing.T) {
	t.Parallel()
	var asked, others atomic.Int64
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == trial.KettlePath {
			asked.Add(1)
			fmt.Fprint(w, trial.KettleSym)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(upstream.Close)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		others.Add(1)
		http.NotFound(w, r)
	}))
	t.Cleanup(other.Close)
	s := open(t, t.TempDir(), fmt.Sprintf(`sources:
  - {id: probed, type: http, url: %q, is_public: true}
  - {id: other, type: http, url: %q}
`, upstream.URL, other.URL))
	module := "kettle.so/" + trial.KettleID
	var trail struct{ Found bool }
	s.page(t, "/ui/modules/"+module, "", &trail)
	if !trail.Found {
		t.Fatal("the module is not found")
	}
	asked.Store(0)
	others.Store(0)
	for range 2 {
		var answer struct {
			Probe struct {
				Found bool
				Tried []struct{ Cached bool }
			}
		}
		s.page(t, "/ui/sources?do=test", "source=probed&module="+module, &answer)
		if !answer.Probe.Found {
			t.Error("the probe does not find the module")
		}
		for _, a := range answer.Probe.Tried {
			if a.Cached {
				t.Error("an outcome of the probe is cached")
			}
		}
	}
	if asked.Load() != 2 || others.Load() != 0 {
		t.Errorf("the source was asked %d times and the other one %d times, want 2 and 0", asked.Load(), others.Load())
	}
}

func TestSourcesOfThePageAreThoseOfTheConfiguration(t *testing.T) {
	t.Parallel()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }))
	t.Cleanup(broken.Close)
	s := open(t, t.TempDir(), fmt.Sprintf(`sources:
  - {id: folder, type: filesystem, path: %q}
  - {id: broken, type: http, url: "%s/?key=hidden", is_public: true}
network: {deny_list_threshold: 1, max_tries: 1}
`, t.TempDir(), broken.URL))
	var data struct {
		Sources []struct {
			ID      string
			Place   string
			Public  bool   `json:"is_public"`
			Blocked string `json:"blocked_until"`
			Why     string `json:"blocked_because"`
		}
	}
	s.page(t, "/ui/sources?do=test", "source=broken", &data)
	if len(data.Sources) != 2 || data.Sources[0].ID != "folder" || data.Sources[0].Blocked != "" {
		t.Fatalf("the sources are %+v", data.Sources)
	}
	if b := data.Sources[1]; !b.Public || b.Blocked == "" || !strings.Contains(b.Why, "500") || strings.Contains(b.Place, "hidden") {
		t.Errorf("the broken source is %+v", b)
	}
}
