package arch

import (
	"cmp"
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// phrase is an expression that the page on language in CONTRIBUTING rules out.
type phrase struct {
	pattern *regexp.Regexp
	advice  string
}

// allowed matches negations of a noun that are plain.
var allowed = regexp.MustCompile(`^[Tt]here |no (?:longer|more|less|larger|smaller|better|worse)$`)

//go:embed words.txt
var wordsTable string

// phrases returns the expressions of words.txt.
func phrases() ([]phrase, error) {
	var all []phrase
	for line := range strings.Lines(wordsTable) {
		pattern, advice, found := strings.Cut(strings.TrimSpace(line), "  ")
		if pattern == "" || strings.HasPrefix(pattern, "#") {
			continue
		}
		p, err := regexp.Compile(pattern)
		if err != nil || !found || p.NumSubexp() != 1 {
			return nil, fmt.Errorf("invalid line %q of words.txt: must be a regular expression with one group and advice", line)
		}
		all = append(all, phrase{p, strings.TrimSpace(advice)})
	}
	return all, nil
}

// Words returns the breaches of the rules for language in comments and texts of
// all Go files, tests included, and in documents. Decisions and the changelog
// are records and keep their words.
func Words(files fs.FS) ([]Breach, error) {
	all, err := phrases()
	if err != nil {
		return nil, err
	}
	l := &linter{phrases: all}
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (d.Name() == "testdata" || name == "docs/decisions" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || name == "CHANGELOG.md":
			return nil
		}
		read := map[bool]func(string, []byte) error{strings.HasSuffix(name, ".go"): l.code, strings.HasSuffix(name, ".md"): l.document}[true]
		if read == nil {
			return nil
		}
		text, err := fs.ReadFile(files, name)
		return cmp.Or(err, read(name, text))
	})
	return l.found, err
}

type linter struct {
	phrases []phrase
	found   []Breach
}

func (l *linter) code(name string, text []byte) error {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, group := range f.Comments {
		l.words(name, fset.Position(group.Pos()).Line, group.Text())
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if b, ok := n.(*ast.BasicLit); ok && b.Kind == token.STRING {
			text, _ := strconv.Unquote(b.Value)
			l.words(name, fset.Position(b.Pos()).Line, text)
		}
		return true
	})
	return nil
}

// quoted matches code and words that a document quotes.
var quoted = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|\\*\\w[^*\n]*\\*")

func (l *linter) document(name string, text []byte) error {
	plain := quoted.ReplaceAllStringFunc(string(text), func(s string) string { return "X" + strings.Repeat("\n", strings.Count(s, "\n")) })
	line, start, part := 0, 1, ""
	for text := range strings.Lines(plain + "\n\n") {
		line++
		if trimmed := strings.TrimLeft(text, " "); strings.TrimSpace(trimmed) == "" || strings.ContainsAny(trimmed[:1], "#|-") { // a part of its own
			l.words(name, start, part)
			start, part = line, ""
			if strings.HasPrefix(trimmed, "#") { // headings may be questions
				continue
			}
		}
		part += strings.ReplaceAll(text, "|", ";")
	}
	return nil
}

// words looks for the phrases in a text that begins at a line of a file.
func (l *linter) words(name string, line int, text string) {
	text = strings.Join(strings.Fields(text), " ")
	for _, p := range l.phrases {
		for _, m := range p.pattern.FindAllStringSubmatchIndex(text, -1) {
			if found := text[m[2]:m[3]]; !allowed.MatchString(found) {
				l.found = append(l.found, Breach{name, line, "language", strconv.Quote(found) + ": " + p.advice})
			}
		}
	}
	slices.SortStableFunc(l.found, func(a, b Breach) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
}
