package arch_test

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"
)

// sleepers returns the files of tests and of their support that sleep by the real
// clock.
func sleepers(files fs.FS) (found []string, err error) {
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		dir := path.Base(path.Dir(name))
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != ".":
			return fs.SkipDir
		case d.IsDir(), dir == "waittest", path.Ext(name) != ".go":
			return nil
		case !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(dir, "test") && dir != "trial":
			return nil
		}
		text, err := fs.ReadFile(files, name)
		if err == nil && strings.Contains(string(text), "time."+"Sleep(") && !strings.Contains(string(text), `"testing/synctest"`) {
			found = append(found, name)
		}
		return err
	})
	return found, err
}

func TestTestsDoNotSleep(t *testing.T) {
	found, err := sleepers(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		t.Errorf("%s sleeps: use testing/synctest, or wait for the event with waittest", name)
	}
}

func TestSleepersAreFound(t *testing.T) {
	file := func(imports string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("package a\n\nimport (\n" + imports + ")\n\nfunc f() { time." + "Sleep(1) }\n")}
	}
	found, err := sleepers(fstest.MapFS{
		"internal/a/a.go":                 file("\t\"time\"\n"),
		"internal/a/a_test.go":            file("\t\"time\"\n"),
		"internal/a/bubble_test.go":       file("\t\"testing/synctest\"\n\t\"time\"\n"),
		"internal/a/atest/atest.go":       file("\t\"time\"\n"),
		"internal/trial/a.go":             file("\t\"time\"\n"),
		"internal/waittest/waittest.go":   file("\t\"time\"\n"),
		"internal/a/testdata/x/x_test.py": file("\t\"time\"\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(found, " "), "internal/a/a_test.go internal/a/atest/atest.go internal/trial/a.go"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
