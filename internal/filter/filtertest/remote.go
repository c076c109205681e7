package filtertest

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"symbolon/internal/filter"
)

// Remote returns names of a server, which runs until the test ends.
func Remote(t *testing.T, answer http.HandlerFunc) *filter.Remote {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	r, err := filter.NewRemote(s.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	return r
}
