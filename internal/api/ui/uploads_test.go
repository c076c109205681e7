package ui_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api/apitest"
	"symbolon/internal/bin"
	"symbolon/internal/store"
)

// listed is the JSON of the page of uploads.
type listed struct {
	Projects []string `json:"projects"`
	Uploads  []struct {
		ID    string `json:"id"`
		Files int    `json:"files"`
	} `json:"uploads"`
	Next    string          `json:"next"`
	Refused []store.Refused `json:"refused"`
}

func TestUploadsOfOtherProjectsAreNotShown(t *testing.T) {
	s := newSite(t, store.Config{})
	own := s.upload(t, sym("kettle.so", 1), [2]string{"note.txt", "hello"})
	if own.Accepted != 1 || own.Refused != 1 {
		t.Fatalf("got %+v", own)
	}
	path := "/ui/uploads/" + own.Upload
	for _, client := range []string{"root", "web", "reader", "ci"} {
		l := get[listed](s, client, "/ui/uploads?project=web")
		if len(l.Uploads) != 1 || l.Uploads[0].ID != own.Upload || len(l.Refused) != 1 {
			t.Errorf("%s sees %+v", client, l)
		}
		s.Ask(client, http.MethodGet, path, "", "Accept", "text/html").Expect(http.StatusOK, "kettle.so.sym", apitest.SymID(1))
	}
	if l := get[listed](s, "other", "/ui/uploads"); len(l.Uploads)+len(l.Refused) != 0 {
		t.Errorf("a client of another project sees %+v", l)
	}
	sum := get[struct {
		List []struct{ SHA256 string }
	}](s, "reader", path).List[0].SHA256
	for _, hidden := range []string{path, path + "?download=" + sum, "/ui/uploads?project=web"} {
		s.Ask("other", http.MethodGet, hidden, "").Expect(http.StatusNotFound)
	}
	s.post("other", path+"?do=delete", "why=mine").Expect(http.StatusNotFound)
	s.Ask("reader", http.MethodGet, path+"?download="+sum, "").Expect(http.StatusOK, apitest.SymFile("kettle.so", 1))
}

func TestAnUploadIsKeptAndDeletedByClientsWithTheRight(t *testing.T) {
	s := newSite(t, store.Config{})
	u := s.upload(t, sym("kettle.so", 1), sym("pot.so", 2))
	path := "/ui/uploads/" + u.Upload
	for _, client := range []string{"reader", "ci"} {
		s.post(client, path+"?do=keep", "until=2999-12-31").Expect(http.StatusForbidden)
		s.post(client, path+"?do=delete", "why=x").Expect(http.StatusForbidden)
	}
	s.post("web", path+"?do=keep", "until=soon").Expect(http.StatusBadRequest, "invalid date")
	s.post("web", path+"?do=keep", "until=2999-12-31").Expect(http.StatusOK)
	if until, err := s.Store.ProtectedUntil(t.Context(), u.Upload); err != nil || until.Format(time.RFC3339) != "2999-12-31T23:59:59Z" {
		t.Errorf("it is kept until %v, %v", until, err)
	}
	s.post("web", path+"?do=delete", "why=+").Expect(http.StatusBadRequest, "a reason is needed")
	s.post("web", path+"?do=delete&file=00", "why=x").Expect(http.StatusNotFound)
	one := get[struct {
		List []struct{ Name, SHA256 string }
	}](s, "web", path).List[0]
	s.post("web", path+"?do=delete&file="+one.SHA256, "why=wrong").Expect(http.StatusOK)
	rest := get[listed](s, "web", "/ui/uploads").Uploads
	if len(rest) != 1 || rest[0].Files != 1 {
		t.Fatalf("after one of two files was deleted: %+v", rest)
	}
	s.Ask("web", http.MethodGet, "/ui/uploads/"+rest[0].ID, "").Expect(http.StatusOK, "pot.so")
	s.post("web", "/ui/uploads/"+rest[0].ID+"?do=delete", "why=all").Expect(http.StatusOK)
	if left := get[listed](s, "web", "/ui/uploads").Uploads; len(left) != 0 {
		t.Errorf("after the upload was deleted: %+v", left)
	}
}

// packed returns a zip.
func packed(t *testing.T, files ...[2]string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create(f[0])
		if err == nil {
			_, err = io.WriteString(w, f[1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTheAnswerToAnUploadTellsWhatBecameOfEachFile(t *testing.T) {
	s := newSite(t, store.Config{MaxFile: 1 << 10})
	archive := packed(t, [2]string{"lib/pot.so.sym", apitest.SymFile("pot.so", 2)}, [2]string{"README", "read me"})
	r := s.upload(t, sym("out/kettle.so", 1), [2]string{"all.zip", archive}, [2]string{"large.sym", strings.Repeat("x", 1<<10+1)}, [2]string{"cut.zip", archive[:60]})
	got := map[string]string{}
	for _, f := range r.Files {
		got[f.Name] = f.Refused
		for _, o := range f.Objects {
			got[f.Name] += o.DebugID + " " + strings.Join(o.Has, " ")
		}
	}
	for name, want := range map[string]string{
		"out/kettle.so.sym": apitest.SymID(1) + " debug", "all.zip/lib/pot.so.sym": apitest.SymID(2) + " debug", "all.zip/README": "unknown format",
		"large.sym": "uploads.max_file", "cut.zip": "",
	} {
		if text, ok := got[name]; !ok || !strings.Contains(text, want) {
			t.Errorf("%s: got %q in %q, want %q", name, text, got, want)
		}
	}
	if r.Accepted != 2 || r.Refused != 3 {
		t.Errorf("%d files are accepted and %d refused", r.Accepted, r.Refused)
	}
	u, err := s.Store.Upload(t.Context(), r.Upload)
	if err != nil || u.Labels["product"] != "pot" || u.Uploader != "ci" || u.Project != "web" {
		t.Errorf("the upload is %+v, %v", u, err)
	}
}

func TestUploadsAreRefusedBeforeTheirFiles(t *testing.T) {
	s := newSite(t, store.Config{MaxRequest: bin.Size(4 << 10)})
	for name, c := range map[string]struct {
		client, project, labels, want string
		status                        int
	}{
		"no right":        {"reader", "web", "", "right upload", http.StatusForbidden},
		"another project": {"ci", "app", "", "right upload", http.StatusForbidden},
		"no project":      {"ci", "", "", "invalid project", http.StatusBadRequest},
		"a bad label":     {"ci", "web", "version", "invalid label", http.StatusBadRequest},
	} {
		body, kind := uploadForm(c.project, c.labels, sym("kettle.so", 1))
		a := s.Ask(c.client, http.MethodPost, "/ui/uploads?do=upload", body, "Content-Type", kind, "Accept", "application/json")
		if a.Status != c.status || !strings.Contains(a.Body, c.want) {
			t.Errorf("%s: got %d %s", name, a.Status, a.Body)
		}
	}
	body, kind := uploadForm("web", "", [2]string{"large.sym", strings.Repeat("x", 2<<20)})
	s.Ask("ci", http.MethodPost, "/ui/uploads?do=upload", body, "Content-Type", kind, "Accept", "application/json").Expect(http.StatusRequestEntityTooLarge)
	s.Ask("ci", http.MethodPost, "/ui/uploads?do=upload", "project=web", "Content-Type", "application/x-www-form-urlencoded").Expect(http.StatusBadRequest, "multipart/form-data")
	body, kind = uploadForm("web", "")
	s.Ask("ci", http.MethodPost, "/ui/uploads?do=upload", body, "Content-Type", kind).Expect(http.StatusBadRequest, "the form has no file")
	if l := get[listed](s, "ci", "/ui/uploads"); len(l.Uploads) != 0 {
		t.Errorf("there are uploads: %+v", l)
	}
}

func TestAfterAnUploadForAModuleTheClientReturnsToItsPage(t *testing.T) {
	s := newSite(t, store.Config{})
	back := "ui/modules/kettle.so/" + apitest.SymID(1) + "?purpose=unwind"
	post := func(back string, files ...[2]string) apitest.Answer {
		body, kind := uploadForm("web", "", files...)
		return s.Ask("ci", http.MethodPost, "/ui/uploads?do=upload&back="+url.QueryEscape(back), body, "Content-Type", kind, "Accept", "text/html")
	}
	if a := post(back, sym("kettle.so", 1)); a.Status != http.StatusSeeOther || a.Header.Get("Location") != "../"+back+"&note=uploaded" {
		t.Errorf("got %d to %q", a.Status, a.Header.Get("Location"))
	}
	post(back, sym("kettle.so", 2), [2]string{"note", "hello"}).Expect(http.StatusOK, "Back to the module", "refused:")
	if a := post("//evil.example/", sym("kettle.so", 3)); a.Status != http.StatusOK {
		t.Errorf("to another server: got %d to %q", a.Status, a.Header.Get("Location"))
	}
}

// TestProgressIsReportedWhileFilesAreReceived sends the rest of the body after the first
// event has arrived.
func TestProgressIsReportedWhileFilesAreReceived(t *testing.T) {
	s := newSite(t, store.Config{})
	body, kind := uploadForm("web", "", sym("kettle.so", 1), [2]string{"padding.txt", strings.Repeat("x", 100<<10)})
	in, out := io.Pipe()
	go func() { _, _ = io.WriteString(out, body[:len(body)/2]) }()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/ui/uploads?do=upload", in)
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = int64(len(body))
	r.Header = http.Header{"Authorization": {"Bearer ci"}, "Content-Type": {kind}, "Accept": {"text/event-stream"}}
	got, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	lines := bufio.NewScanner(got.Body)
	lines.Buffer(nil, 1<<20)
	var last string
	isSent := false
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"text":"bytes received"`) && !isSent {
			isSent = true
			go func() {
				_, _ = io.WriteString(out, body[len(body)/2:])
				_ = out.Close()
			}()
		}
		if lines.Text() != "" {
			last = lines.Text()
		}
	}
	if !strings.Contains(last, "1 file accepted, 1 refused.") || !isSent {
		t.Errorf("the last event is %.300s, %v", last, lines.Err())
	}
}

func TestDuplicatesInOtherProjectsAreHidden(t *testing.T) {
	s := newSite(t, store.Config{})
	body, kind := uploadForm("app", "", sym("kettle.so", 1))
	s.Ask("other", http.MethodPost, "/ui/uploads?do=upload", body, "Content-Type", kind).Expect(http.StatusOK)
	u := s.upload(t, sym("kettle.so", 1))
	hasOther := func(client string) bool {
		return strings.Contains(s.Ask(client, http.MethodGet, "/ui/uploads/"+u.Upload, "", "Accept", "text/html").Body, "the same bytes")
	}
	if hasOther("reader") {
		t.Error("a client sees the upload of a project that it may not read")
	}
	if !hasOther("root") {
		t.Error("a client does not see the other upload")
	}
}
