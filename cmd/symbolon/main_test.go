package main

import (
	"archive/zip"
	hexpkg "encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"symbolon/internal/fixture"
	"symbolon/internal/waittest"
)

func TestMain(m *testing.M) {
	waittest.Parallel()
	programs := map[string]func(){}
	for _, name := range []string{
		"symbolon", "addr2line", "llvm-symbolizer", "llvm-addr2line", "minidump_stackwalk", "minidump-stackwalk",
	} {
		programs[name] = main
	}
	testscript.Main(m, programs)
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
			release, err := zip.OpenReader("testdata/release/data.zip")
			if err != nil {
				return err
			}
			defer release.Close()
			e.Defer(func() { endServer(e.WorkDir + "/pid") })
			points := fixture.NewPPDBPoints(0).Point(0x1a, 7, 5, 7, 9)
			portable := fixture.NewPPDB().Document(`C:\src\a.cs`, `\`).Method(1, points).Bytes()
			example, _ := hexpkg.DecodeString(symbfileExample)
			readme, err := os.ReadFile("../../README.md")
			if err != nil {
				return err
			}
			cert, key := fixture.Certificate("localhost")
			return errors.Join(
				os.WriteFile(e.WorkDir+"/cert.pem", cert, 0o600), os.WriteFile(e.WorkDir+"/key.pem", key, 0o600),
				os.WriteFile(e.WorkDir+"/README.md", readme, 0o600),
				os.CopyFS(e.WorkDir+"/demo", os.DirFS("demo")), os.CopyFS(e.WorkDir+"/release", release),
				os.WriteFile(e.WorkDir+"/portable.pdb", portable, 0o600),
				os.WriteFile(e.WorkDir+"/example", example, 0o600), os.WriteFile(e.WorkDir+"/cut", example[:50], 0o600),
				os.WriteFile(e.WorkDir+"/abc", []byte("abc"), 0o600), writeDumps(e.WorkDir),
			)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fetch": fetch,
			"await": await,
			"end":   end,
		},
	})
}

// symbfileExample is three ranges: main in main.c, and two calls that are inlined
// into it and into one another.
const symbfileExample = "73796d6266696c65000108040a066d61696e2e63190260802010401a046d61696e5000420a0a0300082812030a0b0d" +
	"1f02082010201a096f757465725f696e6c280c58003801500042060a01001201032402081010101a086c6561665f696e6c22066c6561662e68" +
	"2804380242080a02000412024647"

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
