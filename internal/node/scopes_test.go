package node_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/ident"
	"symbolon/internal/node"
	"symbolon/internal/store"
	"symbolon/internal/token"
	"symbolon/internal/trial"
)

// The program that each project has, with other names.
const (
	tileBuildID = "94e4559d737bc9e7"
	tileID      = "9D55E4947B73E7C900000000000000000"
)

// nameIn returns the name of a function and of a source file that only a project has.
func nameIn(project string) string { return "zq" + project[:2] }

// private returns files that only a project has, under ids that others have too: a
// program with its sources, and a symbol file.
func private(t *testing.T, project string) map[string][]byte {
	t.Helper()
	program, err := os.ReadFile("../object/testdata/corpus/embed-source")
	if err != nil {
		t.Fatal(err)
	}
	name := nameIn(project)
	return map[string][]byte{
		name + "/" + name + "-tile": bytes.ReplaceAll(program, []byte("fire"), []byte(name)),
		name + "-kettle.so.sym":     []byte(strings.ReplaceAll(trial.KettleSym, "boil", name)),
	}
}

// reads are requests for files of projects. Answers to those that are not lists have one
// of the files that the client may see.
func reads(projects []string, uploads []string) (list []readRequest) {
	const program, unified = "/buildid/" + tileBuildID, "/94/e4559d737bc9e7"
	for _, path := range []string{
		program + "/debuginfo", program + "/executable", program + "/source/corpus/src/tile.c", program + "/section/.debug_line_str",
		"/metadata?key=buildid&value=" + tileBuildID, unified + "/debuginfo", unified + "/executable",
		"/tile/elf-buildid-" + tileBuildID + "/tile", "/ti/tile/elf-buildid-" + tileBuildID + "/tile",
		trial.KettlePath, "/try" + trial.KettlePath, "/proxy" + trial.KettlePath, "/tile/" + tileID + "/tile.sym",
		"/0f/1e2d3c4b5a69788796a5b4c3d2e1f00/breakpad",
	} {
		list = append(list, readRequest{"GET", path, "", token.Read, false, false})
	}
	frame := `{"instruction_addr":"0x11e0","addr_mode":"rel:0"}`
	v5 := `{"memoryMap":[["tile","` + tileID + `"]],"stacks":[[[0,4576]]]}`
	for path, body := range map[string]string{
		"/api/rows":              `{"frames":[{"code_file":"tile","id":"` + tileBuildID + `","offset":"0x11e0"}]}`,
		"/api/rows?field=a":      `{"a":` + v5 + `}`,
		"/api/rows?replace=true": `{"calls":[[` + v5 + `]]}`,
		"/symbolicate/v5":        v5,
		"/symbolicate/v4":        `{"version":4,"memoryMap":[["tile","` + tileID + `"]],"stacks":[[[0,4576]]]}`,
		"/symbolicate":           `{"stacktraces":[{"frames":[` + frame + `]}],"modules":[{"type":"elf","code_id":"` + tileBuildID + `","image_addr":0}]}`,
	} {
		list = append(list, readRequest{"POST", path, body, token.Symbolicate, false, strings.HasPrefix(path, "/api/rows")})
	}
	lists := []string{
		"/api/uploads/", "/api/uploads/files/", "/api/stats/", "/missingsymbols.csv?days=1", "/api/missing", "/api/tokens/",
		"/api/syminfo/kettle.so/" + trial.KettleID, "/api/explain/tile/" + tileID, "/metrics", "/metadata?key=glob&value=/usr/bin/*",
	}
	for _, p := range projects {
		lists = append(lists, "/api/0/projects/acme/"+p+"/files/dsyms/")
	}
	for _, u := range uploads {
		lists = append(lists, "/api/uploads/upload/"+u)
	}
	for _, path := range lists {
		list = append(list, readRequest{"GET", path, "", token.Symbolicate, true, false})
	}
	return list
}

type readRequest struct {
	method, path, body string
	right              token.Right // that shows the files of a project
	isList             bool
	isGuarded          bool // only clients with the right get an answer
}

// Projects have other files under the same ids. No answer to any request has a name of a
// project that the client may not see, and each request for a file has the file of one
// that it may see.
func TestNoInterfaceShowsAFileOfAnotherProject(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	s := newShop(t, rand.New(rand.NewPCG(seed, 0)), "")
	projects := slices.Sorted(maps.Keys(s.public))
	var uploads []string
	for _, p := range projects {
		uploads = append(uploads, s.upload(t, p, private(t, p)))
	}
	for publicOnes := range 1 << len(projects) {
		for i, p := range projects {
			if s.public[p] = publicOnes>>i&1 == 1; s.Project(t.Context(), node.ProjectQuery{Name: p, Public: s.public[p]}, io.Discard) != nil {
				t.Fatal("cannot change a project")
			}
		}
		for _, g := range s.clients {
			for _, r := range reads(projects, uploads) {
				status, answer := s.send(t, r.method, r.path, r.body, g.text)
				hasOne, maySee := false, false
				for _, p := range projects {
					isVisible := s.public[p] || g.May(token.Read, p) || g.May(r.right, p)
					isShown := strings.Contains(answer, nameIn(p))
					if isShown && !isVisible {
						t.Errorf("seed %d: %s %s shows %s to %v in %v, public %v: %d %.300q", seed, r.method, r.path, p, g.Rights, g.Projects, s.public, status, answer)
					}
					hasOne, maySee = hasOne || isShown, maySee || isVisible && (!r.isGuarded || g.May(r.right, ""))
				}
				if !r.isList && maySee != hasOne || status >= 500 {
					t.Errorf("seed %d: %s %s for %v in %v, public %v: %d %.300q", seed, r.method, r.path, g.Rights, g.Projects, s.public, status, answer)
				}
			}
		}
	}
}

// Each client sends a file of its own to each project through each interface. It is in
// the project if the client may upload there, and otherwise nowhere.
func TestNoInterfaceWritesToAnotherProject(t *testing.T) {
	t.Parallel()
	s := newShop(t, rand.New(rand.NewPCG(1, 1)), "")
	to := &trial.Server{URL: s.url}
	n := 0
	for _, g := range s.clients {
		for _, project := range slices.Sorted(maps.Keys(s.public)) {
			for _, door := range trial.UploadDoors(project) {
				if strings.HasPrefix(door.Name, "symbolon") { // of other interfaces
					continue
				}
				n++
				sym := trial.NewSym(n, 2)
				parts := []trial.Part{{Name: strings.TrimPrefix(sym.Path(), "/"), Content: sym.Bytes()}}
				err := door.Send(t.Context(), to, g.text, parts)
				want := s.place(door, g.Grant, project)
				if got := s.find(t, sym); got != want || (err == nil) != (want != "") {
					t.Errorf("%s of %v in %v to %s: the file is in %q, want %q: %v", door.Name, g.Rights, g.Projects, project, got, want, err)
				}
			}
		}
	}
	for _, g := range s.clients {
		for _, project := range slices.Sorted(maps.Keys(s.public)) {
			n++
			sym := trial.NewSym(n, 2)
			s.upload(t, project, map[string][]byte{"a.sym": sym.Bytes()})
			s.deleteFile(t, g.text, project, sym)
			want := project
			if g.May(token.Delete, project) {
				want = ""
			}
			if got := s.find(t, sym); got != want {
				t.Errorf("a deletion of %v in %v: the file is in %q, want %q", g.Rights, g.Projects, got, want)
			}
		}
	}
}

// place returns the project that has a file after a client has sent it, or "".
func (s *shop) place(door trial.UploadDoor, g token.Grant, project string) string {
	right, end := token.Upload, ""
	switch door.Name {
	case "Tecken", "Tecken v2", "Tecken try": // the client does not name a project
		project = ident.DefaultProject
		if !g.May(token.Upload, project) && len(g.Projects) > 0 && g.Projects[0] != token.Any {
			project = g.Projects[0]
		}
		if isTry := !g.May(token.Upload, ""); isTry || door.Name == "Tecken try" {
			end = "-try"
			if isTry {
				right = token.UploadTry
			}
		}
	}
	if !g.May(right, project) {
		return ""
	}
	return project + end
}

// find returns the projects that have a file.
func (s *shop) find(t *testing.T, sym trial.Sym) string {
	t.Helper()
	id, err := ident.ParseBreakpadID(sym.ID)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for project := range s.public {
		all = append(all, project, project+"-try")
	}
	found, err := s.Files().Find(context.Background(), all, store.Question{Module: ident.Module{DebugID: id}})
	if err != nil {
		t.Fatal(err)
	}
	var in []string
	for _, f := range found {
		in = append(in, f.Project)
	}
	return strings.Join(in, " ")
}

// deleteFile sends a request to delete a file.
func (s *shop) deleteFile(t *testing.T, text, project string, sym trial.Sym) {
	t.Helper()
	path := "/api/0/projects/acme/" + project + "/files/dsyms/"
	_, list := s.send(t, "GET", path+"?debug_id="+sym.ID, "", s.clients[len(s.clients)-1].text)
	_, id, _ := strings.Cut(list, `"id":"`)
	id, _, isListed := strings.Cut(id, `"`)
	if !isListed {
		t.Fatal(fmt.Sprint("the file is not listed: ", list))
	}
	s.send(t, "DELETE", path+"?id="+id, "", text)
}
