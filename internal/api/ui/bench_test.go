package ui_test

import (
	"crypto/md5"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"symbolon/internal/api/apitest"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/missing"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

// BenchmarkPages shows pages over 10,000 missing modules, uploads, tokens, projects and
// files of an upload, each over a connection.
func BenchmarkPages(b *testing.B) {
	folder, err := dir.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	s := newSiteOver(b, store.Config{}, folder)
	big := s.Store.Begin("web", nil, "ci")
	defer big.Close()
	for n := range 10_000 {
		s.miss(n, fmt.Sprintf("a-library-with-a-name-%d.pdb", n), missing.Client{Door: "mozilla", Product: "FirefoxProfiler"}, "not found: no source has the file")
		text := fmt.Sprintf("MODULE Linux x86_64 %X0 kettle.so\nPUBLIC 10 0 f\n", md5.Sum([]byte{byte(n), byte(n >> 8)}))
		d := s.Store.Begin("web", map[string]string{"version": fmt.Sprint(n)}, "ci")
		for _, draft := range []*store.Draft{d, big} {
			if _, err := draft.Add(b.Context(), fmt.Sprintf("kettle-%d.sym", n), strings.NewReader(text)); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := d.Commit(b.Context()); err != nil {
			b.Fatal(err)
		}
		d.Close()
	}
	u, err := big.Commit(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for n := range 2_000 { // all tokens together have a limit of bytes
		if _, _, err := s.ring.Add(b.Context(), token.Token{Grant: token.Grant{Name: fmt.Sprint(n)}}); err != nil {
			b.Fatal(err)
		}
	}
	for _, path := range []string{"/ui/missing", "/ui/missing?q=name-12", "/ui/uploads", "/ui/uploads/" + u.ID, "/ui/tokens", "/ui/projects"} {
		b.Run(path, func(b *testing.B) {
			var a apitest.Answer
			for b.Loop() {
				a = s.Ask("root", http.MethodGet, path, "", "Accept", "text/html")
			}
			b.ReportMetric(float64(len(a.Body)), "B/page")
		})
	}
}
