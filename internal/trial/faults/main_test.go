// Package faults_test breaks everything that the service depends on, one thing
// at a time, and looks at what it answers, logs and explains.
package faults_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

func TestMain(m *testing.M) {
	waittest.Parallel()
	os.Exit(trial.Main(m))
}

// large is a file that takes some time: 10 MB, or 5 where everything takes
// longer.
func large(n int) trial.Sym {
	if trial.Race() {
		return trial.NewSym(n, 50_000)
	}
	return trial.NewSym(n, 100_000)
}

// built waits until the server has made n tables since it was started.
func built(t *testing.T, s *trial.Server, n float64) {
	t.Helper()
	waittest.Until(t, "the tables are built", func() bool { return s.Metric("table_builds_total", `outcome="built"`) >= n })
}

// warnings are the lines of the log that tell of a fault.
func warnings(s *trial.Server) []string {
	return slices.DeleteFunc(s.Lines("level="), func(line string) bool { return strings.Contains(line, "level=INFO") })
}
