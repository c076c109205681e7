package config_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"symbolon/internal/config"
)

// bombs are small files that cost much where nothing bounds them.
func bombs() map[string]string {
	lines := func(n int, line func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(line(i))
		}
		return b.String()
	}
	doubling := "a0: &a0 [x, x]\n" + lines(30, func(i int) string {
		return fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
	})
	wide := "words: &w [" + strings.Repeat("x,", 10000) + "]\npeers:\n" +
		lines(5000, func(int) string { return "- head: &h {a: b}\n" })
	return map[string]string{
		"too many bytes":   strings.Repeat("# a comment\n", 1<<20/12+1),
		"too many tokens":  lines(12000, func(i int) string { return fmt.Sprintf("k%d: v\n", i) }),
		"open lists":       strings.Repeat("[", 1<<19),
		"open maps":        strings.Repeat("{a: ", 1<<17),
		"dashes":           strings.Repeat("- ", 1<<18),
		"question marks":   strings.Repeat("? ", 1<<18),
		"tags":             strings.Repeat("!!a ", 1<<17),
		"anchors":          strings.Repeat("&a ", 1<<17),
		"indents":          lines(1000, func(i int) string { return strings.Repeat(" ", i) + "a:\n" }),
		"doubling aliases": doubling,
		"merged aliases":   "disk: &a {<<: &b {deep: 1}}\n" + strings.Repeat("#", 100) + doubling,
		"wide aliases":     wide,
		"doubling merges": "a0: &a0 [{x: 1}]\n" + lines(30, func(i int) string {
			return fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
		}) + "disk: {<<: *a30 }\n",
		"wide merges": "a: &a\n" + lines(5000, func(i int) string { return fmt.Sprintf("  k%d: 1\n", i) }) +
			"disk: {<<: [" + strings.Repeat("*a, ", 5000) + "]}\n",
		"expanded aliases":  "name: &n '${LONG}'\nwords: [" + strings.Repeat("*n, ", 5000) + "]\n",
		"expanded in a row": "name: '" + strings.Repeat("${LONG}", 10000) + "'\n",
		"a long key":        strings.Repeat("k", 1<<19) + ": 1\n",
		"a long value":      "count: " + strings.Repeat("1", 1<<19) + "\n",
	}
}

func TestBombsCostLittle(t *testing.T) {
	long := "LONG=" + strings.Repeat("x", 100_000)
	for name, text := range bombs() {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			var a all
			_, err := config.Load(&a, config.Options{File: "x.yaml", Data: []byte(text), Environ: []string{long}})
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Fatal("no error")
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) > 31 {
				t.Errorf("%d mistakes are told", len(lines))
			}
			for _, line := range lines {
				if len(line) > 400 {
					t.Errorf("a mistake of %d bytes", len(line))
				}
			}
			if spent := time.Since(start); spent > 5*time.Second {
				t.Errorf("took %v", spent)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 512<<20 {
				t.Errorf("allocated %d MiB", n>>20)
			}
		})
	}
}

func TestAliasesCannotMultiplyWhatIsRead(t *testing.T) {
	row := "[" + strings.Repeat("x,", 3000) + "]"
	text := "words: &w " + row + "\nwords2: [" + strings.Repeat("*w,", 3000) + "]\n"
	var v struct {
		Words []string `yaml:"words"`
		More  []struct {
			Words []string `yaml:"w"`
		} `yaml:"words2"`
	}
	text = strings.Replace(text, "*w,", "{w: *w },", -1)
	_, err := config.Load(&v, config.Options{File: "x.yaml", Data: []byte(text)})
	if err == nil || !strings.Contains(err.Error(), "aliases and variables make the file too large") {
		t.Errorf("got %v", err)
	}
}

func TestLimitsAreNamed(t *testing.T) {
	for name, want := range map[string]string{
		"too many bytes":    "x.yaml: malformed: it has 1048584 bytes; the limit is 1MiB",
		"too many tokens":   "x.yaml: malformed: it has 36000 YAML tokens; the limit is 32768",
		"wide merges":       "x.yaml:5002:7: malformed: merge keys bring more than 262144 keys",
		"doubling merges":   "x.yaml:30:11: malformed: a merge key takes a section, or a list of sections",
		"open lists":        "x.yaml: malformed: it has 524288 YAML tokens; the limit is 32768",
		"expanded in a row": "x.yaml:1:7: malformed: name: aliases and variables make the file too large",
		"expanded aliases":  "x.yaml:1:10: malformed: words[166]: aliases and variables make the file too large",
	} {
		var a all
		_, err := config.Load(&a, config.Options{
			File: "x.yaml", Data: []byte(bombs()[name]), Environ: []string{"LONG=" + strings.Repeat("x", 100_000)},
		})
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
	for text, want := range map[string]string{
		strings.Repeat("[", 40):        "x.yaml:1:33: malformed: more than 32 levels",
		strings.Repeat("- ", 40):       "x.yaml:1:65: malformed: more than 32 levels",
		strings.Repeat("&a ", 1100):    "x.yaml:1:3073: malformed: more than 1024 anchors",
		"a:\n" + nested(40) + "b: 1\n": "x.yaml:34:34: malformed: more than 32 levels",
	} {
		var a all
		_, err := config.Load(&a, config.Options{File: "x.yaml", Data: []byte(text)})
		if err == nil || err.Error() != want {
			t.Errorf("%.20q: got %v, want %s", text, err, want)
		}
	}
}

func nested(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i+1) + "a:\n")
	}
	return b.String() + strings.Repeat(" ", n+1)
}
