package proctest

import (
	"bufio"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// The environment of a process of Kill.
const (
	folderKey = "SYMBOLON_TEST_FOLDER"
	firstKey  = "SYMBOLON_TEST_FIRST"
)

// Main runs the tests of a package, or in a process of Kill work, which prints the
// number of each piece of work in a folder once it is done, beginning with first, and
// does not return.
func Main(m *testing.M, work func(folder string, first int)) {
	if folder := os.Getenv(folderKey); folder != "" {
		first, err := strconv.Atoi(os.Getenv(firstKey))
		if err != nil {
			panic(err)
		}
		work(folder, first)
	}
	os.Exit(m.Run())
}

// Kill runs work of Main in another process, kills it at any moment after its first
// line, and returns the number in its last one.
func Kill(t testing.TB, folder string, first int) (last int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), folderKey+"="+folder, firstKey+"="+strconv.Itoa(first))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the process printed nothing")
	}
	time.AfterFunc(rand.N(60*time.Millisecond), func() { _ = cmd.Process.Kill() }) // it may have ended
	for more := true; more; more = lines.Scan() {
		if last, err = strconv.Atoi(lines.Text()); err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Wait() // it was killed
	return last
}

// Child has the methods of a test that helpers need in a process of Kill. It cleans
// nothing up.
type Child struct{ testing.TB }

// Helper does nothing.
func (Child) Helper() {}

// Cleanup does nothing: the process is killed.
func (Child) Cleanup(func()) {}

// Context returns one that does not end.
func (Child) Context() context.Context { return context.Background() }
