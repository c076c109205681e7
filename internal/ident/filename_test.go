package ident_test

import (
	"strings"
	"testing"

	"symbolon/internal/ident"
)

func TestFileNamesThatAreOneSegmentOfAPath(t *testing.T) {
	for _, name := range []string{"[kernel.kallsyms]", "[vdso]", "Chrome Helper (Renderer)", "größe_名前.so", "%2e%2e", "...", "a,'b&c!", strings.Repeat("x", 255)} {
		if err := ident.CheckFileName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for name, want := range map[string]string{
		"": `"": it is empty`, ".": `".": it leads to another folder`, "..": `"..": it leads to another folder`,
		"a/b": `"a/b": it has a slash or a backslash`, `C:\a`: `"C:\\a": it has a slash or a backslash`,
		"a\x00": `"a\x00": it has a control character`, "a\u0085": `"a\u0085": it has a control character`, "a\xff": `"a\xff": it is not UTF-8`,
		strings.Repeat("x", 256): `"` + strings.Repeat("x", 64) + `"...: it is longer than 255 bytes`,
	} {
		if err := ident.CheckFileName(name); err == nil || err.Error() != "invalid file name "+want {
			t.Errorf("%q: %v", name, err)
		}
	}
}
