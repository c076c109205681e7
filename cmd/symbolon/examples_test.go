package main

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"symbolon/internal/config"
)

// Commands of symbolon with flags: in any language, up to the end of the line or of the
// text in quotes, and as a list in JSON or YAML, with the program or without it.
var (
	commandLine = regexp.MustCompile(`\bsymbolon ([a-z]+ -[^\n'|>]*)`)
	commandList = regexp.MustCompile(`\["(?:/symbolon", ")?(batch", [^\n]*)"\]`)
)

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
		var lines [][]string
		for _, m := range commandLine.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\\\n", " "), -1) {
			if line := m[1]; strings.Count(line, `"`)%2 != 0 { // the command is in quotes
				m[1] = line[:strings.LastIndexByte(line, '"')]
			}
			lines = append(lines, arguments(t, []string{"symbolon " + m[1]})...)
		}
		for _, m := range commandList.FindAllStringSubmatch(string(text), -1) {
			lines = append(lines, strings.Split(m[1], `", "`))
		}
		n += len(lines)
		for _, line := range lines {
			if p := parse(t, line...); p.err != nil {
				t.Errorf("examples/%s: symbolon %s: %v", path, strings.Join(line, " "), p.err)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 8 {
		t.Errorf("%d command lines were found, want at least 8", n)
	}
}

func TestConfigurationOfTheKubernetesExampleIsValid(t *testing.T) {
	text, err := os.ReadFile("../../examples/kubernetes-server.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, own, ok := strings.Cut(string(text), "  symbolon.yaml: |\n")
	own, _, _ = strings.Cut(own, "---")
	if _, _, err := config.Read(config.Options{File: "symbolon.yaml", Data: []byte(own)}); err != nil || !ok {
		t.Errorf("the configuration is not valid: %v\n%s", err, own)
	}
}
