package tree_test

import (
	"slices"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/source/tree"
)

func TestNamesInFilesLeadToPlacesBelowTheFolder(t *testing.T) {
	root := folder(t, map[string][]byte{"usr/bin/a": nil, "usr/x": nil, "x": nil, "y.gz": nil})
	s := local(t, source.Config{Path: root}, bucketOf(t, root))
	for _, c := range []struct {
		from  string
		names []string
		want  []string
	}{
		{"usr/bin/a", []string{"../x"}, []string{"usr/x"}},
		{"usr/bin/a", []string{"../../../../../x", "/usr/x"}, []string{"x", "usr/x"}},
		{"usr/bin/a", []string{"a"}, nil},
		{"usr/bin/a", []string{"gone", "../gone"}, []string{"usr/bin/gone"}},
		{"usr/bin/a", []string{"gone", "../../y"}, []string{"y"}},
		{"", []string{"x"}, nil},
		{"", []string{root + "/usr/x"}, []string{"usr/x"}},
		{"", []string{"/etc/passwd"}, []string{"etc/passwd"}},
		{"", []string{"/..", "/a\x00b", "/a\\b", "/\xff"}, nil},
	} {
		var got []string
		for _, x := range s.Named(t.Context(), ident.Module{}, source.DWO, c.from, c.names) {
			got = append(got, x.Path)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q from %q: got %q, want %q", c.names, c.from, got, c.want)
		}
	}
}

func TestNamesInFilesAreForFoldersOfTheConfiguration(t *testing.T) {
	root := folder(t, map[string][]byte{"x": nil})
	guarded, err := tree.NewGuarded(source.Config{ID: "s", Type: source.Filesystem, Path: root}, bucketOf(t, root),
		source.NewDecoder(bin.Limit{}, nil), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	filtered := local(t, source.Config{Path: root, Filters: source.Filters{FileTypes: []string{source.Breakpad}}}, bucketOf(t, root))
	for name, s := range map[string]*tree.Source{"of a request": guarded, "without elf_debug": filtered} {
		if got := s.Named(t.Context(), ident.Module{}, source.DWO, "a", []string{"x"}); len(got) > 0 {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
