package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A pipe gets the text, and a file is not written.
func TestTextIsCopiedWhileTheServerFails(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	const in = "started\n    #0 0x5594d1c0deaa  (/srv/app+0xddeaa) (BuildId: 00112233445566778899aabbccddeeff)\nended\n"
	file := filepath.Join(t.TempDir(), "named")
	for name, want := range map[string]string{"-": in, file: ""} {
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"filter", "--server", s.URL, "-o", name}, &env{stdin: strings.NewReader(in), stdout: &out, stderr: &errs})
		if code != exitFailed || out.String() != want || strings.Count(errs.String(), "symbolon: "+s.URL+`: status 404: "404 page not found`) != 1 {
			t.Errorf("%s: exit %d, output %q, errors %q", name, code, &out, &errs)
		}
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file: %v, want none", err)
	}
}
