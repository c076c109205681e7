package auto_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/filter/auto"
)

const processed = `{"meta":{"preprocessedProfileVersion":66},"libs":[{"path":%q},{"path":"/missing/app"}]}`

func file(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestProfilesOfTheFirefoxProfilerAreAccepted(t *testing.T) {
	for _, content := range []string{
		processed, "\n" + processed, gzipped(t, processed), `{"meta":{"version":27,"libs":[]}}`, "\xdc\xdfJSLB\x01\x00\x01\x00\x00\x00",
	} {
		if err := auto.CheckProfile(strings.NewReader(content)); err != nil {
			t.Errorf("%.40q: %v", content, err)
		}
	}
}

func TestOtherFilesAreRefusedAsProfilesWithAdvice(t *testing.T) {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]string{
		"PERFILE2" + strings.Repeat("\x00", 100):                                   "samply import FILE",
		"app 1 2.000001: 10 cpu-clock:u: \n\t    55d1c0de main+0x1 (/srv/app)\n\n": "symbolon filter FILE -o NAMED, then load NAMED at https://profiler.firefox.com",
		`{"traceEvents":[]}`: "symbolon filter FILE -o NAMED, then load NAMED",
		"a log\n":            "not a profile of the Firefox Profiler",
		"":                   "not a profile of the Firefox Profiler",
		string(z.EncodeAll([]byte(processed), nil)): "browsers do not load a profile in zstd",
		gzipped(t, "a log\n"):                       "not a profile of the Firefox Profiler",
		gzipped(t, processed)[:5]:                   "gzip file is cut off",
		"PAR1" + strings.Repeat("\x00", 100):        "Parquet",
	} {
		if err := auto.CheckProfile(strings.NewReader(content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %v, want one with %q", content, err, want)
		}
	}
}

func TestLibrariesOfAProfileAreAdded(t *testing.T) {
	program, err := filepath.Abs("../../object/testdata/corpus/embed-source")
	if err != nil {
		t.Fatal(err)
	}
	for _, pack := range []func(string) string{func(s string) string { return s }, func(s string) string { return gzipped(t, s) }} {
		files := &auto.Files{}
		if err := files.AddLibraries(t.Context(), file(t, pack(fmt.Sprintf(processed, program)))); err != nil {
			t.Fatal(err)
		}
		list, err := filepath.Glob(filepath.Join(files.Links.Dir, "*-embed-source"))
		if err != nil || len(list) != 1 {
			t.Errorf("added %v, %v", list, err)
		}
		files.Links.Remove()
	}
	files := &auto.Files{}
	if err := files.AddLibraries(t.Context(), file(t, processed[:40])); err == nil {
		t.Error("a truncated profile is not an error")
	}
}
