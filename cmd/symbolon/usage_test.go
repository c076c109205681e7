package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"symbolon/internal/cli"
)

// TestNoCommandIgnoresAnArgument gives each command more arguments than it
// takes. A command that took them would do something else than was meant:
// "cache purge --all ./other" emptied the default cache.
func TestNoCommandIgnoresAnArgument(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for c := range cli.Tree(commands(&env{})) {
		if !c.HasSubCommands() && !strings.Contains(c.Use, "...") {
			refuses(t, append(strings.Fields(c.CommandPath())[1:], "a", "b", "c")...)
		}
	}
	for _, line := range []string{"config check a b", "cache purge --all ./other", "config check --config a.yaml a.yaml",
		"push-symbols package -p a --dry-run ./b", "help serve more", "serve --set foo=bar", "serve --set mozilla.max_jobs=x --listen foo", "config check --source microsoft --source microsoft",
		"token add --right foo", "token add --project //", "help table build more", "--version more"} {
		refuses(t, strings.Fields(line)...)
	}
}

func refuses(t *testing.T, line ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(t.Context(), line, &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs})
	if code != exitUsage {
		t.Errorf("symbolon %s: exit %d, want %d: %s%s", strings.Join(line, " "), code, exitUsage, &out, &errs)
	}
}

func TestDemangleReadsLongLines(t *testing.T) {
	line := strings.Repeat("a ", 2<<20) + "_Z1fv\n"
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"demangle"}, &env{stdin: strings.NewReader(line), stdout: &out, stderr: &errs})
	if want := strings.Replace(line, "_Z1fv", "f()", 1); code != exitDone || out.String() != want {
		t.Errorf("exit %d, %d bytes, want %d: %s", code, out.Len(), len(want), &errs)
	}
}

func TestREADMETellsTheExitCodes(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), cli.ExitCodes) {
		t.Errorf("README.md does not say: %s", cli.ExitCodes)
	}
}
