package names

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"symbolon/internal/demangle"
)

// pair is a mangled name and the text that a suite expects. A name that the
// suite takes for invalid is its own text.
type pair struct {
	name, want string
	styles     string // the styles that may print it, as characters
}

// Styles as the characters of pair.styles.
const (
	whole  = string(rune(demangle.Full)) + string(rune(demangle.LLVM))
	short  = string(rune(demangle.NoParams))
	called = string(rune(demangle.Called))
)

// readers are the forms of test files, by a pattern of their names.
var readers = []struct {
	pattern string
	read    func(text string) []pair
}{
	{"test_demangle.pass.cpp", readTable},
	{"DemangleTestCases.inc", readTable},
	{"*demangle-expected", readExpected},
	{"ms-*.test", readChecks},
	{"invalid-manglings.test", readChecks},
	{"simplified-manglings.txt", readSimplified},
	{"*manglings*.txt", readArrows},
	{"*.rs", readMacros},
}

// readFile returns the pairs of a file, none if its name is not that of a suite.
func readFile(name string) ([]pair, error) {
	for _, r := range readers {
		if ok, _ := filepath.Match(r.pattern, filepath.Base(name)); ok {
			text, err := os.ReadFile(name)
			return r.read(string(text)), err
		}
	}
	return nil, nil
}

var row = regexp.MustCompile(`(?m)^\s*\{\s*("(?:[^"\\]|\\.)*"),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\}`)

var piece = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// readTable reads rows of strings in C++: {"_Z1fv", "f()"}.
func readTable(text string) (all []pair) {
	for _, m := range row.FindAllStringSubmatch(text, -1) {
		want := ""
		for _, s := range piece.FindAllString(m[2], -1) {
			want += unquote(s)
		}
		all = append(all, pair{unquote(m[1]), want, whole})
	}
	return all
}

func unquote(literal string) string {
	if text, err := strconv.Unquote(literal); err == nil {
		return text
	}
	return strings.Trim(literal, `"`)
}

// ours are the options of libiberty with manglings that package demangle reads,
// and the usual form of results.
var ours = regexp.MustCompile(`^(--format=)?(auto|gnu-v3|rust)?( --no-params)?$|^--no-params$`)

// readExpected reads the form of libiberty: a line of options, the name, its
// text, and with --no-params the text without parameters.
func readExpected(text string) (all []pair) {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.TrimRight(line, "\r\n"))
		}
	}
	for len(lines) >= 3 {
		options, name, want := lines[0], lines[1], lines[2]
		n := 3
		if strings.Contains(options, "--no-params") && len(lines) > 3 {
			n = 4
		}
		if ours.MatchString(options) {
			all = append(all, pair{name, want, whole})
			if n == 4 {
				all = append(all, pair{name, lines[3], short})
			}
		}
		lines = lines[n:]
	}
	return all
}

// readChecks reads tests of LLVM: a name, and the line that must be printed
// after it.
func readChecks(text string) (all []pair) {
	name := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		_, check, _ := strings.Cut(line, "; CHECK")
		_, want, ok := strings.Cut(check, ": ")
		switch {
		case line == "" || name == "" && strings.HasPrefix(line, ";"):
		case !strings.HasPrefix(line, ";"):
			name = line
		case !ok || strings.HasPrefix(check, "-NOT") || want == name:
		default:
			if strings.HasPrefix(want, "error: ") {
				want = name
			}
			all = append(all, pair{name, want, whole})
			name = ""
		}
	}
	return all
}

var (
	note   = regexp.MustCompile(`^\{(?:T:[^}]*|C)\} `)
	labels = regexp.MustCompile(` ?\((?:[\pL_][\pL\pN_]*:)+\)|(#\d+) \(\)|([^\s(])\(\)`)
)

// readArrows reads lines of Swift: name ---> text. A note in braces is not part
// of the text.
func readArrows(text string) (all []pair) {
	for line := range strings.Lines(text) {
		name, want, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "--->")
		if name = strings.TrimSpace(name); ok && !strings.HasPrefix(name, "//") {
			all = append(all, pair{name, note.ReplaceAllString(strings.TrimSpace(want), ""), whole})
		}
	}
	return all
}

// readSimplified reads Swift names without types, which are written without the
// labels of parameters here.
func readSimplified(text string) []pair {
	all := readArrows(text)
	for i := range all {
		if all[i].want != all[i].name {
			all[i].want = strings.TrimSpace(labels.ReplaceAllString(all[i].want, "$1$2"))
		}
		all[i].styles = short
	}
	return all
}

var (
	macro = regexp.MustCompile(`\b(demangles\w*|does_not_\w+|t|t_err|t_nohash|t_nohash_type|t_const|t_const_suffixed|expect)!?\(\s*`)
	value = regexp.MustCompile(`^(?:"(?:[^"\\]|\\(?s:.))*"|r#*"[^"]*"#*|\w+)\s*,?\s*`)
	joint = regexp.MustCompile(`\\\n\s*`)
	hash  = regexp.MustCompile(`::h[0-9a-f]{16}\b`)
)

// readMacros reads tests in Rust: macros and functions with a name and a text.
func readMacros(text string) (all []pair) {
	for _, at := range macro.FindAllStringSubmatchIndex(text, -1) {
		word, rest := text[at[2]:at[3]], text[at[1]:]
		var args []string
		for !strings.HasPrefix(rest, ")") {
			arg := value.FindString(rest)
			if arg == "" {
				args = nil // an expression
				break
			}
			rest = rest[len(arg):]
			args = append(args, literal(strings.TrimRight(arg, ", \t\r\n")))
		}
		if p, ok := newPair(word, args); ok {
			all = append(all, p)
		}
	}
	return all
}

// literal returns the text of a string or an identifier.
func literal(arg string) string {
	if raw, ok := strings.CutPrefix(arg, "r"); ok && strings.HasSuffix(arg, "#") {
		return strings.Trim(strings.Trim(raw, "#"), `"`)
	}
	arg = joint.ReplaceAllString(arg, "")
	return unquote(strings.ReplaceAll(arg, `\'`, "'"))
}

// newPair returns the pair of a macro with arguments.
func newPair(word string, args []string) (p pair, ok bool) {
	switch {
	case len(args) == 1 && (word == "t_err" || strings.HasPrefix(word, "does_not")):
		return pair{args[0], args[0], whole}, true
	case len(args) < 2:
		return p, false
	case word == "t_nohash_type":
		return pair{"_RMC0" + args[0], "<" + args[1] + ">", whole}, true
	case word == "t_const" || word == "t_const_suffixed":
		return pair{"_RIC0K" + args[0] + "E", "::<" + args[1] + ">", whole}, true
	}
	p = pair{args[len(args)-2], args[len(args)-1], whole}
	switch word {
	case "demangles_no_param", "demangles_no_param_and_no_return_type":
		p.styles = short
	case "demangles_no_return_type":
		p.styles = called
	case "t":
		p.want = hash.ReplaceAllString(p.want, "")
	}
	return p, len(p.name) > 2
}
