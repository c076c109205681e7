package uploaders_test

import (
	"archive/zip"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/proctest"
	"symbolon/internal/trial"
)

// symPath is the path of a .sym file of this package, in uploads and in downloads.
const symPath = "tea.so/" + fixture.SymID + "/tea.so.sym"

// symText is that file.
const symText = "MODULE Linux x86_64 " + fixture.SymID + " tea.so\nFUNC 1000 10 0 pour\n1000 10 7 0\n"

// symbolsZip writes a zip with the .sym file, and with debug files as they are.
func symbolsZip(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "symbols.zip")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z := zip.NewWriter(file)
	add := func(name string, content []byte) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add(symPath, []byte(symText))
	add("app-symbols.txt", []byte(symPath))
	for _, name := range []string{"call-msvc.pdb", "call-msvc.dll", "debuglink.debug"} {
		content, err := os.ReadFile(filepath.Join(corpus, name))
		if err != nil {
			t.Fatal(err)
		}
		add(name, content)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs an uploader, and returns its output and whether it reports success.
func run(t *testing.T, env []string, name string, args ...string) (out string, ok bool) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(text), err == nil
}

// isServed fails the test unless the server has the .sym file.
func isServed(t *testing.T, s *trial.Server, prefix string) {
	t.Helper()
	if status, body := s.Get(prefix + "/" + symPath); status != http.StatusOK || body != symText {
		t.Errorf("%s/%s: got %d %.200s", prefix, symPath, status, body)
	}
}

func TestFirefoxUploadsSymbols(t *testing.T) {
	if out, ok := run(t, nil, "python3", "-c", "import requests"); !ok {
		t.Skipf("Python's requests is not installed: %s", out)
	}
	zipped := symbolsZip(t)
	builds := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(zipped))))
	defer builds.Close()
	s := trial.Start(t, trial.Options{Set: []string{"tecken.allow_urls=" + builds.URL + "/"}})
	secret := func(right string) string {
		out, errs, code := s.Run("token", "add", "--data", s.Data, "--right", right)
		if code != 0 {
			t.Fatal(errs)
		}
		return "SYMBOLON_TOKEN=" + strings.TrimSpace(out) + "-of-builds"
	}
	url := "SOCORRO_SYMBOL_UPLOAD_URL=" + s.URL + "/upload/"
	const client = "../../../bench/clients/firefox-upload.py"
	for _, c := range []struct {
		name, token, file string
		isAccepted        bool
		want              string
	}{
		{"a try build", secret("upload-try"), zipped, true, `"bucket":"default-try"`},
		{"a build", secret("upload"), zipped, true, `"skipped_keys":[]`},
		{"the same build", secret("upload"), zipped, true, `"` + symPath + `"`}, // a skipped key
		{"an address", secret("upload"), builds.URL + "/symbols.zip", true, `"download_url":"` + builds.URL},
		{"another address", secret("upload"), s.URL + "/symbols.zip", false, "Not an allowed domain"},
		{"a wrong token", "SYMBOLON_TOKEN=none", zipped, false, "403 {\"error\":\"API Token not matched"},
	} {
		out, ok := run(t, []string{url, c.token}, "python3", client, c.file)
		if ok != c.isAccepted || !strings.Contains(out, c.want) {
			t.Errorf("%s: success %v, want %v with %s in\n%s", c.name, ok, c.isAccepted, c.want, out)
		}
	}
	isServed(t, s, "")
	isServed(t, s, "/try")
}

func TestCurlUploadsSymbols(t *testing.T) {
	curl := proctest.Program(t, "curl")
	s := trial.Start(t, trial.Options{})
	out, ok := run(t, nil, curl, "-sS", "-f", "--form", "symbols.zip=@"+symbolsZip(t), s.URL+"/upload/")
	if !ok || !strings.Contains(out, `"ignored_keys":["app-symbols.txt"]`) {
		t.Errorf("got %s", out)
	}
	isServed(t, s, "")
}

func TestUploadSymbolsOfMozilla(t *testing.T) {
	path := os.Getenv("SYMBOLON_UPLOAD_SYMBOLS")
	if path == "" {
		t.Skip("SYMBOLON_UPLOAD_SYMBOLS does not name Mozilla's upload-symbols")
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(symPath)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, symPath), []byte(symText), 0o600); err != nil {
		t.Fatal(err)
	}
	s := trial.Start(t, trial.Options{})
	for _, want := range []string{"1 files uploaded, 0 skipped", "0 files uploaded, 1 skipped"} {
		if out, ok := run(t, []string{"SYMBOLS_AUTH_TOKEN=any"}, path, "--server-url", s.URL, dir); !ok || !strings.Contains(out, want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
	isServed(t, s, "")
}
