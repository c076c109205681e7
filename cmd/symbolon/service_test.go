package main

import (
	"os"
	"regexp"
	"strings"
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

func TestTheUnitWaitsForTheServer(t *testing.T) {
	unit, err := os.ReadFile("../../docs/operate/symbolon.service")
	if err != nil || !strings.Contains(string(unit), "\nType=notify\n") || strings.Contains(string(unit), "\nNotifyAccess=none") {
		t.Errorf("the unit does not wait for READY=1: %v", err)
	}
}

// TestTheContainerfileNamesRegistries reads the names of images: podman takes
// no short ones, as "golang:1.26", where it is not told what they stand for.
func TestTheContainerfileNamesRegistries(t *testing.T) {
	text, err := os.ReadFile("../../docs/operate/container/Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"scratch": true} // and the stages before
	images := regexp.MustCompile(`(?m)^FROM (\S+)(?: AS (\S+))?$`).FindAllSubmatch(text, -1)
	for _, m := range images {
		image, stage := string(m[1]), string(m[2])
		host, _, path := strings.Cut(image, "/")
		if !known[image] && (!path || !strings.Contains(host, ".")) {
			t.Errorf("image %s has no registry", image)
		}
		known[stage] = true
	}
	if len(images) != strings.Count(string(text), "\nFROM ") {
		t.Errorf("read %d of the lines that begin with FROM", len(images))
	}
}
