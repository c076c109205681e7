package trial

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// folder is where the binary of this test process is.
func folder() string {
	return filepath.Join(os.TempDir(), "symbolon-trial-"+strconv.Itoa(os.Getpid()))
}

// binary returns the path of the binary, which the first caller builds, unless
// SYMBOLON_TRIAL_BINARY names one that is to be tried instead.
var binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("SYMBOLON_TRIAL_BINARY"); path != "" {
		return path, nil
	}
	root, err := look()
	if err != nil {
		return "", err
	}
	// The tests of all packages build to one place, where only the first build links. It
	// may be replaced, so each process has a link of its own.
	shared := filepath.Join(os.TempDir(), fmt.Sprintf("symbolon-trial-%.8x-%t", sha256.Sum256([]byte(root)), Race()))
	args := []string{"build", "-o", shared}
	if Race() {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, "symbolon/cmd/symbolon")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the binary: %w\n%s", err, out)
	}
	path := filepath.Join(folder(), "symbolon")
	if err := os.MkdirAll(folder(), 0o700); err != nil {
		return "", err
	}
	return path, os.Link(shared, path)
})

// Race tells whether the test, and so the binary, has the race detector.
func Race() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// Main runs the tests and removes the link to the binary. It returns the exit code.
func Main(m *testing.M) int {
	defer os.RemoveAll(folder())
	return m.Run()
}

// look looks at all that the binary is made of: only then go test does not take
// a result that it remembers for that of another binary. It returns their folder.
func look() (root string, err error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	root = strings.TrimSpace(string(out))
	return root, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && (filepath.Ext(path) == ".go" || d.Name() == "go.mod") {
			_, err = os.Stat(path)
		}
		return err
	})
}
