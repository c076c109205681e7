package symbfile_test

import (
	"testing"
	"time"

	"symbolon/internal/ingest"
	"symbolon/internal/ingest/symbfile"
)

func TestConfigIsChecked(t *testing.T) {
	for _, c := range []symbfile.Config{{}, {MaxPart: 1 << 20, MaxFile: 1 << 20}, {Expiry: time.Hour, Mixed: true}} {
		if err := c.Validate(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []symbfile.Config{{MaxFile: 1 << 20}, {MaxFile: -1}, {Expiry: time.Minute}, {Expiry: -time.Hour}} {
		if err := c.Validate(); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}

func TestReasonsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for r := ingest.Malformed; r <= ingest.Truncated+1; r++ {
		if name := r.String(); name == "" || seen[name] {
			t.Errorf("%d is %q", r, name)
		}
		seen[r.String()] = true
	}
}
