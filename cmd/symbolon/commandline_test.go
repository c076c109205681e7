package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"symbolon/internal/cli"
	"symbolon/internal/standin"
	"symbolon/internal/standin/stackwalk"
)

// parsed is the result of parsing a command line.
type parsed struct {
	command string
	flags   map[string]string
	args    []string
	err     error
}

func (p parsed) String() string {
	return fmt.Sprintf("%s %q %q %v", p.command, slices.Sorted(maps.Values(p.flags)), p.args, p.err)
}

// parse parses a command line and does not run its command.
func parse(t *testing.T, line ...string) (p parsed) {
	t.Helper()
	root := commands(&env{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard})
	for c := range cli.Tree(root) {
		if !c.HasSubCommands() {
			c.RunE = func(_ *cobra.Command, args []string) error { p.args = args; return nil }
		}
	}
	c, err := cli.Run(t.Context(), root, line, completeValues)
	p.command, p.err, p.flags = c.CommandPath(), err, map[string]string{}
	c.Flags().VisitAll(func(f *pflag.Flag) { p.flags[f.Name] = f.Name + "=" + f.Value.String() })
	return p
}

// TestEachFlagTakesOneDashOrTwo gives each flag of each command good and bad values, in
// all forms.
func TestEachFlagTakesOneDashOrTwo(t *testing.T) {
	t.Parallel()
	for c := range cli.Tree(commands(&env{})) {
		command := strings.Fields(c.CommandPath())[1:]
		c.Flags().VisitAll(func(f *pflag.Flag) {
			words := []string{"", "1", "-json"}
			if v, ok := f.Value.(cli.Choice); ok {
				words = append(words, v.Words[1])
			}
			for _, word := range words {
				want := parse(t, append(command, "--"+f.Name+"="+word)...).String()
				for _, form := range formsOf(f, word) {
					if got := parse(t, append(command, form...)...).String(); got != want {
						t.Errorf("%s %q:\n got %s\nwant %s", c.CommandPath(), form, got, want)
					}
				}
			}
		})
	}
}

// formsOf returns the ways to give a flag a value.
func formsOf(f *pflag.Flag, value string) (forms [][]string) {
	for _, name := range []string{f.Name, f.Shorthand} {
		if name == "" {
			continue
		}
		forms = append(forms, []string{"-" + name + "=" + value}, []string{"--" + name + "=" + value})
		if f.NoOptDefVal == "" {
			forms = append(forms, []string{"-" + name, value}, []string{"--" + name, value})
		}
	}
	return forms
}

func TestValuesAndArgumentsKeepTheirDashes(t *testing.T) {
	for line, want := range map[string]string{
		"push --api-key -json":       `"-json" []`,
		"push -t -url":               `"-url" []`,
		"push -tKEY":                 `"KEY" []`,
		"push -api-key=-x -- -url -": `"-x" ["-url" "-"]`,
		"push a -api-key -e b":       `"-e" ["a" "b"]`,
	} {
		p := parse(t, strings.Fields(line)...)
		if got := fmt.Sprintf("%q %q", strings.TrimPrefix(p.flags["api-key"], "api-key="), p.args); got != want || p.err != nil {
			t.Errorf("%s: got %s, %v; want %s", line, got, p.err, want)
		}
	}
}

// TestDocumentedCommandLinesAreValid parses the command lines of all documents, with
// two dashes and with one, and runs those in blocks that need no network and no server.
// Those with files that are not in the project fail, but not as wrong usage.
func TestDocumentedCommandLinesAreValid(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip(err)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.CopyFS("cmd/symbolon/demo", os.DirFS(filepath.Join(root, "cmd/symbolon/demo"))); err != nil {
		t.Fatal(err)
	}
	n := 0
	err = fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" || path == "CHANGELOG.md" {
			return err
		}
		blocks, mentions := documented(t, filepath.Join(root, path))
		n += len(blocks)
		for i, line := range append(blocks, mentions...) {
			if standin.For(line[0]) != nil || stackwalk.For(line[0]) != nil {
				continue // they have parsers of their own
			}
			two, one := parse(t, line...), parse(t, oneDash(line)...)
			if two.err != nil {
				t.Errorf("%s: symbolon %s: %v", path, strings.Join(line, " "), two.err)
			}
			if one.String() != two.String() {
				t.Errorf("%s: symbolon %s:\nwith one dash %s\nwith two      %s", path, strings.Join(line, " "), one, two)
			}
			if i < len(blocks) && !slices.Contains(servers, line[0]) {
				if two, one := outputOf(t, line), outputOf(t, oneDash(line)); one != two {
					t.Errorf("%s: symbolon %s:\nwith one dash %s\nwith two      %s", path, strings.Join(line, " "), one, two)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 40 {
		t.Errorf("%d command lines were found in blocks, want at least 40", n)
	}
}

// oneDash returns a command line with one dash before long flags.
func oneDash(line []string) []string {
	line = slices.Clone(line)
	for i, word := range line {
		if strings.HasPrefix(word, "--") && len(word) > 3 {
			line[i] = word[1:]
		}
	}
	return line
}

// differing is the parts of the output that differ between runs: times and tokens.
var differing = regexp.MustCompile(`[0-9.]+ ?(ns|µs|ms|s)\b|[0-9A-Za-z]{43,}=*`)

// servers are commands that serve, or that make requests.
var servers = []string{"serve", "run", "batch", "healthcheck", "explain", "prefetch", "push", "push-symbols"}

// outputOf runs a command line and returns its output and its exit status.
func outputOf(t *testing.T, line []string) string {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(t.Context(), line, &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs})
	if code == exitUsage || code == exitFailed && strings.Contains(strings.Join(line, " "), "demo") {
		t.Errorf("symbolon %s: exit %d: %s%s", strings.Join(line, " "), code, &out, &errs)
	}
	return differing.ReplaceAllString(fmt.Sprint(&out, &errs, code), "")
}

var (
	block  = regexp.MustCompile("(?ms)^ *```\\w*\n(.*?)^ *```")
	inline = regexp.MustCompile("`(symbolon [^`]*[-/A-Z][^`]*)`")
)

// recorder makes a shell write the arguments of symbolon to a file, a line each that
// begins with "=" and an empty line at the end, and find no other program.
const recorder = `set -f; PATH=/nowhere; symbolon() { printf '=%s\n' "$@" >>"$RECORD"; echo >>"$RECORD"; }; `

// documented returns the command lines in the blocks of a document, and those that its
// sentences mention, which may end early.
func documented(t *testing.T, path string) (blocks, mentions [][]string) {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var scripts, inlines []string
	for _, m := range inline.FindAllStringSubmatch(string(page), -1) {
		if !strings.ContainsAny(m[1], "[|…") { // in a form of command lines
			inlines = append(inlines, m[1])
		}
	}
	for _, m := range block.FindAllStringSubmatch(string(page), -1) {
		text := strings.NewReplacer("\\\n", " ", "./symbolon ", "symbolon ", " && ", "; ").Replace(m[1])
		for line := range strings.Lines(text) {
			if strings.Contains(line, "symbolon ") {
				scripts = append(scripts, line)
			}
		}
	}
	return arguments(t, scripts), arguments(t, inlines)
}

// arguments returns the arguments that a shell passes to symbolon in scripts.
func arguments(t *testing.T, scripts []string) (lines [][]string) {
	record := filepath.Join(t.TempDir(), "record")
	for _, s := range scripts {
		sh := exec.Command("/bin/sh", "-c", recorder+s+"\nwait")
		sh.Dir, sh.Env = filepath.Dir(record), []string{"RECORD=" + record}
		_ = sh.Run() // it finds no other programs
	}
	text, err := os.ReadFile(record)
	if err != nil {
		return nil
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n\n"), "\n\n") {
		lines = append(lines, strings.Split(part[1:], "\n="))
	}
	return lines
}
