package node_test

import (
	"archive/zip"
	"bytes"
	"io"
	"mime/multipart"
	"net/http/httptest"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/node"
)

func TestFilesOfTryBuildsAreReadBelowTry(t *testing.T) {
	n, cfg := newNode(t, "{}")
	front, err := n.Front(cfg)
	if err != nil {
		t.Fatal(err)
	}
	const path = "/tea.so/" + fixture.SymID + "/tea.so.sym"
	get := func(path string) int {
		w := httptest.NewRecorder()
		front.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w.Code
	}
	upload := func(fields ...string) {
		t.Helper()
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		file, err := form.CreateFormFile("symbols.zip", "symbols.zip")
		if err != nil {
			t.Fatal(err)
		}
		z := zip.NewWriter(file)
		w, err := z.Create(path[1:])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte("MODULE Linux x86_64 " + fixture.SymID + " tea.so\nFUNC 1000 10 0 pour\n"))
		_ = z.Close()
		for _, f := range fields {
			_ = form.WriteField(f, "1")
		}
		_ = form.Close()
		r := httptest.NewRequest("POST", "http://localhost/upload/", &body)
		r.RemoteAddr = "127.0.0.1:1"
		r.Header.Set("Content-Type", form.FormDataContentType())
		got := httptest.NewRecorder()
		if front.ServeHTTP(got, r); got.Code != 201 {
			t.Fatalf("upload: got %d %s", got.Code, got.Body)
		}
	}
	upload("try")
	if below, regular := get("/try"+path), get(path); below != 200 || regular != 404 {
		t.Errorf("after an upload of a try build: got %d below /try/ and %d elsewhere, want 200 and 404", below, regular)
	}
	private := n.Project(t.Context(), node.ProjectQuery{Name: "default-try"}, io.Discard)
	if below := get("/try" + path); private != nil || below != 404 {
		t.Errorf("below /try/ of a private project: got %d, %v; want 404", below, private)
	}
	upload()
	if below, regular := get("/try"+path), get(path); below != 200 || regular != 200 {
		t.Errorf("after another upload: got %d below /try/ and %d elsewhere, want 200", below, regular)
	}
}
