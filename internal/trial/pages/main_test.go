// Package pages_test opens the pages of the server in a browser.
package pages_test

import (
	"os"
	"testing"

	"symbolon/internal/trial"
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	defer func() { closeBrowser() }()
	return trial.Main(m)
}
