package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/fixture"
)

// The names of this file are 60 MB together, which is 600 times its size.
func TestLongSharedNamesDoNotMultiply(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "long")
	if err := os.WriteFile(path, fixture.LongNames(4000), 0o600); err != nil {
		t.Fatal(err)
	}
	const told = "names that are too long together ("
	for _, c := range []struct {
		args []string
		code int
		told string
	}{
		{[]string{"sym", path}, exitDone, told},
		{[]string{"symbfile", "extract", "-e", path, "--ranges", "-"}, exitDone, told},
		{[]string{"resolve", "--table", path, "0x8"}, exitFailed, "build its table: "},
		{[]string{"table", "build", "--out", "-", path}, exitFailed, "names of functions and files are too long: many times the size of the file"},
		{[]string{"resolve", path, "0x8"}, exitDone, ""},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), c.args, &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs})
		if code != c.code || !strings.Contains(errs.String(), c.told) || c.told == "" && errs.Len() > 0 {
			t.Errorf("%s: exit %d, and says %q", c.args[0], code, errs.String())
		}
		if n := out.Len(); n > 45<<20 || code == exitDone && !strings.Contains(out.String(), "f000000") {
			t.Errorf("%s: writes %d bytes", c.args[0], n)
		}
	}
}
