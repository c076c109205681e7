//go:build unix

package api_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestCertificateThatIsNotAFileIsNotRead(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"a pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a device": func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, log := t.TempDir(), &journal{}
			writePair(t, dir, "first")
			addr, _ := serveTLS(t, dir, log)
			path := pairIn(dir).Certificate
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := put(path); err != nil {
				t.Fatal(err)
			}
			if got := shown(t, addr); got != "first" {
				t.Fatalf("the server shows %q", got)
			}
			if want := path + ": must be a regular file"; !strings.Contains(log.String(), want) {
				t.Errorf("the log does not have %q:\n%s", want, log)
			}
		})
	}
}
