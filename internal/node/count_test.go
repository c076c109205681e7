package node_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"symbolon/internal/explain"
	"symbolon/internal/fixture"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

const craneIDs = `"type":"pe","debug_id":"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0-1","debug_file":"crane.pdb","code_file":"crane.dll","code_id":"5ab380779000"`

// crane is the module of craneIDs.
func crane(t *testing.T) ident.Module {
	t.Helper()
	id, err := ident.ParseDebugID("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0-1")
	if err != nil {
		t.Fatal(err)
	}
	return ident.Module{Type: ident.TypePE, DebugFile: "crane.pdb", DebugID: id, CodeFile: "crane.dll", CodeID: ident.ParseCodeID("5ab380779000")}
}

// everyPurpose looks a module up for all purposes.
func (s *station) everyPurpose(t *testing.T, m ident.Module) {
	t.Helper()
	for _, p := range []locate.Purpose{locate.Debug, locate.Unwind, locate.Sources, locate.Symbols} {
		if _, err := s.Explain(t.Context(), explain.Question{Module: m, Purpose: p}); err != nil {
			t.Error(err)
		}
	}
}

// stored is how many entries of a kind a data directory has.
func stored(t *testing.T, data, kind string) (n int) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(data, "cache", kind), func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
		}
		if os.IsNotExist(err) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return n
}

// TestWhatAMissingModuleCosts asks three servers without filters for a library of
// Windows with both identifiers. A place that can have files of several kinds is
// asked once; Symbolicator needs ten requests to each server.
func TestWhatAMissingModuleCosts(t *testing.T) {
	t.Parallel()
	var ups []*trial.Upstream
	for range 3 {
		ups = append(ups, trial.NewUpstream(t))
	}
	data := t.TempDir()
	s := open(t, data, sourcesOf("", ups...))
	const pdb = "/crane.pdb/0F1E2D3C4B5A69788796A5B4C3D2E1F01/crane."
	places := []string{
		"/crane.dll/5AB380779000/crane.dll", "/crane.dll/5AB380779000/crane.dl_", "/5a/b380779000.debug",
		pdb + "pdb", pdb + "pd_", pdb + "sym", pdb + "src.zip",
	}
	check := func(when string) {
		t.Helper()
		for _, u := range ups {
			for _, at := range places {
				if u.Count(at) != 1 {
					t.Errorf("%s: %s was asked for %d times", when, at, u.Count(at))
				}
			}
			if n := u.Count(""); n != len(places) {
				t.Errorf("%s: %d requests to a server, want %d", when, n, len(places))
			}
		}
	}
	r := s.symbolicate(t, "", craneIDs, "")
	check("the first request")
	if m := r.module(); m.Status != "missing" || len(m.Candidates) != 3*len(places) || slices.ContainsFunc(m.words(), func(w string) bool { return w != "notfound" }) {
		t.Errorf("%s %q", m.Status, m.words())
	}
	if again := s.symbolicate(t, "", craneIDs, ""); again.Text != r.Text {
		t.Errorf("the second answer is %s, the first was %s", again.Text, r.Text)
	}
	s.everyPurpose(t, crane(t))
	check("all purposes")
	s.stop()
	s = open(t, data, sourcesOf("", ups...))
	s.everyPurpose(t, crane(t))
	if again := s.symbolicate(t, "", craneIDs, ""); again.Text != r.Text {
		t.Errorf("after a restart the answer is %s, the first was %s", again.Text, r.Text)
	}
	check("a restart")
}

// TestAFileIsKnownWithoutItself finds a file in the second of three servers,
// which all are gone afterwards: with its meta and its table it needs not be
// asked for again, for no purpose.
func TestAFileIsKnownWithoutItself(t *testing.T) {
	t.Parallel()
	ups := []*trial.Upstream{trial.NewUpstream(t), trial.NewUpstream(t), trial.NewUpstream(t)}
	ups[1].Do(trial.KettlePath, trial.File([]byte(trial.KettleSym)))
	data := t.TempDir()
	s := open(t, data, sourcesOf("", ups...))
	total := func() (n int) {
		for _, u := range ups {
			n += u.Count("")
		}
		return n
	}
	first := s.symbolicate(t, "", trial.Kettle, "")
	if first.frame() != "symbolicated" || ups[1].Count(trial.KettlePath) != 1 {
		t.Fatalf("%s, %d downloads", first.Text, ups[1].Count(trial.KettlePath))
	}
	asked := total()
	m, err := explain.ParseModule("kettle.so/" + trial.KettleID)
	if err != nil {
		t.Fatal(err)
	}
	m.Type = ident.TypeELF
	s.everyPurpose(t, m)
	if n := total(); n != asked {
		t.Errorf("other purposes make %d requests more", n-asked)
	}
	waittest.Until(t, "the table is there", func() bool { return stored(t, data, "symcache") == 1 })
	s.stop()
	for _, u := range ups {
		u.Do("", trial.Status(http.StatusInternalServerError))
		u.Do(trial.KettlePath, trial.Status(http.StatusInternalServerError))
	}
	if n := stored(t, data, "objects"); n != 0 {
		t.Errorf("%d files are kept", n)
	}
	s = open(t, data, sourcesOf("", ups...))
	for range 2 {
		if again := s.symbolicate(t, "", trial.Kettle, ""); again.Text != first.Text {
			t.Errorf("after a restart the answer is %s, the first was %s", again.Text, first.Text)
		}
	}
	s.everyPurpose(t, m)
	if n := total(); n != asked {
		t.Errorf("after a restart there are %d requests more", n-asked)
	}
}

// TestAnIndexSparesRequests has a server with a list of its files, which has
// nothing of one module, and one file of another.
func TestAnIndexSparesRequests(t *testing.T) {
	t.Parallel()
	pdb := fixture.SamplePDB()
	pdb.GUID, pdb.Age = [16]byte{0x3c, 0x2d, 0x1e, 0x0f, 0x5a, 0x4b, 0x78, 0x69, 0x87, 0x96, 0xa5, 0xb4, 0xc3, 0xd2, 0xe1, 0xf0}, 1
	u := trial.NewUpstream(t)
	const at = "/crane.pdb/0F1E2D3C4B5A69788796A5B4C3D2E1F01/crane.pdb"
	u.Do(at, trial.File(pdb.Bytes()))
	u.Do("/000Admin/lastid.txt", trial.File([]byte("1\r\n")))
	u.Do("/000Admin/0000000001", trial.File([]byte(`"crane.pdb\0F1E2D3C4B5A69788796A5B4C3D2E1F01","x"`+"\r\n")))
	s := open(t, t.TempDir(), sourcesOf(", has_index: true, layout: {type: symstore}", u))
	for range 2 {
		r := s.symbolicate(t, "", craneIDs, "")
		if r.module().Status != "found" || u.Count(at) != 1 || u.Count("") != 3 {
			t.Errorf("%d requests, %d of them for the file: %s", u.Count(""), u.Count(at), r.Text)
		}
	}
	s.everyPurpose(t, crane(t))
	r := s.symbolicate(t, "", strings.ReplaceAll(craneIDs, "crane", "other"), "")
	if r.module().Status != "missing" || u.Count("") != 3 {
		t.Errorf("%d requests after a module that is not listed: %s", u.Count(""), r.Text)
	}
}

// TestAPublicIndexIsReadOnce has two scopes name the same source: what it lists is
// known to both if it is public.
func TestAPublicIndexIsReadOnce(t *testing.T) {
	t.Parallel()
	for public, want := range map[string]int{"true": 1, "false": 2} {
		u := trial.NewUpstream(t)
		u.Do("/000Admin/lastid.txt", trial.File([]byte("0")))
		s := open(t, t.TempDir(), "sentry: {allow_request_sources: true}\nnetwork: {connect_to_reserved_ips: true}\n")
		for _, scope := range []string{"a", "b", "a"} {
			s.symbolicate(t, "?scope="+scope, craneIDs, `,"sources":[{"id":"x","type":"http","url":"`+u.URL+`","has_index":true,"layout":{"type":"symstore"},"is_public":`+public+`}]`)
		}
		if n := u.Count(""); n != want {
			t.Errorf("public %s: %d requests, want %d", public, n, want)
		}
	}
}

// TestManyAtOnceAskOnce sends the same request many times over, while the server
// takes its time.
func TestManyAtOnceAskOnce(t *testing.T) {
	t.Parallel()
	for _, clients := range []int{20, 500} {
		u := trial.NewUpstream(t)
		until := make(chan struct{})
		u.Do("", trial.Wait(until, http.NotFoundHandler()))
		u.Do(trial.KettlePath, trial.Wait(until, trial.File([]byte(trial.KettleSym))))
		s := open(t, t.TempDir(), sourcesOf("", u)+"sentry: {max_concurrent_requests: -1}\nhttp: {max_in_flight: -1, max_in_flight_per_client: -1}\n")
		var mu sync.Mutex
		answers := map[string]int{}
		var wg sync.WaitGroup
		for range clients {
			wg.Go(func() {
				r := s.symbolicate(t, "", trial.Kettle, "")
				mu.Lock()
				defer mu.Unlock()
				answers[fmt.Sprint(r.Code, " ", r.frame(), " ", r.module().words())]++
			})
		}
		waittest.Until(t, "all requests have come", func() bool { return int(s.requests.Load()) == clients })
		close(until)
		wg.Wait()
		if want := "200 symbolicated [notfound notfound notfound ok/ok]"; answers[want] != clients {
			t.Errorf("%d clients: %v", clients, answers)
		}
		if n := u.Count(trial.KettlePath); n != 1 || u.Count("") != 4 {
			t.Errorf("%d clients: %d downloads, %d requests", clients, n, u.Count(""))
		}
	}
}
