package main

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// commandLine is a command of symbolon with flags in any language, up to the end of
// the line or of the text in quotes.
var commandLine = regexp.MustCompile(`\bsymbolon ([a-z]+ -[^\n'|>]*)`)

// TestExamplesAreListedAndValid parses the command lines in the files below examples.
func TestExamplesAreListedAndValid(t *testing.T) {
	tree := os.DirFS("../../examples")
	list, err := fs.ReadFile(tree, "README.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == "README.md" {
			return err
		}
		if !strings.Contains(string(list), "]("+path+")") {
			t.Errorf("examples/README.md does not mention %s", path)
		}
		text, err := fs.ReadFile(tree, path)
		for _, m := range commandLine.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\\\n", " "), -1) {
			n++
			for _, line := range arguments(t, []string{"symbolon " + strings.TrimSuffix(m[1], `"`)}) {
				if p := parse(t, line...); p.err != nil {
					t.Errorf("examples/%s: symbolon %s: %v", path, m[1], p.err)
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 4 {
		t.Errorf("%d command lines were found, want at least 4", n)
	}
}
