package inspect_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/inspect"
	"symbolon/internal/object"
)

// open opens a .sym file with functions in two source files.
func open(t *testing.T, functions int) *object.Object {
	t.Helper()
	var text strings.Builder
	text.WriteString("MODULE Linux x86_64 " + fixture.SymID + " tea.so\nFILE 0 src/Tea.c\nFILE 1 src/mug.c\n")
	for i := range functions {
		fmt.Fprintf(&text, "FUNC %x 10 0 tea::pour(int)\n%x 10 7 %d\n", 0x1000+i*16, 0x1000+i*16, i%2)
	}
	f, err := debugfile.Open(bin.Bytes([]byte(text.String())), object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f.Objects()[0]
}

func TestSearchComparesNamesInAnyCase(t *testing.T) {
	for text, want := range map[string]int{"TEA::POUR": 2, "mug": 0, "pour(int)": 2, "": 2} {
		m, err := inspect.Search(t.Context(), open(t, 2), text, 10)
		if err != nil || len(m.Functions) != want {
			t.Errorf("%q: %+v, %v; want %d functions", text, m, err, want)
		}
	}
	m, err := inspect.Search(t.Context(), open(t, 2), "tea", 10)
	if want := []string{"src/Tea.c"}; err != nil || !slices.Equal(m.Files, want) || m.IsCut {
		t.Errorf("files %q, cut %v, %v; want %q", m.Files, m.IsCut, err, want)
	}
	if want := (inspect.Function{Addr: "0x1000", Size: 16, Name: "tea::pour(int)"}); len(m.Functions) == 0 || m.Functions[0] != want {
		t.Errorf("functions %+v, want first %+v", m.Functions, want)
	}
}

func TestSearchIsBounded(t *testing.T) {
	m, err := inspect.Search(t.Context(), open(t, 50), "", 3)
	if err != nil || len(m.Functions) != 3 || !m.IsCut {
		t.Errorf("%+v, %v; want three functions of more", m, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m, err = inspect.Search(ctx, open(t, 50), "", 100); err != nil || !m.IsCut {
		t.Errorf("after the end of the context: %+v, %v", m, err)
	}
}
