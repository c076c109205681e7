package node_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// A file that appears after a request stays missing until its negative entry is
// invalidated, by any of its ids, also after a restart.
func TestForgetFindsAFileThatAppeared(t *testing.T) {
	t.Parallel()
	companion := trial.Corpus(t, "debuglink.debug")
	const (
		byCode  = `"type":"elf","code_id":"caeeab3dac563879c0a40e7bbc2a2ad961b2aa8d","code_file":"kiln"`
		byDebug = `"type":"elf","debug_id":"3dabeeca-56ac-7938-c0a4-0e7bbc2a2ad9","debug_file":"kiln"`
	)
	for _, c := range []struct {
		name, asked, forgotten, path string
		file                         []byte
	}{
		{"by debug id", trial.Kettle, trial.Kettle, trial.KettlePath, []byte(trial.KettleSym)},
		{"by code id", byCode, byCode, "/ca/eeab3dac563879c0a40e7bbc2a2ad961b2aa8d.debug", companion},
		{"by code id, forgotten by debug id", byCode, byDebug, "/ca/eeab3dac563879c0a40e7bbc2a2ad961b2aa8d.debug", companion},
		{"by debug id, forgotten by code id", byDebug, byCode, "/kiln/3DABEECA56AC7938C0A40E7BBC2A2AD90/kiln", companion},
	} {
		for _, restarts := range []string{"never", "before", "after"} {
			t.Run(c.name+", restarted "+restarts, func(t *testing.T) {
				t.Parallel()
				u := trial.NewUpstream(t)
				data, config := t.TempDir(), sourcesOf("", u)
				s := open(t, data, config)
				restart := func(when string) {
					if when == restarts {
						s.stop()
						s = open(t, data, config)
					}
				}
				first := s.symbolicate(t, "", c.asked, "")
				asked := u.Count("")
				if first.module().Status != "missing" || asked == 0 {
					t.Fatalf("%d requests: %s", asked, first.Text)
				}
				u.Do(c.path, trial.File(c.file))
				restart("before")
				for range 2 {
					if r := s.symbolicate(t, "", c.asked, ""); r.Text != first.Text || u.Count("") != asked {
						t.Fatalf("%d requests more, and within its time the miss is %s", u.Count("")-asked, r.Text)
					}
				}
				s.forget(t, c.forgotten)
				restart("after")
				if r := s.symbolicate(t, "", c.asked, ""); r.module().Status != "found" || u.Count(c.path) != 2 {
					t.Errorf("%d requests for the file: %s", u.Count(c.path), r.Text)
				}
				asked = u.Count("")
				if r := s.symbolicate(t, "", c.asked, ""); r.module().Status != "found" || u.Count("") != asked {
					t.Errorf("%d requests more: %s", u.Count("")-asked, r.Text)
				}
			})
		}
	}
}

// Two calls on one node invalidate entries of another one: the first does not hide the
// second.
func TestEachForgetReachesOtherNodes(t *testing.T) {
	t.Parallel()
	u := trial.NewUpstream(t)
	config := sourcesOf("", u) + "cache: {shared: {path: '" + t.TempDir() + "'}}\n"
	a, data := open(t, t.TempDir(), config), t.TempDir()
	b := open(t, data, config)
	// again repeats the request on the second node, with an empty memory, until it
	// has the answer.
	again := func(what string, is func(reply) bool) {
		t.Helper()
		waittest.Until(t, what, func() bool {
			b.stop()
			b = open(t, data, config)
			return is(b.symbolicate(t, "", trial.Kettle, ""))
		})
	}
	again("not found", func(r reply) bool { return r.module().Status == "missing" })
	asked := u.Count(trial.KettlePath)
	a.forget(t, trial.Kettle)
	again("it is looked for again", func(r reply) bool { return u.Count(trial.KettlePath) > asked })
	u.Do(trial.KettlePath, trial.File([]byte(trial.KettleSym)))
	a.forget(t, trial.Kettle)
	again("it is there", func(r reply) bool { return r.module().Status == "found" })
}

// projectOf serves a project of Sentry that lists these files, by id, in each
// response.
func projectOf(files map[string]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text, ok := files[r.URL.Query().Get("id")]; ok {
			_, _ = w.Write([]byte(text))
			return
		}
		list := []map[string]string{}
		for id := range files {
			list = append(list, map[string]string{"id": id, "symbolType": "breakpad"})
		}
		_ = json.NewEncoder(w).Encode(list) // the client may leave
	})
}

// The cached list of a project is invalidated too.
func TestForgetFindsAFileThatAProjectAdded(t *testing.T) {
	t.Parallel()
	u := trial.NewUpstream(t)
	u.Do("", projectOf(nil))
	s := open(t, t.TempDir(), "sources:\n- {id: a, type: sentry, url: '"+u.URL+"files/', token: 0123456789}\n")
	if r := s.symbolicate(t, "", trial.Kettle, ""); r.module().Status != "missing" {
		t.Fatal(r.Text)
	}
	asked := u.Count("")
	u.Do("", projectOf(map[string]string{"1": trial.KettleSym}))
	if r := s.symbolicate(t, "", trial.Kettle, ""); r.module().Status != "missing" || u.Count("") != asked {
		t.Errorf("%d requests more, and within its time the miss is %s", u.Count("")-asked, r.Text)
	}
	s.forget(t, trial.Kettle)
	if r := s.symbolicate(t, "", trial.Kettle, ""); r.module().Status != "found" {
		t.Errorf("%d requests more: %s", u.Count("")-asked, r.Text)
	}
	other := strings.Replace(trial.Kettle, "0f1e2d3c", "0f1e2d3d", 1)
	if r := s.symbolicate(t, "", other, ""); r.module().Status != "malformed" {
		t.Errorf("what is filed under the id of another module: %s", r.Text)
	}
}
