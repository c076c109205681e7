package rows_test

import (
	"os/exec"
	"strings"
	"testing"

	"symbolon/internal/filter/rows"
)

// Mozilla's generator of signatures reads the answer to a ping.
func TestAnswerToPingHasASignature(t *testing.T) {
	if err := exec.Command("python3", "-c", "import siggen").Run(); err != nil {
		t.Skip("Python does not have the package siggen")
	}
	answer, _ := rewrite(t, rows.Options{Replace: true}, ping(`{"ip":"0x7f0000000020","module_index":0},`+knownFrame+`,{"ip":"0x7f0000000021","module_index":0}`))
	cmd := exec.Command("python3", "-c", `
import json, sys
from siggen.generator import SignatureGenerator
crash = json.load(sys.stdin)
for os in "Linux", "Windows NT":
    print(SignatureGenerator().generate(dict(crash, os=os)).signature)
crash["threads"][0]["frames"] = crash["threads"][0]["frames"][3:]
print(SignatureGenerator().generate(crash).signature)`)
	cmd.Stdin = strings.NewReader(answer)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, want := string(out), "start\nstart\nlibxul.so\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
