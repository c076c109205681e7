package tecken_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/apitest"
	"symbolon/internal/api/tecken"
	"symbolon/internal/bin"
	"symbolon/internal/ident"
	"symbolon/internal/missing"
	"symbolon/internal/scratch"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

// grants are the tokens of the tests.
var grants = map[string]*token.Grant{
	"tea":    {ID: "t1", Name: "ci of tea", Rights: []token.Right{token.Upload}, Projects: []string{"tea"}},
	"coffee": {ID: "t2", Rights: []token.Right{token.Upload}, Projects: []string{"coffee"}},
	"reader": {ID: "t3", Rights: []token.Right{token.Read}, Projects: []string{"tea"}},
	"tries":  {ID: "t4", Rights: []token.Right{token.UploadTry}, Projects: []string{"tea"}},
	"two":    {ID: "t5", Rights: []token.Right{token.Upload}, Projects: []string{"tea", "coffee"}},
	"long":   {ID: "t7", Rights: []token.Right{token.UploadTry}, Projects: []string{strings.Repeat("a", 50)}},
	"all":    {ID: "t6", Rights: []token.Right{token.Admin}, Projects: []string{token.Any}},
	"":       {},
	"local":  {Rights: []token.Right{token.Admin}}, // a client of this machine without a token
}

// server is a door on a real port, over an empty store.
type server struct {
	*apitest.Server
	t      *testing.T
	tokens *token.Ring
	rows   []*missing.Row
}

func serve(t *testing.T, limits store.Config) *server {
	t.Helper()
	return serveWith(t, api.Config{}, tecken.Config{}, limits)
}

func serveWith(t *testing.T, front api.Config, cfg tecken.Config, limits store.Config) *server {
	t.Helper()
	s := &server{Server: apitest.New(t, limits, grants, time.Now), t: t}
	s.tokens = token.NewRing(fixed(), s.Bucket, time.Now, s.Log)
	door := tecken.New(cfg, limits, tecken.Deps{
		Transport: http.DefaultTransport, BaseURL: func(*http.Request) string { return s.URL },
		Store: s.Store, Tokens: s.tokens, Spool: s.Spool, Space: func(context.Context) bin.Space { return scratch.NewSpace(t.TempDir(), nil) },
		Now: time.Now, Log: s.Log, Missing: func(context.Context, time.Time) ([]*missing.Row, error) { return s.rows, nil }, Grant: s.Grant,
	})
	s.Serve(front, door.Routes())
	return s
}

func (s *server) get(secret, path string) apitest.Answer { return s.Ask(secret, "GET", path, "") }

// member is a file of a zip.
type member struct{ name, content string }

func zipOf(members ...member) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		w, err := z.Create(m.name)
		if err == nil {
			_, err = io.WriteString(w, m.content)
		}
		if err != nil {
			panic(err) // memory does not fail
		}
	}
	_ = z.Close()
	return b.String()
}

// send uploads a file in a field; more are names and values of other fields.
func (s *server) send(secret, field, content string, more ...string) apitest.Answer {
	s.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile(field, "file")
	if err != nil {
		s.t.Fatal(err)
	}
	_, _ = io.WriteString(part, content)
	for i := 0; i < len(more); i += 2 {
		_ = w.WriteField(more[i], more[i+1])
	}
	_ = w.Close()
	return s.Ask(secret, "POST", "/upload/", b.String(), "Content-Type", w.FormDataContentType())
}

// upload uploads members in a zip, and returns the id of the upload.
func (s *server) upload(secret string, members ...member) string {
	s.t.Helper()
	got := s.send(secret, "symbols.zip", zipOf(members...))
	got.Expect(201)
	var u struct{ Upload struct{ ID string } }
	if err := json.Unmarshal([]byte(got.Body), &u); err != nil {
		s.t.Fatal(err)
	}
	return u.Upload.ID
}

// symMember is a symbol file with the name that uploads have.
func symMember(name string, digit int) member {
	return member{name + "/" + apitest.SymID(digit) + "/" + name + ".sym", apitest.SymFile(name, digit)}
}

// has reports whether a project has a file with the id of symFile.
func (s *server) has(project string, digit int) bool {
	s.t.Helper()
	id, err := ident.ParseBreakpadID(apitest.SymID(digit))
	if err != nil {
		s.t.Fatal(err)
	}
	found, err := s.Store.Find(s.t.Context(), []string{project}, store.Question{Module: ident.Module{DebugID: id}})
	if err != nil {
		s.t.Fatal(err)
	}
	return len(found) > 0
}

// fixed returns the tokens of the tests as those of a configuration.
func fixed() (list []token.Token) {
	for _, g := range grants {
		list = append(list, token.Token{Grant: *g, Hash: []byte(g.ID)})
	}
	return list
}
