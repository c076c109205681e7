package s3_test

import (
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

func TestEscapedNamesAreListed(t *testing.T) {
	var query string
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		query = r.URL.RawQuery
		io.WriteString(w, `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>true</IsTruncated><EncodingType>url</EncodingType>
			<Contents><Key>p/a%01b</Key><Size>1</Size></Contents><Contents><Key>p/a+b</Key></Contents><Contents><Key>p/a%2Bb%20c</Key></Contents></ListBucketResult>`)
	})
	keys, more, err := open(t, config(s.URL, "p")).List(t.Context(), "a", "a", 5)
	if want := []string{"a\x01b", "a b", "a+b c"}; !slices.Equal(keys, want) || !more || err != nil {
		t.Errorf("keys %q, more %v, %v; want %q", keys, more, err, want)
	}
	if want := "encoding-type=url&list-type=2&max-keys=5&prefix=p%2Fa&start-after=p%2Fa"; query != want {
		t.Errorf("query %s, want %s", query, want)
	}
}

func TestListingsContinueByToken(t *testing.T) {
	var queries []string
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		queries = append(queries, r.URL.Query().Get("continuation-token")+","+r.URL.Query().Get("start-after"))
		io.WriteString(w, `<ListBucketResult><IsTruncated>`+strconv.FormatBool(len(queries) == 1)+`</IsTruncated><NextContinuationToken>1+1</NextContinuationToken>
			<Contents><Key>a/`+strconv.Itoa(len(queries))+`</Key></Contents></ListBucketResult>`)
	})
	b := open(t, config(s.URL, ""))
	for _, after := range []string{"", "a/1", "a/2"} {
		if _, _, err := b.List(t.Context(), "a/", after, 1); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{",", "1+1,", ",a/2"}; !slices.Equal(queries, want) {
		t.Errorf("the requests have %q, want %q", queries, want)
	}
}

func TestInvalidListingIsRefused(t *testing.T) {
	const begin, end = "<ListBucketResult>", "</ListBucketResult>"
	for name, c := range map[string]struct {
		status int
		answer string
		want   fault.Kind
	}{
		"HTML":         {200, "<html><body>hello</body></html>", fault.Transport},
		"truncated":    {200, begin + "<Contents><Key>a</Key>", fault.Transport},
		"bad escape":   {200, begin + "<EncodingType>url</EncodingType><Contents><Key>%zz</Key></Contents>" + end, fault.Transport},
		"too large":    {200, begin + strings.Repeat("<Contents><Key>a</Key></Contents>", bucket.MaxListing/30) + end, fault.Malformed},
		"too deep":     {200, begin + strings.Repeat("<a>", 100_000), fault.Transport},
		"denied":       {403, xmlError("AccessDenied", "x"), fault.Denied},
		"no bucket":    {404, xmlError("NoSuchBucket", "x"), fault.NotFound},
		"ignores keys": {200, begin + "<Contents><Key>a</Key></Contents>" + end, fault.Transport},
	} {
		s := fake(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(c.status)
			io.WriteString(w, c.answer)
		})
		if keys, _, err := open(t, config(s.URL, "")).List(t.Context(), "", "b", 5); fault.KindOf(err) != c.want || keys != nil {
			t.Errorf("%s: %q, %v", name, keys, err)
		}
	}
}
