package tecken_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"symbolon/internal/api"
	"symbolon/internal/api/tecken"
	"symbolon/internal/store"
)

// builds is a server of archives, below /pub/.
func builds(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/pub/a.zip", "/secret/a.zip":
			_, _ = w.Write([]byte(zipOf(symMember("tea.so", 1))))
		case "/pub/large.zip":
			_, _ = w.Write(make([]byte, 2<<20))
		case "/pub/moved.zip":
			http.Redirect(w, r, "/pub/a.zip", http.StatusFound)
		case "/pub/leaves.zip":
			http.Redirect(w, r, "/secret/a.zip", http.StatusFound)
		case "/pub/loop.zip":
			http.Redirect(w, r, "/pub/loop.zip", http.StatusFound)
		case "/pub/down.zip":
			w.WriteHeader(http.StatusBadGateway)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestZipsAreFetchedFromAllowedAddressesOnly(t *testing.T) {
	b := builds(t)
	other := strings.Replace(b.URL, "127.0.0.1", "127.0.0.1.example", 1)
	for _, c := range []struct {
		address string
		status  int
		want    string
	}{
		{b.URL + "/pub/a.zip", 201, fmt.Sprintf(`"filename":"a.zip","bucket":"tea","download_url":"%s/pub/a.zip"`, b.URL)},
		{b.URL + "/pub/moved.zip", 201, fmt.Sprintf(`"redirect_urls":["%s/pub/a.zip"]`, b.URL)},
		{b.URL + "/pub/leaves.zip", 400, "Not an allowed domain"},
		{b.URL + "/pub/loop.zip", 400, "Too many redirects"},
		{b.URL + "/pub/missing.zip", 400, "can't be found (404)"},
		{b.URL + "/pub/down.zip", 500, "errored (502)"},
		{b.URL + "/pub/large.zip", 413, "uploads.max_request"},
		{b.URL + "/pub/a.rar", 400, "Unrecognized archive file extension"},
		{b.URL + "/secret/a.zip", 400, "Not an allowed domain"},
		{b.URL + "/pub/../secret/a.zip", 400, "Not an allowed domain"},
		{b.URL + "/pub/%2e%2e/secret/a.zip", 400, "Not an allowed domain"},
		{strings.Replace(b.URL, "http://", "http://a:b@", 1) + "/pub/a.zip", 400, "Not an allowed domain"},
		{other + "/pub/a.zip", 400, "Not an allowed domain"},
		{"https" + strings.TrimPrefix(b.URL, "http") + "/pub/a.zip", 400, "Not an allowed domain"},
		{"file:///pub/a.zip", 400, "Enter a valid URL."},
		{"pub/a.zip", 400, "Enter a valid URL."},
	} {
		s := serveWith(t, api.Config{}, tecken.Config{AllowURLs: []string{b.URL + "/pub/"}}, store.Config{MaxRequest: 1 << 20})
		got := s.Ask("tea", "POST", "/upload/", url.Values{"url": {c.address}}.Encode(), "Content-Type", "application/x-www-form-urlencoded")
		if got.Status != c.status || !strings.Contains(got.Body, c.want) {
			t.Errorf("%s: got %d %s, want %d with %s", c.address, got.Status, got.Body, c.status, c.want)
		}
		if s.has("tea", 1) != (c.status == 201) {
			t.Errorf("%s: the file is stored: %v", c.address, c.status != 201)
		}
	}
}

func TestAllowedAddressesEndInASlash(t *testing.T) {
	for text, isValid := range map[string]bool{
		"https://a.example/": true, "http://10.0.0.1:8080/pub/": true, "https://a.example": false, "https://a.example/pub": false,
		"a.example/": false, "ftp://a.example/": false, "https://u@a.example/": false, "https://a.example/x/../": false,
	} {
		if err := (tecken.Config{AllowURLs: []string{text}}).Validate(); (err == nil) != isValid {
			t.Errorf("%s: got %v", text, err)
		}
	}
}
