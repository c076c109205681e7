package ui_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/apitest"
	"symbolon/internal/api/ui"
	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/missing"
	"symbolon/internal/scratch"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

// A site is the pages over a store, with clients of different rights.
type site struct {
	*apitest.Server
	ring *token.Ring
	log  *missing.Log
}

// clients are the tokens and the rights of clients.
var clients = map[string]*token.Grant{
	"root":   {ID: "ROOT", Name: "root", Rights: []token.Right{token.Admin}, Projects: []string{token.Any}},
	"web":    {ID: "WEB", Name: "web", Rights: []token.Right{token.Admin}, Projects: []string{"web"}},
	"reader": {ID: "READER", Name: "reader", Rights: []token.Right{token.Read}, Projects: []string{"web"}},
	"ci":     {ID: "CI", Name: "ci", Rights: []token.Right{token.Upload}, Projects: []string{"web"}, Labels: map[string]string{"product": "pot"}},
	"other":  {ID: "OTHER", Name: "other", Rights: []token.Right{token.Upload, token.Delete}, Projects: []string{"app"}},
}

// newSite serves the pages.
func newSite(t testing.TB, limits store.Config) *site {
	return newSiteOver(t, limits, mem.New())
}

// newSiteOver serves the pages over a store in a bucket.
func newSiteOver(t testing.TB, limits store.Config, b bucket.Bucket) *site {
	log, state := slog.New(slog.DiscardHandler), mem.New()
	s := &site{Server: apitest.New(t, limits, clients, time.Now), ring: token.NewRing(nil, state, time.Now, log), log: missing.New(state, time.Now, log)}
	s.Store = store.New(limits, store.Deps{Bucket: b, Spool: s.Spool, Now: time.Now, Log: log})
	door := ui.New(ui.Deps{
		Grant: s.Grant, BaseURL: func(r *http.Request) string { return "http://" + r.Host }, State: state,
		Store: s.Store, Limits: limits, Tokens: s.ring, Spool: s.Spool, Missing: s.log.Report,
		Space: func(context.Context) bin.Space { return scratch.NewSpace(t.TempDir(), nil) },
		WithoutUploaded: func(_ context.Context, _ *token.Grant, rows []*missing.Row) ([]*missing.Row, error) {
			return rows, nil
		},
		Now: time.Now, Log: log,
	})
	s.Serve(api.Config{}, door.Routes())
	return s
}

// get returns the JSON of a page.
func get[T any](s *site, secret, path string) (v T) {
	a := s.Ask(secret, http.MethodGet, path, "", "Accept", "application/json")
	a.Expect(http.StatusOK)
	if err := json.Unmarshal([]byte(a.Body), &v); err != nil {
		panic(err)
	}
	return v
}

// post sends a form.
func (s *site) post(secret, path, form string) apitest.Answer {
	return s.Ask(secret, http.MethodPost, path, form, "Content-Type", "application/x-www-form-urlencoded", "Accept", "application/json")
}

// form returns the body of a form with files, and its type. The first pair is the project
// and the labels.
func uploadForm(project, labels string, files ...[2]string) (body, kind string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	_ = w.WriteField("project", project) // a buffer takes everything
	_ = w.WriteField("labels", labels)
	for _, f := range files {
		h := textproto.MIMEHeader{"Content-Disposition": {multipart.FileContentDisposition("files", f[0])}}
		part, _ := w.CreatePart(h)
		_, _ = part.Write([]byte(f[1]))
	}
	_ = w.Close()
	return b.String(), w.FormDataContentType()
}

// result is the JSON of the answer to an upload.
type result struct {
	Upload   string `json:"upload"`
	Accepted int    `json:"accepted"`
	Refused  int    `json:"refused"`
	Files    []struct {
		Name    string `json:"name"`
		Refused string `json:"refused"`
		Objects []struct {
			DebugID string   `json:"debug_id"`
			Has     []string `json:"has"`
		} `json:"objects"`
	} `json:"files"`
}

// upload uploads files to the project web.
func (s *site) upload(t testing.TB, files ...[2]string) result {
	t.Helper()
	body, kind := uploadForm("web", "", files...)
	a := s.Ask("ci", http.MethodPost, "/ui/uploads?do=upload", body, "Content-Type", kind, "Accept", "application/json")
	a.Expect(http.StatusOK)
	var r result
	if err := json.Unmarshal([]byte(a.Body), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// sym returns a symbol file and its name.
func sym(name string, digit int) [2]string {
	return [2]string{name + ".sym", apitest.SymFile(name, digit)}
}
