package config_test

import (
	"slices"
	"strings"
	"testing"

	"symbolon/internal/config"
)

// wrong lists inputs with the whole text of their errors. The file is x.yaml.
var wrong = []struct {
	file, env, set string
	want           string
}{
	// unknown keys
	{file: "disk:\n  max_byte: 1\n", want: "x.yaml:2:3: malformed: unknown key disk.max_byte; did you mean disk.max_bytes?"},
	{file: "disk: {deep: {levle: 1}}", want: "x.yaml:1:15: malformed: unknown key disk.deep.levle; did you mean disk.deep.level?"},
	{file: "name: a\nhead: 1\n", want: "x.yaml:2:1: malformed: unknown key head; did you mean peers[].head?"},
	{file: "zebra: 1", want: "x.yaml:1:1: malformed: unknown key zebra"},
	{file: "level: 1", want: "x.yaml:1:1: malformed: unknown key level"},
	{file: "disk.wait: 1s", want: "x.yaml:1:1: malformed: unknown key disk.wait"},
	{file: "Name: 1", want: "x.yaml:1:1: malformed: unknown key Name; did you mean name?"},
	{file: "peers:\n- id: a\n- urll: b\n", want: "x.yaml:3:3: malformed: unknown key peers[1].urll; did you mean peers[].url?"},
	{file: "\"a\\e[2Jb\": 1", want: `x.yaml:1:1: malformed: unknown key "a\x1b[2Jb"`},
	{set: "disks.max_bytes=1", want: "--set disks.max_bytes: malformed: unknown key disks; did you mean disk?"},
	{set: "disk.deep.lvl=1", want: "--set disk.deep.lvl: malformed: unknown key disk.deep.lvl"},
	{set: "disk[0].wait=1", want: `--set disk[0].wait: malformed: unknown key disk[0]`},
	{set: "=1", want: `--set "": malformed: unknown key ""`},
	{env: "SYMBOLON_PEERS=[{idd: 1}]", want: "SYMBOLON_PEERS:1:3: malformed: unknown key peers[0].idd; did you mean peers[].id?"},

	// wrong types
	{file: "count: many", want: `x.yaml:1:8: malformed: count is "many"; wanted is a whole number`},
	{file: "count: 1.5", want: `x.yaml:1:8: malformed: count is "1.5"; wanted is a whole number`},
	{file: "count: [1]", want: `x.yaml:1:8: malformed: count is a list; wanted is a whole number`},
	{file: "count: 99999999999999999999", want: `x.yaml:1:8: malformed: count is "99999999999999999999"; wanted is a whole number from -9223372036854775808 to 9223372036854775807`},
	{file: "small: 128", want: `x.yaml:1:8: malformed: small is "128"; wanted is a whole number from -128 to 127`},
	{file: "large: -1", want: `x.yaml:1:8: malformed: large is "-1"; wanted is a whole number from 0 to 65535`},
	{file: "share: half", want: `x.yaml:1:8: malformed: share is "half"; wanted is a number`},
	{file: "share: .nan", want: `x.yaml:1:8: malformed: share is ".nan"; wanted is a number`},
	{file: "share: .inf", want: `x.yaml:1:8: malformed: share is ".inf"; wanted is a number`},
	{file: "quiet: yes", want: `x.yaml:1:8: malformed: quiet is "yes"; wanted is true or false`},
	{file: "name: {a: b}", want: `x.yaml:1:7: malformed: name is a section; wanted is text`},
	{file: "words: one", want: `x.yaml:1:8: malformed: words is "one"; wanted is a list, each item text`},
	{file: "words: [[a]]", want: `x.yaml:1:9: malformed: words[0] is a list; wanted is text`},
	{file: "words: [a, ~]", want: `x.yaml:1:12: malformed: words[1] is empty; wanted is text`},
	{file: "sizes: [1KiB, big]", want: `x.yaml:1:15: malformed: sizes[1] is "big"; wanted is a size such as 64MiB`},
	{file: "marks: a", want: `x.yaml:1:8: malformed: marks is "a"; wanted is names, each with text`},
	{file: "marks: {a: [b]}", want: `x.yaml:1:12: malformed: marks.a is a list; wanted is text`},
	{file: "disk: 5", want: `x.yaml:1:7: malformed: disk is a text; wanted is a section with the keys max_bytes, wait, deep`},
	{file: "disk: {max_bytes: 5 apples}", want: `x.yaml:1:19: malformed: disk.max_bytes is "5 apples"; wanted is a size such as 64MiB`},
	{file: "disk: {wait: 30}", want: `x.yaml:1:14: malformed: disk.wait is "30"; wanted is a duration such as 30s, 10m or 7d`},
	{file: "disk: {wait: -5s}", want: `x.yaml:1:14: malformed: disk.wait is "-5s"; wanted is a duration such as 30s, 10m or 7d`},
	{file: "disk: {wait: 200000d}", want: `x.yaml:1:14: malformed: disk.wait is "200000d"; wanted is a duration such as 30s, 10m or 7d`},
	{file: "disk: {wait: 106751d24h}", want: `x.yaml:1:14: malformed: disk.wait is "106751d24h"; wanted is a duration such as 30s, 10m or 7d`},
	{file: "peers: {id: a}", want: `x.yaml:1:8: malformed: peers is a section; wanted is a list of sections with the keys id, url, head, tries, store`},
	{file: "peers: [https://u:canary@h/]", want: `x.yaml:1:9: malformed: peers[0] is a text; wanted is a section with the keys id, url, head, tries, store`},
	{file: "peers: [~]", want: `x.yaml:1:9: malformed: peers[0] is empty; wanted is a section with the keys id, url, head, tries, store`},
	{file: "keys: canary", want: `x.yaml:1:7: malformed: keys is a text; wanted is a list, each item a secret`},
	{file: "peers: [{url: [a]}]", want: `x.yaml:1:15: malformed: peers[0].url is a list; wanted is a url`},
	{env: "SYMBOLON_COUNT=many", want: `SYMBOLON_COUNT: malformed: count is "many"; wanted is a whole number`},
	{env: "SYMBOLON_PEERS=https://u:canary@h/", want: `SYMBOLON_PEERS: malformed: peers takes a list of sections with the keys id, url, head, tries, store, such as [{id: ...}]`},
	{env: "SYMBOLON_MARKS=a=1,canary", want: `SYMBOLON_MARKS: malformed: marks: an entry without a value; wanted is NAME=VALUE, separated by commas`},
	{env: "SYMBOLON_WORDS=[a", want: `SYMBOLON_WORDS:1:1: malformed: sequence end token ']' not found`},
	{set: "count=many", want: `--set count: malformed: count is "many"; wanted is a whole number`},
	{set: "count", want: "--set count: malformed: wanted is KEY=VALUE"},
	{set: "disk=1", want: "--set disk: malformed: disk is a section; wanted is one of its keys: max_bytes, wait, deep"},
	{set: "count.x=1", want: "--set count.x: malformed: count is a whole number, which is set as a whole"},
	{set: "peers[0].id=1", want: "--set peers[0].id: malformed: peers is a list of sections, which is set as a whole"},
	{set: "marks.=1", want: "--set marks.: malformed: marks is a map of text, which is set as a whole"},
	{set: "words={a: b}", want: "--set words:1:1: malformed: words is a section; wanted is a list, each item text"},

	// expansion
	{file: "name: ${GONE}", want: "x.yaml:1:7: malformed: name: variable GONE is not set; ${GONE:-text} has a text for that case"},
	{file: "peers: [{head: {A: '${GONE}'}}]", want: "x.yaml:1:20: malformed: peers[0].head.A: variable GONE is not set; ${GONE:-text} has a text for that case"},
	{file: "name: a${b", want: "x.yaml:1:7: malformed: name: a ${ without its }; $${ is the text ${ itself"},
	{file: "name: ${1}", want: `x.yaml:1:7: malformed: name: "1" cannot be the name of a variable; $${ is the text ${ itself`},
	{file: "name: ${}", want: `x.yaml:1:7: malformed: name: "" cannot be the name of a variable; $${ is the text ${ itself`},
	{file: "count: ${CANARY}", env: "CANARY=canary", want: `x.yaml:1:8: malformed: count is "${CANARY}"; wanted is a whole number`},

	// secrets
	{file: "token: '[redacted]'", want: "x.yaml:1:8: malformed: token is [redacted], which stands for a secret that was left out; wanted is the secret itself"},
	{env: "SYMBOLON_KEYS=a,[redacted]", want: "SYMBOLON_KEYS: malformed: keys[1] is [redacted], which stands for a secret that was left out; wanted is the secret itself"},

	// validation
	{file: "disk:\n  max_bytes: 7\n", want: "file x.yaml:2: malformed: disk.max_bytes is 7; wanted is a size other than 7"},
	{env: "SYMBOLON_DISK_MAX_BYTES=7", want: "environment SYMBOLON_DISK_MAX_BYTES: malformed: disk.max_bytes is 7; wanted is a size other than 7"},
	{set: "disk.max_bytes=7", want: "flag: malformed: disk.max_bytes is 7; wanted is a size other than 7"},
	{file: "disk: {wait: 7s}", want: "file x.yaml:1: malformed: disk: waiting 7s is bad luck"},
	{file: "peers:\n- id: a\n  store: {max_bytes: 7}\n", want: "file x.yaml:3: malformed: peers[0].store.max_bytes is 7; wanted is a size other than 7"},
	{file: "count: 13", want: "file x.yaml:1: malformed: thirteen is not allowed"},

	// YAML
	{file: "- a", want: "x.yaml:1:1: malformed: the file has no keys; wanted are keys with their values"},
	{file: "canary", want: `x.yaml:1:1: malformed: the file has no keys; wanted are keys with their values`},
	{file: "a: b: c", want: "x.yaml:1:4: malformed: mapping value is not allowed in this context"},
	{file: "name: a\nname: b", want: `x.yaml:2:1: malformed: a key for the second time`},
	{file: "name: a\n---\nname: b", want: "x.yaml:2:1: malformed: a second document; one is read"},
	{file: "name: !!str a", want: "x.yaml:1:7: malformed: a tag; values are written without"},
	{file: "name: *a", want: `x.yaml:1:7: malformed: there is no anchor of this name before the alias; a value that begins with * needs quotes`},
	{file: "name: &a [*a]", want: `x.yaml:1:11: malformed: there is no anchor of this name before the alias; a value that begins with * needs quotes`},
	{file: "disk: {<<: a}", want: "x.yaml:1:12: malformed: a merge key takes a section, or a list of sections"},
	{file: "? [a]\n: b", want: "x.yaml:2:1: malformed: found an invalid key for this map"},
	{file: "? name\n: b", want: "x.yaml:1:1: malformed: a key must be a plain word"},
	{file: "count: &a 1\n*a : 2", want: "x.yaml:2:1: malformed: a key must be a plain word"},
	{file: "&a name: 1", want: "x.yaml:1:1: malformed: a key must be a plain word"},
	{file: "[a]: b", want: "x.yaml:1:4: malformed: found an invalid key for this map"},
	{file: "name:\n  a: b", want: "x.yaml:2:3: malformed: name is a section; wanted is text"},
	{file: "name:\r\n  b\r\ncount: x\r\n", want: `x.yaml:3:8: malformed: count is "x"; wanted is a whole number`},
	{file: "\ufeffcount: x", want: `x.yaml:1:8: malformed: count is "x"; wanted is a whole number`},
	{file: "%YAML 1.2\n---\ncount: x", want: "x.yaml:1:1: malformed: directive is nothing that a configuration has"},
	{file: "name:\n\ta", want: "x.yaml:2:1: malformed: found character ' ' that cannot start any token"},
	{file: "name: \xff", want: "x.yaml: malformed: it is not UTF-8 text"},
}

func TestErrorTexts(t *testing.T) {
	for _, c := range wrong {
		var a all
		o := config.Options{File: "x.yaml", Data: []byte(c.file)}
		if c.env != "" {
			o.Environ = []string{c.env}
		}
		if c.set != "" {
			o.Sets = []string{c.set}
		}
		_, err := config.Load(&a, o)
		if err == nil {
			t.Errorf("%q %s %s: no error; want %s", c.file, c.env, c.set, c.want)
			continue
		}
		if err.Error() != c.want {
			t.Errorf("%q %s %s:\ngot  %s\nwant %s", c.file, c.env, c.set, err, c.want)
		}
		if strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: the error tells what may be a secret: %v", c.file, err)
		}
	}
}

// TestAllMistakesAreTold has mistakes in the file, in a variable and in a flag,
// and one that only a check of values finds. Sections with a mistake are not
// checked: what is wrong with their values may come of it.
func TestAllMistakesAreTold(t *testing.T) {
	var c config.Config
	_, err := config.Load(&c, config.Options{
		File: "x.yaml",
		Data: []byte("memroy: 1GiB\ncache: {disk: {max_bytes: much, max_flies: 1}}\nhttp: {listen: here}\n" +
			"sources:\n- {id: a, type: http, url: 'https://example.org/'}\n- {id: a, typ: http}\nlog: {level: loud}\n"),
		Environ: []string{"SYMBOLON_TABLE_BUILDS=two"},
		Sets:    []string{"sentry", "mozilla.jobs=1"},
	})
	if err == nil {
		t.Fatal("no error")
	}
	want := []string{
		"x.yaml:1:1: malformed: unknown key memroy; did you mean memory?",
		`x.yaml:2:27: malformed: cache.disk.max_bytes is "much"; wanted is a size such as 64MiB`,
		"x.yaml:2:33: malformed: unknown key cache.disk.max_flies; did you mean cache.disk.max_files?",
		"x.yaml:6:11: malformed: unknown key sources[1].typ; did you mean sources[].type?",
		`SYMBOLON_TABLE_BUILDS: malformed: table.builds is "two"; wanted is a whole number`,
		"--set sentry: malformed: wanted is KEY=VALUE",
		"--set mozilla.jobs: malformed: unknown key mozilla.jobs",
		"file x.yaml:7: malformed: log.level is \"loud\"; there are debug, info, warn, error",
		`file x.yaml:3: malformed: http.listen is "here"; wanted is HOST:PORT`,
	}
	if got := strings.Split(err.Error(), "\n"); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", err, strings.Join(want, "\n"))
	}
}
