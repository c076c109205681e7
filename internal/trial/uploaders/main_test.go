// Package uploaders_test runs uploaders of other projects against the binary.
package uploaders_test

import (
	"os"
	"testing"

	"symbolon/internal/trial"
)

func TestMain(m *testing.M) { os.Exit(trial.Main(m)) }
