package gcs_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/gcs"
	"symbolon/internal/fault"
)

// listing opens a bucket of a store whose answers to lists the test makes up.
func listing(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) *gcs.Bucket {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(answer))
	t.Cleanup(s.Close)
	return open(t, gcs.Config{Bucket: "b", Endpoint: s.URL, BearerToken: bin.NewSecret("t")}, nil)
}

func TestEmptyPagesAreFollowed(t *testing.T) {
	var tokens []string
	b := listing(t, func(w http.ResponseWriter, r *http.Request) {
		token := r.URL.Query().Get("pageToken")
		tokens = append(tokens, token)
		switch token {
		case "": // the offset itself
			fmt.Fprint(w, `{"items":[{"name":"a"}],"nextPageToken":"one"}`)
		case "one":
			fmt.Fprint(w, `{"nextPageToken":"two"}`)
		default:
			fmt.Fprint(w, `{"items":[{"name":"b"},{"name":"c"},{"name":"d"}]}`)
		}
	})
	keys, more, err := b.List(t.Context(), "", "a", 2)
	if !slices.Equal(keys, []string{"b", "c"}) || !more || err != nil {
		t.Errorf("keys %q, more %v, %v", keys, more, err)
	}
	if !slices.Equal(tokens, []string{"", "one", "two"}) {
		t.Errorf("pages %q", tokens)
	}
}

func TestInvalidListingIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   fault.Kind
	}{
		"no JSON":      {"<html>", fault.Transport},
		"endless":      {`{"nextPageToken":"one"}`, fault.Transport},
		"too large":    {`{"items":[` + strings.Repeat(`{"name":"a"},`, bucket.MaxListing/12), fault.Malformed},
		"not in order": {`{"items":[{"name":"c"},{"name":"b"}]}`, fault.Transport},
		"too many":     {`{"items":[{"name":"b"},{"name":"c"},{"name":"d"},{"name":"e"}]}`, fault.Transport},
	} {
		b := listing(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, c.answer) })
		if keys, _, err := b.List(t.Context(), "", "a", 2); fault.KindOf(err) != c.want || keys != nil {
			t.Errorf("%s: %q, %v", name, keys, err)
		}
	}
}

func TestListWithoutABucketTellsSo(t *testing.T) {
	b := listing(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNotFound) })
	if _, _, err := b.List(t.Context(), "", "", 2); fault.KindOf(err) != fault.NotFound || !errors.Is(err, bucket.ErrNoBucket) {
		t.Errorf("List: %v", err)
	}
}
