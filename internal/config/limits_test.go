package config_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"symbolon/internal/config"
)

// bombs are files that cost much where nothing bounds them, with the beginning
// of their errors.
func bombs() map[string]string {
	lines := func(n int, line func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(line(i))
		}
		return b.String()
	}
	doubling := func(first string) string {
		return "a0: &a0 " + first + "\n" + lines(30, func(i int) string {
			return fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
		})
	}
	row := "words: &w [" + strings.Repeat("x,", 3000) + "]\n"
	return map[string]string{
		strings.Repeat("# a comment\n", 1<<20/12+1): "x.yaml: malformed: it has 1048584 bytes; the limit is 1MiB",
		strings.Repeat("[", 1<<19):                  "x.yaml:1:10001: malformed: exceeded max depth of 10000",
		strings.Repeat("{a: ", 1<<17):               "x.yaml:1:40001: malformed: exceeded max depth of 10000",
		strings.Repeat("- ", 1<<18):                 "x.yaml:1:20001: malformed: exceeded max depth of 10000",
		strings.Repeat("? ", 1<<18):                 "x.yaml:1:20001: malformed: exceeded max depth of 10000",
		strings.Repeat("!!a ", 1<<17):               "x.yaml:1:5: malformed: did not find expected <document start>",
		strings.Repeat("&a ", 1<<17):                "x.yaml:1:4: malformed: did not find expected <document start>",
		strings.Repeat("k", 1<<19) + ": 1\n":        "x.yaml:1:1: malformed: ",
		"count: " + strings.Repeat("1", 1<<19):      "x.yaml:1:8: malformed: count is ",
		// unknown keys, deep and many
		lines(1000, func(i int) string { return strings.Repeat(" ", i) + "a:\n" }): "x.yaml:1:1: malformed: unknown key a",
		lines(80000, func(i int) string { return fmt.Sprintf("k%d: v\n", i) }):     "x.yaml:1:1: malformed: unknown key k0",
		// aliases and merge keys
		doubling("[x, x]"):                                            "x.yaml:2:15: malformed: document contains excessive aliasing",
		doubling("[{x: 1}]") + "disk: {<<: *a30 }\n":                  "x.yaml:2:15: malformed: document contains excessive aliasing",
		row + "peers: [" + strings.Repeat("{id: *w },", 3000) + "]\n": "x.yaml:1:764: malformed: document contains excessive aliasing",
		"a: &a\n" + lines(5000, func(i int) string { return fmt.Sprintf("  k%d: 1\n", i) }) + "disk: {<<: [" + strings.Repeat("*a, ", 5000) + "]}\n": "x.yaml:4584:10: malformed: document contains excessive aliasing",
	}
}

func TestBombsAreRefusedInBoundedTimeAndMemory(t *testing.T) {
	for text, want := range bombs() {
		t.Run(fmt.Sprintf("%.20q", text), func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			var a all
			_, err := config.Load(&a, config.Options{File: "x.yaml", Data: []byte(text)})
			spent := time.Since(start)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Fatalf("got %.200v, want %s", err, want)
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) > 31 {
				t.Errorf("got %d mistakes, want 31 or fewer", len(lines))
			}
			for _, line := range lines {
				if len(line) > 400 {
					t.Errorf("got a mistake of %d bytes, want 400 or fewer", len(line))
				}
			}
			if spent > 5*time.Second {
				t.Errorf("took %v, want less than 5s", spent)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 512<<20 {
				t.Errorf("allocated %d MiB, want less than 512", n>>20)
			}
		})
	}
}
