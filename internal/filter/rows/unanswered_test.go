package rows_test

import (
	"net/http"
	"strings"
	"testing"

	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/filter/rows"
)

// An answer without names would keep a second run from naming the row.
func TestRowsStayUnchangedWhileTheServerFails(t *testing.T) {
	const empty = `{"crash_address":"none","modules":[],"threads":[]}` // it needs no server
	list := `{"frames":[{"debug_file":"libxul.so","debug_id":"` + xulID + `","offset":"0x1973"}]}`
	in := strings.Join([]string{ping(knownFrame), `{"jobs":[]}`, list, empty}, "\n") + "\n"
	for _, o := range []rows.Options{{}, {Strict: true}} {
		r := filtertest.Remote(t, http.NotFound)
		var failures strings.Builder
		r.Log = &failures
		one := &filter.Run{Names: r, Answer: r.Answer}
		got, counts := run(t, o, one, in)
		if o.Strict {
			if n := strings.Count(got, `"error":"http://`); n != 3 || counts.Failed != 3 {
				t.Errorf("%d rows have an error, %d failed; want 3:\n%s", n, counts.Failed, got)
			}
		} else if want := strings.Replace(in, empty, strings.TrimSuffix(empty, "}")+`,"symbolicated":`+answer("null", "")+"}", 1); got != want || counts.Failed != 3 {
			t.Errorf("%d rows failed, got\n%s", counts.Failed, got)
		}
		if !one.HasFailed() || strings.Count(failures.String(), "\n") != 1 {
			t.Errorf("the run has failed: %t, with the failures %q; want one", one.HasFailed(), &failures)
		}
	}
}
