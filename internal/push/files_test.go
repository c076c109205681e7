package push_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"symbolon/internal/push"
)

// TestAPushedPackageOfThisMachineIsListed asks the real dpkg, where there is one.
func TestAPushedPackageOfThisMachineIsListed(t *testing.T) {
	files, _, err := push.PackageFiles(t.Context(), "dpkg")
	if _, none := exec.LookPath("dpkg"); none != nil {
		if err == nil {
			t.Error(files)
		}
		return
	}
	if err != nil || !strings.Contains(fmt.Sprintln(files), "/usr/bin/dpkg ") {
		t.Error(files, err)
	}
}
