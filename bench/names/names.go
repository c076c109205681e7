// Package names runs the demangler over the names of other projects' test suites.
//
//	go run ./bench names [-least 0] [-classes 6] [-show] DIR
//
// DIR has a folder for each suite: checkouts, or single test files, of libcxxabi,
// libiberty, LLVM, cpp_demangle, msvc-demangler, rustc-demangle and Swift. Test
// files are found by their names. A name passes if its text is the expected one
// in one of the styles of package demangle, or the text that c++filt, llvm-cxxfilt
// or llvm-undname prints for it. Names that a suite takes for invalid must stay
// as they are. For each suite it prints how many names pass, and the classes of
// the others, each with its first name. It fails if fewer than -least pass.
package names

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"symbolon/internal/demangle"
)

// suite has the pairs of one folder.
type suite map[pair]bool

// Run runs the comparison with the arguments of its command line. It reports
// whether enough names pass.
func Run(ctx context.Context, args []string) (ok bool, err error) {
	flags := flag.NewFlagSet("names", flag.ExitOnError)
	least := flags.Int("least", 0, "the least number of names that pass")
	classes := flags.Int("classes", 6, "print so many classes of each suite")
	show := flags.Bool("show", false, "print each name that does not pass")
	_ = flags.Parse(args) // it exits
	suites, err := readSuites(flags.Arg(0))
	if err != nil {
		return false, err
	}
	passed, total := 0, 0
	for _, name := range slices.Sorted(maps.Keys(suites)) {
		failed := judge(ctx, suites[name])
		n := len(suites[name])
		fmt.Printf("%-16s %6d of %6d  %6.2f %%\n", name, n-len(failed), n, 100*float64(n-len(failed))/float64(n))
		report(failed, *classes, *show)
		passed, total = passed+n-len(failed), total+n
	}
	fmt.Printf("%-16s %6d of %6d\n", "all", passed, total)
	return passed >= *least && total > 0, nil
}

// readSuites reads the test files in each folder of dir. A pair counts once.
func readSuites(dir string) (map[string]suite, error) {
	suites := map[string]suite{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		name, _, inside := strings.Cut(filepath.ToSlash(rel), "/")
		if err != nil || !inside || !d.Type().IsRegular() {
			return err
		}
		pairs, err := readFile(path)
		for _, p := range pairs {
			if suites[name] == nil {
				suites[name] = suite{}
			}
			suites[name][p] = true
		}
		return err
	})
	return suites, err
}

// failure is a pair and what was printed for it, in the first of its styles.
type failure struct {
	pair
	got string
}

// judge returns the pairs that do not pass, by name.
func judge(ctx context.Context, all suite) (failed []failure) {
	var names []string
	for p := range all {
		if !passes(p) {
			failed = append(failed, failure{p, texts(p)[0]})
			names = append(names, p.name)
		}
	}
	for _, tool := range []string{"c++filt", "llvm-cxxfilt", "llvm-undname"} {
		printed := toolTexts(ctx, tool, names)
		failed = slices.DeleteFunc(failed, func(f failure) bool {
			text := printed[f.name]
			return text != "" && text != f.name && f.want != f.name && f.styles == whole && slices.Contains(texts(f.pair), text)
		})
	}
	slices.SortFunc(failed, func(a, b failure) int { return strings.Compare(a.name, b.name) })
	return failed
}

// texts returns the readable forms of a name in the styles of its pair, and with
// the shorthands of Swift for the most common types.
func texts(p pair) (all []string) {
	for _, style := range p.styles {
		text := demangle.Name(p.name, demangle.Style(style))
		all = append(all, text)
		if short := abbreviate(text); short != text {
			all = append(all, short)
		}
	}
	return all
}

// passes reports whether a text of a pair is the expected one. Names of MSVC are
// written without access, result and convention, and blanks do not count in them.
func passes(p pair) bool {
	got := texts(p)
	if slices.Contains(got, p.want) {
		return true
	}
	return p.name[0] == '?' && p.want != p.name && slices.ContainsFunc(got, func(text string) bool {
		return strings.HasSuffix(strings.ReplaceAll(p.want, " ", ""), strings.ReplaceAll(text, " ", ""))
	})
}

// toolTexts returns the texts that a tool prints for names, none if it is not
// installed.
func toolTexts(ctx context.Context, tool string, names []string) map[string]string {
	texts := map[string]string{}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return strings.ContainsAny(name, " \t\r\n") })
	undname := tool == "llvm-undname"
	args := []string{}
	if undname {
		args = []string{"--no-access-specifier", "--no-calling-convention", "--no-member-type", "--no-return-type"}
		names = slices.DeleteFunc(names, func(name string) bool { return name[0] != '?' })
	}
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	out, _ := cmd.Output() // llvm-undname fails for invalid names
	lines := strings.Split(string(out), "\n")
	for i, name := range names {
		switch {
		case !undname && i < len(lines):
			texts[name] = lines[i]
		case undname && len(lines) > 1 && lines[0] == name:
			texts[name] = lines[1]
			for lines = lines[2:]; len(lines) > 0 && lines[0] == ""; {
				lines = lines[1:]
			}
		}
	}
	return texts
}

// abbreviate writes Swift's most common types as the language does: [A], [K : V],
// A?.
func abbreviate(text string) string {
	for _, form := range [][3]string{{"Swift.Array<", "[", "]"}, {"Swift.Dictionary<", "[", "]"}, {"Swift.Optional<", "", "?"}} {
		for from := 0; ; {
			at := strings.Index(text[from:], form[0])
			if at < 0 {
				break
			}
			at += from
			inner, rest, comma := cutBrackets(text[at+len(form[0]):])
			switch {
			case form[1] == "" && (strings.Contains(inner, " -> ") || strings.Contains(inner, " & ") || strings.HasPrefix(inner, "@")):
				inner = "(" + inner + ")"
			case comma > 0:
				inner = inner[:comma] + " :" + inner[comma+1:]
			}
			text = text[:at] + form[1] + inner + form[2] + rest
			from = at
		}
	}
	return text
}

// cutBrackets cuts a text at the bracket that ends it, and returns the place of
// its last comma outside of other brackets.
func cutBrackets(text string) (inner, rest string, comma int) {
	depth := 1
	for i := range len(text) {
		switch text[i] {
		case '<', '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 1 {
				comma = i
			}
		case '>':
			if i > 0 && text[i-1] == '-' {
				continue
			}
			if depth--; depth == 0 {
				return text[:i], text[i+1:], comma
			}
		}
	}
	return text, "", 0
}

// report prints the classes of failures, the most frequent first.
func report(failed []failure, classes int, show bool) {
	count, first := map[string]int{}, map[string]failure{}
	for _, f := range failed {
		class := classify(f)
		if count[class]++; count[class] == 1 {
			first[class] = f
		}
		if show {
			fmt.Printf("    %s\n        want %s\n        got  %s\n", f.name, f.want, f.got)
		}
	}
	order := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	for _, class := range order[:min(len(order), classes)] {
		f := first[class]
		fmt.Printf("    %5d  %s\n           %.200s\n           want %.200s\n           got  %.200s\n", count[class], class, f.name, f.want, f.got)
	}
}

// classify returns the class of a failure: whether the name was read at all, and
// if it was, the text that is expected at the first difference, without digits.
func classify(f failure) string {
	switch {
	case f.got == f.name:
		return "not read"
	case f.want == f.name:
		return "read, though invalid"
	}
	at := 0
	for at < len(f.got) && at < len(f.want) && f.got[at] == f.want[at] {
		at++
	}
	return fmt.Sprintf("%q for %q", start(f.got[at:]), start(f.want[at:]))
}

// start returns the first signs of a text, with one letter for each word.
func start(text string) string {
	var out strings.Builder
	for i := 0; i < len(text) && out.Len() < 4; i++ {
		c := text[i]
		switch isWord := c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80; {
		case !isWord:
			out.WriteByte(c)
		case i == 0 || !strings.HasSuffix(out.String(), "x"):
			out.WriteByte('x')
		}
	}
	return out.String()
}
