package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"symbolon/internal/fixture"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"symbolon": main, "addr2line": main, "llvm-symbolizer": main})
}

// TestScripts runs the command lines of testdata. Each command and each error
// that a person can meet has its lines there.
func TestScripts(t *testing.T) {
	corpus, err := filepath.Abs("../../internal/object/testdata/corpus")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_CACHE_HOME", e.WorkDir+"/cachehome")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("CORPUS", corpus) // files of real compilers
			e.Defer(func() { endServer(e.WorkDir + "/pid") })
			points := fixture.NewPPDBPoints(0).Point(0x1a, 7, 5, 7, 9)
			portable := fixture.NewPPDB().Document(`C:\src\a.cs`, `\`).Method(1, points).Bytes()
			return errors.Join(os.CopyFS(e.WorkDir+"/demo", os.DirFS("demo")), os.WriteFile(e.WorkDir+"/portable.pdb", portable, 0o600))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fetch": fetch,
			"await": await,
		},
	})
}

// endServer ends the server that a script has left, if it has.
func endServer(file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		return
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill() // it has ended, most of the time
		}
	}
}
