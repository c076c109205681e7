package bucket_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// answers is a store whose listings the test makes up.
type answers struct {
	names []string
	more  bool
}

func TestListingTrustsNoStore(t *testing.T) {
	for name, c := range map[string]struct {
		answer answers
		want   fault.Kind
	}{
		"not in order":       {answers{[]string{"f/b", "f/a"}, false}, fault.Transport},
		"twice":              {answers{[]string{"f/b", "f/b"}, false}, fault.Transport},
		"not after the key":  {answers{[]string{"f/a"}, false}, fault.Transport},
		"another folder":     {answers{[]string{"g/b"}, false}, fault.Transport},
		"empty and more":     {answers{nil, true}, fault.Transport},
		"more than asked":    {answers{[]string{"f/b", "f/c", "f/d"}, false}, fault.Transport},
		"the same page ever": {answers{[]string{"f/b//"}, true}, fault.Transport},
	} {
		l := bucket.Listing{Place: "store", Folder: "f/", Fetch: func(context.Context, string, string, int) ([]string, bool, error) {
			return c.answer.names, c.answer.more, nil
		}}
		keys, _, err := l.Page(t.Context(), "", "a", 2)
		if fault.KindOf(err) != c.want || keys != nil {
			t.Errorf("%s: %q, %v", name, keys, err)
		}
	}
}

func TestListingSkipsInvalidKeys(t *testing.T) {
	pages := []answers{{[]string{"f/", "f//"}, true}, {[]string{"f/a//", `f/a\`}, true}, {[]string{"f/b", "f/b/"}, true}, {[]string{"f/c/"}, false}}
	var asked []string
	l := bucket.Listing{Place: "store", Folder: "f/", Fetch: func(_ context.Context, prefix, after string, n int) ([]string, bool, error) {
		asked = append(asked, after)
		page := pages[len(asked)-1]
		return page.names, page.more, nil
	}}
	keys, more, err := l.Page(t.Context(), "", "", 2)
	if !slices.Equal(keys, []string{"b"}) || !more || err != nil {
		t.Errorf("first page: %q, more %v, %v", keys, more, err)
	}
	keys, more, err = l.Page(t.Context(), "", "b", 2)
	if len(keys) != 0 || more || err != nil {
		t.Errorf("last page: %q, more %v, %v", keys, more, err)
	}
	if want := []string{"", "f//", `f/a\`, "f/b"}; !slices.Equal(asked, want) {
		t.Errorf("pages after %q, want %q", asked, want)
	}
}

func TestListingOfInvalidKeysEnds(t *testing.T) {
	name := "f/"
	l := bucket.Listing{Place: "store", Folder: "f/", Fetch: func(context.Context, string, string, int) ([]string, bool, error) {
		name += "/"
		return []string{name}, true, nil
	}}
	if _, _, err := l.Page(t.Context(), "", "", 2); fault.KindOf(err) != fault.Unsupported || !strings.Contains(err.Error(), "too many keys") {
		t.Errorf("endless pages of invalid keys: %v", err)
	}
}
