package config_test

import (
	"bytes"
	"strings"
	"testing"

	"symbolon/internal/config"
)

// FuzzLoad demands that what was loaded prints as a file that loads and prints
// as the same, and that errors stay short and have no control characters.
func FuzzLoad(f *testing.F) {
	for _, c := range wrong {
		f.Add(c.file, strings.TrimPrefix(c.env, "SYMBOLON_"), c.set)
	}
	for _, text := range texts {
		f.Add("name: "+text+"\nmarks: {a: '"+text+"'}\nwords:\n- "+text, "NAME="+text, "words="+text)
	}
	f.Add("disk: &d\n  wait: 1h\npeers:\n- id: a\n  store: *d\n- store: {<<: *d, max_bytes: 1KiB}\n", "PEERS=[{id: b}]", "marks.a=b")
	f.Add("name: |\n  a\n  b\ntoken: >-\n  c\n  d\nsizes: [1, 2]\n", "SIZES=1GiB,-1", "disk.deep.level=5")
	f.Fuzz(func(t *testing.T, file, env, set string) {
		o := config.Options{File: "f", Data: []byte(file), Environ: []string{"A=value", "SYMBOLON_" + env}}
		if set != "" {
			o.Sets = []string{set}
		}
		var a all
		loaded, err := config.Load(&a, o)
		if err != nil {
			for text := range strings.SplitSeq(err.Error(), "\n") {
				if len(text) > 2000 || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
					t.Errorf("error text %q", text)
				}
			}
			return
		}
		var first, second bytes.Buffer
		if err := config.Print(&first, a, loaded.Origins); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(first.String(), "its secrets left out") {
			return
		}
		var b all
		again, err := config.Load(&b, config.Options{File: "p", Data: first.Bytes()})
		if err != nil {
			t.Fatalf("%v in\n%s", err, first.String())
		}
		if err := config.Print(&second, b, again.Origins); err != nil {
			t.Fatal(err)
		}
		if x, y := values(first.String()), values(second.String()); x != y {
			t.Errorf("printed as\n%s\nand loaded and printed as\n%s", x, y)
		}
	})
}

// values takes the comments off what Print has written.
func values(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if at := strings.LastIndex(line, " # "); at >= 0 {
			lines[i] = line[:at]
		}
	}
	return strings.Join(lines, "\n")
}
