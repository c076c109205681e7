package ident_test

import (
	"strings"
	"testing"

	"symbolon/internal/ident"
)

func TestCheckFileName(t *testing.T) {
	for _, name := range []string{"[kernel.kallsyms]", "[vdso]", "Chrome Helper (Renderer)", "größe_名前.so", "%2e%2e", "...", "a,'b&c!", strings.Repeat("x", 255)} {
		if err := ident.CheckFileName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for name, want := range map[string]string{
		"": `"": must not be empty`, ".": `".": must not be a relative path`, "..": `"..": must not be a relative path`,
		"a/b": `"a/b": must not contain a slash or a backslash`, `C:\a`: `"C:\\a": must not contain a slash or a backslash`,
		"a\x00": `"a\x00": must not contain control characters`, "a\u0085": `"a\u0085": must not contain control characters`, "a\xff": `"a\xff": must be UTF-8`,
		strings.Repeat("x", 256): `"` + strings.Repeat("x", 64) + `"...: must have at most 255 bytes`,
	} {
		if err := ident.CheckFileName(name); err == nil || err.Error() != "invalid file name "+want {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestFileNameIsTheLastPartOfAPathOfAnySystem(t *testing.T) {
	for path, want := range map[string]string{
		"": "", "a": "a", "/usr/lib/a.so": "a.so", `c:\dir\a.dll`: "a.dll", `c:\dir/a.dll`: "a.dll", `/dir\a`: "a", "/dir/": "", "ü/ö": "ö",
	} {
		if got := ident.FileName(path); got != want {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
		if got := string(ident.FileName([]byte(path))); got != want {
			t.Errorf("%q as bytes: got %q, want %q", path, got, want)
		}
	}
}
