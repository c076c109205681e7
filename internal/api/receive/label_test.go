package receive_test

import (
	"maps"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"symbolon/internal/api/receive"
	"symbolon/internal/token"
)

func TestLabelsAreThoseOfTheRequestBelowThoseOfItsToken(t *testing.T) {
	g := &token.Grant{Labels: map[string]string{"product": "pot"}}
	many := make([]string, 17)
	for i := range many {
		many[i] = "a=b"
	}
	long := "n=" + strings.Repeat("v", 198)
	for _, c := range []struct {
		labels []string
		want   map[string]string // nil: refused
	}{
		{nil, map[string]string{"product": "pot"}},
		{[]string{"product=jar", "version=1=2"}, map[string]string{"product": "pot", "version": "1=2"}},
		{[]string{long}, map[string]string{"product": "pot", "n": long[2:]}},
		{many[:16], map[string]string{"product": "pot", "a": "b"}},
		{[]string{long + "v"}, nil},
		{many, nil},
		{[]string{"=value"}, nil},
		{[]string{"name="}, nil},
		{[]string{"name"}, nil},
		{[]string{""}, nil},
		{[]string{"name=a\nb"}, nil},
		{[]string{"name=\xff"}, nil},
	} {
		r := httptest.NewRequest("POST", "/?"+url.Values{"label": c.labels}.Encode(), nil)
		got, err := receive.Labels(r, g)
		if (err != nil) != (c.want == nil) || !maps.Equal(got, c.want) {
			t.Errorf("%.100q: got %.100q, %v; want %.100q", c.labels, got, err, c.want)
		}
	}
}
