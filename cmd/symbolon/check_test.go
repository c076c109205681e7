package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/bucket/s3test"
)

// checked runs config check on a file of this text, and returns the exit status,
// the lines of stderr and what is in the folder of the file afterwards.
func checked(t *testing.T, text string, args ...string) (code int, told []string, left []os.DirEntry) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("c.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code = run(t.Context(), append([]string{"config", "check", "c.yaml"}, args...), &env{stdout: &out, stderr: &errs})
	left, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	return code, strings.Split(strings.TrimSpace(errs.String()), "\n"), left
}

func TestConfigCheckListsMistakesOfFilesToo(t *testing.T) {
	for text, want := range map[string][]string{
		"log: {format: xml, levl: debug}\nelastic: {store: nosuch}\nstate: other\nhttp: {tls: {certificate: /nonexist, key: /nonexist}}\n": {
			"c.yaml:1:15: malformed: log.format is", "c.yaml:1:20: malformed: unknown key log.levl", "c.yaml:2:18: malformed: elastic.store is",
			"c.yaml:3:8: malformed: state is", "c.yaml:4:27: malformed: http.tls.certificate: open /nonexist", "c.yaml:4:43: malformed: http.tls.key: open /nonexist",
		},
		"data: c.yaml/sub\nhttp:\n  version_file: c.yaml\n  tls:\n    certificate: c.yaml\n    key: c.yaml\n  listen: here\n": {
			"c.yaml:1:7: malformed: data is", "c.yaml:3:17: malformed: http.version_file c.yaml is not JSON",
			"c.yaml:5:18: malformed: http.tls.certificate: load the TLS certificate c.yaml", "c.yaml:7:11: malformed: http.listen is",
		},
		"data: d\nstate: d/cache/x\n":                         {"c.yaml:2:8: malformed: state is"},
		"data: d\nstate: ./c.yaml\nhttp: {tls: {key: [a]}}\n": {"c.yaml:2:8: malformed: state is", "http.tls.key is a list"},
		"data: [a\n": {"c.yaml:1:7: malformed"},
	} {
		code, told, left := checked(t, text)
		matches := code == exitFailed && len(told) == len(want)
		for i := 0; matches && i < len(told); i++ {
			matches = strings.Contains(told[i], want[i])
		}
		if !matches {
			t.Errorf("%s: exit %d:\n%s\nwant\n%s", text, code, strings.Join(told, "\n"), strings.Join(want, "\n"))
		}
		if len(left) != 1 {
			t.Errorf("%s: the check left %v", text, left)
		}
	}
}

// TestConfigCheckWarnsBesideMistakes has a folder that is missing, which serve
// warns of, and a mistake.
func TestConfigCheckWarnsBesideMistakes(t *testing.T) {
	code, told, _ := checked(t, "data: d\nsources: [{id: a, type: filesystem, path: gone}]\nlog: {format: json, level: loud}\n")
	var line struct{ Level, Source string }
	if code != exitFailed || len(told) != 2 || json.Unmarshal([]byte(told[0]), &line) != nil || line.Level != "WARN" || line.Source != "a" {
		t.Errorf("exit %d: %q", code, told)
	}
}

func TestConfigCheckTakesFoldersThatCanBeMade(t *testing.T) {
	code, told, left := checked(t, "data: a/b/c\nstate: ./d/e\n")
	if code != exitDone || len(left) != 1 {
		t.Errorf("exit %d, left %v: %q", code, left, told)
	}
}

func TestJSONLogHasTheErrorAtTheStart(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"json.yaml": "log: {format: json}\nmemory: lots\nnope: 1\n", "broken.yaml": "a: ["} {
		if err := os.WriteFile(filepath.Join(".", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ line, environ string }{
		{"--set log.format=json --set memory=lots", ""},
		{"--set memory=lots", "SYMBOLON_LOG_FORMAT=json"},
		{"--config json.yaml", ""},
		{"--config broken.yaml", "SYMBOLON_LOG_FORMAT=json"},
		{"--config gone.yaml --set log.format=json", ""},
		{"--set log.format=json --set log.level=loud", ""},
	} {
		var out, errs bytes.Buffer
		e := &env{stdout: &out, stderr: &errs, environ: []string{c.environ}}
		code := run(t.Context(), append([]string{"serve", "--listen", "127.0.0.1:0", "--data", "d"}, strings.Fields(c.line)...), e)
		var line struct{ Level, Error string }
		if err := json.Unmarshal(errs.Bytes(), &line); err != nil || code != exitFailed || line.Level != "ERROR" || line.Error == "" {
			t.Errorf("serve %s with %q: exit %d, %v: %s", c.line, c.environ, code, err, &errs)
		}
	}
}

func TestConfigCheckReadsBuckets(t *testing.T) {
	place := s3test.Run(t).Place()
	missing := place
	missing.Bucket = "none"
	shared := func(bucket string) string {
		return fmt.Sprintf("cache: {shared: {type: s3, bucket: %s, endpoint: %q, access_key: %q, secret_key: %q}}\n", bucket, place.Endpoint, place.AccessKey, place.SecretKey)
	}
	for text, want := range map[string]string{
		place.State(place.Endpoint, "") + shared(place.Bucket): "",
		missing.State(place.Endpoint, ""):                      "state: uploads and new tokens will fail: s3://none/: not found: NoSuchBucket",
		place.State(place.Endpoint, "") + shared("none"):       "cache.shared: nodes will share nothing: s3://none/probe: not found: NoSuchBucket",
	} {
		code, told, _ := checked(t, "data: d\n"+text)
		if code != exitDone || len(told) != 1 || !strings.Contains(told[0], want) || want == "" && told[0] != "" {
			t.Errorf("%s: exit %d: %q, want %q", text, code, told, want)
		}
	}
}
