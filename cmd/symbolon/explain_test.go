package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/explain"
	"symbolon/internal/trial"
)

// explained runs "symbolon explain --json" on a folder of build ids that has the
// debug file of the program kiln.
func explained(t *testing.T, args ...string) *explain.Trail {
	t.Helper()
	dir := t.TempDir()
	at := filepath.Join(dir, kilnBuildID[:2], kilnBuildID[2:]+".debug")
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, trial.Corpus(t, "debuglink.debug"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	args = append([]string{"explain", "--json", "--source", dir}, args...)
	code := run(t.Context(), args, &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs})
	x := &explain.Trail{}
	if err := json.Unmarshal(out.Bytes(), x); err != nil {
		t.Fatalf("%v: exit %d, %v: %s", args, code, err, &errs)
	}
	return x
}

// kilnBuildID is the build id of debuglink.debug.
const kilnBuildID = "caeeab3dac563879c0a40e7bbc2a2ad961b2aa8d"

func TestExplainTakesABuildID(t *testing.T) {
	for _, args := range [][]string{{"kiln/" + kilnBuildID}, {"kiln/" + strings.ToUpper(kilnBuildID)}, {"--type", "elf", "kiln/" + kilnBuildID}} {
		x := explained(t, args...)
		if !x.Found || x.Asked.DebugID != "3DABEECA56AC7938C0A40E7BBC2A2AD90" {
			t.Errorf("%v: found %v, debug id %s: %s %v", args, x.Found, x.Asked.DebugID, x.Verdict, x.Advice)
		}
	}
}

func TestExplainSaysHowToNameAShortBuildID(t *testing.T) {
	const short = "caeeab3dac563879"
	if x := explained(t, "kiln/"+short); x.Found || len(x.Advice) == 0 || !strings.Contains(x.Advice[0], "--type elf") {
		t.Errorf("without a type: %s %v", x.Verdict, x.Advice)
	}
	x := explained(t, "--type", "elf", "kiln/"+short)
	asked := false
	for _, tried := range x.Tried {
		asked = asked || strings.HasSuffix(tried.Location, filepath.Join(short[:2], short[2:]+".debug"))
	}
	if !asked {
		t.Errorf("with --type elf no place of its build id was asked: %s %v", x.Verdict, x.Tried)
	}
}

func TestExplainRefusesTwoFilesInOneArgument(t *testing.T) {
	const both = "kiln/3DABEECA56AC7938C0A40E7BBC2A2AD90 kiln/" + kilnBuildID
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"explain", "--source", t.TempDir(), both}, &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs})
	if code != exitUsage || !strings.Contains(errs.String(), "quote each NAME/ID by itself") {
		t.Errorf("exit %d, want %d: %s%s", code, exitUsage, &out, &errs)
	}
	if x := explained(t, strings.Fields(both)...); !x.Found {
		t.Errorf("as two arguments: %s", x.Verdict)
	}
}

func TestExplainPrintsNoTrailingBlanks(t *testing.T) {
	args := []string{"explain", "--source", t.TempDir() + ",layout=debuginfod", "kiln/3DABEECA56AC7938C0A40E7BBC2A2AD90"}
	var out, errs bytes.Buffer
	run(t.Context(), args, &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs})
	if !strings.Contains(out.String(), "1. ") || strings.Contains(out.String(), " \n") {
		t.Errorf("%q%s", &out, &errs)
	}
}

func TestExplainRefusesIDsOfTwoFiles(t *testing.T) {
	other := strings.Repeat("ab", 20)
	var out, errs bytes.Buffer
	args := []string{"explain", "--source", t.TempDir(), "kiln/3DABEECA56AC7938C0A40E7BBC2A2AD90", "kiln/" + other}
	code := run(t.Context(), args, &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs})
	if code != exitUsage || !strings.Contains(errs.String(), "code id "+other+" does not belong to debug id 3DABEECA56AC7938C0A40E7BBC2A2AD90") {
		t.Errorf("exit %d, want %d: %s%s", code, exitUsage, &out, &errs)
	}
}
