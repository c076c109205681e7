package config_test

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"symbolon/internal/config"
)

func reference(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := config.Reference(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestKeysTellWhatTheStructSays(t *testing.T) {
	keys := config.Keys(&all{})
	var paths []string
	by := make(map[string]config.Key)
	for _, k := range keys {
		paths = append(paths, k.Path)
		by[k.Path] = k
	}
	want := "name count small large share quiet words sizes marks token keys disk.max_bytes disk.wait disk.deep.level disk.deep.alone " +
		"peers peers[].id peers[].url peers[].head peers[].tries peers[].store.max_bytes peers[].store.wait peers[].store.deep.level peers[].store.deep.alone"
	if got := strings.Join(paths, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, k := range []config.Key{
		{Path: "disk.max_bytes", Type: "size", Default: "64MiB", Help: "Bytes.", Env: "SYMBOLON_DISK_MAX_BYTES"},
		{Path: "disk.wait", Type: "duration", Default: "0s", Help: "How long.", Env: "SYMBOLON_DISK_WAIT"},
		{Path: "quiet", Type: "true or false", Default: "false", Help: "Say less.", Env: "SYMBOLON_QUIET"},
		{Path: "share", Type: "number", Default: "0", Help: "A share | part.", Env: "SYMBOLON_SHARE"},
		{Path: "words", Type: "list of text", Help: "Some words.", Env: "SYMBOLON_WORDS"},
		{Path: "marks", Type: "map of text", Help: "Some marks.", Env: "SYMBOLON_MARKS"},
		{Path: "token", Type: "text", Help: "A secret.", Env: "SYMBOLON_TOKEN", Secret: true},
		{Path: "keys", Type: "list of secret", Help: "Secrets.", Env: "SYMBOLON_KEYS", Secret: true},
		{Path: "peers", Type: "list of sections", Help: "Others.", Env: "SYMBOLON_PEERS"},
		{Path: "peers[].url", Type: "url", Help: "Its address.", Secret: true},
		{Path: "peers[].tries", Type: "whole number", Default: "2", Help: "Tries."},
	} {
		if by[k.Path] != k {
			t.Errorf("got  %+v\nwant %+v", by[k.Path], k)
		}
	}
	lists := config.Keys(struct {
		L lists `yaml:"l"`
	}{})
	if lists[0].Default != `[a, "b c", "$${D}"]` || lists[1].Default != "{k: v, l: w}" {
		t.Errorf("got %+v", lists)
	}
}

type lists struct {
	Words []string          `yaml:"words"`
	Marks map[string]string `yaml:"marks"`
}

func (l lists) Defaults() lists {
	return lists{[]string{"a", "b c", "${D}"}, map[string]string{"l": "w", "k": "v"}}
}

// The rest is about Config itself.

func TestEveryKeyIsDocumentedAndHasItsOwnVariable(t *testing.T) {
	secretive := regexp.MustCompile(`token|secret|passw|cookie|private|credential|api_key|read_key|access_key|headers|dsn`)
	variable := regexp.MustCompile(`^SYMBOLON_[A-Z0-9_]+$`)
	seen := make(map[string]string)
	for _, k := range config.Keys(config.Config{}) {
		if !strings.HasSuffix(k.Help, ".") {
			t.Errorf("%s has no sentence of help: %q", k.Path, k.Help)
		}
		if secretive.MatchString(k.Path) && !k.Secret && !strings.HasSuffix(k.Path, "_provider") {
			t.Errorf("%s sounds like a secret and is not kept as one", k.Path)
		}
		if k.Env == "" {
			if !strings.Contains(k.Path, "[]") {
				t.Errorf("%s has no variable", k.Path)
			}
			continue
		}
		if other := seen[k.Env]; other != "" || !variable.MatchString(k.Env) {
			t.Errorf("the variable of %s is %s, as that of %q", k.Path, k.Env, other)
		}
		seen[k.Env] = k.Path
	}
	if len(seen) < 40 {
		t.Errorf("only %d keys", len(seen))
	}
}

func TestKeysThatOthersRelyOnExist(t *testing.T) {
	has := make(map[string]bool)
	for _, k := range config.Keys(config.Config{}) {
		has[k.Path] = true
	}
	for _, path := range []string{
		"data", "sources", "http.listen", "log.level", "log.format", "mozilla.v4_profile", "mozilla.strict",
		"network.connect_to_reserved_ips", "cache.disk.max_bytes", "cache.lifetimes.not_found",
		"sources[].id", "sources[].type", "sources[].url", "sources[].layout.type", "sources[].filters.filetypes", "sources[].is_public",
	} {
		if !has[path] {
			t.Errorf("missing key %s", path)
		}
	}
}

func TestReferenceHasEveryKeyAndIsTheSameAgain(t *testing.T) {
	page := reference(t)
	for range 5 {
		if reference(t) != page {
			t.Fatal("the page is another one each time")
		}
	}
	for _, k := range config.Keys(config.Config{}) {
		row := "| `" + k.Path + "` | " + k.Type + " |"
		i := strings.Index(page, row)
		if i < 0 {
			t.Errorf("no row %s", row)
			continue
		}
		line, _, _ := strings.Cut(page[i:], "\n")
		if !strings.Contains(line, strings.ReplaceAll(k.Help, "|", `\|`)) || !strings.Contains(line, k.Env) || !strings.Contains(line, k.Default) {
			t.Errorf("the row lacks something: %s", line)
		}
	}
	for i, line := range strings.Split(page, "\n") {
		if cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); cells != 0 && cells != 6 && cells != 3 {
			t.Errorf("line %d is broken: %s", i+1, line)
		}
	}
}

func TestTheDefaultsAreValidAndPrintedConfigLoads(t *testing.T) {
	c, loaded, err := config.Read(config.Options{})
	if err != nil || len(loaded.Notices) != 0 {
		t.Fatal(err, loaded)
	}
	if c.HTTP.Listen != "127.0.0.1:3021" || c.Log.Level != "info" || c.Log.Format != "text" || len(c.Sources) != 0 {
		t.Errorf("got %+v", c)
	}
	text := printed(t, c, nil)
	again, _, err := config.Read(config.Options{File: "p", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(c, again) {
		t.Errorf("got  %+v\nwant %+v", again, c)
	}
}

func TestSourcesTakeSymbolicatorsObjects(t *testing.T) {
	c, loaded, err := config.Read(config.Options{File: "s.yaml", Environ: []string{"TOKEN=canary"}, Data: []byte(`
sources:
  - id: mozilla
    type: http
    url: https://symbols.mozilla.org/try/
    is_public: true
    headers: {Authorization: "Bearer ${TOKEN}"}
    layout: {type: native, casing: lowercase}
    filters:
      filetypes: [breakpad]
      path_patterns: ["*xul*"]
  - {id: local, type: filesystem, path: /symbols}
  - {id: aws, type: s3, bucket: b, region: eu-west-1, prefix: p, access_key: canary-a, secret_key: "${TOKEN}"}
  - {id: minio, type: s3, bucket: b, region: [any, "http://minio:9000/"], aws_credentials_provider: container}
  - {id: google, type: gcs, bucket: b, client_email: a@b, private_key: "canary\\n"}
`)})
	if err != nil {
		t.Fatal(err)
	}
	s := c.Sources[0]
	if s.Headers["Authorization"].Reveal() != "Bearer canary" || s.Layout.Casing != "lowercase" || s.Filters.PathPatterns[0] != "*xul*" || !s.IsPublic {
		t.Errorf("got %+v", s)
	}
	if c.Sources[2].Layout.Type != "native" {
		t.Errorf("a source without its defaults: %+v", c.Sources[2])
	}
	if c.Sources[1].Layout.Type != "" {
		t.Errorf("a folder that does not show its layout itself: %+v", c.Sources[1])
	}
	if r := c.Sources[2].Region; r.Name() != "eu-west-1" || r.Endpoint() != "" || c.Sources[2].SecretKey.Reveal() != "canary" {
		t.Errorf("got %+v", c.Sources[2])
	}
	if r := c.Sources[3].Region; r.Name() != "any" || r.Endpoint() != "http://minio:9000/" || c.Sources[3].Provider != "container" {
		t.Errorf("got %+v", c.Sources[3])
	}
	out := printed(t, c, loaded.Origins)
	if strings.Contains(out, "canary") || !strings.Contains(out, "minio:9000") {
		t.Error(out)
	}
}

func TestWrongSettingsNameTheirKey(t *testing.T) {
	for text, want := range map[string]string{
		"log: {level: loud}":           `c.yaml:1:14: malformed: log.level is "loud": must be debug, info, warn or error`,
		"log: {format: xml}":           `c.yaml:1:15: malformed: log.format is "xml": must be text or json`,
		"http: {listen: nowhere}":      `c.yaml:1:16: malformed: http.listen is "nowhere": must be HOST:PORT`,
		"mozilla: {v4_profile: x}":     `c.yaml:1:23: malformed: mozilla.v4_profile is "x": must be default or tecken`,
		"locate: {keep_originals: x}":  `c.yaml:1:26: malformed: locate.keep_originals is "x": must be none, read or all`,
		"cache: {shared: {type: x}}":   `c.yaml:1:24: malformed: cache.shared.type is "x": must be s3 or gcs`,
		"cache: {disk: {max_byte: 1}}": "c.yaml:1:16: malformed: unknown key cache.disk.max_byte; did you mean cache.disk.max_bytes?",
		"elastic:\n  store: b\n":       `c.yaml:2:10: malformed: elastic.store is "b": must be the id of one of the sources, or a folder such as ./uploads`,
		"listen: 1":                    "c.yaml:1:1: malformed: unknown key listen; did you mean http.listen?",
		"sources: [{id: a, type: filesystem, path: /a}, {id: a, type: filesystem, path: /b}]": `c.yaml:1:53: malformed: sources[1].id is "a": sources[0] has this id too`,
		"sources: [{id: a}]": `c.yaml:1:11: malformed: sources[0]: source "a": the type is missing: must be one of http, filesystem, s3, gcs, sentry`,
	} {
		_, _, err := config.Read(config.Options{File: "c.yaml", Data: []byte(text)})
		if err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", text, err, want)
		}
	}
}

func TestValuesBelowTheirLeastAreRefused(t *testing.T) {
	for set, want := range map[string]string{
		"memory=1MiB":                           "memory is 1MiB: must be at least 64MiB",
		"http.max_in_flight=-2":                 "http.max_in_flight is -2: must be at least -1",
		"http.max_in_flight=-1":                 "",
		"http.max_in_flight=0":                  "",
		"http.idle_timeout=-1":                  "http.idle_timeout is -1: must not be negative",
		"sentry.answers_memory=-1":              "sentry.answers_memory is -1: must not be negative",
		"network.max_tries=-1":                  "network.max_tries is -1: must be at least 1",
		"network.deny_list_block_time=-1":       "network.deny_list_block_time is -1: must not be negative",
		"cache.disk.max_files=-2":               "cache.disk.max_files is -2: must be at least -1",
		"cache.redis.timeout=1us":               "cache.redis.timeout is 1µs: must be at least 1ms",
		"cache.redis.timeout=1ms":               "",
		"cache.shared.timeout=1us":              "cache.shared.timeout is 1µs: must be at least 1ms",
		"symbolicate.max_frames=-1":             "symbolicate.max_frames is -1: must be at least 1",
		"table.builds=-1":                       "table.builds is -1: must be at least 1",
		"elastic.uploads.max_part=-1":           "elastic.uploads.max_part is -1: must not be negative",
		"mozilla.max_modules=many":              "mozilla.max_modules is \"many\": must be a whole number",
		"mozilla.max_jobs=-9223372036854775808": "mozilla.max_jobs is -9223372036854775808: must be at least -1",
	} {
		_, _, err := config.Read(config.Options{Sets: []string{set}})
		if got := fmt.Sprint(err); !strings.HasSuffix(got, want) || want == "" && err != nil {
			t.Errorf("%s: got %s, want %s", set, got, want)
		}
	}
}

func TestRegionIsANameOrANameAndAnAddress(t *testing.T) {
	const source = "sources: [{id: a, type: s3, bucket: b"
	for text, want := range map[string]string{
		source + "}]":                                "",
		source + ", region: honk}]":                  "",
		source + ", region: [honk, 'http://h']}]":    "",
		source + ", region: ~}]":                     "c.yaml:1:40: malformed: invalid sources[0].region: must be a name, or a list of a name and an address",
		source + ", region: }]":                      "c.yaml:1:40: malformed: invalid sources[0].region: must be a name, or a list of a name and an address",
		source + ", region: []}]":                    "c.yaml:1:40: malformed: invalid sources[0].region: must be a name, or a list of a name and an address",
		source + ", region: [honk]}]":                "c.yaml:1:40: malformed: invalid sources[0].region: must be a name, or a list of a name and an address",
		source + ", region: [honk, 'http://h', c]}]": "c.yaml:1:40: malformed: invalid sources[0].region: must be a name, or a list of a name and an address",
	} {
		_, _, err := config.Read(config.Options{File: "c.yaml", Data: []byte(text)})
		if got := fmt.Sprint(err); got != want && (want != "" || err != nil) {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestWrongPlacesOfTheSharedCache(t *testing.T) {
	for text, want := range map[string]string{
		"":            "",
		"timeout: 1s": "",
		"path: /a":    "",
		"{type: s3, bucket: b, endpoint: 'http://h', region: r}":                       "",
		"{type: gcs, bucket: b, endpoint: 'http://h', bearer_token: t, negatives: 1m}": "",
		"{type: s3, bucket: b, path: /a}":                                              "path is for type filesystem",
		"{path: /a, access_key: a}":                                                    "access_key is for type s3, not for filesystem",
		"{type: s3, bucket: b, access_key: a}":                                         "access_key and secret_key must be set together",
		"{type: s3}":                                                                   "type s3 needs a bucket",
		"bucket: b":                                                                    "the type is missing",
		"access_key: a":                                                                "the type is missing",
		"{type: http, bucket: b}":                                                      `type is "http": must be s3 or gcs`,
		"{type: gcs, bucket: b, endpoint: 'ftp'}":                                      "the url must begin with http:// or https://",
		"{type: s3, bucket: b, aws_credentials_provider: x}":                           `invalid aws_credentials_provider "x"`,
		"{path: /a, timeout: 10us}":                                                    "cache.shared.timeout is 10µs",
		"{path: /a, fetch_timeout: 10ms}":                                              "cache.shared.fetch_timeout is 10ms",
		"{path: /a, negatives: -1}":                                                    "cache.shared.negatives is",
		"{type: s3, bucket: b, prefix: a//b}":                                          "cache.shared.prefix: ",
	} {
		if text != "" && text[0] != '{' {
			text = "{" + text + "}"
		}
		_, _, err := config.Read(config.Options{File: "c.yaml", Data: []byte("cache: {shared: " + text + "}")})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "cache.shared")) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestEliotsVariables(t *testing.T) {
	environ := []string{
		"ELIOT_SYMBOLS_URLS=https://u:canary@a.example/x, http://b.example/", "ELIOT_SYMBOLS_CACHE_DIR=/var/cache/eliot",
		"ELIOT_SYMBOLS_CACHE_MAX_SIZE=1_0gb", "ELIOT_LOGGING_LEVEL=WARNING", "PORT=8000",
		"ELIOT_SECRET_SENTRY_DSN=canary", "ELIOT_SYMBOL_URLS=canary", "ELIOT_HOSTNAME=",
	}
	c, loaded, err := config.Read(config.Options{Environ: environ})
	if err != nil {
		t.Fatal(err)
	}
	if c.Data != "/var/cache/eliot" || c.Cache.Disk.MaxBytes != 10e9 || c.Log.Level != "warn" || c.HTTP.Listen != "0.0.0.0:8000" || len(c.Sources) != 2 {
		t.Errorf("got %+v", c)
	}
	if s := c.Sources[0]; s.URL.Reveal() != "https://u:canary@a.example/x" || s.Type != "http" || s.ID != "a.example/x" {
		t.Errorf("got %+v", s)
	}
	want := []string{
		"ELIOT_SYMBOLS_URLS is read as sources; its own variable is SYMBOLON_SOURCES",
		"ELIOT_SYMBOLS_CACHE_DIR is read as data; its own variable is SYMBOLON_DATA",
		"ELIOT_SYMBOLS_CACHE_MAX_SIZE is read as cache.disk.max_bytes; its own variable is SYMBOLON_CACHE_DISK_MAX_BYTES",
		"ELIOT_LOGGING_LEVEL is read as log.level; its own variable is SYMBOLON_LOG_LEVEL",
		"PORT is read as http.listen; its own variable is SYMBOLON_HTTP_LISTEN",
		"ELIOT_SECRET_SENTRY_DSN has no counterpart and is ignored",
		"ELIOT_SYMBOL_URLS has no counterpart and is ignored; did you mean ELIOT_SYMBOLS_URLS?",
	}
	if !reflect.DeepEqual(loaded.Notices, want) {
		t.Errorf("got  %q\nwant %q", loaded.Notices, want)
	}
	if out := printed(t, c, loaded.Origins); strings.Contains(out, "canary") {
		t.Error(out)
	}

	environ = append(environ, "SYMBOLON_DATA=/ours")
	if c, _, err = config.Read(config.Options{Environ: environ, Data: []byte("log: {level: debug}\n"), Sets: []string{"http.listen=:1"}}); err != nil {
		t.Fatal(err)
	}
	if c.Data != "/ours" || c.Log.Level != "warn" || c.HTTP.Listen != ":1" {
		t.Errorf("precedence: got %+v", c)
	}
}

func TestPortAloneIsNotEliots(t *testing.T) {
	c, loaded, err := config.Read(config.Options{Environ: []string{"PORT=8000", "ELIOT_X="}})
	if err != nil || c.HTTP.Listen != "127.0.0.1:3021" || len(loaded.Notices) != 0 {
		t.Errorf("got %+v, %+v, %v", c, loaded, err)
	}
}

func TestWrongVariablesOfEliotAreNamed(t *testing.T) {
	for entry, want := range map[string]string{
		"ELIOT_SYMBOLS_URLS=https://a.example/,/srv/canary": "ELIOT_SYMBOLS_URLS: malformed: source 2 is not an http(s) URL",
		"ELIOT_SYMBOLS_URLS=https://u:canary@/":             "ELIOT_SYMBOLS_URLS: malformed: source [redacted]: the url must begin with http:// or https:// and name a host",
		"ELIOT_SYMBOLS_CACHE_MAX_SIZE=1 apple":              `ELIOT_SYMBOLS_CACHE_MAX_SIZE: malformed: cache.disk.max_bytes is "1 apple": must be a size such as 64MiB`,
		"ELIOT_LOGGING_LEVEL=LOUD":                          `environment ELIOT_LOGGING_LEVEL: malformed: log.level is "loud": must be debug, info, warn or error`,
	} {
		_, _, err := config.Read(config.Options{Environ: []string{entry}})
		if err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", entry, err, want)
		}
	}
	c, _, err := config.Read(config.Options{Environ: []string{"ELIOT_LOGGING_LEVEL=CRITICAL", "ELIOT_SYMBOLS_URLS= ,"}})
	if err != nil || c.Log.Level != "error" || len(c.Sources) != 0 {
		t.Errorf("got %+v, %v", c, err)
	}
}
