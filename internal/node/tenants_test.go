package node_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"symbolon/internal/trial"
)

// world has the files of symbol servers. They depend on the key of a request, and
// change.
type world struct {
	mu    sync.Mutex
	state map[string]int
}

// at returns the state of a file for a key.
func (w *world) at(server, key, module string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state[server+"|"+key+"|"+module]
}

// turn changes the state of a file.
func (w *world) turn(rng *rand.Rand, server, key, module string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state[server+"|"+key+"|"+module] = rng.IntN(8)
}

// text returns a file with one function, whose name identifies the file.
func (w *world) text(server, key, module string, state int) string {
	return fmt.Sprintf("MODULE Linux x86_64 %s %s\nFUNC 1000 20 0 of_%s_for_%s_state_%d\n", trial.KettleID, module, server, key, state)
}

// file serves a file according to its state.
func (w *world) file(out http.ResponseWriter, server, key, module string) {
	state := w.at(server, key, module)
	text := w.text(server, key, module, state)
	switch state {
	case 0, 1:
		http.Error(out, "", http.StatusNotFound)
	case 2:
		http.Error(out, "", http.StatusForbidden)
	case 3:
		text = strings.Replace(text, trial.KettleID[:8], "AAAAAAAA", 1) // of another module
		fallthrough
	default:
		_, _ = out.Write([]byte(text)) // the client may leave
	}
}

// store serves a symbol server with an index.
func (w *world) store(server string) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("X-Key")
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		switch {
		case name == "000Admin" && strings.HasSuffix(r.URL.Path, "lastid.txt"):
			fmt.Fprint(out, "1")
		case name == "000Admin": // of each module there is at least the other one
			for _, m := range modulesOfWorld {
				if w.at(server, key, m) > 3 {
					fmt.Fprintf(out, "\"%s\\%s\",\"x\"\n", m, trial.KettleID)
				}
			}
		case strings.HasSuffix(name, ".pdb"): // of what is listed here nothing can be used
			http.Error(out, "", http.StatusForbidden)
		default:
			w.file(out, server, key, name)
		}
	})
}

// project serves a project of Sentry.
func (w *world) project(server string) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if id := r.URL.Query().Get("id"); id != "" {
			w.file(out, server, key, id)
			return
		}
		list := []map[string]string{}
		if module := "a.pdb"; w.at(server, key, module) > 1 {
			list = append(list, map[string]string{"id": module, "symbolType": "breakpad"})
		}
		_ = json.NewEncoder(out).Encode(list) // the client may leave
	})
}

var modulesOfWorld = []string{"a.pdb", "b.pdb", "c.so", "d.so"}

// tenants has two servers with a tenant each, and one with both.
type tenants struct {
	*world
	rng    *rand.Rand
	ups    map[string]string // URLs of the world
	root   string            // of folders
	both   *station
	own    [2]*station
	tokens [2]string
}

func newTenants(t *testing.T, rng *rand.Rand, withTokens bool) *tenants {
	w := &tenants{world: &world{state: map[string]int{}}, rng: rng, ups: map[string]string{}, root: t.TempDir()}
	for _, server := range []string{"one", "two", "three", "public"} {
		u := trial.NewUpstream(t)
		u.Do("", w.store(server))
		if server == "three" {
			u.Do("", w.project(server))
		}
		w.ups[server] = u.URL
	}
	for _, m := range modulesOfWorld {
		w.state["public||"+m] = rng.IntN(8)
		w.state["configured||"+m] = rng.IntN(8)
	}
	config := fmt.Sprintf("sentry: {allow_request_sources: true, request_filesystem_root: %q}\nnetwork: {connect_to_reserved_ips: true, deny_list_threshold: -1}\n", w.root) +
		fmt.Sprintf("sources:\n- {id: x, type: http, url: %q}\n- {id: open, type: http, url: %q, is_public: true}\n", w.ups["one"], w.ups["public"])
	if withTokens {
		w.tokens = [2]string{"a-token-of-tenant-0", "a-token-of-tenant-1"}
		config += "access: {clients: [{token: a-token-of-tenant-0, scopes: [tenant-0], request_sources: true}, {token: a-token-of-tenant-1, scopes: [tenant-1], request_sources: true}]}\n"
	}
	w.both = open(t, t.TempDir(), config)
	for i := range w.own {
		w.own[i] = open(t, t.TempDir(), config)
	}
	return w
}

// source returns a source for a request. Different ones may have the same id, address
// or key.
func (w *tenants) source() string {
	pick := func(list ...string) string { return list[w.rng.IntN(len(list))] }
	id, key := pick("x", "y", "sentry:project"), pick("", "k1", "k2")
	headers := "{}"
	if key != "" {
		headers = fmt.Sprintf(`{"X-Key":%q}`, key)
	}
	switch w.rng.IntN(7) {
	case 0:
		return fmt.Sprintf(`{"id":%q,"type":"sentry","url":%q,"token":%q}`, id, w.ups["three"], pick("k1", "k2"))
	case 1:
		return fmt.Sprintf(`{"id":%q,"type":"http","url":%q,"is_public":true}`, id, w.ups["public"])
	case 2:
		return fmt.Sprintf(`{"id":%q,"type":"filesystem","path":%q}`, id, filepath.Join(w.root, pick("f", "g")))
	case 3:
		return fmt.Sprintf(`{"id":%q,"type":"http","url":%q,"headers":%s,"has_index":true,"layout":{"type":"symstore"}}`, id, w.ups[pick("one", "two")], headers)
	}
	return fmt.Sprintf(`{"id":%q,"type":"http","url":%q,"headers":%s}`, id, w.ups[pick("one", "two")], headers)
}

// change changes a file of the world. Files of public sources stay: all tenants share
// them.
func (w *tenants) change(t *testing.T) {
	module := modulesOfWorld[w.rng.IntN(len(modulesOfWorld))]
	if w.rng.IntN(6) > 0 {
		w.turn(w.rng, []string{"one", "two", "three"}[w.rng.IntN(3)], []string{"", "k1", "k2"}[w.rng.IntN(3)], module)
		return
	}
	folder := []string{"f", "g"}[w.rng.IntN(2)]
	path := filepath.Join(w.root, folder, module, trial.KettleID, strings.TrimSuffix(module, ".pdb")+".sym")
	if err := os.Remove(path); err == nil {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(w.text(folder, "", module, w.rng.IntN(100))), 0o600); err != nil {
		t.Fatal(err)
	}
}

// request returns a random request.
func (w *tenants) request() string {
	module := modulesOfWorld[w.rng.IntN(len(modulesOfWorld))]
	kind := map[bool]string{true: "pe", false: "elf"}[strings.HasSuffix(module, ".pdb")]
	sources := ""
	if w.rng.IntN(5) > 0 {
		var list []string
		for range w.rng.IntN(4) {
			list = append(list, w.source())
		}
		sources = `,"sources":[` + strings.Join(list, ",") + `]`
	}
	return fmt.Sprintf(`{"stacktraces":[{"frames":[{"instruction_addr":"0x1008","addr_mode":"rel:0"}]}],`+
		`"modules":[{"type":%q,"debug_id":"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0","debug_file":%q,"image_addr":0}],"options":{"dif_candidates":true}%s}`, kind, module, sources)
}

// Two tenants send random requests to a server, while files change. Each one gets the
// same bytes as from a server of its own.
func TestTenantsKnowNothingOfEachOther(t *testing.T) {
	for _, withTokens := range []bool{true, false} {
		t.Run(fmt.Sprint("tokens ", withTokens), func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			w := newTenants(t, rand.New(rand.NewPCG(seed, 0)), withTokens)
			words := map[string]int{}
			for step := range 250 {
				for range w.rng.IntN(3) {
					w.change(t)
				}
				who, body := w.rng.IntN(2), w.request()
				query := fmt.Sprintf("/symbolicate?scope=tenant-%d", who)
				if !withTokens && who == 1 {
					query = "/symbolicate" // the scope of all who name none
				}
				got := sendTo(t, http.MethodPost, w.both.url+query, body, w.tokens[who])
				want := sendTo(t, http.MethodPost, w.own[who].url+query, body, w.tokens[who])
				if got.Text != want.Text || got.Status != "completed" {
					t.Fatalf("seed %d, step %d, tenant %d: %s\nto %s\nalone it is %s", seed, step, who, got.Text, body, want.Text)
				}
				for _, word := range append(got.module().words(), got.frame()) {
					words[word]++
				}
			}
			for _, word := range []string{"notfound", "noperm", "ok/ok", "symbolicated", "missing"} {
				if words[word] == 0 {
					t.Errorf("seed %d: of %q there were %d in %v", seed, word, words[word], words)
				}
			}
		})
	}
}

// A tenant whose requests all wait for a file does not delay others.
func TestATenantHasItsShare(t *testing.T) {
	t.Parallel()
	u := trial.NewUpstream(t)
	u.Do("", trial.File([]byte(trial.KettleSym)))
	slow := strings.ReplaceAll(trial.Kettle, "kettle", "slow")
	u.Do(strings.ReplaceAll(trial.KettlePath, "kettle", "slow"), trial.Hang(nil, -1))
	const one, two = "a-token-of-tenant-1", "a-token-of-tenant-2"
	s := open(t, t.TempDir(), sourcesOf(", filters: {filetypes: [breakpad]}", u)+"network: {head_timeout: 20s}\nsentry: {max_concurrent_requests: 16}\n"+
		"access: {clients: [{token: "+one+", scopes: [a, b]}, {token: "+two+", scopes: [c]}]}\n")
	ask := func(query, module, token string) reply {
		return sendTo(t, http.MethodPost, s.url+"/symbolicate"+query, `{"stacktraces":[{"frames":[{"instruction_addr":4104,"addr_mode":"rel:0"}]}],"modules":[{`+module+`,"image_addr":0}]}`, token)
	}
	var ids []string
	for range 14 {
		r := ask("?timeout=0&scope=a", slow, one)
		if r.Status != "pending" {
			t.Fatalf("request %d: %d %s", len(ids), r.Code, r.Text)
		}
		ids = append(ids, r.ID)
	}
	if r := ask("?timeout=0&scope=a", slow, one); r.Code != http.StatusServiceUnavailable {
		t.Errorf("one more: %d %s", r.Code, r.Text)
	}
	if r := ask("", trial.Kettle, two); r.frame() != "symbolicated" {
		t.Errorf("another tenant: %d %s", r.Code, r.Text)
	}
	for token, want := range map[string]int{one: 200, two: 404, "": 401, "an-unknown-token": 401} {
		for _, id := range ids {
			if r := sendTo(t, http.MethodGet, s.url+"/requests/"+id+"?timeout=0", "", token); r.Code != want || want != 200 && strings.Contains(r.Text, "pending") {
				t.Errorf("%q: %d %s", token, r.Code, r.Text)
			}
		}
	}
	if r := ask("?scope=a", trial.Kettle, two); r.Code != http.StatusForbidden {
		t.Errorf("in the scope of the other: %d %s", r.Code, r.Text)
	}
}

// A tenant names servers that accept connections and never respond. Downloads of other
// tenants and of configured sources still run, and so do those of the same tenant if
// only one of its servers hangs.
func TestATenantHasItsShareOfDownloads(t *testing.T) {
	t.Parallel()
	up := trial.NewUpstream(t)
	up.Do("", trial.File([]byte(trial.KettleSym)))
	named := func(at string) string {
		return fmt.Sprintf(`{"id":"named","type":"http","url":"http://%s/","filters":{"filetypes":["breakpad"]}}`, at)
	}
	dead := func() string {
		return named(trial.NewListener(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }))
	}
	good := named(strings.TrimSuffix(strings.TrimPrefix(up.URL, "http://"), "/"))
	for _, servers := range []int{1, 3} {
		s := open(t, t.TempDir(), sourcesOf(", filters: {filetypes: [breakpad]}", up)+
			"network: {head_timeout: 3s, max_tries: 1, connect_to_reserved_ips: true}\nsentry: {allow_request_sources: true}\n")
		for range servers {
			at := dead()
			for i := range 50 {
				r := s.symbolicate(t, "?timeout=0&scope=a", strings.ReplaceAll(trial.Kettle, "kettle", fmt.Sprint("slow", i)), `,"sources":[`+at+`]`)
				if r.Status != "pending" {
					t.Fatal(r.Text)
				}
			}
		}
		for what, sources := range map[string]string{"?scope=b": `,"sources":[` + good + `]`, "?scope=a": ``} {
			start := time.Now()
			r := s.symbolicate(t, what, trial.Kettle, sources)
			if took := time.Since(start); r.frame() != "symbolicated" || took > time.Second {
				t.Errorf("%d dead servers, %s: after %v %s", servers, what+sources, took, r.Text)
			}
		}
		if servers > 1 {
			continue
		}
		start := time.Now()
		r := s.symbolicate(t, "?scope=a", strings.ReplaceAll(trial.Kettle, "kettle", "other"), `,"sources":[`+good+`]`)
		if took := time.Since(start); r.frame() != "symbolicated" || took > time.Second {
			t.Errorf("the same tenant: after %v %s", took, r.Text)
		}
	}
}

// A server fails for a tenant until its host is on the deny list. Other tenants still
// use it. For a configured source they see the failure, but not the requested files.
func TestATenantGetsNoHostBlockedForOthers(t *testing.T) {
	t.Parallel()
	up := trial.NewUpstream(t)
	up.Do("", trial.Status(http.StatusInternalServerError))
	up.Do(trial.KettlePath, trial.File([]byte(trial.KettleSym)))
	named := `,"sources":[{"id":"named","type":"http","url":"` + up.URL + `","filters":{"filetypes":["breakpad"]}}]`
	const quiet = "network: {max_tries: 1, connect_to_reserved_ips: true}\nsentry: {allow_request_sources: true}\n"
	for _, sources := range []string{named, ""} {
		s := open(t, t.TempDir(), sourcesOf(", filters: {filetypes: [breakpad]}", up)+quiet)
		for i := range 25 {
			s.symbolicate(t, "?scope=a", strings.ReplaceAll(trial.Kettle, "kettle", fmt.Sprint("private", i)), sources)
		}
		if r := s.symbolicate(t, "?scope=a", trial.Kettle, sources); !strings.Contains(r.Text, "is not asked before") {
			t.Errorf("the host is not blocked: %s", r.Text)
		}
		r := s.symbolicate(t, "?scope=b", trial.Kettle, sources)
		if (r.frame() == "symbolicated") != (sources == named) || strings.Contains(r.Text, "private") {
			t.Errorf("the other tenant, sources %q: %s", sources, r.Text)
		}
	}
}
