package arch_test

import (
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"symbolon/internal/arch"
)

// TestNamesInArchitectureExist checks the tables of ARCHITECTURE.md.
func TestNamesInArchitectureExist(t *testing.T) {
	found, err := arch.Names(os.DirFS("../.."), "ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range found {
		t.Error(b)
	}
}

func TestNamesOfADocumentAreComparedWithTheTree(t *testing.T) {
	files := fstest.MapFS{
		"go.mod": {Data: []byte("module a\n")},
		"internal/source/tree/tree.go": {Data: []byte("package tree\n\nconst Max = 1\n\ntype Source[T any] struct {\n\tid, name T\n}\n\n" +
			"type getter interface {\n\tget()\n}\n\nfunc (s *Source[T]) Fetch() {}\n\nfunc open() {}\n")},
		"A.md": {Data: []byte("`nothing` outside of a table\n\n| a | b |\n|---|---|\n" +
			"| `source/tree`, `source/tree/tree.go` | `source/tree.Max`, `source/tree.Source`, `source/tree.Source.id`, `source/tree.Source.name` |\n" +
			"| plain | `source/tree.getter.get`, `source/tree.Source.Fetch`, `source/tree.open` |\n" +
			"| `source` | `tree.open`, `source/tree.Fetch`, `source/tree.Source.open`, `source/tree/open.go` |\n")},
	}
	found, err := arch.Names(files, "A.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range found {
		got = append(got, b.String())
	}
	var want []string
	for _, name := range []string{"source", "tree.open", "source/tree.Fetch", "source/tree.Source.open", "source/tree/open.go"} {
		want = append(want, `A.md:7: name: "`+name+`" is not a package, a file or a declaration`)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
