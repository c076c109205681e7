package perf_test

import (
	"os"
	"testing"

	"symbolon/internal/waittest"
)

func TestMain(m *testing.M) {
	waittest.Parallel()
	os.Exit(m.Run())
}
