package pages_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/trial"
)

// symbolServer returns the address of a symbol server that answers with a status, or with
// trial's module if it is zero.
func symbolServer(t *testing.T, status int) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case status != 0:
			http.Error(w, "no", status)
		case r.URL.Path == trial.KettlePath:
			fmt.Fprint(w, trial.KettleSym)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestSourcesAreProbed(t *testing.T) {
	t.Parallel()
	s := trial.Start(t, trial.Options{Config: fmt.Sprintf(`
sources:
  - {id: mine, type: http, url: "%s/?key=hidden-one", is_public: true}
  - {id: broken, type: http, url: %q}
  - {id: local, type: filesystem, path: %q}
network: {deny_list_threshold: 1, max_tries: 1}
`, symbolServer(t, 0), symbolServer(t, 500), t.TempDir())})
	b := newTab(t, s)
	b.open("/ui/sources")
	b.shows("No downloads in the last hour")
	b.lacks("hidden-one")
	b.click("button[aria-label='Test mine']", "")
	b.shows("it answers that it does not have a module that does not exist")
	b.fill("input[name=module]", "kettle.so/"+trial.KettleID)
	b.click("button.first", "Test")
	b.shows("The source has the file.")
	b.looks("sources-probe")
	b.click("button[aria-label='Test broken']", "")
	b.shows("The source does not work: transport")
	b.open("/ui/sources")
	b.shows("Not asked before")
	b.awaits(`/Errors: \d+ transport/.test(document.body.innerText)`)
	b.looks("sources")
}

func TestSourcesAreProbedWithoutScripts(t *testing.T) {
	t.Parallel()
	s := trial.Start(t, trial.Options{Sources: []string{folder(t)}})
	b := newTab(t, s)
	b.withoutScripts()
	b.open("/ui/sources")
	b.fill("input[name=module]", "kettle.so/"+trial.KettleID)
	b.click("button.first", "Test")
	b.shows("The source has the file.")
}

func TestCachesArePurgedAfterAQuestion(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*tab){"with scripts": func(*tab) {}, "without scripts": (*tab).withoutScripts} {
		t.Run(name, func(t *testing.T) {
			s := trial.Start(t, trial.Options{Sources: []string{symbolServer(t, 0)}})
			b := newTab(t, s)
			prepare(b)
			b.open(modulePath)
			b.click("button", "Fetch now")
			b.shows("its table was built")
			b.open("/ui/caches?hours=1")
			b.shows("symcache: 1 file")
			b.looks("caches")
			b.click("button", "Purge…")
			b.shows("the kind objects from the disk of this node?")
			b.click("a", "Cancel")
			b.fill("select[name=what]", "all")
			b.click("button", "Purge…")
			b.shows("Purge the cache")
			b.looks("caches-purge")
			b.click("button", "Purge all")
			b.shows("Removed ")
			b.shows("symcache: 0 files")
			b.fill("input[name=module]", "kettle.so/"+trial.KettleID)
			b.click("button", "Forget the module")
			b.shows("the next lookup of kettle.so asks the sources again")
		})
	}
}

func TestBatchesShowTheirProgress(t *testing.T) {
	t.Parallel()
	out, in := t.TempDir(), filepath.Join(t.TempDir(), "rows.ndjson")
	row := `{"frames":[{"debug_file":"%s","debug_id":"` + trial.KettleID + `","offset":"0x1000"}]}` + "\n"
	text := strings.Repeat(fmt.Sprintf(row, "kettle.so"), 8) + strings.Repeat(fmt.Sprintf(row, "gone.so"), 4)
	if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := trial.Start(t, trial.Options{Set: []string{"batches=[" + out + ", " + filepath.Join(out, "none") + "]"}})
	if _, stderr, code := s.Run("batch", in, "--out", out, "--unit", "5", "--source", folder(t)); code != 0 {
		t.Fatalf("batch ends with %d: %s", code, stderr)
	}
	b := newTab(t, s)
	b.open("/ui/batches")
	b.shows("Complete: 3 units")
	b.shows("8 (66.7 %)")
	b.shows("This destination cannot be read")
	b.click("summary", "")
	b.looks("batches")
	b.click("a", "gone.so")
	b.shows("no source is configured")
}
