package trial

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// folder is where the binary of this test process is.
func folder() string {
	return filepath.Join(os.TempDir(), "symbolon-trial-"+strconv.Itoa(os.Getpid()))
}

// binary is the path of the binary, which the first caller builds, unless
// SYMBOLON_TRIAL_BINARY names one that is to be tried instead.
var binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("SYMBOLON_TRIAL_BINARY"); path != "" {
		return path, nil
	}
	path := filepath.Join(folder(), "symbolon")
	args := []string{"build", "-o", path}
	if Race() {
		args = append(args, "-race")
	}
	out, err := exec.Command("go", append(args, "symbolon/cmd/symbolon")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the binary: %w\n%s", err, out)
	}
	return path, nil
})

// Race tells whether the test, and so the binary, has the race detector.
func Race() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// Main runs the tests and removes the binary. It returns the exit code.
func Main(m *testing.M) int {
	defer os.RemoveAll(folder())
	return m.Run()
}
