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
	{file: "count: many", want: `x.yaml:1:8: malformed: count is "many": must be a whole number`},
	{file: "count: 1.5", want: `x.yaml:1:8: malformed: count is "1.5": must be a whole number`},
	{file: "count: [1]", want: `x.yaml:1:8: malformed: count is a list: must be a whole number`},
	{file: "count: 99999999999999999999", want: `x.yaml:1:8: malformed: count is "99999999999999999999": must be a whole number from -9223372036854775808 to 9223372036854775807`},
	{file: "small: 128", want: `x.yaml:1:8: malformed: small is "128": must be a whole number from -128 to 127`},
	{file: "large: -1", want: `x.yaml:1:8: malformed: large is "-1": must be a whole number from 0 to 65535`},
	{file: "share: half", want: `x.yaml:1:8: malformed: share is "half": must be a number`},
	{file: "share: .nan", want: `x.yaml:1:8: malformed: share is ".nan": must be a number`},
	{file: "share: .inf", want: `x.yaml:1:8: malformed: share is ".inf": must be a number`},
	{file: "quiet: yes", want: `x.yaml:1:8: malformed: quiet is "yes": must be true or false`},
	{file: "name: {a: b}", want: `x.yaml:1:7: malformed: name is a section: must be text`},
	{file: "words: one", want: `x.yaml:1:8: malformed: words is "one": must be a list, each item text`},
	{file: "words: [[a]]", want: `x.yaml:1:9: malformed: words[0] is a list: must be text`},
	{file: "words: [a, ~]", want: `x.yaml:1:12: malformed: words[1] is empty: must be text`},
	{file: "sizes: [1KiB, big]", want: `x.yaml:1:15: malformed: sizes[1] is "big": must be a size such as 64MiB`},
	{file: "marks: a", want: `x.yaml:1:8: malformed: marks is "a": must be names, each with text`},
	{file: "marks: {a: [b]}", want: `x.yaml:1:12: malformed: marks.a is a list: must be text`},
	{file: "disk: 5", want: `x.yaml:1:7: malformed: disk is a text: must be a section with the keys max_bytes, wait, deep`},
	{file: "disk: {max_bytes: 5 apples}", want: `x.yaml:1:19: malformed: disk.max_bytes is "5 apples": must be a size such as 64MiB`},
	{file: "disk: {wait: 30}", want: `x.yaml:1:14: malformed: disk.wait is "30": must be a duration such as 30s, 10m or 7d`},
	{file: "disk: {wait: -5s}", want: `x.yaml:1:14: malformed: disk.wait is "-5s": must be a duration such as 30s, 10m or 7d`},
	{file: "disk: {wait: 200000d}", want: `x.yaml:1:14: malformed: disk.wait is "200000d": must be a duration such as 30s, 10m or 7d`},
	{file: "disk: {wait: 106751d24h}", want: `x.yaml:1:14: malformed: disk.wait is "106751d24h": must be a duration such as 30s, 10m or 7d`},
	{file: "peers: {id: a}", want: `x.yaml:1:8: malformed: peers is a section: must be a list of sections with the keys id, url, head, tries, store`},
	{file: "peers: [https://u:canary@h/]", want: `x.yaml:1:9: malformed: peers[0] is a text: must be a section with the keys id, url, head, tries, store`},
	{file: "peers: [~]", want: `x.yaml:1:9: malformed: peers[0] is empty: must be a section with the keys id, url, head, tries, store`},
	{file: "keys: canary", want: `x.yaml:1:7: malformed: keys is a text: must be a list, each item a secret`},
	{file: "peers: [{url: [a]}]", want: `x.yaml:1:15: malformed: peers[0].url is a list: must be a url`},
	{env: "SYMBOLON_COUNT=many", want: `SYMBOLON_COUNT: malformed: count is "many": must be a whole number`},
	{env: "SYMBOLON_PEERS=https://u:canary@h/", want: `SYMBOLON_PEERS: malformed: peers takes a list of sections with the keys id, url, head, tries, store, such as [{id: ...}]`},
	{env: "SYMBOLON_MARKS=a=1,canary", want: `SYMBOLON_MARKS: malformed: marks: an entry without a value: must be NAME=VALUE, separated by commas`},
	{env: "SYMBOLON_WORDS=[a", want: `SYMBOLON_WORDS:1:1: malformed: did not find expected ',' or ']' while parsing a flow sequence`},
	{set: "count=many", want: `--set count: malformed: count is "many": must be a whole number`},
	{set: "count", want: "--set count: malformed: must be KEY=VALUE"},
	{set: "disk=1", want: "--set disk: malformed: disk is a section: set one of its keys, max_bytes, wait, deep"},
	{set: "count.x=1", want: "--set count.x: malformed: count is a whole number, which is set as a whole"},
	{set: "peers[0].id=1", want: "--set peers[0].id: malformed: peers is a list of sections, which is set as a whole"},
	{set: "marks.=1", want: "--set marks.: malformed: marks is a map of text, which is set as a whole"},
	{set: "words={a: b}", want: "--set words:1:1: malformed: words is a section: must be a list, each item text"},

	// expansion
	{file: "name: ${GONE}", want: "x.yaml:1:7: malformed: name: variable GONE is not set; ${GONE:-text} has a text for that case"},
	{file: "peers: [{head: {A: '${GONE}'}}]", want: "x.yaml:1:20: malformed: peers[0].head.A: variable GONE is not set; ${GONE:-text} has a text for that case"},
	{file: "name: a${b", want: "x.yaml:1:7: malformed: name: a ${ without its }; $${ is the text ${ itself"},
	{file: "name: ${1}", want: `x.yaml:1:7: malformed: name: "1" cannot be the name of a variable; $${ is the text ${ itself`},
	{file: "name: ${}", want: `x.yaml:1:7: malformed: name: "" cannot be the name of a variable; $${ is the text ${ itself`},
	{file: "count: ${CANARY}", env: "CANARY=canary", want: `x.yaml:1:8: malformed: count is "${CANARY}": must be a whole number`},

	// secrets
	{file: "'X-Key: canary': x", want: `x.yaml:1:1: malformed: unknown key "X-Key"…`},
	{file: "peers:\n- head: {'X-Key: canary': [x]}\n", want: `x.yaml:2:27: malformed: "peers[0].head.X-Key"… is a list: must be a secret`},
	{file: "token: '[redacted]'", want: "x.yaml:1:8: malformed: token is [redacted], which replaces a secret in output: must be the secret itself"},
	{env: "SYMBOLON_KEYS=a,[redacted]", want: "SYMBOLON_KEYS: malformed: keys[1] is [redacted], which replaces a secret in output: must be the secret itself"},

	// validation
	{file: "disk:\n  max_bytes: 7\n", want: "x.yaml:2:14: malformed: disk.max_bytes is 7: must be a size other than 7"},
	{env: "SYMBOLON_DISK_MAX_BYTES=7", want: "environment SYMBOLON_DISK_MAX_BYTES: malformed: disk.max_bytes is 7: must be a size other than 7"},
	{set: "disk.max_bytes=7", want: "--set disk.max_bytes: malformed: disk.max_bytes is 7: must be a size other than 7"},
	{file: "disk: {wait: 7s}", want: "x.yaml:1:7: malformed: disk: waiting 7s is bad luck"},
	{file: "peers:\n- id: a\n  store: {max_bytes: 7}\n", want: "x.yaml:3:22: malformed: peers[0].store.max_bytes is 7: must be a size other than 7"},
	{file: "count: 13", want: "x.yaml:1:8: malformed: thirteen is not allowed"},

	// YAML
	{file: "- a", want: "x.yaml:1:1: malformed: the file has no keys"},
	{file: "canary", want: `x.yaml:1:1: malformed: the file has no keys`},
	{file: "a: b: c", want: "x.yaml:1:5: malformed: mapping values are not allowed in this context"},
	{file: "name: a\nname: b", want: `x.yaml:2:1: malformed: key name for the second time`},
	{file: "name: a\n---\nname: b", want: "x.yaml:2:1: malformed: a second document; one is read"},
	{file: "name: !!str a", want: "x.yaml:1:7: malformed: a tag; values are written without"},
	{file: "name: *a", want: `x.yaml:1:7: malformed: an alias without an anchor before it; a value that begins with * needs quotes`},
	{file: "name: [*]", want: `x.yaml:1:9: malformed: an alias without an anchor before it; a value that begins with * needs quotes`},
	{file: "name: &a [*a]", want: "x.yaml:1:11: malformed: the value of the anchor has an alias of itself"},
	{file: "token: &canary", want: "x.yaml:1:8: malformed: an anchor without a value; a value that begins with & needs quotes"},
	{file: "token: *canary", want: "x.yaml:1:8: malformed: an alias without an anchor before it; a value that begins with * needs quotes"},
	{file: "token: ! canary", want: "x.yaml:1:8: malformed: a tag; values are written without"},
	{file: "token: !canary!x y", want: "x.yaml:1:8: malformed: found undefined tag handle"},
	{file: "token: @canary", want: "x.yaml:1:8: malformed: found character that cannot start any token"},
	{file: "token: |canary", want: "x.yaml:1:9: malformed: did not find expected comment or line break while scanning a block scalar that begins at 1:8"},
	{file: "token: \"canary", want: "x.yaml:1:8: malformed: found unexpected end of stream while scanning a quoted scalar"},
	{file: "words: [a\nname: canary", want: "x.yaml:2:5: malformed: did not find expected ',' or ']' while parsing a flow sequence that begins at 1:8"},
	{file: "token: canary: x", want: "x.yaml:1:14: malformed: mapping values are not allowed in this context"},
	{file: "name: a\ntoken: can\x00ary", want: "x.yaml:2:11: malformed: control characters are not allowed (value: 0)"},
	{file: "disk: {<<: a}", want: "x.yaml:1:12: malformed: a merge key takes a section, or a list of sections"},
	{file: "? [a]\n: b", want: "x.yaml:1:3: malformed: a key must be a plain word"},
	{file: "count: &a 1\n*a : 2", want: "x.yaml:2:1: malformed: a key must be a plain word"},
	{file: "!!str name: 1", want: "x.yaml:1:1: malformed: a key must be a plain word"},
	{file: "[a]: b", want: "x.yaml:1:1: malformed: a key must be a plain word"},
	{file: "name:\n  a: b", want: "x.yaml:2:3: malformed: name is a section: must be text"},
	{file: "name:\r\n  b\r\ncount: x\r\n", want: `x.yaml:3:8: malformed: count is "x": must be a whole number`},
	{file: "\ufeffcount: x", want: `x.yaml:1:8: malformed: count is "x": must be a whole number`},
	{file: "%YAML 1.2\n---\ncount: x", want: "x.yaml:1:1: malformed: found incompatible YAML document"},
	{file: "name:\n\ta", want: "x.yaml:2:1: malformed: found character that cannot start any token"},
	{file: "name: \xff", want: "x.yaml:1:7: malformed: invalid leading UTF-8 octet (value: 255)"},
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

// mistakes loads a configuration and returns the lines of its error.
func mistakes(t *testing.T, o config.Options) []string {
	t.Helper()
	o.File = "x.yaml"
	_, _, err := config.Read(o)
	if err == nil {
		t.Fatalf("no error for %s", o.Data)
	}
	return strings.Split(err.Error(), "\n")
}

// TestAllMistakesAreListed has mistakes in the file, in variables and in flags,
// and some that only validation finds.
func TestAllMistakesAreListed(t *testing.T) {
	got := mistakes(t, config.Options{
		Data: []byte("memroy: 1GiB\ncache: {disk: {max_bytes: much, max_flies: 1}}\nhttp: {listen: here, max_body: -1}\n" +
			"sources:\n- {id: a, type: http, url: 'https://example.org/'}\n- {id: a, typ: http}\nlog: {level: loud}\n"),
		Environ: []string{"SYMBOLON_TABLE_BUILDS=two", "ELIOT_SYMBOLS_URLS=nowhere"},
		Sets:    []string{"sentry", "mozilla.jobs=1"},
	})
	want := []string{
		"x.yaml:1:1: malformed: unknown key memroy; did you mean memory?",
		`x.yaml:2:27: malformed: cache.disk.max_bytes is "much": must be a size such as 64MiB`,
		"x.yaml:2:33: malformed: unknown key cache.disk.max_flies; did you mean cache.disk.max_files?",
		`x.yaml:3:16: malformed: http.listen is "here": must be HOST:PORT`,
		`x.yaml:3:32: malformed: http.max_body is -1: must not be negative`,
		`x.yaml:6:8: malformed: sources[1].id is "a": sources[0] has this id too`,
		"x.yaml:6:11: malformed: unknown key sources[1].typ; did you mean sources[].type?",
		`x.yaml:7:14: malformed: log.level is "loud": must be debug, info, warn or error`,
		`ELIOT_SYMBOLS_URLS: malformed: source 1 is not an http(s) URL`,
		`SYMBOLON_TABLE_BUILDS: malformed: table.builds is "two": must be a whole number`,
		"--set sentry: malformed: must be KEY=VALUE",
		"--set mozilla.jobs: malformed: unknown key mozilla.jobs",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestEachMistakeIsListedOnce has files with several mistakes, and a part of
// each expected line, in order.
func TestEachMistakeIsListedOnce(t *testing.T) {
	long := strings.Repeat("x", 300)
	for text, want := range map[string][]string{
		"log: {format: xml, levl: debug}\nelastic: {store: nosuch}\nstate: other\n": {
			"log.format is", "unknown key log.levl; did you mean log.level?", "x.yaml:2:18: malformed: elastic.store is the old name", `x.yaml:3:8: malformed: state is "other"`,
		},
		// an unknown key beside the one that it is near to
		"log:\n  levl: debug\n  level: loud\n": {"unknown key log.levl", `log.level is "loud"`},
		// what only follows from another mistake
		"sources:\n- id: a\n  typ: http\n  url: 'http://h/'\n":           {"unknown key sources[0].typ"},
		"sources:\n- id: a\n  type: filesystem\n  path: [a]\n":           {"sources[0].path is a list"},
		"sources:\n- type: filesystem\n  path: /a\n  idd: b\nstate: b\n": {"unknown key sources[0].idd"},
		"sources: 5\nstate: minio\n":                                     {"sources is"},
		"sources: [5, 6]\n":                                              {"sources[0] is a text", "sources[1] is a text"},
		"sources: [{id: a, type: http, url: '${GONE}'}]\n":               {"variable GONE is not set"},
		"http: {tls: {certificat: /a, key: /b}}\n":                       {"unknown key http.tls.certificat"},
		"http: {tls: {certificate: [a], key: /b}}\n":                     {"http.tls.certificate is a list"},
		"access: {clients: [{tokn: 0123456789abcdef, scopes: ['*']}]}\n": {"unknown key access.clients[0].tokn"},
		"cache: {shared: {type: http, bucket: b}}\n":                     {`cache.shared.type is "http"`},
		"cache: {shared: {type: s3, bucet: b}}\n":                        {"unknown key cache.shared.bucet"},
		"netwrok: {max_tries: 3}\nmemory: lots\n":                        {"unknown key netwrok", "memory is"},
		// several mistakes of one section
		"sources:\n- id: " + long + "\n  type: http\n  path: /a\n  url: ftp://h\n  layout: {type: x, casing: y}\n  filters: {filetypes: [a, b]}\n  headers: {Host: a}\n": {
			"more than 256 bytes", "path is for type filesystem", "the url must begin", `invalid layout "x"`, `invalid casing "y"`, `invalid file type "a"`, `invalid file type "b"`, "header Host",
		},
		"sources:\n- type: ftp\n- id: a\n- id: a\n  type: s3\n": {
			`a source has no id`, `invalid type "ftp"`, `sources[1]: source "a": the type is missing`, "needs a bucket", "x.yaml:4:7: malformed: sources[2].id",
		},
		"http: {listen: here, trusted_proxies: [a, b], idle_timeout: -1, tls: {key: /k, address: there}}\n": {
			`http.listen is "here"`, "http.trusted_proxies[0]", "http.trusted_proxies[1]", "http.idle_timeout is", "http.tls.key is set without", `http.tls.address is "there"`,
		},
		"memory: 1MiB\nnetwork: {max_tries: -1}\nelastic:\n  api_keys: [a]\n  uploads: {expiry: 1s}\n": {
			"memory is 1MiB", "network.max_tries is -1", "elastic.api_keys[0] is not a key", "elastic.uploads.expiry is 1s",
		},
		// durations, and a key in an element of a list
		"locate: {keep_originals: sometimes}\nnetwork: {connect_timeout: 5, head_timeout: 5 minutes}\naccess:\n  clients:\n  - {token: short, scopes: []}\n  - {token: 0123456789abcdef, scopes: [''], admn: true}\n": {
			"locate.keep_originals is", "network.connect_timeout is", "network.head_timeout is",
			"x.yaml:5:13: malformed: access.clients[0].token has 5 bytes", "access.clients[0].scopes is empty", "access.clients[1].scopes has an empty", "unknown key access.clients[1].admn",
		},
		// a file that is not YAML
		"log: {level: loud}\nhttp: [a\n": {"x.yaml:2:7: malformed: did not find expected ',' or ']' while parsing a flow sequence"},
	} {
		got := mistakes(t, config.Options{Data: []byte(text)})
		matches := len(got) == len(want)
		for i := 0; matches && i < len(got); i++ {
			matches = strings.Contains(got[i], want[i])
		}
		if !matches {
			t.Errorf("%s:\ngot\n%s\nwant\n%s", text, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestVariablesAndFlagsAreReadAfterABadFile has a file that cannot be read, and
// one with too many mistakes.
func TestVariablesAndFlagsAreReadAfterABadFile(t *testing.T) {
	for name, text := range map[string]string{"no YAML": "a: [", "many mistakes": "sources: [" + strings.Repeat("1, ", 40) + "]"} {
		c, _, err := config.Read(config.Options{File: "x.yaml", Data: []byte(text), Environ: []string{"SYMBOLON_LOG_FORMAT=json"}, Sets: []string{"log.level=debug"}})
		if err == nil || c.Log.Format != "json" || c.Log.Level != "debug" {
			t.Errorf("%s: got %+v, %v", name, c.Log, err)
		}
		if told := strings.Split(err.Error(), "\n"); len(told) > 1 && !strings.Contains(told[30], "there are more mistakes than these 30") {
			t.Errorf("%s: got %q", name, told)
		}
	}
}
