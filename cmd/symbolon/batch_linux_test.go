package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/s3test"
)

// pingRow is a row with an address of a module of the demo.
const pingRow = `{"frames":[{"debug_file":"teapot.pdb","debug_id":"6D1F0A5C3B2E4F718C9D0E1F2A3B4C5D1","offset":"0x1010"}]}` + "\n"

// TestBatchTellsSchedulersHowItEnded runs batches to each of their ends.
func TestBatchTellsSchedulersHowItEnded(t *testing.T) {
	t.Parallel()
	asked, ended := make(chan bool, 100), make(chan bool)
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- true
		select {
		case <-ended:
		case <-r.Context().Done():
		}
	}))
	defer slow.Close()
	defer close(ended)
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	defer broken.Close()
	dir := t.TempDir()
	in, bad := filepath.Join(dir, "pings.json"), filepath.Join(dir, "bad.json")
	for name, text := range map[string]string{in: strings.Repeat(pingRow, 3), bad: "{}\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, source, input string
		signal              syscall.Signal
		want, message       string
	}{
		{"done", "demo", in, 0, "exit status 0", "3 rows in 1 unit, 0 without an answer"},
		{"rows that fail", "demo", bad, 0, "exit status 1", "too many rows"},
		{"an input that does not exist", "demo", "none.json", 0, "exit status 2", "none.json"},
		{"standard input", "demo", "-", 0, "exit status 2", "standard input"},
		{"a source that does not answer", broken.URL, in, 0, "exit status 75", "run the same command again"},
		{"Ctrl-C", slow.URL, in, syscall.SIGINT, "exit status 130", "interrupted"},
		{"SIGTERM", slow.URL, in, syscall.SIGTERM, "exit status 143", "interrupted"},
	} {
		out := t.TempDir()
		p := newProcess(t, "symbolon", "batch", "--source", c.source, "--out", out, c.input).start()
		if c.signal != 0 {
			<-asked
			p.signal(c.signal)
		}
		if got := p.end(); got != c.want || !strings.Contains(p.stderr.String(), c.message) {
			t.Errorf("%s: got %q and %s, want %q and %q", c.name, got, p.stderr, c.want, c.message)
		}
		parts, err := filepath.Glob(filepath.Join(out, "part", "*.zst"))
		if hasPart := c.want == "exit status 0" || c.want == "exit status 1" || c.want == "exit status 75"; err != nil || hasPart != (len(parts) > 0) {
			t.Errorf("%s: the parts are %q, %v", c.name, parts, err)
		}
		if c.signal == 0 {
			continue
		}
		p = newProcess(t, "symbolon", "batch", "--source", "demo", "--out", out, c.input).start()
		if got := p.end(); got != "exit status 0" {
			t.Errorf("after %s: got %q and %s", c.name, got, p.stderr)
		}
	}
}

func TestTablesOfABatchAreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, data, symbols := filepath.Join(dir, "pings.json"), filepath.Join(dir, "data"), filepath.Join(dir, "symbols")
	var sym strings.Builder // whose table takes longer than the batch
	sym.WriteString("MODULE windows x86_64 6D1F0A5C3B2E4F718C9D0E1F2A3B4C5D1 teapot.pdb\n")
	for i := range 100_000 {
		fmt.Fprintf(&sym, "FUNC %x 10 0 function_%d\n", 0x1000+i*0x10, i)
	}
	err := os.Mkdir(symbols, 0o700)
	for name, text := range map[string]string{in: pingRow, filepath.Join(symbols, "teapot.sym"): sym.String()} {
		if err = errors.Join(err, os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	p := newProcess(t, "symbolon", "batch", "--source", symbols, "--data", data, "--out", filepath.Join(dir, "out"), in).start()
	if got := p.end(); got != "exit status 0" {
		t.Fatalf("got %q and %s", got, p.stderr)
	}
	if tables, err := filepath.Glob(filepath.Join(data, "cache", "symcache", "*", "*")); err != nil || len(tables) != 1 {
		t.Errorf("%v, the tables are %q, want one", err, tables)
	}
}

// TestBatchUsesTheCredentialsOfAWS reads and writes a bucket that the configuration
// does not have.
func TestBatchUsesTheCredentialsOfAWS(t *testing.T) {
	t.Parallel()
	store := s3test.Run(t)
	if _, err := store.Open(t, "in").Put(t.Context(), "a/pings.json", strings.NewReader(pingRow), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
	p := newProcess(t, "symbolon", "batch", "--source", "demo", "--out", "s3://"+s3test.Bucket+"/out", "--job", "1", "s3://"+s3test.Bucket+"/in/a")
	p.cmd.Env = append(p.cmd.Env, "AWS_ACCESS_KEY_ID="+s3test.AccessKey, "AWS_SECRET_ACCESS_KEY="+s3test.SecretKey, "AWS_ENDPOINT_URL="+store.Endpoint())
	if got := p.start().end(); got != "exit status 0" {
		t.Fatalf("%s: %s", got, p.stderr)
	}
	if _, err := os.Stat(filepath.Join(store.Folder, "out/1/part/000000-000000.ndjson.zst")); err != nil {
		t.Error(err)
	}
}
