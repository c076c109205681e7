package pages_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/trial"
)

// modulePath is the page of trial's module.
const modulePath = "/ui/modules/kettle.so/" + trial.KettleID

// folder returns a folder of symbols with trial's module.
func folder(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	path := filepath.Join(root, filepath.FromSlash(trial.KettlePath))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(trial.KettleSym), 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestPageOfAModuleShowsWhereItWasFound(t *testing.T) {
	t.Parallel()
	s := trial.Start(t, trial.Options{Demo: true})
	b := newTab(t, s)
	b.open("/ui/modules/teapot.pdb/6D1F0A5C3B2E4F718C9D0E1F2A3B4C5D1?q=teapot&addr=0x1028")
	b.shows("found in demo")
	b.shows("chosen")
	b.shows("teapot::Pot::pour(teapot::Cup&)")
	b.looks("module")
}

// TestAModuleIsAskedForAgainByTheKeyboard reads the page of a missing module, forgets it,
// adds the file and asks again, with the keyboard alone.
func TestAModuleIsAskedForAgainByTheKeyboard(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s := trial.Start(t, trial.Options{Sources: []string{root}})
	b := newTab(t, s)
	b.open(modulePath)
	b.shows("not found")
	focus := func(text string) {
		t.Helper()
		for range 40 {
			b.press("\t")
			if strings.TrimSpace(eval[string](b, `document.activeElement.textContent`)) == text {
				return
			}
		}
		t.Fatalf("the keyboard does not reach %q", text)
	}
	focus("Forget")
	b.press("\r")
	b.shows("Forgotten: the next lookup asks the sources again.")
	if err := os.CopyFS(root, os.DirFS(folder(t))); err != nil {
		t.Fatal(err)
	}
	focus("Ask again")
	b.press("\r")
	b.shows("found in")
}

func TestFileOfAModuleAnswersQuestions(t *testing.T) {
	t.Parallel()
	s := trial.Start(t, trial.Options{Sources: []string{folder(t)}})
	b := newTab(t, s)
	b.open(modulePath)
	b.fill("input[name=q]", "boi")
	b.click("button", "Look up")
	b.shows("0x1000")
	b.shows("boil")
	b.click("td a", "0x1000")
	b.shows("kettle.c:7")
	b.looks("module-inside")
	b.fill("input[name=addr]", "9000")
	b.click("button", "Look up")
	b.shows("Nothing is known about the address 9000.")
	b.click(".choices a", "unwind")
	b.shows("not found")
}

func TestFileOfAModuleIsDownloaded(t *testing.T) {
	t.Parallel()
	s := trial.Start(t, trial.Options{Sources: []string{folder(t)}})
	b := newTab(t, s)
	b.open(modulePath)
	b.shows("Download .sym")
	b.awaits(`(async () => {
		window.text = window.text || await (await fetch(document.querySelector('a[download]').href)).text();
	})() && window.text === %s`, trial.KettleSym)
}

func TestFetchShowsProgressAndItsOutcome(t *testing.T) {
	t.Parallel()
	s := trial.Start(t, trial.Options{Sources: []string{folder(t)}})
	b := newTab(t, s)
	b.open(modulePath)
	b.click("button", "Fetch now")
	b.shows("The file was fetched and its table was built.")
	b.open(modulePath[:len(modulePath)-1] + "1")
	b.click("button", "Fetch now")
	b.shows("No source has the file.")
}

// TestPagesWorkWithoutScripts presses the buttons of a browser that runs none.
func TestPagesWorkWithoutScripts(t *testing.T) {
	t.Parallel()
	s := trial.Start(t, trial.Options{Sources: []string{folder(t)}})
	b := newTab(t, s)
	b.withoutScripts()
	b.open(modulePath)
	b.click("button", "Fetch now")
	b.shows("The file was fetched and its table was built.")
	b.click("button", "Forget")
	b.shows("Forgotten: the next lookup asks the sources again.")
	b.click("button", "Ask again")
	b.shows("found in")
}
