package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"symbolon": main})
}

// TestScripts runs the command lines of testdata. Each command and each error
// that a person can meet has its lines there.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_CACHE_HOME", e.WorkDir+"/cachehome")
			e.Setenv("HOME", e.WorkDir)
			return os.CopyFS(e.WorkDir+"/demo", os.DirFS("demo"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fetch": fetch,
			"await": await,
		},
	})
}
