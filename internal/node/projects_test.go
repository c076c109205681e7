package node_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/node"
	"symbolon/internal/token"
	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// shop has a node with projects, and the uploads that it should have.
type shop struct {
	*station
	rng     *rand.Rand
	clients []holder
	public  map[string]bool
	live    map[string]piece // by upload
	deleted []piece
	made    int
}

// holder is a client, without a token if text is empty.
type holder struct {
	text string
	token.Grant
}

// piece is an upload of one file, whose function has the name of the piece.
type piece struct{ project, module, name string }

// addToken adds a token and returns it.
func addToken(t *testing.T, n *node.Node, g token.Grant) string {
	t.Helper()
	var text bytes.Buffer
	if err := n.Token(t.Context(), node.TokenQuery{Verb: "add", Token: token.Token{Grant: g}}, &text); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(text.String())
}

func newShop(t *testing.T, rng *rand.Rand, config string) *shop {
	s := &shop{
		station: open(t, t.TempDir(), config), rng: rng, live: map[string]piece{}, clients: []holder{{}},
		public: map[string]bool{"default": true, "tea": false, "mug": false},
	}
	add := func(rights []token.Right, projects ...string) {
		g := token.Grant{Rights: rights, Projects: projects}
		s.clients = append(s.clients, holder{addToken(t, s.Node, g), g})
	}
	add([]token.Right{token.Read}, "tea")
	add([]token.Right{token.Upload}, "mug", "default")
	add([]token.Right{token.Symbolicate}, "tea", "mug")
	add([]token.Right{token.Delete, token.UploadTry}, token.Any)
	add([]token.Right{token.Admin}, "mug")
	add([]token.Right{token.Admin}, token.Any)
	return s
}

func pick[T any](rng *rand.Rand, list ...T) T { return list[rng.IntN(len(list))] }

// change uploads or deletes a file, or makes a project public or private.
func (s *shop) change(t *testing.T) {
	projects := slices.Sorted(maps.Keys(s.public))
	switch s.rng.IntN(6) {
	case 0:
		project, isPublic := pick(s.rng, projects...), s.rng.IntN(3) == 0
		if err := s.Project(t.Context(), node.ProjectQuery{Name: project, Public: isPublic}, io.Discard); err != nil {
			t.Fatal(err)
		}
		s.public[project] = isPublic
	case 1:
		if len(s.live) == 0 {
			return
		}
		upload := pick(s.rng, slices.Sorted(maps.Keys(s.live))...)
		if err := s.Files().Delete(t.Context(), upload, "test", ""); err != nil {
			t.Fatal(err)
		}
		s.deleted = append(s.deleted, s.live[upload])
		delete(s.live, upload)
	default:
		s.made++
		p := piece{pick(s.rng, projects...), pick(s.rng, "pot", "jar", "cup"), fmt.Sprintf("piece_%d_", s.made)}
		s.live[s.upload(t, p.project, p.files())] = p
	}
}

// files returns the symbol file of a piece.
func (p piece) files() map[string][]byte {
	text := fmt.Appendf(nil, "MODULE Linux x86_64 %s %s.so\nFUNC 1000 20 0 %s\n", p.id(), p.module, p.name)
	return map[string][]byte{p.module + ".sym": text}
}

// id returns the debug id of the module of a piece.
func (p piece) id() string { return fmt.Sprintf("%032X0", int(p.module[0])) }

// names returns the pieces of a module in some projects.
func (s *shop) names(module string, isIn func(project string) bool) (list []string) {
	for _, p := range s.live {
		if p.module == module && isIn(p.project) {
			list = append(list, p.name)
		}
	}
	return list
}

// send sends a request with a token in one of its forms.
func (s *shop) send(t *testing.T, method, path, body, text string) (int, string) {
	r, err := http.NewRequestWithContext(context.Background(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	form := s.rng.IntN(5)
	switch {
	case text == "": // a client of another machine, that has no token
		r.Header.Set("X-Forwarded-For", "192.0.2.1")
	case form == 0:
		r.URL.Path = "/t/" + text + r.URL.Path
	case form == 1:
		r.Header.Set("Auth-Token", text+"-of-a-test")
	case form == 2:
		r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("x:"+text)))
	default:
		r.Header.Set("Authorization", pick(s.rng, "Bearer ", "ApiKey ")+text)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

var pieceName = regexp.MustCompile(`piece_\d+_`)

// A project is visible through each interface for those that have the right, and for
// no others, while files come and go and projects become public and private.
func TestPrivateProjectsAreVisibleWithTheirTokensOnly(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	s := newShop(t, rand.New(rand.NewPCG(seed, 0)), "")
	seen := map[string]int{}
	for step := 0; step < 60 || len(seen) < 12 && step < 600; step++ { // until each interface had both answers
		for range 1 + s.rng.IntN(2) {
			s.change(t)
		}
		module, g := pick(s.rng, "pot", "jar", "cup"), pick(s.rng, s.clients...)
		readable := func(project string) bool { return s.public[project] || g.May(token.Read, project) }
		answering := func(project string) bool { return readable(project) || g.May(token.Symbolicate, project) }
		id, project := piece{module: module}.id(), pick(s.rng, slices.Sorted(maps.Keys(s.public))...)
		for _, c := range []struct {
			door, method, path, body string
			isIn                     func(string) bool
		}{
			{"v5", "POST", "/symbolicate/v5", `{"memoryMap":[["` + module + `.so","` + id + `"]],"stacks":[[[0,4100]]]}`, answering},
			{"v4", "POST", "/symbolicate/v4", `{"version":4,"memoryMap":[["` + module + `.so","` + id + `"]],"stacks":[[[0,4100]]]}`, answering},
			{"sentry", "POST", "/symbolicate", `{"stacktraces":[{"frames":[{"instruction_addr":"0x1004","addr_mode":"rel:0"}]}],"modules":[{"type":"elf","debug_id":"` +
				id + `","debug_file":"` + module + `.so","image_addr":0}]}`, answering},
			{"sym", "GET", "/" + module + ".so/" + id + "/" + module + ".so.sym", "", readable},
			{"try", "GET", "/try/" + module + ".so/" + id + "/" + module + ".so.sym", "", readable},
			{"proxy", "GET", "/proxy/" + module + ".so/" + id + "/" + module + ".so.sym", "", readable},
		} {
			status, answer := s.send(t, c.method, c.path, c.body, g.text)
			want, got := s.names(module, c.isIn), pieceName.FindString(answer)
			if got != "" && !slices.Contains(want, got) || got == "" && len(want) > 0 || status >= 500 || status == 401 {
				t.Fatalf("seed %d, step %d, %s of %s for %v in %v: %d %s; want one of %v, of %v in %v", seed, step, c.door, module, g.Rights,
					g.Projects, status, answer, want, s.live, s.public)
			}
			seen[fmt.Sprint(c.door, " ", got != "")]++
		}
		status, answer := s.send(t, "GET", "/api/0/projects/acme/"+project+"/files/dsyms/?debug_id="+id, "", g.text)
		if isListed := strings.Contains(answer, `"debugId"`); isListed != (readable(project) &&
			len(s.names(module, func(p string) bool { return p == project })) > 0) {
			t.Fatalf("seed %d, step %d: the files of %s for %+v: %d %s", seed, step, project, g, status, answer)
		}
		status, answer = s.send(t, "GET", "/api/explain/"+module+".so/"+id, "", g.text)
		wasDeleted := slices.ContainsFunc(s.deleted, func(p piece) bool { return p.module == module && answering(p.project) })
		if mayOperate := g.May(token.Admin, ""); (status == 200) != mayOperate ||
			strings.Contains(answer, ".sym") && len(s.names(module, answering)) == 0 && !wasDeleted {
			t.Fatalf("seed %d, step %d: the trail for %+v: %d %s", seed, step, g, status, answer)
		}
	}
	for _, door := range []string{"v5", "v4", "sentry", "sym", "try", "proxy"} {
		if seen[door+" true"] == 0 || seen[door+" false"] == 0 {
			t.Errorf("%s was found %d times and missing %d times", door, seen[door+" true"], seen[door+" false"])
		}
	}
}

// A deleted file answers no more, though its table is open, until it is uploaded again.
func TestADeletedFileDoesNotAnswer(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), "")
	upload := func() string {
		d := s.Files().Begin("default", nil, "test")
		defer d.Close()
		if _, err := d.Add(t.Context(), "kettle.sym", strings.NewReader(trial.KettleSym)); err != nil {
			t.Fatal(err)
		}
		u, err := d.Commit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return u.ID
	}
	for range 2 {
		id := upload()
		for _, want := range []bool{true, true, false, false} {
			if !want && id != "" {
				if err := s.Files().Delete(t.Context(), id, "test", ""); err != nil {
					t.Fatal(err)
				}
				id = ""
			}
			_, answer := s.call(t, "POST", "/symbolicate/v5",
				`{"extensions":true,"memoryMap":[["kettle.so","`+trial.KettleID+`"]],"stacks":[[[0,4100]]]}`)
			if strings.Contains(answer, "boil") != want {
				t.Errorf("v5 answers %s, want a name: %v", answer, want)
			}
			if r := s.symbolicate(t, "", trial.Kettle, ""); (r.frame() == "symbolicated") != want {
				t.Errorf("Sentry's interface answers %s, want a name: %v", r.Text, want)
			}
		}
	}
}

// An answer that has names of a private project is for the token that got it, also for
// clients that know its id.
func TestAnswersFromPrivateProjectsAreForTheirToken(t *testing.T) {
	t.Parallel()
	const lidID = "11112222333344445555666677778888"
	gate, u := make(chan struct{}), trial.NewUpstream(t)
	u.Do("/lid.so/"+lidID+"0/lid.so.sym", trial.Wait(gate, trial.Status(404)))
	s := newShop(t, rand.New(rand.NewPCG(1, 1)), sourcesOf("", u))
	s.upload(t, "tea", map[string][]byte{"kettle.sym": []byte(trial.KettleSym)})
	var texts []string
	for _, g := range s.clients {
		if g.May(token.Read, "tea") {
			texts = append(texts, g.text)
		}
	}
	r := sendTo(t, http.MethodPost, s.url+"/symbolicate?timeout=0", `{"stacktraces":[{"frames":[`+
		`{"instruction_addr":4104,"addr_mode":"rel:0"},{"instruction_addr":8,"addr_mode":"rel:1"}]}],"modules":[{`+trial.Kettle+
		`,"image_addr":0},{"type":"elf","debug_id":"`+lidID+`","debug_file":"lid.so","image_addr":1048576}]}`, texts[0])
	if r.Status != "pending" {
		t.Fatalf("without the second module: got %s", r.Text)
	}
	refuse := func(when string) {
		for _, text := range []string{"", texts[1]} {
			if status, answer := s.send(t, http.MethodGet, "/requests/"+r.ID+"?timeout=0", "", text); status != 404 {
				t.Errorf("%s, another client: got %d %s, want 404", when, status, answer)
			}
		}
	}
	refuse("before the answer")
	close(gate)
	isAnswered := func() bool {
		_, answer := s.send(t, http.MethodGet, "/requests/"+r.ID+"?timeout=1", "", texts[0])
		return strings.Contains(answer, `"boil"`)
	}
	waittest.Until(t, "the answer", isAnswered)
	refuse("after the answer")
	if !isAnswered() {
		t.Error("the answer is not kept for its client")
	}
}
