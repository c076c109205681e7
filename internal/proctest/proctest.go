// Package proctest runs processes for tests: programs that may be missing, servers
// that need a port, and the binary of the test itself, which is killed.
package proctest

import (
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// inCI has the programs that .ci/run installs.
var inCI = map[string]bool{
	"gcc": true, "objcopy": true, "strip": true, "gdb": true, "redis-server": true,
	"eu-addr2line": true, "eu-readelf": true, "eu-unstrip": true, "debuginfod-find": true, "chromium": true,
}

// Program returns the path of an installed program. Without it the test is skipped, or
// fails under CI=true if .ci/run installs it.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		lacks(t, inCI[name], name+" is not installed")
	}
	return path
}

// lacks ends a test that needs something of the machine: it fails in CI if CI has that,
// and else is skipped.
func lacks(t testing.TB, hasCI bool, why string) {
	t.Helper()
	if hasCI && os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// Run runs an installed program in a folder and returns its output. The test fails if
// the program does.
func Run(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(Program(t, name), args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// FreePort returns a port without a listener. It is below those that systems assign to
// listeners and clients, and so is the port 10,000 above it, which a node of a Redis
// cluster uses too.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 10_000 + rand.IntN(12_000)
		if l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("there is no free port")
	return 0
}
