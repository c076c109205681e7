package batch_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/batch"
	"symbolon/internal/fault"
	"symbolon/internal/filter"
)

// A unit whose counts are not those of its part is redone once, also if no names are
// gained.
func TestAUnitWithUnknownCountsIsRedoneOnce(t *testing.T) {
	in, out := folder(t, map[string]string{"a.json": text(0, 2)}), t.TempDir()
	n := &failing{Names: names}
	o := options(out, in)
	o.NewRun = func() *filter.Run { return &filter.Run{Names: n} }
	do(t, o)
	for _, name := range []string{"part/000000-000000.json", "done.json"} {
		if err := os.Remove(filepath.Join(out, name)); err != nil {
			t.Fatal(err)
		}
	}
	n.why = fault.New(fault.NotFound, "", "gone")
	if err := do(t, o).Verdict(0); err == nil || batch.Code(err) != 75 || !strings.Contains(err.Error(), "stored 1 unit and was killed") {
		t.Errorf("after a part with other symbols the verdict is %v", err)
	}
	if err := do(t, o).Verdict(0); err != nil {
		t.Errorf("after the unit was redone the verdict is %v", err)
	}
	want := files(t, out)
	do(t, o)
	same(t, files(t, out), want)
}

func TestCutCountsAreRefused(t *testing.T) {
	in, out := folder(t, map[string]string{"a.json": text(0, 2)}), t.TempDir()
	do(t, options(out, in))
	if err := os.WriteFile(filepath.Join(out, "part/000000-000000.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := options(out, in)
	if _, err := batch.Run(t.Context(), &o); err == nil || batch.Code(err) != 2 || !strings.Contains(err.Error(), "invalid counts") {
		t.Errorf("counts without a part: got %v", err)
	}
}
