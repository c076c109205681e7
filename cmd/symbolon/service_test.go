package main

import (
	"os"
	"regexp"
	"testing"
)

// TestTheUnitKeepsUploadsOutOfTheCache reads the systemd unit:
// "systemctl clean --what=cache" must not delete uploads.
func TestTheUnitKeepsUploadsOutOfTheCache(t *testing.T) {
	unit, err := os.ReadFile("../../docs/operate/symbolon.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{`(?m)^StateDirectory=symbolon$`, `(?m)^ExecStart=.* --set state=%S/symbolon$`} {
		if !regexp.MustCompile(line).Match(unit) {
			t.Errorf("the unit has no line %s", line)
		}
	}
}
