package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"symbolon/internal/api"
)

func TestProductIsTheFirstOneOfTheUserAgent(t *testing.T) {
	var got string
	f := newFront(api.Config{}, get("/p", func(_ http.ResponseWriter, r *http.Request) { got = api.Product(r.Context()) }))
	for agent, want := range map[string]string{
		"FirefoxProfiler/1.0 (+https://profiler.firefox.com)": "FirefoxProfiler", "elfutils/0.188,Linux/x86_64,debian/12": "elfutils",
		"Microsoft-Symbol-Server/10.0.10036.206": "Microsoft-Symbol-Server", "Breakpad": "Breakpad", "": "", "/1.0": "",
		"<b>/1": "", strings.Repeat("A", 43): "",
	} {
		r := httptest.NewRequest(http.MethodGet, "/p", nil)
		r.Header.Set("User-Agent", agent)
		f.ServeHTTP(httptest.NewRecorder(), r)
		if got != want {
			t.Errorf("%q: got %q, want %q", agent, got, want)
		}
	}
}
