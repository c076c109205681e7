package arch_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"symbolon/internal/arch"
)

func TestLanguageIsPlain(t *testing.T) {
	found, err := arch.Words(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range found {
		t.Error(b)
	}
}

// phrases returns the lines of a file of test data.
func phrases(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// writings are the ways in which a sentence may be in a file, with the name of
// the file and the line of the sentence.
var writings = []struct{ file, text, line string }{
	{"a.go", "package a\n\n// F does. %s\nfunc F() {}\n", "3"},
	{"a_test.go", "package a\n\nfunc F() string {\n\treturn %q\n}\n", "4"},
	{"docs/a.md", "# A\n\nA text.\n\n%s\n", "4"},
	{"README.md", "| a | b |\n|---|---|\n| x | %s |\n", "3"},
}

func TestPhrasesThatAreRuledOutAreFound(t *testing.T) {
	for _, sentence := range phrases(t, "odd.txt") {
		for _, w := range writings {
			found, err := arch.Words(fstest.MapFS{w.file: {Data: fmt.Appendf(nil, w.text, sentence)}})
			if err != nil || len(found) != 1 || !strings.HasPrefix(found[0].String(), w.file+":"+w.line+": language: ") {
				t.Errorf("%s: %q: got %v, %v, want one breach in line %s", w.file, sentence, found, err, w.line)
			}
		}
	}
}

func TestPlainPhrasesPass(t *testing.T) {
	for _, sentence := range phrases(t, "plain.txt") {
		for _, w := range writings {
			if found, err := arch.Words(fstest.MapFS{w.file: {Data: fmt.Appendf(nil, w.text, sentence)}}); err != nil || len(found) > 0 {
				t.Errorf("%s: %q: got %v, %v, want no breach", w.file, sentence, found, err)
			}
		}
	}
}

func TestRecordsAndQuotesKeepTheirWords(t *testing.T) {
	odd := phrases(t, "odd.txt")[0]
	for file, text := range map[string]string{
		"CHANGELOG.md": odd, "docs/decisions/0001-a.md": odd, "a/testdata/a.go": odd, "docs/a.md": "It has `" + odd + "` and *" + odd + "*.\n\n```\n" + odd + "\n```\n",
	} {
		if found, err := arch.Words(fstest.MapFS{file: {Data: []byte(text)}}); err != nil || len(found) > 0 {
			t.Errorf("%s: got %v, %v, want no breach", file, found, err)
		}
	}
}
