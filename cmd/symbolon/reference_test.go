package main

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"symbolon/internal/cli"
	"symbolon/internal/config"
	"symbolon/internal/metric"
)

var update = flag.Bool("update", false, "write the generated references")

// TestReferencesAreCurrent checks the generated pages in docs/operate. Run it with
// -update after a change.
func TestReferencesAreCurrent(t *testing.T) {
	for name, write := range map[string]func(io.Writer) error{
		"configuration.md": config.Reference,
		"metrics.md":       metricsPage,
		"commands.md":      commandsPage,
	} {
		var want bytes.Buffer
		if err := write(&want); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("..", "..", "docs", "operate", name)
		if *update {
			if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s is not what the program has (%v); run: go test ./cmd/symbolon -run References -update", name, err)
		}
	}
}

func metricsPage(w io.Writer) error {
	say(w, "# Metrics\n\n`GET /metrics` returns these in the text format of Prometheus, or in OpenMetrics or protobuf (with native histograms) if the client accepts them. The metrics `go_…` and `process_…` are the usual ones of Go programs.\n\n| Name | Type | Labels | Meaning |\n|---|---|---|---|\n")
	for _, m := range metric.Table() {
		say(w, "| `%s` | %s | %s | %s |\n", m.Name, m.Type, strings.Join(m.Labels, ", "), m.Help)
	}
	return nil
}

func commandsPage(w io.Writer) error {
	say(w, "# Commands\n\nResults go to stdout, everything else to stderr. "+cli.ExitCodes+"\n\n"+
		"A command that is interrupted by a signal exits with 128 plus the number of the signal: 130 after Ctrl-C, 143 after SIGTERM. "+
		"`serve` is an exception: it is stopped by a signal, and exits with 0.\n\n"+
		"Text on a terminal has colors, and its tables have titles. `--color always`, `--color never`, and the variables `NO_COLOR` and `TERM=dumb` change that; `--color` is a flag of all commands.\n\n"+
		"A command that takes more than a second shows its progress on stderr, if that is a terminal: "+
		"how much is done, the rate, and the time that is left if the size is known.\n")
	root := commands(&env{})
	for _, g := range root.Groups() {
		for c := range cli.Tree(root) {
			if top := topOf(c); c.HasSubCommands() || top.GroupID != g.ID {
				continue
			}
			say(w, "\n## %s\n\n```\n", c.CommandPath())
			cli.WriteHelp(w, c)
			say(w, "```\n")
		}
	}
	return nil
}

// topOf returns the command of which c is a subcommand, or c.
func topOf(c *cobra.Command) *cobra.Command {
	for c.HasParent() && c.Parent().HasParent() {
		c = c.Parent()
	}
	return c
}

// TestDocumentsNameWhatExists checks that each path of the project that a
// document names is there.
func TestDocumentsNameWhatExists(t *testing.T) {
	top := filepath.Join("..", "..")
	err := filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, word := range strings.FieldsFunc(string(text), func(r rune) bool { return strings.ContainsRune(" \n\t`()[]|,;:\"'", r) }) {
			word = strings.TrimRight(word, ".")
			for _, root := range []string{"internal/", "cmd/", "docs/", "bench/", ".ci/"} {
				if strings.HasPrefix(word, root) && !strings.ContainsAny(word, "*{<NX…") &&
					!strings.HasPrefix(word, "bench/symbols") && !strings.HasPrefix(word, "bench/debug") { // which git ignores
					if _, err := os.Stat(filepath.Join(top, word)); err != nil {
						t.Errorf("%s names %s, which does not exist", path, word)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
