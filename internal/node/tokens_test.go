package node_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/node"
	"symbolon/internal/token"
)

// With tokens, each interface shows a client what is its own, and those without
// a token what is public.
func TestTokensHoldForAllInterfaces(t *testing.T) {
	dir := t.TempDir()
	const id = "0F1E2D3C4B5A69788796A5B4C3D2E1F01"
	for i, name := range []string{"public", "one", "two"} {
		path := filepath.Join(dir, name, name+".so", id)
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("MODULE Linux x86_64 %s %s.so\nFUNC 1000 10 0 of_%s\n1000 10 %d 0\n", id, name, name, i+1)
		if err := os.WriteFile(filepath.Join(path, name+".so.sym"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, _, err := readConfig(strings.ReplaceAll(`sources:
- {id: public, type: filesystem, path: DIR/public, is_public: true}
- {id: one, type: filesystem, path: DIR/one}
- {id: two, type: filesystem, path: DIR/two}
access: {clients: [{name: a, token: token-of-the-first, scopes: [a], sources: [public, one]}, {name: o, token: token-of-operator, admin: true}]}
`, "DIR", dir))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Data = filepath.Join(dir, "data")
	n, err := node.New(cfg, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	front, err := n.Front(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(token, method, path, body string) string {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		front.ServeHTTP(w, r)
		names := ""
		for _, name := range []string{"public", "one", "two"} {
			if strings.Contains(w.Body.String(), "of_"+name) {
				names += " " + name
			}
		}
		return fmt.Sprint(w.Code) + names
	}
	var v5, sentry []string
	for _, name := range []string{"public", "one", "two"} {
		v5 = append(v5, fmt.Sprintf("[%q,%q]", name+".so", id))
		sentry = append(sentry, fmt.Sprintf(`{"type":"elf","debug_id":%q,"debug_file":%q}`, id, name+".so"))
	}
	old := `{"jobs":[{"memoryMap":[` + strings.Join(v5, ",") + `],"stacks":[[[0,4096],[1,4096],[2,4096]]]}]}`
	frames := `[{"instruction_addr":"0x1000","addr_mode":"rel:0"},{"instruction_addr":"0x1000","addr_mode":"rel:1"},{"instruction_addr":"0x1000","addr_mode":"rel:2"}]`
	ours := `{"stacktraces":[{"frames":` + frames + `}],"modules":[` + strings.Join(sentry, ",") + `]}`
	sym := func(name string) string { return "/" + name + ".so/" + id + "/" + name + ".so.sym" }
	for _, c := range []struct{ token, method, path, body, want string }{
		{"", "POST", "/symbolicate/v5", old, "200 public"},
		{"", "GET", sym("public"), "", "200 public"},
		{"", "GET", sym("one"), "", "404"},
		{"", "POST", "/symbolicate", ours, "401"},
		{"", "GET", "/proxy" + sym("public"), "", "401"},
		{"token-of-the-first", "POST", "/symbolicate", ours, "200 public one"},
		{"token-of-the-first", "GET", "/proxy" + sym("one"), "", "200 one"},
		{"token-of-the-first", "GET", "/proxy" + sym("two"), "", "404"},
		{"token-of-operator", "GET", "/proxy" + sym("two"), "", "403"},
		{"token-of-operator", "POST", "/symbolicate", ours, "403"},
		{"token-of-operator", "GET", "/api/explain" + "/two.so/" + id, "", "200"},
		{"token-of-the-first", "GET", "/api/explain" + "/two.so/" + id, "", "403"},
	} {
		if got := ask(c.token, c.method, c.path, c.body); got != c.want {
			t.Errorf("%q %s %s: %s, want %s", c.token, c.method, c.path, got, c.want)
		}
	}
}

// A debugger for Windows is asked for a token only if no file at all is open to it. One
// of debuginfod is not: it would take the answer for a missing file as well.
func TestClosedServersAskDebuggersForAToken(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), "")
	pdb, m := corpusFile(t, "win-x86_64.pdb")
	s.upload(t, "tea", map[string][]byte{"app.pdb": pdb})
	text := addToken(t, s.Node, token.Grant{Rights: []token.Right{token.Read}, Projects: []string{"tea"}})
	id := m.DebugID.Breakpad()
	debugger, debuginfod := "/app.pdb/"+id+"/app.pdb", "/buildid/"+strings.ToLower(id[:32])+"00000001/debuginfo"
	ask := func(path, password string) (int, string) {
		r, err := http.NewRequest(http.MethodGet, s.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Forwarded-For", "192.0.2.1") // not of this machine
		if password != "" {
			r.SetBasicAuth("", password)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode, resp.Header.Get("WWW-Authenticate")
	}
	for _, c := range []struct {
		isOpen         bool // the project default
		path, password string
		status         int
	}{
		{true, debugger, "", 404},
		{true, debugger, text, 200},
		{false, debugger, "", 401},
		{false, debugger, text, 200},
		{false, "/app.pdb/" + id + "2/app.pdb", text, 404},
		{false, "/index2.txt", "", 404},
		{false, debuginfod, "", 404},
		{false, debuginfod, text, 200},
	} {
		if err := s.Project(t.Context(), node.ProjectQuery{Name: "default", Public: c.isOpen}, io.Discard); err != nil {
			t.Fatal(err)
		}
		status, challenge := ask(c.path, c.password)
		if status != c.status || (status == 401) != strings.HasPrefix(challenge, "Basic ") {
			t.Errorf("%+v: got %d %s", c, status, challenge)
		}
	}
}
