package arch_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEveryDependencyHasAReason compares the list of ADR 6 with go.mod.
func TestEveryDependencyHasAReason(t *testing.T) {
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var want, got []string
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(read("go.mod"), -1) {
		want = append(want, m[1])
	}
	decision := read("docs/decisions/0006-dependencies.md")
	for _, m := range regexp.MustCompile("(?m)^\\| `([^` ]+/[^` ]+)` \\| [a-z]").FindAllStringSubmatch(decision, -1) {
		got = append(got, m[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("ADR 6 lists\n%s\ngo.mod has\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	binary, _, _ := strings.Cut(decision, "Only tests import")
	if n := strings.Count(binary, "\n| `"); n > 20 {
		t.Errorf("the binary has %d direct dependencies, want at most 20", n)
	}
}
